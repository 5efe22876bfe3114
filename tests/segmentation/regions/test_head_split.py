"""People who touch are split by their heads."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.landmarks import Landmark
from posepipe.results import JointProposal, Proposals
from posepipe.segmentation.regions.head_split import HeadSplit

CAMERA = Intrinsics(50.0, 50.0, 39.5, 29.5)
SHAPE = (60, 80)


def head(x: float, z: float = 2.0, confidence: float = 0.8, y: float = -0.8, *, joint="head", voted=False):
    return JointProposal(joint, (x, y, z), confidence, voted)


def side_by_side() -> tuple[np.ndarray, np.ndarray]:
    """A wall of people 2 m away: depth and mask, 40 cm to either side of the axis."""
    depth_m = np.full(SHAPE, 2, np.float32)
    mask = np.zeros(SHAPE, bool)
    mask[10:55, 30:50] = True
    return depth_m, mask


def split(proposals, depth_m=None, mask=None, **options) -> list[np.ndarray]:
    plain_m, everyone = side_by_side()
    depth_m = plain_m if depth_m is None else depth_m
    landmarks = tuple(dict.fromkeys(Landmark(each.joint, each.voted) for each in proposals))
    proposals = Proposals.gather(landmarks, proposals)
    return HeadSplit().split(proposals, depth_m, everyone if mask is None else mask, CAMERA, **options)


def test_two_people_side_by_side_are_split_in_halves():
    _, mask = side_by_side()
    left, right = split([head(-0.2), head(0.2, confidence=0.6)])
    np.testing.assert_array_equal(left | right, mask)
    assert not (left & right).any()
    assert left[:, :40].any()
    assert not left[:, 40:].any()


def test_a_person_behind_another_gets_the_pixels_behind():
    depth_m, mask = side_by_side()
    depth_m[:, 38:] = 2.7
    near, far = split([head(0.0, 2.0, 0.9), head(0.1, 2.7)], depth_m)
    np.testing.assert_array_equal(near, mask & (depth_m == 2))
    np.testing.assert_array_equal(far, mask & (depth_m > 2))


@pytest.mark.parametrize(
    "proposals",
    [
        [],
        [head(0.0)],
        [head(-0.1), head(0.1)],  # one head, proposed twice
        [head(-0.2), head(0.2, confidence=0.3)],
        [head(-0.2), head(0.2, voted=True)],
        [head(-0.2), head(0.2, joint="left_hand")],
    ],
)
def test_one_head_is_one_person(proposals):
    assert split(proposals) == []


def test_three_heads_are_three_people():
    mask = np.zeros(SHAPE, bool)
    mask[10:55, 10:70] = True
    components = split([head(-0.8), head(0.0), head(0.8)], mask=mask)
    assert [int(component[30].sum()) for component in components] == pytest.approx([20] * 3, abs=1)


def test_a_tilted_camera_splits_along_the_floor():
    """From above, of two people one behind the other, the feet of the further lie below the head of the nearer."""
    tilt = np.radians(40)
    up = np.array([0, -np.cos(tilt), -np.sin(tilt)])
    ahead = np.array([0, -np.sin(tilt), np.cos(tilt)])
    depth_m, mask = np.full(SHAPE, 2, np.float32), np.zeros(SHAPE, bool)
    mask[30, 40] = True
    foot = CAMERA.deproject_pixels(np.array([30]), np.array([40]), np.array([2], np.float32))[0]
    own_head, other_head = foot + 1.7 * up, foot - 0.6 * ahead + 0.4 * up
    heads = [JointProposal("head", tuple(map(float, place)), 0.8) for place in (own_head, other_head)]
    level, tilted = split(heads, depth_m, mask), split(heads, depth_m, mask, up=tuple(up))
    assert [component.any() for component in tilted] == [True, False]
    assert [component.any() for component in level] == [False, True]


def cut_out(proposals, depth_m, mask, **options) -> list[np.ndarray]:
    landmarks = tuple(dict.fromkeys(Landmark(each.joint, each.voted) for each in proposals))
    return HeadSplit().cut_out(Proposals.gather(landmarks, proposals), depth_m, mask, CAMERA, **options)


def test_a_person_is_cut_out_of_a_wide_bench():
    depth_m, mask = np.full(SHAPE, 2, np.float32), np.zeros(SHAPE, bool)
    mask[25:40] = True  # the bench
    mask[10:55, 35:45] = True  # the person before it
    (person,) = cut_out([head(0.0)], depth_m, mask)
    cols = np.flatnonzero(person.any(axis=0))
    assert (cols.min(), cols.max()) == (27, 52)  # half a metre to either side
    np.testing.assert_array_equal(person[:, 27:53], mask[:, 27:53])


def test_what_is_high_above_a_head_is_no_person():
    depth_m, mask = np.full(SHAPE, 2, np.float32), np.ones(SHAPE, bool)
    (person,) = cut_out([head(0.0, y=0.0)], depth_m, mask)
    rows = np.flatnonzero(person.any(axis=1))
    assert (rows.min(), rows.max()) == (23, 59)


def test_what_is_deep_below_a_head_is_no_person():
    depth_m, mask = np.full(SHAPE, 2, np.float32), np.ones(SHAPE, bool)
    (person,) = cut_out([head(0.0, y=-1.2)], depth_m, mask)
    rows = np.flatnonzero(person.any(axis=1))
    assert (rows.min(), rows.max()) == (0, 49)  # two metres below


def test_what_is_behind_a_head_is_no_person():
    depth_m, mask = np.full(SHAPE, 2, np.float32), np.ones(SHAPE, bool)
    depth_m[:, 40:] = 2.6
    (person,) = cut_out([head(0.0)], depth_m, mask)
    assert person.any()
    assert (depth_m[person] == 2).all()


def test_surroundings_come_by_the_confidence_of_the_head():
    depth_m, mask = np.full(SHAPE, 2, np.float32), np.ones(SHAPE, bool)
    heads = [head(0.7 * k - 1.0, confidence=0.6 + 0.1 * k) for k in range(4)]
    centres = [np.nonzero(part)[1].mean() for part in cut_out(heads, depth_m, mask)]
    assert len(centres) == HeadSplit().max_heads
    assert centres == sorted(centres, reverse=True)


@pytest.mark.parametrize("proposals", [[], [head(0.0, confidence=0.3)], [head(0.0)]])
def test_nothing_is_cut_where_nothing_is_left(proposals):
    depth_m, mask = side_by_side()
    assert cut_out(proposals, depth_m, mask & (np.abs(np.arange(SHAPE[1]) - 39.5) < 8)) == []
