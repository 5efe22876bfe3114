"""Votes of pixels: they meet at the joint, and follow their person."""

from __future__ import annotations

from dataclasses import replace

import numba
import numpy as np
import pytest

from posepipe.joints.mean_shift import MAX_MODES
from posepipe.joints.offset_votes import MAX_VOTES, OFFSET_STEP_M, LeafVotes, cast_votes, find_vote_modes, pack_votes
from tests.reference.joints import offset_votes as naive

MILLIMETRE = 1e-3
AREA_M2 = 1e-4
BANDWIDTH_M = 0.05


def leaf_votes(offsets, weights) -> LeafVotes:
    """A vote node for each leaf: offsets (L, J, K, 3) in steps, weights (L, J, K) of 255."""
    return LeafVotes(np.arange(len(weights), dtype=np.int32), np.array(offsets, np.int8), np.array(weights, np.uint8))


def cast(points, leaves, trees, area_m2=AREA_M2, **most):
    points = np.asarray(points, np.float32).reshape(-1, 3)
    area = np.broadcast_to(np.asarray(area_m2, np.float32), len(points)).copy()
    leaves = np.asarray(leaves, np.int32).reshape(len(points), len(trees))
    return cast_votes(points, area, leaves, pack_votes(trees), **most)


def modes_of(points, leaves, trees, **most):
    places, weights, n_votes = cast(points, leaves, trees, **most)
    return find_vote_modes(places, weights, n_votes, np.full(len(n_votes), BANDWIDTH_M, np.float32))


#: the joint lies 0.1 m right of the pixels of leaf 0, and 0.2 m below those of leaf 1
TWO_LEAVES = leaf_votes([[[[20, 0, 0]]], [[[0, 40, 0]]]], [[[255]], [[51]]])


def test_votes_of_different_pixels_meet_at_the_joint():
    modes, masses = modes_of([[0.2, 0, 2], [0.3, -0.2, 2]], [[0], [1]], [TWO_LEAVES])
    np.testing.assert_allclose(modes[0, 0], [0.3, 0, 2], atol=MILLIMETRE)
    assert masses[0].tolist() == pytest.approx([1.2 * AREA_M2, 0, 0, 0], rel=1e-3)


def test_votes_for_different_places_are_modes_heaviest_first():
    modes, masses = modes_of([[1, 0, 2], [0, 0, 2]], [[1], [0]], [TWO_LEAVES])
    np.testing.assert_allclose(modes[0, :2], [[0.1, 0, 2], [1, 0.2, 2]], atol=MILLIMETRE)
    assert masses[0].tolist() == pytest.approx([AREA_M2, 0.2 * AREA_M2, 0, 0], rel=1e-3)


def test_a_leaf_of_two_minds_votes_twice():
    both = leaf_votes([[[[20, 0, 0], [-20, 0, 0]]]], [[[200, 50]]])
    modes, masses = modes_of([[0, 0, 2]], [[0]], [both])
    np.testing.assert_allclose(modes[0, :2], [[0.1, 0, 2], [-0.1, 0, 2]], atol=MILLIMETRE)
    np.testing.assert_allclose(masses[0, :2], np.array([200, 50]) / 255 * AREA_M2, rtol=1e-3)


def test_every_tree_votes_by_its_own_leaves():
    other = leaf_votes([[[[0, 0, 20]]]], [[[255]]])
    places, weights, n_votes = cast([[0, 0, 2]], [[1, 0]], [TWO_LEAVES, other])
    assert n_votes.tolist() == [2]
    np.testing.assert_allclose(places[0, :2], [[0, 0.2, 2], [0, 0, 2.1]], atol=1e-6)
    np.testing.assert_allclose(weights[0, :2], [0.2 * AREA_M2, AREA_M2], rtol=1e-6)


def test_leaves_of_one_node_cast_its_votes():
    shared = replace(TWO_LEAVES, node_of_leaf=np.array([1, 1, 0], np.int32))
    places, _, _ = cast([[0, 0, 2]] * 3, [[0], [1], [2]], [shared])
    np.testing.assert_allclose(places[0, :3], [[0, 0.2, 2], [0, 0.2, 2], [0.1, 0, 2]], atol=1e-6)


def test_a_vote_of_no_weight_is_none():
    silent = leaf_votes([[[[20, 0, 0]], [[0, 0, 0]]]], [[[0], [255]]])
    modes, masses = modes_of([[0, 0, 2]], [[0]], [silent])
    assert (masses > 0).sum(1).tolist() == [0, 1]
    np.testing.assert_allclose(modes[1, 0], [0, 0, 2], atol=1e-6)


def test_nobody_has_no_modes():
    _, masses = modes_of(np.zeros((0, 3)), np.zeros((0, 1)), [TWO_LEAVES])
    assert masses.tolist() == [[0] * MAX_MODES]


def test_of_many_votes_the_heaviest_are_kept():
    points = np.zeros((30, 3)) + [0, 0, 2]
    leaves = np.arange(30) % 2
    _, weights, n_votes = cast(points, leaves, [TWO_LEAVES], max_votes=15)
    assert n_votes.tolist() == [15]
    np.testing.assert_allclose(weights[0], AREA_M2, rtol=1e-6)
    _, weights, n_votes = cast(points, leaves, [TWO_LEAVES], max_votes=16)
    assert np.isclose(weights[0, : n_votes[0]], 0.2 * AREA_M2).sum() == 1


def test_of_equal_votes_evenly_spaced_ones_are_kept():
    points = np.stack([np.arange(100) / 10, np.zeros(100), np.full(100, 2)], 1)
    places, _, n_votes = cast(points, np.zeros(100), [TWO_LEAVES], max_votes=10)
    assert n_votes.tolist() == [10]
    np.testing.assert_allclose(np.diff(places[0, :, 0]), 1, atol=1e-5)


def test_thinned_pixels_weigh_as_much_as_all():
    points = np.zeros((400, 3)) + [0, 0, 2]
    _, weights, n_votes = cast(points, np.zeros(400), [TWO_LEAVES], max_pixels=40)
    assert n_votes.tolist() == [40]
    assert weights[0, :40].sum() == pytest.approx(400 * AREA_M2, rel=1e-5)


@pytest.mark.parametrize("steps", [127, -127, -128])
def test_a_mirrored_walk_votes_to_the_other_side_however_far(steps):
    far = leaf_votes([[[[steps, 3, 0]]]], [[[255]]])
    points, area = np.array([[0, 0, 2]], np.float32), np.array([AREA_M2], np.float32)
    places, _, n_votes = cast_votes(points, area, np.zeros((1, 2), np.int32), pack_votes([far], np.array([0])))
    assert n_votes.tolist() == [2]
    offset = steps * OFFSET_STEP_M
    np.testing.assert_allclose(places[0, :2], [[offset, 0.015, 2], [-offset, 0.015, 2]], atol=1e-6)


def test_a_body_may_have_more_joints_than_a_byte_counts():
    offsets, weights = np.zeros((1, 300, 1, 3)), np.zeros((1, 300, 1))
    offsets[0, 299, 0], weights[0, 299, 0] = [20, 0, 0], 200
    places, _, n_votes = cast([[0, 0, 2]], [[0]], [leaf_votes(offsets, weights)])
    assert n_votes.sum() == n_votes[299] == 1
    np.testing.assert_allclose(places[299, 0], [0.1, 0, 2], atol=1e-6)


def crowd(rng, n_pixels: int = 300):
    """Pixels round three joints, with votes of three trees that err by centimetres; points, areas, leaves, trees."""
    joints = np.array([[0, 0, 2], [0.8, 0.1, 2.3], [-0.7, 0.6, 2.1]])
    home = rng.integers(3, size=n_pixels)
    offset = rng.integers(-40, 41, (n_pixels, 3))
    points = joints[home] - offset * OFFSET_STEP_M
    trees = []
    for _ in range(3):  # a leaf a pixel
        offsets, weights = np.zeros((n_pixels, 3, 2, 3)), np.zeros((n_pixels, 3, 2))
        offsets[np.arange(n_pixels), home, 0] = offset + rng.integers(-2, 3, (n_pixels, 3))
        weights[np.arange(n_pixels), home, 0] = rng.integers(100, 256, n_pixels)
        stray = rng.random(n_pixels) < 0.1
        offsets[stray, 2, 1] = 120
        weights[stray, 2, 1] = 90
        trees.append(leaf_votes(offsets, weights))
    leaves = np.repeat(np.arange(n_pixels)[:, None], 3, 1).astype(np.int32)
    area = rng.uniform(0.5, 1.5, n_pixels).astype(np.float32) * np.float32(AREA_M2)
    return points.astype(np.float32), area, leaves, trees, joints


@pytest.mark.parametrize(("max_votes", "max_pixels"), [(2000, 2000), (150, 2000), (60, 77), (2, 3), (1, 1)])
def test_votes_are_those_of_the_naive_twin(max_votes, max_pixels):
    points, area, leaves, trees, _ = crowd(np.random.default_rng(max_votes))
    places, weights, n_votes = cast_votes(points, area, leaves, pack_votes(trees), max_votes, max_pixels)
    wanted = naive.cast_votes(points, area, leaves, trees, max_votes, max_pixels)
    assert n_votes.tolist() == [len(votes) for votes in wanted]
    for joint, votes in enumerate(wanted):
        np.testing.assert_allclose(
            places[joint, : len(votes)], np.reshape([place for place, _ in votes], (-1, 3)), atol=1e-6
        )
        np.testing.assert_allclose(weights[joint, : len(votes)], [weight for _, weight in votes], rtol=1e-5)


def test_votes_of_mirrored_walks_are_those_of_the_naive_twin():
    points, area, leaves, trees, _ = crowd(np.random.default_rng(9))
    leaves, other_side = np.tile(leaves, 2), np.array([1, 0, 2])
    places, weights, n_votes = cast_votes(points, area, leaves, pack_votes(trees, other_side), 150, 2000)
    wanted = naive.cast_votes(points, area, leaves, trees, 150, 2000, other_side)
    assert n_votes.tolist() == [len(votes) for votes in wanted]
    for joint, votes in enumerate(wanted):
        np.testing.assert_allclose(places[joint, : len(votes)], [place for place, _ in votes], atol=1e-6)
        np.testing.assert_allclose(weights[joint, : len(votes)], [weight for _, weight in votes], rtol=1e-5)


def test_a_mirrored_walk_votes_for_the_other_joint_on_the_other_side():
    sides = leaf_votes([[[[20, 4, -8]], [[0, 0, 0]]]], [[[255], [0]]])
    places, _, n_votes = cast_votes(
        np.array([[0, 0, 2]], np.float32),
        np.array([AREA_M2], np.float32),
        np.array([[0, 0]], np.int32),
        pack_votes([sides], np.array([1, 0])),
    )
    assert n_votes.tolist() == [1, 1]
    np.testing.assert_allclose(places[:, 0], [[0.1, 0.02, 1.96], [-0.1, 0.02, 1.96]], atol=1e-6)


def test_modes_are_those_of_the_naive_twin():
    points, area, leaves, trees, joints = crowd(np.random.default_rng(7))
    bandwidth = np.array([0.05, 0.06, 0.07], np.float32)
    modes, masses = find_vote_modes(*cast_votes(points, area, leaves, pack_votes(trees)), bandwidth)
    cast_naively = naive.cast_votes(points, area, leaves, trees, MAX_VOTES, 1000)
    wanted, wanted_masses = naive.find_vote_modes(cast_naively, bandwidth, MAX_MODES)
    # a climb ends at a step of half a millimetre; the kernel is read from a table
    np.testing.assert_allclose(modes[:, 0], wanted[:, 0], atol=MILLIMETRE)
    np.testing.assert_allclose(masses[:, 0], wanted_masses[:, 0], rtol=1e-3)
    np.testing.assert_allclose(modes[:, 0], joints, atol=10 * MILLIMETRE)


def test_a_person_who_moves_takes_the_modes_along():
    points, area, leaves, trees, _ = crowd(np.random.default_rng(8))
    packed, bandwidth = pack_votes(trees), np.full(3, BANDWIDTH_M, np.float32)
    shift = np.array([0.7, -0.3, 1.1], np.float32)
    still, masses = find_vote_modes(*cast_votes(points, area, leaves, packed), bandwidth)
    moved, moved_masses = find_vote_modes(*cast_votes(points + shift, area, leaves, packed), bandwidth)
    np.testing.assert_allclose(moved[:, 0], still[:, 0] + shift, atol=MILLIMETRE)
    np.testing.assert_allclose(moved_masses[:, 0], masses[:, 0], rtol=5e-3)


def test_pixels_that_are_not_of_the_person_do_not_vote():
    places, _, n_votes = cast([[0, 0, 2], [1, 0, 2]], [[0], [0]], [TWO_LEAVES], area_m2=[AREA_M2, 0])
    assert n_votes.tolist() == [1]
    np.testing.assert_allclose(places[0, 0], [0.1, 0, 2], atol=1e-6)


def test_one_thread_and_many_find_the_same():
    points, area, leaves, trees, _ = crowd(np.random.default_rng(9))
    votes = cast_votes(points, area, leaves, pack_votes(trees))
    bandwidth, threads = np.full(3, BANDWIDTH_M, np.float32), numba.get_num_threads()
    many = find_vote_modes(*votes, bandwidth)
    numba.set_num_threads(1)
    try:
        one = find_vote_modes(*votes, bandwidth)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(one[0], many[0])
    np.testing.assert_array_equal(one[1], many[1])


def test_the_heaviest_of_many_votes_is_found():
    count = 60
    offsets = np.zeros((2, 1, 1, 3))
    trees = [leaf_votes(offsets, [[[30]], [[255]]])]
    points = np.stack([np.arange(count), np.zeros(count), np.full(count, 2)], 1)
    leaves = np.zeros(count)
    leaves[37] = 1
    modes, _ = modes_of(points, leaves, trees)
    np.testing.assert_allclose(modes[0, 0], points[37], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_of_leaf": np.array([0, 2], np.int32)}, "outside the 2 rows"),
        ({"node_of_leaf": np.array([-1, 0], np.int32)}, "outside the 2 rows"),
        ({"node_of_leaf": np.zeros(3, np.int32)}, "2 leaves need"),
        ({"node_of_leaf": np.zeros(2, np.int64)}, "node_of_leaf of int32"),
        ({"weights": np.zeros((2, 1, 1), np.int8)}, "weights of uint8"),
        ({"weights": np.zeros((2, 1, 2), np.uint8)}, "votes for 1 joints"),
        ({"offsets": np.zeros((2, 1, 3), np.int8)}, "votes for 1 joints"),
        ({"offsets": np.zeros((2, 2, 1, 3), np.int8), "weights": np.zeros((2, 2, 1), np.uint8)}, "votes for 1 joints"),
    ],
)
def test_arrays_that_would_lead_a_kernel_astray_are_refused(change, message):
    TWO_LEAVES.check(n_leaves=2, n_joints=1)
    with pytest.raises(ValueError, match=message):
        replace(TWO_LEAVES, **change).check(n_leaves=2, n_joints=1)
