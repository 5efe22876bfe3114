"""Modes: planted ones are found, and they follow their points."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.joints.modes.mean_shift import MAX_MODES, find_modes
from tests.reference.joints import mean_shift as naive
from tests.support import random_inputs

MILLIMETRE = 1e-3
BANDWIDTH_M = 0.06


def ring(centre, radius_m: float = 0.02, count: int = 12) -> np.ndarray:
    """Points in a circle, so that their mode is known exactly: the centre."""
    angle = np.arange(count) * 2 * np.pi / count
    circle = np.stack([np.cos(angle), np.sin(angle), np.zeros(count)], 1) * radius_m
    return (np.array(centre) + circle).astype(np.float32)


def modes_of(points, weights=None, bandwidth_m=BANDWIDTH_M, min_probability=0.1):
    """Modes (M, 3) and masses (M,) of one landmark, those that exist."""
    weights = np.full(len(points), 0.5) if weights is None else weights
    modes, masses = find_modes(
        np.asarray(points, np.float32),
        np.asarray(weights, np.float32)[:, None],
        np.full(len(points), 1e-4, np.float32),
        np.array([bandwidth_m], np.float32),
        np.array([min_probability], np.float32),
    )
    exist = masses[0] > 0
    assert not exist[np.argmin(exist) :].any() or exist.all()  # no gap before the last
    return modes[0][exist], masses[0][exist]


def test_a_planted_mode_is_found_to_a_millimetre():
    modes, masses = modes_of(ring([0.3, -0.2, 2.5]))
    assert len(modes) == 1
    assert np.linalg.norm(modes[0] - [0.3, -0.2, 2.5]) < MILLIMETRE
    # twelve points of half a square centimetre, each a third of a sigma from the mode
    assert masses[0] == pytest.approx(12 * 0.5e-4 * np.exp(-1 / 18), rel=1e-3)


def test_modes_are_sorted_by_their_mass():
    centres = [[0, 0, 2], [0.5, 0, 2], [0, 0.5, 2]]
    weights = np.repeat([0.3, 0.9, 0.6], 12)
    modes, masses = modes_of(np.concatenate([ring(c) for c in centres]), weights)
    assert (np.diff(masses) < 0).all()
    np.testing.assert_allclose(modes, np.array(centres, float)[[1, 2, 0]], atol=MILLIMETRE)


def test_of_many_modes_the_heaviest_are_kept():
    centres = np.array([[0.5 * k, 0, 2] for k in range(MAX_MODES + 2)])
    shares = np.array([0.3, 0.9, 0.5, 0.4, 0.8, 0.7])
    modes, _ = modes_of(np.concatenate([ring(c, count=4) for c in centres]), np.repeat(shares, 4))
    np.testing.assert_allclose(modes, centres[[1, 4, 5, 2]], atol=MILLIMETRE)


@given(st.integers(0, 1000), st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.floats(-0.5, 2)))
@settings(max_examples=30)
def test_moved_points_move_their_modes(seed, shift):
    rng = np.random.default_rng(seed)
    centres = np.array([[0, 0, 2], [0.6, 0.1, 2.2]])
    points = random_inputs.blobs(rng, centres, 40, 0.02)
    still, masses = modes_of(points)
    moved, moved_masses = modes_of(points + np.array(shift, np.float32))
    np.testing.assert_allclose(moved, still + shift, atol=MILLIMETRE)
    np.testing.assert_allclose(moved_masses, masses, rtol=5e-3)


@pytest.mark.parametrize("factor", [0.25, 2.0, 16.0])
def test_scaling_all_areas_scales_the_masses_and_moves_nothing(factor):
    rng = np.random.default_rng(1)
    points = random_inputs.blobs(rng, np.array([[0, 0, 2], [0.5, 0, 2]]), 40, 0.02)
    probabilities, area = rng.uniform(0.2, 1, (80, 1)).astype(np.float32), np.full(80, 1e-4, np.float32)
    settings_ = np.array([0.06], np.float32), np.array([0.1], np.float32)
    modes, masses = find_modes(points, probabilities, area, *settings_)
    scaled_modes, scaled_masses = find_modes(points, probabilities, area * np.float32(factor), *settings_)
    np.testing.assert_allclose(scaled_modes, modes, atol=1e-6)
    np.testing.assert_allclose(scaled_masses, masses * factor, rtol=1e-5)


def test_two_of_one_place_are_one_mode():
    modes, _ = modes_of(np.concatenate([ring([0, 0, 2]), ring([0.02, 0, 2])]))
    assert len(modes) == 1
    assert np.linalg.norm(modes[0] - [0.01, 0, 2]) < MILLIMETRE


def test_points_at_or_below_the_min_probability_take_no_part():
    points = np.concatenate([ring([0, 0, 2]), ring([0.05, 0, 2]), ring([1, 0, 2])])
    weights = np.repeat([0.5, 0.25, 0.2], 12)
    modes, masses = modes_of(points, weights, min_probability=0.25)
    alone, alone_masses = modes_of(ring([0, 0, 2]), np.full(12, 0.5), min_probability=0.25)
    np.testing.assert_array_equal(modes, alone)
    np.testing.assert_array_equal(masses, alone_masses)


def test_no_points_have_no_modes():
    modes, masses = modes_of(np.zeros((0, 3)))
    assert len(modes) == len(masses) == 0
    modes, _ = modes_of(ring([0, 0, 2]), np.full(12, 0.05))
    assert len(modes) == 0


def test_a_single_point_is_its_own_mode():
    modes, masses = modes_of(np.array([[0.1, 0.2, 3.0]]))
    np.testing.assert_allclose(modes, [[0.1, 0.2, 3.0]], atol=1e-6)
    assert masses[0] == pytest.approx(0.5e-4)


def test_landmarks_know_nothing_of_each_other():
    rng = np.random.default_rng(2)
    points = random_inputs.blobs(rng, np.array([[0, 0, 2], [0.5, 0, 2]]), 50, 0.02)
    probabilities = rng.uniform(0, 1, (100, 5)).astype(np.float32)
    area, bandwidth = np.full(100, 1e-4, np.float32), rng.uniform(0.04, 0.1, 5).astype(np.float32)
    min_probability = rng.uniform(0, 0.5, 5).astype(np.float32)
    modes, masses = find_modes(points, probabilities, area, bandwidth, min_probability)
    for k in range(5):
        own = slice(k, k + 1)
        alone = find_modes(
            points, np.ascontiguousarray(probabilities[:, own]), area, bandwidth[own], min_probability[own]
        )
        np.testing.assert_array_equal(modes[k], alone[0][0])
        np.testing.assert_array_equal(masses[k], alone[1][0])


def test_outliers_of_high_probability_do_not_hide_a_limb():
    strays = np.array([[k, -3, 2] for k in range(12)])
    limb = [0.8, 0, 2] + np.random.default_rng(0).normal(0, 0.03, (100, 3))
    modes, _ = modes_of(np.concatenate([strays, limb]), np.repeat([0.95, 0.7], [12, 100]))
    assert np.linalg.norm(modes[0] - [0.8, 0, 2]) < 0.02


def test_a_wide_blob_does_not_hide_a_heavier_narrow_one():
    rng = np.random.default_rng(1)
    wide = [0, 0, 2] + rng.normal(0, BANDWIDTH_M, (150, 3))
    narrow = [0.8, 0, 2] + rng.normal(0, 0.5 * BANDWIDTH_M, (75, 3))
    weights = np.concatenate([rng.uniform(0.8, 1, 150), rng.uniform(0.6, 0.75, 75)])
    modes, masses = modes_of(np.concatenate([wide, narrow]), weights)
    places, wanted = naive.modes_of(np.concatenate([wide, narrow]), weights * 1e-4, BANDWIDTH_M)
    np.testing.assert_allclose(modes[:2], places[:2], atol=MILLIMETRE)
    np.testing.assert_allclose(masses[:2], wanted[:2], rtol=1e-2)


def test_a_small_heavy_cluster_is_found_among_many_faint_points():
    # a hand of ten pixels of probability 1 and 900 of 0.15 elsewhere: the hand is the heaviest mode
    rng = np.random.default_rng(3)
    faint = rng.uniform([-0.8, -0.8, 2], [0.8, 0.8, 2.4], (900, 3))
    hand = [1.5, 0, 2] + rng.normal(0, 0.01, (10, 3))
    points = np.concatenate([faint[:600], hand, faint[600:]])
    weights = np.concatenate([np.full(600, 0.15), np.ones(10), np.full(300, 0.15)])
    mode, mass = naive.shift_to_mode(points, weights * 1e-4, [1.5, 0, 2], BANDWIDTH_M)
    modes, masses = modes_of(points, weights)
    assert masses[0] == pytest.approx(mass, rel=0.01)
    np.testing.assert_allclose(modes[0], mode, atol=MILLIMETRE)
