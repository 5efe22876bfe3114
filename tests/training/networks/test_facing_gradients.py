"""Gradients of the facing network: against differences of the loss, and the same way forward as in use."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.facing.facing_network import DIRECTIONS
from posepipe.facing.person_picture import CHANNELS, SIDE
from posepipe.training.networks.adam import Adam, cosine_schedule, he_weights
from posepipe.training.networks.facing_gradients import facing_gradients
from tests.support import random_inputs

STEP = 1e-7


@pytest.fixture(scope="module")
def batch():
    rng = np.random.default_rng(7)
    network = random_inputs.facing_network(rng)
    layers = [*network.convolutions, *zip(network.weights, network.biases, strict=True)]
    weights, biases = ([own.astype(float) for own in kind] for kind in zip(*layers, strict=True))
    pictures = rng.normal(0, 1, (3, SIDE, SIDE, CHANNELS))
    return weights, biases, pictures, rng.dirichlet(np.ones(DIRECTIONS), 3), np.array([1, 0.3, 1])


@pytest.mark.parametrize("layer", range(8))
@pytest.mark.parametrize("kind", ["weight", "bias"])
def test_gradients_are_those_of_the_loss(batch, layer, kind):
    weights, biases, *given = batch
    own = (weights if kind == "weight" else biases)[layer]
    gradient = facing_gradients(weights, biases, *given)[1][layer + (0 if kind == "weight" else len(weights))]
    largest = np.unravel_index(np.abs(gradient).argmax(), own.shape)
    kept, losses = own[largest], []
    for value in (kept + STEP, kept - STEP):
        own[largest] = value
        losses.append(facing_gradients(weights, biases, *given)[0])
    own[largest] = kept
    assert gradient[largest] != 0
    assert (losses[0] - losses[1]) / (2 * STEP) == pytest.approx(gradient[largest], rel=1e-4)


def test_the_loss_is_that_of_the_network_in_use():
    rng = np.random.default_rng(8)
    network = random_inputs.facing_network(rng)
    layers = [*network.convolutions, *zip(network.weights, network.biases, strict=True)]
    weights, biases = zip(*layers, strict=True)
    picture = rng.normal(0, 1, (SIDE, SIDE, CHANNELS)).astype(np.float32)
    both = np.stack([picture, picture[:, ::-1]])
    targets = np.eye(DIRECTIONS)[[3, DIRECTIONS - 4]]
    losses = [facing_gradients(weights, biases, both[[k]], targets[[k]], np.ones(1))[0] for k in (0, 1)]
    assert np.exp(-np.array(losses)).mean() == pytest.approx(network.predict(picture).probabilities[3], rel=1e-5)


def test_dropout_keeps_the_mean_of_the_gradients(batch):
    weights, biases, *given = batch
    rng = np.random.default_rng(9)
    exact = facing_gradients(weights, biases, *given)[1][-1]
    drawn = [facing_gradients(weights, biases, *given, rng)[1][-1] for _ in range(60)]
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
