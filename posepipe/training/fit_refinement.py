"""Teaches the network that corrects joints, on people whose true joints are known.

Real proposals are worse than rendered ones: a little off, unsure where they should be sure, missing.
So each person is shown anew in every round with places with_noise, confidences changed and landmarks lost.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

import numpy as np
from sklearn.linear_model import LogisticRegression

from posepipe.joints.joint_parameters import FUSION_TERMS, Refinement
from posepipe.joints.refinement import Evidence, inputs_of
from posepipe.results import RIGHT_M

HIDDEN_UNITS = (512, 256)
EPOCHS = 12
BATCH = 256
LEARNING_RATE = 1e-3
WEIGHT_DECAY = 1e-4
DROPOUT = 0.1
"""Share of hidden units that sit out a step (Srivastava et al. 2014)."""
LOSS_SCALE_M = 0.05
"""Errors count by their square up to about here and by their size beyond: who is far off is off."""
CONFIDENCE_WEIGHT = 0.1
"""Of the log-odds' loss against that of the places."""
PLACE_NOISE_M = 0.04
"""Standard deviation an axis of a landmark's shift; each of its alternatives shakes by half of that besides."""
JOINT_NOISE_M = 0.02
LOG_ODDS_NOISE = 1.0
MIN_DEVIATION = np.float32(0.05)
"""Inputs are divided by their deviation, but by no less: what hardly varied in training may in use."""
DROPPED_SHARE = 0.15
"""Landmarks of which nothing is proposed, besides those of which nothing was."""


def train_refinement(
    evidence: Evidence, joints_m: np.ndarray, rng: np.random.Generator, on_epoch: Callable[[], object] = lambda: None
) -> Refinement:
    """Teach a network, by stochastic gradient descent with a step that falls to nothing along half a cosine.

    Parameters
    ----------
    evidence : of P people, mirror images among them
    joints_m : float (P, J, 3), metres, where their joints really are
    rng : draws the first weights, the order, and what is with_noise
    on_epoch : called EPOCHS times

    References
    ----------
    First weights: He et al. 2015, eq. 10. Falling steps: Loshchilov and Hutter 2017, eq. 5.
    """
    network = _first_network(inputs_of(evidence), joints_m.shape[1], rng)
    missing_m = (joints_m - evidence.joints_m).astype(np.float32)
    n_batches = -(-len(evidence) // BATCH)
    optimiser = _Adam([*network.weights, *network.biases])
    for done in range(EPOCHS):
        for k, batch in enumerate(np.array_split(rng.permutation(len(evidence)), n_batches)):
            seen = inputs_of(with_noise(evidence[batch], rng))
            share = (done + k / n_batches) / EPOCHS
            slope = gradients(network, seen, missing_m[batch], rng)
            optimiser.step(slope, LEARNING_RATE * (1 + np.cos(np.pi * share)) / 2)
        on_epoch()
    kept = tuple(weight.astype(np.float16).astype(np.float32) for weight in network.weights)
    return replace(network, weights=kept)  # as a model file keeps them: what follows is fitted to those


def _first_network(inputs: np.ndarray, n_joints: int, rng: np.random.Generator) -> Refinement:
    sizes = (inputs.shape[1], *HIDDEN_UNITS, 4 * n_joints)
    weights = [rng.normal(0, np.sqrt(2 / n), (n, m)).astype(np.float32) for n, m in pairwise(sizes)]
    weights[-1] *= 0.01  # at first hardly anything is corrected
    biases = tuple(np.zeros(m, np.float32) for m in sizes[1:])
    uncalibrated = np.tile(np.array([0, 1], np.float32), (n_joints, 1))
    unweighed = np.zeros((2, n_joints, FUSION_TERMS), np.float32)
    deviation = np.maximum(inputs.std(axis=0), MIN_DEVIATION)
    return Refinement(inputs.mean(axis=0), deviation, tuple(weights), biases, uncalibrated, unweighed)


def fit_fusion(terms: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Logistic regression on `fusion_terms`, a joint at a time, of whether it lies right: float32 (J, FUSION_TERMS)."""
    weights = np.zeros(terms.shape[1:], np.float32)
    for joint, (x, y) in enumerate(zip(terms.swapaxes(0, 1), right.T, strict=True)):
        if y.any() and not y.all():
            fit = LogisticRegression(C=100, fit_intercept=False, max_iter=1000).fit(x, y)
            weights[joint] = fit.coef_[0]
        else:
            share = (y.sum() + 1) / (len(y) + 2)  # nothing to learn from: the share itself, by Laplace's rule
            weights[joint, 0] = np.log(share / (1 - share))
    return weights


def with_noise(evidence: Evidence, rng: np.random.Generator) -> Evidence:
    """The same people as a poorer forest might have shown them."""
    people, landmarks = evidence.chosen_confidence.shape
    lost = rng.random((people, landmarks)) < DROPPED_SHARE
    shift = _normal(rng, PLACE_NOISE_M, (people, landmarks, 3))
    doubt = _normal(rng, LOG_ODDS_NOISE, (people, landmarks))
    return replace(
        evidence,
        alternatives_m=evidence.alternatives_m
        + shift[:, :, None]
        + _normal(rng, PLACE_NOISE_M / 2, evidence.alternatives_m.shape),
        alternatives_confidence=_doubted(evidence.alternatives_confidence, doubt[..., None]) * ~lost[..., None],
        chosen_m=evidence.chosen_m + shift,
        chosen_confidence=_doubted(evidence.chosen_confidence, doubt) * ~lost,
        joints_m=evidence.joints_m + _normal(rng, JOINT_NOISE_M, evidence.joints_m.shape),
    )


def _normal(rng: np.random.Generator, deviation: float, shape: tuple[int, ...]) -> np.ndarray:
    return rng.standard_normal(shape, np.float32) * np.float32(deviation)


def _doubted(confidence: np.ndarray, doubt: np.ndarray) -> np.ndarray:
    """Confidences whose log-odds are shifted; who has none keeps none."""
    odds = np.exp(doubt) * confidence / np.maximum(1 - confidence, 1e-6)
    return odds / (1 + odds)


def loss(answer: np.ndarray, missing_m: np.ndarray) -> tuple[float, np.ndarray]:
    """How wrong the network's answer is, and the loss's slope at every number of it.

    Parameters
    ----------
    answer : float32 (P, 4 J), as `refinement.forward` gives it
    missing_m : float32 (P, J, 3), the corrections that would be right, metres

    Returns
    -------
    Mean over people of the sum over joints: sqrt(1 + |error|^2 / LOSS_SCALE_M^2) (Charbonnier et al. 1997), and
    CONFIDENCE_WEIGHT times the cross-entropy of the log-odds against whether the corrected joint lies right; and its
    derivative, float32 (P, 4 J)
    """
    people, n_joints = missing_m.shape[:2]
    corrections, log_odds = answer[:, : 3 * n_joints].reshape(missing_m.shape), answer[:, 3 * n_joints :]
    error = corrections - missing_m
    squared = (error**2).sum(axis=2)
    size = np.sqrt(1 + squared / LOSS_SCALE_M**2)
    right = squared < RIGHT_M**2
    entropy = np.logaddexp(0, np.where(right, -log_odds, log_odds))
    slope = np.concatenate(
        [
            (error / (LOSS_SCALE_M**2 * size[..., None])).reshape(people, -1),
            CONFIDENCE_WEIGHT * (1 / (1 + np.exp(-log_odds)) - right),
        ],
        axis=1,
    )
    return float((size + CONFIDENCE_WEIGHT * entropy).sum() / people), (slope / people).astype(np.float32)


def gradients(
    network: Refinement, inputs: np.ndarray, missing_m: np.ndarray, rng: np.random.Generator | None = None
) -> list[np.ndarray]:
    """Slopes of the loss at every weight, then at every bias, by backpropagation (Rumelhart et al. 1986).

    With ``rng``, some hidden units sit out.
    """
    layers = [(inputs - network.input_mean) / network.input_deviation]
    for weight, bias in zip(network.weights[:-1], network.biases[:-1], strict=True):
        hidden = np.maximum(layers[-1] @ weight + bias, 0)
        if rng is not None:
            hidden *= (rng.random(hidden.shape, np.float32) >= DROPOUT) / np.float32(1 - DROPOUT)
        layers.append(hidden)
    slope = loss(layers[-1] @ network.weights[-1] + network.biases[-1], missing_m)[1]
    at_weights, at_biases = [], []
    for layer, weight in zip(reversed(layers), reversed(network.weights), strict=True):
        at_weights.append(layer.T @ slope)
        at_biases.append(slope.sum(axis=0))
        slope = slope @ weight.T * (layer > 0)
        if rng is not None:
            slope /= np.float32(1 - DROPOUT)  # a unit that sat out is 0, as is its slope
    return at_weights[::-1] + at_biases[::-1]


class _Adam:
    """Steps down a slope, each weight by its own measure (Kingma and Ba 2015, algorithm 1).

    With decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2).
    """

    def __init__(self, parameters: list[np.ndarray]) -> None:
        self.parameters = parameters
        self.means = [np.zeros_like(p) for p in parameters]
        self.squares = [np.zeros_like(p) for p in parameters]
        self.steps = 0

    def step(self, slopes: list[np.ndarray], rate: float) -> None:
        self.steps += 1
        unbiased, unbiased_square = 1 - 0.9**self.steps, 1 - 0.999**self.steps
        for parameter, slope, mean, square in zip(self.parameters, slopes, self.means, self.squares, strict=True):
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            step = mean / unbiased / (np.sqrt(square / unbiased_square) + 1e-8)
            if parameter.ndim > 1:  # biases do not decay
                step += WEIGHT_DECAY * parameter
            parameter -= np.float32(rate) * step
