"""Grid search of bandwidth, probability threshold and push-back of each landmark."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.modes.push_back import push_back
from posepipe.joints.proposals import ModeProposer
from posepipe.landmarks import landmarks_of
from posepipe.results import CORRECT_M
from posepipe.training.joints.found_modes import FoundModes
from posepipe.training.joints.training_people import TrainingPerson

BANDWIDTHS_M = (0.04, 0.065, 0.09, 0.12)
MIN_PROBABILITIES = (0.05, 0.14, 0.25)
OUTLIER_M = 0.2
"""Distance from the truth above which a mode is an outlier: neither push-back nor Gaussian is fitted to it."""


def search_modes(people: Sequence[TrainingPerson], body: BodyDefinition, method: str) -> JointParameters:
    """Return the joint parameters with the maximum `mode_scores`, landmark by landmark.

    Parameters
    ----------
    people : TrainingPerson of one body
    body : BodyDefinition
    method : one of METHODS
    """
    names = [name for name, _ in landmarks_of(body, method)]
    is_joint = np.array([name in body.joints for name in names])
    default = replace(JointParameters.default(body, method), push_back_m=np.zeros(len(names), np.float32))
    best, best_scores = default, np.full(len(names), -np.inf)
    for bandwidth, threshold in product(BANDWIDTHS_M, MIN_PROBABILITIES):
        trial = replace(
            default,
            bandwidth_m=np.full(len(names), bandwidth, np.float32),
            min_probability=np.full(len(names), threshold, np.float32),
        )
        found = FoundModes.of(people, ModeProposer(body, trial))
        pushed = np.where(is_joint, _best_push_back(found.heaviest_m, found.landmarks_m), 0)
        scores = mode_scores(push_back(found.heaviest_m, pushed), found.landmarks_m)
        better = scores > best_scores
        best_scores = np.where(better, scores, best_scores)
        best = replace(
            best,
            bandwidth_m=np.where(better, trial.bandwidth_m, best.bandwidth_m),
            min_probability=np.where(better, trial.min_probability, best.min_probability),
            push_back_m=np.where(better, pushed, best.push_back_m).astype(np.float32),
        )
    return best


def mode_scores(heaviest_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Share of true landmarks whose heaviest mode lies within 10 cm; the mean error breaks ties.

    Parameters
    ----------
    heaviest_m, truth_m : float64 (P, L, 3), metres; NaN where there is none

    Returns
    -------
    float64 (L,)
    """
    error = np.where(np.isfinite(truth_m[..., 0]), np.linalg.norm(heaviest_m - truth_m, axis=-1), np.nan)
    known = np.maximum(np.isfinite(truth_m[..., 0]).sum(axis=0), 1)
    correct = error < CORRECT_M
    mean_error = np.where(correct, error, 0).sum(axis=0) / np.maximum(correct.sum(axis=0), 1)
    return correct.sum(axis=0) / known - 1e-3 * mean_error


def _best_push_back(heaviest_m: np.ndarray, truth_m: np.ndarray) -> np.ndarray:
    """Median residual along the ray, without outliers: (L,), metres."""
    ray = heaviest_m / np.linalg.norm(heaviest_m, axis=-1, keepdims=True)
    residual = truth_m - heaviest_m
    along = np.where(np.linalg.norm(residual, axis=-1) < OUTLIER_M, (residual * ray).sum(axis=-1), np.nan)
    return np.array([np.median(a[np.isfinite(a)]) if np.isfinite(a).any() else 0.0 for a in along.T])
