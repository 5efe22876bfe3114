"""What a pose does not explain of a candidate is looked at by itself."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from posepipe.parts import PartProbabilities
from posepipe.results import Joint, Pose
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.regions.remainder import Remainder

CAMERA = Intrinsics(50.0, 50.0, 39.5, 29.5)
SHAPE = (60, 80)
PERSON = Pose.of({"neck": Joint("neck", (-1.2, -0.4, 2.05), 0.9), "head": Joint("head", (-1.2, -0.7, 2.05), 0.9)})


def candidate(*boxes: tuple[int, int, int, int], stride=(1, 1), depth_m=None):
    """Depth, mask, camera and parts of a candidate of boxes (top, bottom, left, right), 2 m away by default."""
    mask = np.zeros(SHAPE, bool)
    for top, bottom, left, right in boxes:
        mask[top:bottom, left:right] = True
    depth_m = np.where(mask, 2.0 if depth_m is None else depth_m, 0).astype(np.float32)
    pixels = pixels_of(mask, stride)
    return depth_m, mask, CAMERA, PartProbabilities(pixels, np.ones((len(pixels), 2), np.float32), stride)


def masks(*boxes: tuple[int, int, int, int], stride=(1, 1), pose=PERSON, depth_m=None, **options) -> list[np.ndarray]:
    """What is left of a candidate."""
    return Remainder(HUMAN, **options).masks(*candidate(*boxes, stride=stride, depth_m=depth_m), pose)


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 2)])
def test_a_surface_far_from_all_joints_is_left(stride):
    (left,) = masks((10, 22, 6, 13), (18, 36, 36, 48), stride=stride)
    wanted = np.zeros(SHAPE, bool)
    wanted[18:36, 36:48] = True
    np.testing.assert_array_equal(left, wanted)


def test_nothing_is_left_of_a_person_alone():
    assert masks((10, 22, 6, 13)) == []


def test_middles_of_bones_explain_too():
    low = Joint("neck", (-1.2, 0.35, 2.0), 0.9), Joint("head", (-1.2, -0.7, 2.0), 0.9)
    long = Pose.of({joint.name: joint for joint in low})
    narrow = (20, 29, 6, 13)  # at the middle of the bone, half a metre from its ends
    assert masks(narrow, pose=long, min_area_m2=0.03) == []
    without = Pose.of({"head": low[1], "left_hand": Joint("left_hand", low[0].xyz_m, 0.9)})  # no bone
    assert len(masks(narrow, pose=without, min_area_m2=0.03)) == 1


def test_small_surfaces_are_left_out_and_the_largest_comes_first():
    small, large, speck = (16, 34, 30, 36), (16, 34, 50, 66), (50, 53, 50, 54)
    found = masks(small, large, speck)
    assert [int(mask.sum()) for mask in found] == [18 * 16, 18 * 6]
    assert len(masks(small, large, speck, min_area_m2=0.3)) == 1


@pytest.mark.parametrize(("distance_m", "count"), [(4.0, 1), (3.0, 0)])
def test_a_surface_is_measured_in_metres_not_in_pixels(distance_m, count):
    depth_m = np.full(SHAPE, distance_m)  # 36 pixels are 0.23 m² at 4 m, and 0.13 m² at 3 m
    assert len(masks((20, 26, 50, 56), depth_m=depth_m, min_area_m2=0.2)) == count


def test_surfaces_at_two_depths_are_two():
    depth_m = np.full(SHAPE, 2.0)
    depth_m[:, 50:] = 3.0
    found = masks((16, 34, 40, 60), depth_m=depth_m)
    assert len(found) == 2
    assert not (found[0] & found[1]).any()
    assert found[0][:, 50:].any()  # 10 columns at 3 m have more surface than 10 at 2 m


def test_a_pose_without_joints_leaves_nothing():
    assert masks((16, 34, 36, 48), pose=Pose.of({})) == []


@pytest.mark.parametrize("stride", [(1, 1), (2, 2), (3, 2)])
def test_a_pose_explains_what_is_near_it(stride):
    person, cupboard = (12, 24, 6, 14), (12, 42, 24, 48)
    found = Remainder(HUMAN).explained(*candidate(person, cupboard, stride=stride), PERSON)
    wanted = np.zeros(SHAPE, bool)
    wanted[12:24, 6:14] = True
    assert found is not None
    np.testing.assert_array_equal(found, wanted)


def test_a_pose_that_is_not_sure_explains_nothing():
    unsure = Pose.of({"neck": Joint("neck", (-1.2, -0.4, 2.05), 0.2)})
    boxes = (10, 22, 6, 13), (10, 40, 20, 48)
    assert Remainder(HUMAN).explained(*candidate(*boxes), unsure) is None
    assert Remainder(HUMAN).explained(*candidate(*boxes), Pose.of({})) is None
    assert Remainder(HUMAN).explained(*candidate(boxes[1]), PERSON) is None


def test_of_a_person_alone_there_is_nothing_to_take_away():
    assert Remainder(HUMAN).explained(*candidate((10, 22, 6, 13)), PERSON) is None


def test_a_pose_explains_what_is_around_it():
    depth_m, mask, camera, _ = candidate((10, 22, 6, 13), (18, 36, 36, 48))
    near = Remainder(HUMAN).around(depth_m, mask, camera, PERSON)
    wanted = np.zeros(SHAPE, bool)
    wanted[10:22, 6:13] = True
    np.testing.assert_array_equal(near, wanted)
    assert not Remainder(HUMAN).around(depth_m, mask, camera, Pose.of({})).any()


def test_without_a_minimum_what_is_explained_is_not_left():
    person, other = (10, 22, 6, 13), (18, 36, 36, 48)
    (left,) = masks(person, other, min_area_m2=0.0)
    assert not left[10:22, 6:13].any()
    assert masks(person, min_area_m2=0.0) == []
