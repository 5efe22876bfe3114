"""Facing network: directions, mirror images, and weights that do not match."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.facing.facing_network import DIRECTIONS, Facing, direction_vectors
from posepipe.facing.person_picture import CHANNELS, SIDE, person_picture
from tests.support import random_inputs


@pytest.fixture
def network():
    return random_inputs.facing_network(np.random.default_rng(4))


@pytest.fixture
def picture():
    return np.random.default_rng(5).random((SIDE, SIDE, CHANNELS), np.float32)


def test_probabilities_are_those_of_all_directions(network, picture):
    probabilities = network.predict(picture).probabilities
    assert probabilities.shape == (DIRECTIONS,)
    assert probabilities.sum() == pytest.approx(1, abs=1e-6)
    assert np.ptp(probabilities) > 0.01


def test_the_mirror_image_faces_the_mirrored_way_exactly(network, picture):
    seen, mirrored = network.predict(picture), network.predict(np.ascontiguousarray(picture[:, ::-1]))
    np.testing.assert_array_equal(mirrored.probabilities[::-1], seen.probabilities)
    np.testing.assert_allclose(mirrored.across * [1, -1], seen.across, atol=1e-6)


def test_agreement_adds_up_directions_within_a_quarter_turn():
    probabilities = np.zeros(DIRECTIONS, np.float32)
    probabilities[[0, DIRECTIONS // 2]] = 0.25, 0.75  # backwards and forwards
    facing, forwards = Facing(probabilities), direction_vectors()[DIRECTIONS // 2]
    assert facing.agreement(forwards) == 0.75
    assert facing.agreement(-0.01 * forwards) == 0.25
    np.testing.assert_allclose(facing.across, forwards / 2, atol=1e-6)


def test_directions_are_unit_vectors_evenly_around():
    vectors = direction_vectors()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1)
    np.testing.assert_allclose(vectors.sum(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(vectors[::-1], vectors * [1, -1], atol=1e-12)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda own: {"convolutions": own.convolutions[:-1]}, "has 6 convolutional layers"),
        (lambda own: {"biases": own.biases[:-1]}, "a bias for every layer"),
        (lambda own: {"weights": (own.weights[0] * np.float32(np.nan), own.weights[1])}, "layer 6 .* must be finite"),
        (lambda own: {"weights": (own.weights[0].astype(float), own.weights[1])}, "layer 6 .* got float64"),
        (lambda own: {"convolutions": ((own.convolutions[0][0][:2], own.biases[0]),) * 6}, "layer 0 .* got float32"),
        (lambda own: {"weights": own.weights[:1], "biases": own.biases[:1]}, "has 16 outputs, got 8"),
    ],
)
def test_weights_that_do_not_match_are_refused(network, change, said):
    with pytest.raises(ValueError, match=said):
        replace(network, **change(network))


def test_a_picture_is_the_same_anywhere_in_the_image():
    rng, intrinsics = np.random.default_rng(6), Intrinsics(100.0, 100.0, 40.0, 30.0)
    person = rng.uniform(1, 2, (25, 12)).astype(np.float32)
    depth_m = np.zeros((2, 60, 80), np.float32)
    depth_m[0, 10:35, 20:32] = depth_m[1, 20:45, 50:62] = person
    one, other = (person_picture(own, own > 0, intrinsics) for own in depth_m)
    np.testing.assert_array_equal(one, other)


def test_what_lies_outside_the_image_is_known():
    depth_m = np.zeros((40, 40), np.float32)
    depth_m[20:, 10:30] = 1.5
    picture = person_picture(depth_m, depth_m > 0, Intrinsics(100.0, 100.0, 20.0, 20.0))
    assert picture[0, SIDE // 2, 2] == 1
    assert picture[-1, SIDE // 2, 2] == 0  # below the border
    assert picture[..., 1].max() == 1
    assert not picture[..., 0].any()  # all at one distance


def test_a_single_pixel_has_a_picture():
    depth_m = np.full((4, 4), 2, np.float32)
    picture = person_picture(depth_m, np.eye(4, dtype=bool)[:1] & (np.ones((4, 4), bool)), Intrinsics(5.0, 5.0, 1, 1))
    assert np.isfinite(picture).all()
