"""Gradients of the facing network: against differences of the loss, and the same way forward as in use."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.facing.facing_network import DIRECTIONS, STRIDES, layer_shapes
from posepipe.facing.person_picture import CHANNELS, SIDE
from posepipe.training.networks.adam import Adam, cosine_schedule, he_weights
from posepipe.training.networks.facing_gradients import FacingLayers, facing_gradients

STEP = 1e-7


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(7)
    layers = FacingLayers.draw(layer_shapes(units=(4,) * len(STRIDES), hidden=8), rng)
    for kind in ("weights", "shifts", "scales", "means", "variances"):
        setattr(layers, kind, [own.astype(float) for own in getattr(layers, kind)])
    layers.shifts = [own + rng.normal(0, 0.1, own.shape) for own in layers.shifts]
    pictures = rng.normal(0, 1, (3, SIDE, SIDE, CHANNELS))
    return layers, pictures, rng.dirichlet(np.ones(DIRECTIONS), 3), np.array([1, 0.3, 1])


@pytest.mark.parametrize("row", range(8 + 8 + len(STRIDES)))
def test_gradients_are_those_of_the_loss(batch, row):
    own, gradient = batch[0].parameters[row], facing_gradients(*batch)[1][row]
    assert gradient.shape == own.shape
    largest = np.unravel_index(np.abs(gradient).argmax(), own.shape)
    kept, losses = own[largest], []
    for value in (kept + STEP, kept - STEP):
        own[largest] = value
        losses.append(facing_gradients(*batch)[0])
    own[largest] = kept
    assert gradient[largest] != 0
    assert (losses[0] - losses[1]) / (2 * STEP) == pytest.approx(gradient[largest], rel=1e-3)


def test_the_network_in_use_is_the_one_that_was_trained():
    rng = np.random.default_rng(8)
    layers = FacingLayers.draw(layer_shapes(units=(4,) * len(STRIDES), hidden=8), rng)
    pictures = rng.normal(0, 1, (6, SIDE, SIDE, CHANNELS)).astype(np.float32)
    both, targets = np.concatenate([pictures, pictures[:, :, ::-1]]), np.tile(np.eye(DIRECTIONS)[3], (12, 1))
    for _ in range(200):  # until the running means and variances are those of this batch
        loss = facing_gradients(layers, both, targets, np.eye(12)[0] * 12)[0]
    mirrored = facing_gradients(layers, both, targets[:, ::-1], np.eye(12)[6] * 12)[0]
    expected = (np.exp(-loss) + np.exp(-mirrored)) / 2
    assert layers.network().predict(pictures[0]).probabilities[3] == pytest.approx(expected, rel=0.01)


def test_dropout_keeps_the_mean_of_the_gradients(batch):
    rng = np.random.default_rng(9)
    exact = facing_gradients(*batch)[1][15]
    drawn = [facing_gradients(*batch, rng)[1][15] for _ in range(60)]
    assert np.linalg.norm(np.mean(drawn, axis=0) - exact) < 0.5 * np.linalg.norm(exact)
    assert np.ptp(drawn, axis=0).max() > 0


def test_adam_finds_the_least_square():
    wanted, own = np.array([1.0, -2.0, 0.5], np.float32), np.zeros(3, np.float32)
    optimiser = Adam([own], weight_decay=0)
    for step in range(400):
        optimiser.step([2 * (own - wanted)], 0.05 * cosine_schedule(step / 400))
    np.testing.assert_allclose(own, wanted, atol=0.01)


def test_first_weights_keep_the_variance():
    weights = he_weights((3, 3, 20, 500), np.random.default_rng(1))
    assert weights.dtype == np.float32
    assert weights.std() == pytest.approx(np.sqrt(2 / 180), rel=0.02)
