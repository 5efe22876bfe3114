"""People who lie across the picture, looked at with the picture turned."""

from __future__ import annotations

import numpy as np
import pytest

from apps.demo import RECORDING
from posepipe.camera import Intrinsics
from posepipe.pipeline import Pipeline
from posepipe.results import JointProposal, Pose
from posepipe.segmentation.rotated_views import RotatedViews, View
from posepipe.sources import open_source
from posepipe.sources.turning import turn_frame

LENS = Intrinsics(50.0, 60.0, 20.5, 14.0)


def view(seed: int = 1) -> View:
    rng = np.random.default_rng(seed)
    depth_m, mask = rng.uniform(1, 4, (30, 40)).astype(np.float32), np.zeros((30, 40), bool)
    mask[7:18, 5:32] = rng.random((11, 27)) < 0.8
    return View(depth_m, mask, LENS)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_turned_view_shows_the_same_points(quarters):
    straight, turned = view(), view().turned(quarters)
    assert turned.mask.sum() == straight.mask.sum()
    points = []
    for one in (straight, turned):
        rows, cols = np.nonzero(one.mask)
        points.append(one.in_camera(one.intrinsics.deproject_pixels(rows, cols, one.depth_m[rows, cols])))
    order = [np.lexsort(np.round(p, 4).T) for p in points]
    np.testing.assert_allclose(points[0][order[0]], points[1][order[1]], atol=1e-5)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_an_image_of_a_turned_view_comes_back_to_its_place(quarters):
    straight, turned = view(), view().turned(quarters)
    np.testing.assert_array_equal(turned.in_picture(turned.mask), straight.mask)
    depth_m = turned.in_picture(np.where(turned.mask, turned.depth_m, 0))
    np.testing.assert_array_equal(depth_m, np.where(straight.mask, straight.depth_m, 0))


def test_who_is_wider_than_high_spreads_to_the_sides():
    across = view()
    assert across.spread() > 1.5
    assert across.turned(1).spread() == pytest.approx(1 / across.spread(), rel=1e-3)
    assert View(across.depth_m, np.zeros_like(across.mask), LENS).spread() == 0


def pose(confidence: float, shift_m: float = 0.0, joints: int = 20) -> Pose:
    names = [f"joint {k}" for k in range(joints)]
    return Pose({n: JointProposal(n, (0.1 * k + shift_m, 0.0, 2.0), confidence) for k, n in enumerate(names)})


def test_a_turned_look_is_wanted_of_who_lies_across_and_is_doubtful():
    looks, across = RotatedViews(20), view()
    assert looks.wanted(across, pose(0.3))
    assert not looks.wanted(across, pose(0.6))
    assert not looks.wanted(across.turned(1), pose(0.3))


def test_a_turned_pose_is_believed_when_it_is_much_surer():
    looks, seen = RotatedViews(20), pose(0.3)  # six of twenty joints
    assert looks.choose(seen, []) is None
    assert looks.choose(seen, [pose(0.4), pose(0.44)]) is None
    assert looks.choose(seen, [pose(0.4), pose(0.46)]) == 1


def test_of_two_turned_poses_the_one_that_agrees_with_the_first_is_believed():
    looks, seen = RotatedViews(20), pose(0.3)
    assert looks.choose(seen, [pose(0.7, shift_m=1.0), pose(0.6)]) == 1
    assert looks.choose(seen, [pose(0.9, shift_m=1.0), pose(0.2)]) == 0


@pytest.fixture(scope="module")
def frames():
    with open_source(RECORDING) as source:
        return list(source)[::6]


def joints_of(pipeline: Pipeline, frame) -> dict[str, np.ndarray]:
    (person,) = pipeline.step(frame).people
    return {name: np.array(joint.xyz_m) for name, joint in person.pose.joints.items()}


@pytest.mark.parametrize("quarters", [1, 3])
def test_people_who_lie_across_the_picture_are_found_as_if_they_stood(frames, quarters):
    pipeline = Pipeline.load("person", tracking=False, foreground="none")
    gaps = []
    for frame in frames:
        lying = frame
        for _ in range(quarters):
            lying = turn_frame(lying)
        upright, found = joints_of(pipeline, frame), joints_of(pipeline, lying)
        for name, place in upright.items():
            x, y, z = place
            wanted = (-y, x, z) if quarters == 1 else (y, -x, z)
            gaps.append(np.linalg.norm(found[name] - wanted) if name in found else np.inf)
    assert np.mean(np.array(gaps) < 0.03) >= 0.8
