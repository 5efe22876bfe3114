"""Trains the network that corrects joints, on people whose true joints are known.

Real proposals are worse than rendered ones: displaced, less confident or missing. Each epoch therefore adds noise to
places and confidences and drops some landmarks (noise and dropout augmentation).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from sklearn.linear_model import LogisticRegression

from posepipe.joints.joint_parameters import FUSION_TERMS, Refinement
from posepipe.joints.refinement import Evidence, inputs_of
from posepipe.results import CORRECT_M
from posepipe.training.networks.adam import Adam, cosine_schedule, he_weights

HIDDEN_UNITS = (512, 256)
"""Units of the hidden layers."""
EPOCHS = 30
BATCH = 256
LEARNING_RATE = 1e-3
WEIGHT_DECAY = 1e-4
DROPOUT = 0.1
"""Share of hidden units dropped in each step (Srivastava et al. 2014)."""
LOSS_SCALE_M = 0.05
"""Error, metres, above which the loss grows linearly instead of quadratically."""
CONFIDENCE_WEIGHT = 0.1
"""Weight of the loss of the log-odds relative to that of the places."""
PLACE_NOISE_M = 0.04
"""Standard deviation, along an axis, of the noise of a landmark; its alternatives get half as much in addition."""
JOINT_NOISE_M = 0.02
"""Standard deviation, along an axis, of the noise of an expected joint."""
LOG_ODDS_NOISE = 1.0
"""Standard deviation of the noise of a confidence's log-odds."""
MIN_DEVIATION = np.float32(0.05)
"""Minimum standard deviation used to scale an input: one that is constant in training may vary in use."""
PART_NOISE_M = 0.02
"""Standard deviation, along an axis, of the noise of a part's centre; all parts of a person get half as much more."""
SURFACE_NOISE = 0.3
"""Standard deviation of the noise of the logarithm of a part's surface."""
DROPPED_SHARE = 0.15
"""Share of landmarks whose proposals are dropped."""


def train_refinement(
    evidence: Evidence, joints_m: np.ndarray, rng: np.random.Generator, on_epoch: Callable[[], object] = lambda: None
) -> Refinement:
    """Train a network by Adam with weight decay and a cosine schedule of the learning rate.

    Parameters
    ----------
    evidence : Evidence of P people, including mirror images
    joints_m : float (P, J, 3), metres, true joints
    rng : draws initial weights, order and noise
    on_epoch : called EPOCHS times

    Returns
    -------
    Refinement, not calibrated
    """
    network = _first_network(inputs_of(evidence), joints_m.shape[1], rng)
    target_m = (joints_m - evidence.joints_m).astype(np.float32)
    n_batches = -(-len(evidence) // BATCH)
    optimiser = Adam([*network.weights, *network.biases], WEIGHT_DECAY)
    for done in range(EPOCHS):
        for k, batch in enumerate(np.array_split(rng.permutation(len(evidence)), n_batches)):
            inputs = inputs_of(with_noise(evidence[batch], rng))
            share = (done + k / n_batches) / EPOCHS
            gradient = gradients(network, inputs, target_m[batch], rng)
            optimiser.step(gradient, LEARNING_RATE * cosine_schedule(share))
        on_epoch()
    kept = tuple(weight.astype(np.float16).astype(np.float32) for weight in network.weights)
    return replace(network, weights=kept)  # as stored in a model file: later fits then match the stored weights


def _first_network(inputs: np.ndarray, n_joints: int, rng: np.random.Generator) -> Refinement:
    sizes = (inputs.shape[1], *HIDDEN_UNITS, 4 * n_joints)
    weights = [he_weights(shape, rng) for shape in pairwise(sizes)]
    weights[-1] *= 0.01  # corrections start near zero
    biases = tuple(np.zeros(m, np.float32) for m in sizes[1:])
    uncalibrated = np.tile(np.array([0, 1], np.float32), (n_joints, 1))
    unweighed = np.zeros((2, n_joints, FUSION_TERMS), np.float32)
    deviation = np.maximum(inputs.std(axis=0), MIN_DEVIATION)
    return Refinement(inputs.mean(axis=0), deviation, tuple(weights), biases, uncalibrated, unweighed)


def fit_fusion(terms: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Fit fusion weights: for each joint, a logistic regression of whether it is right.

    Parameters
    ----------
    terms : float64 (P, J, FUSION_TERMS), from `fusion_terms`
    right : bool (P, J)

    Returns
    -------
    float32 (J, FUSION_TERMS)
    """
    weights = np.zeros(terms.shape[1:], np.float32)
    for joint, (x, y) in enumerate(zip(terms.swapaxes(0, 1), right.T, strict=True)):
        if y.any() and not y.all():
            fit = LogisticRegression(C=100, fit_intercept=False, max_iter=1000).fit(x, y)
            weights[joint] = fit.coef_[0]
        else:
            share = (y.sum() + 1) / (len(y) + 2)  # a single class: its share, by Laplace's rule
            weights[joint, 0] = np.log(share / (1 - share))
    return weights


def with_noise(evidence: Evidence, rng: np.random.Generator) -> Evidence:
    """Return the evidence with noise on places and confidences, and with some landmarks dropped."""
    people, landmarks = evidence.chosen_confidence.shape
    dropped = rng.random((people, landmarks)) < DROPPED_SHARE
    shift = _normal(rng, PLACE_NOISE_M, (people, landmarks, 3))
    log_odds_shift = _normal(rng, LOG_ODDS_NOISE, (people, landmarks))
    return replace(
        evidence,
        alternatives_m=evidence.alternatives_m
        + shift[:, :, None]
        + _normal(rng, PLACE_NOISE_M / 2, evidence.alternatives_m.shape),
        alternatives_confidence=_shift_log_odds(evidence.alternatives_confidence, log_odds_shift[..., None])
        * ~dropped[..., None],
        chosen_m=evidence.chosen_m + shift,
        chosen_confidence=_shift_log_odds(evidence.chosen_confidence, log_odds_shift) * ~dropped,
        joints_m=evidence.joints_m + _normal(rng, JOINT_NOISE_M, evidence.joints_m.shape),
        moments=_with_noise(evidence.moments, rng),
    )


def _with_noise(moments: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Add noise to the surfaces and centres of parts; those that are not there stay so."""
    people, parts = moments.shape[:2]
    noisy = moments.copy()
    noisy[..., 0] *= np.exp(_normal(rng, SURFACE_NOISE, (people, parts)))
    shift = _normal(rng, PART_NOISE_M / 2, (people, 1, 3)) + _normal(rng, PART_NOISE_M, (people, parts, 3))
    noisy[..., 1:4] += shift * (moments[..., :1] > 0)
    return noisy


def _normal(rng: np.random.Generator, deviation: float, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape, np.float32) * np.float32(deviation)


def _shift_log_odds(confidence: np.ndarray, log_odds_shift: np.ndarray) -> np.ndarray:
    """Shift the log-odds of confidences; 0 stays 0."""
    odds = np.exp(log_odds_shift) * confidence / np.maximum(1 - confidence, 1e-6)
    return odds / (1 + odds)


def loss(output: np.ndarray, target_m: np.ndarray) -> tuple[float, np.ndarray]:
    """Loss of network outputs, and its gradient.

    Parameters
    ----------
    output : float32 (P, 4 J), from `refinement.forward`
    target_m : float32 (P, J, 3), metres, true corrections

    Returns
    -------
    loss : mean over people of the sum over joints of two terms: sqrt(1 + |error|^2 / LOSS_SCALE_M^2), and
        CONFIDENCE_WEIGHT times the cross-entropy of the log-odds against whether the corrected joint is right
    gradient : float32 (P, 4 J)

    References
    ----------
    First term: Charbonnier et al. 1997.
    """
    people, n_joints = target_m.shape[:2]
    corrections, log_odds = output[:, : 3 * n_joints].reshape(target_m.shape), output[:, 3 * n_joints :]
    error = corrections - target_m
    squared = (error**2).sum(axis=2)
    size = np.sqrt(1 + squared / LOSS_SCALE_M**2)
    right = squared < CORRECT_M**2
    entropy = np.logaddexp(0, np.where(right, -log_odds, log_odds))
    gradient = np.concatenate(
        [
            (error / (LOSS_SCALE_M**2 * size[..., None])).reshape(people, -1),
            CONFIDENCE_WEIGHT * (1 / (1 + np.exp(-log_odds)) - right),
        ],
        axis=1,
    )
    return float((size + CONFIDENCE_WEIGHT * entropy).sum() / people), (gradient / people).astype(np.float32)


def gradients(
    network: Refinement, inputs: np.ndarray, target_m: np.ndarray, rng: np.random.Generator | None = None
) -> list[np.ndarray]:
    """Gradients of the loss for all weights, then all biases, by backpropagation.

    Parameters
    ----------
    network : Refinement
    inputs : float32 (P, N)
    target_m : float32 (P, J, 3), metres, true corrections
    rng : draws the dropped hidden units; None = no dropout

    References
    ----------
    Rumelhart, Hinton and Williams 1986.
    """
    layers = [(inputs - network.input_mean) / network.input_deviation]
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        hidden = np.maximum(layers[-1] @ weight + bias, 0)
        if rng is not None:
            hidden *= (rng.random(hidden.shape, np.float32) >= DROPOUT) / np.float32(1 - DROPOUT)
        layers.append(hidden)
    gradient = loss(layers[-1] @ network.weights[-1] + network.biases[-1], target_m)[1]
    weight_gradients, bias_gradients = [], []
    for layer, weight in zip(reversed(layers), reversed(network.weights), strict=True):
        weight_gradients.append(layer.T @ gradient)
        bias_gradients.append(gradient.sum(axis=0))
        gradient = gradient @ weight.T * (layer > 0)
        if rng is not None:
            gradient /= np.float32(1 - DROPOUT)  # a dropped unit is 0, and so is its gradient
    return weight_gradients[::-1] + bias_gradients[::-1]
