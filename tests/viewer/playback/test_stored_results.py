"""Results from a file have the camera pose that they were written with."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera import Extrinsics, Intrinsics, Plane
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import JsonLinesSink, ResultsHeader
from posepipe.sinks.files.results_reader import read_results
from posepipe.viewer.playback.stored_results import body_with_joints, extrinsics_from_row, result_from_row
from tests.support.found_people import track_of

FLOOR = Plane((0.05, -0.95, -0.308058), 1.35)


def floor() -> Plane:
    x, y, z = (np.array(FLOOR.normal) / np.linalg.norm(FLOOR.normal)).tolist()
    return Plane((x, y, z), FLOOR.distance_m)


def written(tmp_path, places_m, floor):
    """A row of a file, with one person whose joints are at these positions."""
    person = track_of(4, {name: tuple(p) for name, p in zip(HUMAN.joints, places_m, strict=False)}, 0.5)
    frame = DepthFrame(np.zeros((2, 2), np.float32), Intrinsics(1, 1, 0, 0), 0.5, 7)
    nothing = np.zeros((2, 2), np.uint8)
    with JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(HUMAN.joints, "s", "m")) as sink:
        sink.write(FrameResult(frame, nothing > 0, nothing, (), (person,), floor))
    (row,) = read_results(tmp_path / "r.jsonl").frames
    return row


def places(count=20, spread_m=(0.5, 1.7, 0.3)):
    rng = np.random.default_rng(3)
    return rng.uniform(-0.5, 0.5, (count, 3)) * spread_m + [0.2, 0.1, 2.5]


@pytest.mark.parametrize("places_m", [places(), places(3), places(20, (0.5, 1.7, 0))])
def test_the_world_is_found_again_to_the_millimetre(tmp_path, places_m):
    found, true = extrinsics_from_row(written(tmp_path, places_m, floor())), Extrinsics.above_floor(floor())
    assert found is not None
    np.testing.assert_allclose(found.rotation, true.rotation, atol=1e-3)
    np.testing.assert_allclose(found.translation_m, true.translation_m, atol=2e-3)


@pytest.mark.parametrize("places_m", [places(2), places(20, (0, 1.7, 0)), places(20, (0, 0, 0))])
def test_joints_that_do_not_define_the_camera_pose_give_none(tmp_path, places_m):
    assert extrinsics_from_row(written(tmp_path, places_m, floor())) is None


def test_results_without_a_floor_give_none(tmp_path):
    row = written(tmp_path, places(), None)
    assert extrinsics_from_row(row) is None
    result = result_from_row(row)
    assert (result.frame.index, result.frame.timestamp_s, result.people[0].id) == (7, 0.5, 4)
    assert not result.mask.any()


def test_bones_are_known_for_human_joints_only():
    assert body_with_joints(("head", "neck")) is HUMAN
    assert body_with_joints(("head", "tail")).bones() == []
    assert body_with_joints(("head", "tail")).joints == ("head", "tail")
