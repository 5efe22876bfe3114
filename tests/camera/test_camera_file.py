"""The matrix K of a camera.json, in place of its four numbers, and lens distortion beside it."""

from __future__ import annotations

import json

import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import find_camera, read_camera_file
from posepipe.errors import FormatError

REST = {"width": 640, "height": 480, "depth_unit_m": 0.001, "fps": 30}
ROWS = [[570.5, 0, 320], [0, 571.5, 240.5], [0, 0, 1]]


def camera_file(tmp_path, **values):
    path = tmp_path / "camera.json"
    path.write_text(json.dumps({**REST, **values}))
    return path


@pytest.mark.parametrize("matrix", [ROWS, [*ROWS[0], *ROWS[1], *ROWS[2]]])
def test_a_matrix_stands_for_its_four_numbers(tmp_path, matrix):
    assert read_camera_file(camera_file(tmp_path, K=matrix)).intrinsics == Intrinsics(570.5, 571.5, 320, 240.5)


def test_the_four_numbers_come_before_a_matrix(tmp_path):
    four = {"fx": 500, "fy": 501, "cx": 300, "cy": 200}
    assert read_camera_file(camera_file(tmp_path, K=ROWS, **four)).intrinsics == Intrinsics(*four.values())


@pytest.mark.parametrize(
    "matrix",
    [
        5,
        [],
        ROWS[:2],
        [[570, 3, 320], [0, 570, 240], [0, 0, 1]],  # skew
        [[570, 0, 320], [0, 570, 240], [0, 0, 2]],
        [[570, 0, 320], [0, 570, 240], [0, 0, "1"]],
        [[[570]], 0, 0, 0, 0, 0, 0, 0, 1],
    ],
)
def test_other_matrices_are_one_line(tmp_path, matrix):
    with pytest.raises(FormatError, match=r"key '(K|fx)'"):
        read_camera_file(camera_file(tmp_path, K=matrix))


@pytest.mark.parametrize("fps", [0, -30, 1e-310, 1e7])
def test_frames_that_no_clock_tells_apart_are_one_line(tmp_path, fps):
    with pytest.raises(FormatError, match="key 'fps'"):
        read_camera_file(camera_file(tmp_path, fx=500, fy=500, cx=300, cy=200, fps=fps))


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("D", [0.1, -0.2, 0, 0, 0]),
        ("distortion", [[0.1, 0, 0, 0]]),
        ("dist_coeffs", [0, 0, 0.001, 0]),
        ("distortion_coefficients", {"rows": 1, "cols": 5, "data": [0.1, 0, 0, 0, 0]}),
        ("distortion", {"model": "plumb_bob", "k1": 0.1, "k2": 0}),
        ("coeffs", [0.1, 0, 0, 0, 0]),
        ("k1", -0.3),
    ],
)
def test_lens_distortion_is_refused_not_ignored(tmp_path, key, value):
    with pytest.raises(FormatError, match=f"key '{key}': lens distortion"):
        read_camera_file(camera_file(tmp_path, K=ROWS, **{key: value}))


@pytest.mark.parametrize(
    ("key", "value"),
    [("D", []), ("dist", [0, 0.0]), ("distortion_model", "plumb_bob"), ("distance_m", 2.5), ("distortion", None)],
)
def test_a_lens_without_distortion_is_read(tmp_path, key, value):
    assert read_camera_file(camera_file(tmp_path, K=ROWS, **{key: value})).intrinsics.fx == 570.5


@pytest.mark.parametrize(
    ("preset", "size", "advice"),
    [
        ("kinect-v1", (240, 320), "give a camera.json of that size or kinect-v1-320"),
        ("d435", (240, 320), "of images that were scaled, with fx, fy, cx and cy of d435 scaled as they were"),
        ("d435", (480, 848), "give a camera.json of that size; of images that were scaled"),
    ],
)
def test_a_preset_of_another_size_says_what_fits(preset, size, advice):
    with pytest.raises(FormatError, match=f"{size[1]}x{size[0]}; .*{advice}"):
        find_camera(preset).intrinsics_for(*size)
