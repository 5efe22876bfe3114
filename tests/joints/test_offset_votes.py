"""Modes of votes: where the votes of a person's pixels agree, heaviest first, and moving with the person."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from posepipe.joints.modes.mean_shift import MAX_MODES
from posepipe.joints.modes.offset_votes import find_vote_modes
from posepipe.learn.depth.votes.cast_votes import MAX_PIXELS, MAX_VOTES, cast_votes, pack_votes
from tests.reference.joints import offset_votes as naive
from tests.reference.learn import cast_votes as naive_cast_votes
from tests.support.leaf_votes import AREA_M2, TWO_LEAVES, dense, leaf_votes, noisy_voters

MILLIMETRE = 1e-3
BANDWIDTH_M = 0.05


def modes_of(points, leaves, trees):
    points = np.asarray(points, np.float32).reshape(-1, 3)
    area = np.full(len(points), AREA_M2, np.float32)
    votes = cast_votes(points, area, np.asarray(leaves, np.int32).reshape(len(points), len(trees)), pack_votes(trees))
    return find_vote_modes(votes, np.full(len(votes.counts), BANDWIDTH_M, np.float32))


def test_votes_of_different_pixels_meet_at_the_joint():
    modes, masses = modes_of([[0.2, 0, 2], [0.3, -0.2, 2]], [[0], [1]], [TWO_LEAVES])
    np.testing.assert_allclose(modes[0, 0], [0.3, 0, 2], atol=MILLIMETRE)
    assert masses[0].tolist() == pytest.approx([1.2 * AREA_M2, 0, 0, 0], rel=1e-3)


def test_votes_for_different_places_are_modes_heaviest_first():
    modes, masses = modes_of([[1, 0, 2], [0, 0, 2]], [[1], [0]], [TWO_LEAVES])
    np.testing.assert_allclose(modes[0, :2], [[0.1, 0, 2], [1, 0.2, 2]], atol=MILLIMETRE)
    assert masses[0].tolist() == pytest.approx([AREA_M2, 0.2 * AREA_M2, 0, 0], rel=1e-3)


def test_a_leaf_with_two_votes_for_a_joint_casts_both():
    both = leaf_votes([[[[20, 0, 0], [-20, 0, 0]]]], [[[200, 50]]])
    modes, masses = modes_of([[0, 0, 2]], [[0]], [both])
    np.testing.assert_allclose(modes[0, :2], [[0.1, 0, 2], [-0.1, 0, 2]], atol=MILLIMETRE)
    np.testing.assert_allclose(masses[0, :2], np.array([200, 50]) / 255 * AREA_M2, rtol=1e-3)


def test_a_vote_of_weight_0_is_no_vote():
    one_joint = leaf_votes([[[[20, 0, 0]], [[0, 0, 0]]]], [[[0], [255]]])
    modes, masses = modes_of([[0, 0, 2]], [[0]], [one_joint])
    assert (masses > 0).sum(1).tolist() == [0, 1]
    np.testing.assert_allclose(modes[1, 0], [0, 0, 2], atol=1e-6)


def test_no_votes_have_no_modes():
    _, masses = modes_of(np.zeros((0, 3)), np.zeros((0, 1)), [TWO_LEAVES])
    assert masses.tolist() == [[0] * MAX_MODES]


def test_the_heaviest_of_many_votes_is_found():
    count = 60
    trees = [leaf_votes(np.zeros((2, 1, 1, 3)), [[[30]], [[255]]])]
    points = np.stack([np.arange(count), np.zeros(count), np.full(count, 2)], 1)
    leaves = np.zeros(count)
    leaves[37] = 1
    modes, _ = modes_of(points, leaves, trees)
    np.testing.assert_allclose(modes[0, 0], points[37], atol=1e-6)


def test_modes_are_those_of_the_naive_twin():
    points, area, leaves, trees, joints = noisy_voters(np.random.default_rng(7))
    bandwidth = np.array([0.05, 0.06, 0.07], np.float32)
    modes, masses = find_vote_modes(cast_votes(points, area, leaves, pack_votes(trees)), bandwidth)
    by_tree = [dense(tree) for tree in trees]
    cast_naively = naive_cast_votes.cast_votes(points, area, leaves, by_tree, MAX_VOTES, MAX_PIXELS)
    wanted, wanted_masses = naive.find_vote_modes(cast_naively, bandwidth, MAX_MODES)
    # mean shift ends at a step of half a millimetre; the kernel is an approximation
    np.testing.assert_allclose(modes[:, 0], wanted[:, 0], atol=MILLIMETRE)
    np.testing.assert_allclose(masses[:, 0], wanted_masses[:, 0], rtol=1e-3)
    np.testing.assert_allclose(modes[:, 0], joints, atol=10 * MILLIMETRE)


def test_moving_a_person_moves_the_modes():
    points, area, leaves, trees, _ = noisy_voters(np.random.default_rng(8))
    packed, bandwidth = pack_votes(trees), np.full(3, BANDWIDTH_M, np.float32)
    shift = np.array([0.7, -0.3, 1.1], np.float32)
    still, masses = find_vote_modes(cast_votes(points, area, leaves, packed), bandwidth)
    moved, moved_masses = find_vote_modes(cast_votes(points + shift, area, leaves, packed), bandwidth)
    np.testing.assert_allclose(moved[:, 0], still[:, 0] + shift, atol=MILLIMETRE)
    np.testing.assert_allclose(moved_masses[:, 0], masses[:, 0], rtol=5e-3)


def test_one_thread_and_many_find_the_same_modes():
    points, area, leaves, trees, _ = noisy_voters(np.random.default_rng(9))
    votes = cast_votes(points, area, leaves, pack_votes(trees))
    bandwidth, threads = np.full(3, BANDWIDTH_M, np.float32), numba.get_num_threads()
    many = find_vote_modes(votes, bandwidth)
    numba.set_num_threads(1)
    try:
        one = find_vote_modes(votes, bandwidth)
    finally:
        numba.set_num_threads(threads)
    np.testing.assert_array_equal(one[0], many[0])
    np.testing.assert_array_equal(one[1], many[1])
