"""Extrinsics from a file: read exactly, and refused when invalid."""

from __future__ import annotations

import json

import numpy as np
import pytest

from posepipe.camera.extrinsics_file import read_extrinsics, read_time_offset_s, write_extrinsics
from posepipe.errors import FormatError

#: a level camera 1.2 m above the floor that looks along the world's y
LEVEL = [[1, 0, 0, 0.5], [0, 0, 1, -2.0], [0, -1, 0, 1.2], [0, 0, 0, 1]]


def written(tmp_path, value):
    path = tmp_path / "camera_place.json"
    path.write_text(json.dumps({"T_world_camera": value}))
    return path


def test_points_follow_the_matrix(tmp_path):
    world = read_extrinsics(written(tmp_path, LEVEL))
    points = world.world_points(np.array([[0, 0, 3.0], [0.1, 1.2, 3.0]]))
    np.testing.assert_allclose(points, [[0.5, 1.0, 1.2], [0.6, 1.0, 0.0]], atol=1e-9)


def test_a_rotation_of_four_digits_becomes_an_exact_one(tmp_path):
    c, s = 0.8661, 0.4999
    turn = read_extrinsics(written(tmp_path, [[c, -s, 0, 0], [s, c, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]])).rotation
    np.testing.assert_allclose(turn @ turn.T, np.eye(3), atol=1e-12)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (None, "four rows of four numbers"),
        ([[1, 2], [3, 4]], "four rows of four numbers"),
        ([[1, 2, 3, 4], "x"], "four rows of four numbers"),
        (np.eye(4).astype(str).tolist(), "four rows of four numbers"),
        ([[float("nan")] * 4] * 4, "four rows of four numbers"),
        (np.diag([1, 1, -1, 1]).tolist(), "no rotation"),
        (np.diag([1000, 1000, 1000, 1]).tolist(), "no rotation"),
        (np.array(LEVEL).T.tolist(), "transposed"),
    ],
)
def test_invalid_extrinsics_are_refused(tmp_path, value, message):
    with pytest.raises(FormatError, match=message):
        read_extrinsics(written(tmp_path, value))


@pytest.mark.parametrize(("height", "told"), [(2.5, False), (2500, True), (-0.5, True)])
def test_an_implausible_height_is_warned_of(tmp_path, caplog, height, told):
    matrix = np.array(LEVEL, float)
    matrix[2, 3] = height
    assert read_extrinsics(written(tmp_path, matrix.tolist())).translation_m[2] == height
    assert (f"the camera is {height:g} m above the floor; wanted metres" in caplog.text) == told


def test_what_is_written_is_read(tmp_path):
    path = tmp_path / "camera.json"
    write_extrinsics(path, read_extrinsics(written(tmp_path, LEVEL)), 0.25)
    np.testing.assert_allclose(read_extrinsics(path).matrix, LEVEL, atol=1e-9)
    assert read_time_offset_s(path) == 0.25


def test_a_file_without_an_offset_has_none(tmp_path):
    path = written(tmp_path, LEVEL)
    assert read_time_offset_s(path) == 0
    write_extrinsics(path, read_extrinsics(path))
    assert list(json.loads(path.read_text())) == ["T_world_camera"]


@pytest.mark.parametrize("offset", ["1", True, 1e9, None, [1]])
def test_an_offset_is_seconds(tmp_path, offset):
    path = tmp_path / "camera.json"
    path.write_text(json.dumps({"T_world_camera": LEVEL, "time_offset_s": offset}))
    with pytest.raises(FormatError, match="wanted seconds"):
        read_time_offset_s(path)
