"""Votes of pixels: decoded from leaves, thinned evenly, mirrored, and refused when they do not fit."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.learn.depth.votes.cast_votes import cast_votes, pack_votes
from posepipe.learn.depth.votes.leaf_votes import OFFSET_STEP_M, LeafVotes
from posepipe.parts import JointVotes
from tests.reference.learn import cast_votes as naive
from tests.support.leaf_votes import AREA_M2, TWO_LEAVES, dense, leaf_votes, noisy_voters


def cast(points, leaves, trees, area_m2=AREA_M2, **limits) -> JointVotes:
    points = np.asarray(points, np.float32).reshape(-1, 3)
    area = np.broadcast_to(np.asarray(area_m2, np.float32), len(points)).copy()
    leaves = np.asarray(leaves, np.int32).reshape(len(points), len(trees))
    return cast_votes(points, area, leaves, pack_votes(trees), **limits)


def assert_votes_are(votes: JointVotes, naive_votes) -> None:
    assert votes.counts.tolist() == [len(own) for own in naive_votes]
    for joint, own in enumerate(naive_votes):
        places_m, weights_m2 = votes.places_m[joint, : len(own)], votes.weights_m2[joint, : len(own)]
        np.testing.assert_allclose(places_m, np.reshape([place for place, _ in own], (-1, 3)), atol=1e-6)
        np.testing.assert_allclose(weights_m2, [weight for _, weight in own], rtol=1e-5)


def test_every_tree_votes_by_its_own_leaves():
    other = leaf_votes([[[[0, 0, 20]]]], [[[255]]])
    votes = cast([[0, 0, 2]], [[1, 0]], [TWO_LEAVES, other])
    assert votes.counts.tolist() == [2]
    np.testing.assert_allclose(votes.places_m[0, :2], [[0, 0.2, 2], [0, 0, 2.1]], atol=1e-6)
    np.testing.assert_allclose(votes.weights_m2[0, :2], [0.2 * AREA_M2, AREA_M2], rtol=1e-6)


def test_leaves_of_one_node_cast_its_votes():
    shared = replace(TWO_LEAVES, node_of_leaf=np.array([1, 1, 0], np.int32))
    votes = cast([[0, 0, 2]] * 3, [[0], [1], [2]], [shared])
    np.testing.assert_allclose(votes.places_m[0, :3], [[0, 0.2, 2], [0, 0.2, 2], [0.1, 0, 2]], atol=1e-6)


def test_no_pixels_cast_no_votes():
    votes = cast(np.zeros((0, 3)), np.zeros((0, 1)), [TWO_LEAVES])
    assert votes.counts.tolist() == [0]
    assert not votes.weights_m2.any()


def test_of_many_votes_the_heaviest_are_kept():
    points = np.zeros((30, 3)) + [0, 0, 2]
    leaves = np.arange(30) % 2
    votes = cast(points, leaves, [TWO_LEAVES], max_votes=15)
    assert votes.counts.tolist() == [15]
    np.testing.assert_allclose(votes.weights_m2[0], AREA_M2, rtol=1e-6)
    votes = cast(points, leaves, [TWO_LEAVES], max_votes=16)
    assert np.isclose(votes.weights_m2[0, : votes.counts[0]], 0.2 * AREA_M2).sum() == 1


def test_of_equal_votes_evenly_spaced_ones_are_kept():
    points = np.stack([np.arange(100) / 10, np.zeros(100), np.full(100, 2)], 1)
    votes = cast(points, np.zeros(100), [TWO_LEAVES], max_votes=10)
    assert votes.counts.tolist() == [10]
    np.testing.assert_allclose(np.diff(votes.places_m[0, :, 0]), 1, atol=1e-5)


def test_thinned_pixels_weigh_as_much_as_all():
    points = np.zeros((400, 3)) + [0, 0, 2]
    votes = cast(points, np.zeros(400), [TWO_LEAVES], max_pixels=40)
    assert votes.counts.tolist() == [40]
    assert votes.weights_m2[0, :40].sum() == pytest.approx(400 * AREA_M2, rel=1e-5)


@pytest.mark.parametrize("steps", [127, -127, -128])
def test_a_mirrored_walk_votes_to_the_other_side_at_any_length(steps):
    far = leaf_votes([[[[steps, 3, 0]]]], [[[255]]])
    points, area = np.array([[0, 0, 2]], np.float32), np.array([AREA_M2], np.float32)
    votes = cast_votes(points, area, np.zeros((1, 2), np.int32), pack_votes([far], np.array([0])))
    assert votes.counts.tolist() == [2]
    offset = steps * OFFSET_STEP_M
    np.testing.assert_allclose(votes.places_m[0, :2], [[offset, 0.015, 2], [-offset, 0.015, 2]], atol=1e-6)


def test_a_mirrored_walk_votes_for_the_joint_of_the_other_side():
    sides = leaf_votes([[[[20, 4, -8]], [[0, 0, 0]]]], [[[255], [0]]])
    votes = cast_votes(
        np.array([[0, 0, 2]], np.float32),
        np.array([AREA_M2], np.float32),
        np.array([[0, 0]], np.int32),
        pack_votes([sides], np.array([1, 0])),
    )
    assert votes.counts.tolist() == [1, 1]
    np.testing.assert_allclose(votes.places_m[:, 0], [[0.1, 0.02, 1.96], [-0.1, 0.02, 1.96]], atol=1e-6)


def test_a_body_may_have_more_joints_than_a_byte_counts():
    offsets, weights = np.zeros((1, 300, 1, 3)), np.zeros((1, 300, 1))
    offsets[0, 299, 0], weights[0, 299, 0] = [20, 0, 0], 200
    votes = cast([[0, 0, 2]], [[0]], [leaf_votes(offsets, weights)])
    assert votes.counts.sum() == votes.counts[299] == 1
    np.testing.assert_allclose(votes.places_m[299, 0], [0.1, 0, 2], atol=1e-6)


@pytest.mark.parametrize(("max_votes", "max_pixels"), [(2000, 2000), (150, 2000), (60, 77), (2, 3), (1, 1)])
def test_votes_are_those_of_the_naive_twin(max_votes, max_pixels):
    points, area, leaves, trees, _ = noisy_voters(np.random.default_rng(max_votes))
    votes = cast_votes(points, area, leaves, pack_votes(trees), max_votes, max_pixels)
    assert_votes_are(
        votes, naive.cast_votes(points, area, leaves, [dense(tree) for tree in trees], max_votes, max_pixels)
    )


def test_votes_of_mirrored_walks_are_those_of_the_naive_twin():
    points, area, leaves, trees, _ = noisy_voters(np.random.default_rng(9))
    leaves, other_side = np.tile(leaves, 2), np.array([1, 0, 2])
    votes = cast_votes(points, area, leaves, pack_votes(trees, other_side), 150, 2000)
    assert_votes_are(
        votes, naive.cast_votes(points, area, leaves, [dense(tree) for tree in trees], 150, 2000, other_side)
    )


def test_pixels_without_area_do_not_vote():
    votes = cast([[0, 0, 2], [1, 0, 2]], [[0], [0]], [TWO_LEAVES], area_m2=[AREA_M2, 0])
    assert votes.counts.tolist() == [1]
    np.testing.assert_allclose(votes.places_m[0, 0], [0.1, 0, 2], atol=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"node_of_leaf": np.array([0, 2], np.int32)}, "outside the 2 rows"),
        ({"node_of_leaf": np.array([-1, 0], np.int32)}, "outside the 2 rows"),
        ({"node_of_leaf": np.zeros(3, np.int32)}, "2 leaves need"),
        ({"node_of_leaf": np.zeros(2, np.int64)}, "node_of_leaf of int32"),
        ({"weight": np.ones(2, np.int8)}, "weight of uint8"),
        ({"weight": np.array([255, 0], np.uint8)}, "a weight above 0"),
        ({"weight": np.ones(3, np.uint8)}, r"joint of shape \(3,\)"),
        ({"joint": np.array([0, 1], np.uint8)}, r"a joint of 0\.\.0"),
        ({"joint": np.zeros(2, np.uint16)}, "joint of uint8"),
        ({"offset": np.zeros((2, 2), np.int8)}, r"offset of shape \(2, 3\)"),
        ({"n_votes": np.array([1, 2], np.int32)}, "add up to 2 votes"),
        ({"n_votes": np.array([3, -1], np.int32)}, "add up to 2 votes"),
        ({"n_joints": 2}, "needs votes for 1 joints"),
    ],
)
def test_arrays_out_of_a_kernel_s_bounds_are_refused(change, message):
    TWO_LEAVES.check(n_leaves=2, n_joints=1)
    with pytest.raises(ValueError, match=message):
        replace(TWO_LEAVES, **change).check(n_leaves=2, n_joints=1)


@pytest.mark.parametrize(
    ("offsets", "weights", "message"),
    [
        (np.zeros((2, 1, 1, 3), np.int8), np.zeros((2, 1, 1), np.int8), "weights of uint8"),
        (np.zeros((2, 1, 1, 3), np.int16), np.zeros((2, 1, 1), np.uint8), "offsets of int8"),
        (np.zeros((2, 1, 1, 3), np.int8), np.zeros((2, 1, 2), np.uint8), "got shapes"),
        (np.zeros((2, 1, 3), np.int8), np.zeros((2, 1), np.uint8), "got shapes"),
    ],
)
def test_dense_votes_that_do_not_match_are_refused(offsets, weights, message):
    with pytest.raises(ValueError, match=message):
        LeafVotes.from_dense(np.zeros(2, np.int32), offsets, weights)


def test_places_without_a_vote_take_no_memory():
    votes = leaf_votes([[[[1, 2, 3], [0, 0, 0]], [[4, 5, 6], [7, 8, 9]]]], [[[9, 0], [8, 7]]])
    assert votes.n_votes.tolist() == [3]
    assert votes.joint.tolist() == [0, 1, 1]
    assert votes.weight.tolist() == [9, 8, 7]
    assert votes.offset.tolist() == [[1, 2, 3], [4, 5, 6], [7, 8, 9]]
