"""Rotated views: the same points, and the pose of people who lie across the image."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import numpy as np
import pytest

from apps.bench import RECORDING
from posepipe.camera import Intrinsics
from posepipe.joints.part_moments import N_MOMENTS
from posepipe.landmarks import Landmark
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import Joint, JointProposal, Pose, Proposals
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.views.rotated_views import RotatedViews
from posepipe.segmentation.views.view import View
from posepipe.segmentation.views.view_evidence import SeenView
from posepipe.sources import open_source
from posepipe.sources.rotation import rotate_frame
from tests.support.shipped_model import shipped_model

LENS = Intrinsics(50.0, 60.0, 20.5, 14.0)


def view(seed: int = 1) -> View:
    rng = np.random.default_rng(seed)
    depth_m, mask = rng.uniform(1, 4, (30, 40)).astype(np.float32), np.zeros((30, 40), bool)
    mask[7:18, 5:32] = rng.random((11, 27)) < 0.8
    return View(depth_m, mask, LENS)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_a_rotated_view_shows_the_same_points(quarters):
    straight, rotated = view(), view().rotated(quarters)
    assert rotated.mask.sum() == straight.mask.sum()
    points = []
    for one in (straight, rotated):
        rows, cols = np.nonzero(one.mask)
        points.append(one.to_camera(one.intrinsics.deproject_pixels(rows, cols, one.depth_m[rows, cols])))
    order = [np.lexsort(np.round(p, 4).T) for p in points]
    np.testing.assert_allclose(points[0][order[0]], points[1][order[1]], atol=1e-5)


@pytest.mark.parametrize("quarters", [0, 1, 2, 3])
def test_points_in_camera_axes_are_as_kernels_take_them(quarters):
    one = view().rotated(quarters) if quarters else view()
    for dtype in (np.float32, np.float64):
        points_m = one.to_camera(np.ones((5, 3), dtype))
        assert (points_m.dtype, points_m.flags.c_contiguous) == (dtype, True)


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_an_image_of_a_rotated_view_returns_to_its_place(quarters):
    straight, rotated = view(), view().rotated(quarters)
    np.testing.assert_array_equal(rotated.to_image(rotated.mask), straight.mask)
    depth_m = rotated.to_image(np.where(rotated.mask, rotated.depth_m, 0))
    np.testing.assert_array_equal(depth_m, np.where(straight.mask, straight.depth_m, 0))


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_parts_of_a_rotated_view_return_to_their_pixels(quarters):
    straight, rotated = view(), view().rotated(quarters)
    pixels = pixels_of(rotated.mask, (2, 1))
    values = np.arange(2 * len(pixels), dtype=np.float32).reshape(-1, 2)
    found = rotated.parts_to_image(PartProbabilities(pixels, values, (2, 1)))
    assert straight.mask[tuple(found.pixels.T)].all()
    np.testing.assert_array_equal(straight.depth_m[tuple(found.pixels.T)], rotated.depth_m[tuple(pixels.T)])
    assert found.probabilities is values  # in the order of the view
    assert (found.pixels.dtype, found.stands_for) == (np.int32, 2)
    own = PartProbabilities(pixels, values, (2, 1))
    assert straight.parts_to_image(own) is own


def test_a_pose_of_a_rotated_view_returns_to_camera_axes():
    rotated = view().rotated(1)
    sources = (JointProposal("head", (0.1, 0.2, 2.0), 0.5),)
    found = Pose.of({"head": Joint("head", (0.3, -0.1, 2.5), 0.9)}, sources)
    pose = rotated.pose_to_camera(found)
    np.testing.assert_allclose(pose.joints_m, rotated.to_camera(found.joints_m))
    assert pose.source_proposals[0].xyz_m == pytest.approx((0.2, -0.1, 2.0))
    assert (pose.names, pose.confidences.tolist()) == (("head",), [0.9])
    assert view().pose_to_camera(found) is found


def test_proposals_of_a_rotated_view_return_to_camera_axes():
    rotated, head = view().rotated(3), Landmark("head", False)
    proposals = Proposals.gather((head,), [JointProposal("head", (0.1, 0.2, 2.0), 0.5)])
    seen = rotated.proposals_to_camera(replace(proposals, moments=np.ones((3, N_MOMENTS))))
    (moved,) = seen
    assert seen.moments is None  # a rotated part has others
    assert moved.xyz_m == pytest.approx(tuple(rotated.to_camera(np.array([0.1, 0.2, 2.0]))))
    assert view().proposals_to_camera(proposals) is proposals


def test_the_spread_is_the_ratio_of_width_to_height():
    across = view()
    assert across.spread() > 1.5
    assert across.rotated(1).spread() == pytest.approx(1 / across.spread(), rel=1e-3)
    assert View(across.depth_m, np.zeros_like(across.mask), LENS).spread() == 0


def pose(confidence: float, shift_m: float = 0.0, joints: int = 20) -> Pose:
    names = [f"joint {k}" for k in range(joints)]
    return Pose.of({n: Joint(n, (0.1 * k + shift_m, 0.0, 2.0), confidence) for k, n in enumerate(names)})


def seen(first: Pose, rotated: Mapping[int, Pose] = MappingProxyType({})) -> dict[int, SeenView]:
    """Views whose axes are those of the camera."""
    nothing = PartProbabilities(np.zeros((0, 2), np.int32), np.zeros((0, 32), np.float32), (1, 1))
    return {quarters: SeenView(view(), nothing, each) for quarters, each in {0: first, **rotated}.items()}


class PrefersTheLast:
    """Chooses the last view that it is shown."""

    def best(self, seen: Mapping[int, SeenView]) -> int:
        return list(seen)[-1]


def test_people_who_lie_are_classified_in_sideways_views():
    views, across = RotatedViews(20), view()
    assert views.wanted(across, pose(0.6)) == (1, 3)
    assert views.wanted(across, pose(0.9)) == ()
    assert views.wanted(across.rotated(1), pose(0.6)) == ()


def test_people_of_poor_poses_are_classified_upside_down():
    views, across = RotatedViews(20), view()
    assert views.wanted(across.rotated(1), pose(0.2)) == (2,)
    assert views.wanted(across, pose(0.2)) == (1, 3, 2)
    assert views.wanted(across, pose(0.2), accepted=False) == (1, 3)


def test_a_rotated_pose_is_taken_at_much_higher_confidence():
    views, first = RotatedViews(20), pose(0.3)  # six of twenty joints
    assert views.choose(seen(first)) == 0
    assert views.choose(seen(first, {1: pose(0.4), 3: pose(0.44)})) == 0
    assert views.choose(seen(first, {1: pose(0.4), 3: pose(0.46)})) == 3


def test_a_pose_upside_down_needs_more_confidence_still():
    views, first = RotatedViews(20), pose(0.2)
    assert views.choose(seen(first, {2: pose(0.48)})) == 0
    assert views.choose(seen(first, {2: pose(0.52)})) == 2


def test_of_two_rotated_poses_agreement_with_the_first_decides():
    views, first = RotatedViews(20), pose(0.3)
    assert views.choose(seen(first, {1: pose(0.7, shift_m=0.4), 3: pose(0.6)})) == 3
    assert views.choose(seen(first, {1: pose(0.9, shift_m=0.4), 3: pose(0.2)})) == 1


def test_a_learned_choice_sees_who_lies_upside_down_too():
    views, across = RotatedViews(20, poor=0.0, choice=PrefersTheLast()), view()
    assert views.wanted(across, pose(0.6)) == (1, 3, 2)
    assert views.wanted(across.rotated(1), pose(0.6)) == ()


def test_a_learned_choice_takes_the_place_of_the_rule():
    views, first = RotatedViews(20, choice=PrefersTheLast()), pose(0.7)
    assert views.choose(seen(first, {1: pose(0.1), 3: pose(0.2)})) == 3
    assert views.choose(seen(first)) == 0  # nothing to choose from


@pytest.fixture(scope="module")
def frames():
    with open_source(RECORDING) as source:
        return list(source)[::6]


def joints_of(pipeline: Pipeline, frame) -> dict[str, np.ndarray]:
    (person,) = pipeline.step(frame).people
    return {name: np.array(joint.xyz_m) for name, joint in person.pose.joints.items()}


@pytest.mark.parametrize("quarters", [1, 2, 3])
def test_people_turned_in_the_image_are_found_as_if_standing(frames, quarters):
    pipeline = Pipeline.from_model(shipped_model(), tracking=False, foreground="none")
    gaps = []
    for frame in frames:
        lying = frame
        for _ in range(quarters):
            lying = rotate_frame(lying)
        upright, found = joints_of(pipeline, frame), joints_of(pipeline, lying)
        for name, place in upright.items():
            x, y, z = place
            wanted = {1: (-y, x, z), 2: (-x, -y, z), 3: (y, -x, z)}[quarters]
            gaps.append(np.linalg.norm(found[name] - wanted) if name in found else np.inf)
    assert np.mean(np.array(gaps) < 0.03) >= 0.8
