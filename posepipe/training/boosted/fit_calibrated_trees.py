"""Trains boosted trees that tell people from furniture, and calibrates them on folds that they have not seen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.ensemble import GradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.training.boosted.flat_trees import flat_trees
from posepipe.training.boosted.folds import FOLDS
from posepipe.training.boosted.labelled_candidates import LabelledCandidates

BOOSTING: dict[str, Any] = {
    "n_estimators": 500,
    "learning_rate": 0.04,
    "max_depth": None,
    "max_leaf_nodes": 16,
    "min_samples_leaf": 40,
    "subsample": 0.6,
    "max_features": 0.15,
    "random_state": 0,
}
"""Parameters of scikit-learn's gradient boosting (Friedman 2001): small trees, each on a share of rows and columns."""
TREE_CANDIDATES = 64_000
"""Maximum number of candidates that one of these trees is grown on."""


class CalibratedFit(NamedTuple):
    """Trees of all candidates, and how well trees did on folds that they had not seen."""

    trees: BoostedTrees
    calibration: np.ndarray  #: float32 (2,), offset and slope of the log-odds of a person against the score
    probability: np.ndarray  #: float64 (N,), of each candidate by trees of the other folds; NaN where there are none
    auc: float | None  #: area under the ROC curve of candidates that were left out; None without both kinds


def fit_calibrated_trees(candidates: LabelledCandidates, fold: np.ndarray, names: tuple[str, ...]) -> CalibratedFit:
    """Train trees on candidates of frames in folds, int64 (N,), whose evidence has these names."""
    boosted, of_others = _all_boosted(candidates, fold)
    score = _scores_of_left_out(candidates, fold, of_others)
    calibration = _calibration(candidates.is_person, score)
    probability = expit(float(calibration[0]) + float(calibration[1]) * score)
    return CalibratedFit(flat_trees(boosted, names), calibration, probability, _auc(candidates.is_person, score))


def _boosted(candidates: LabelledCandidates, rows: np.ndarray) -> GradientBoostingClassifier:
    share = min(BOOSTING["subsample"], TREE_CANDIDATES / np.count_nonzero(rows))
    boosted = GradientBoostingClassifier(**BOOSTING | {"subsample": share})
    return boosted.fit(candidates.evidence[rows], candidates.is_person[rows])


def _all_boosted(
    candidates: LabelledCandidates, fold: np.ndarray
) -> tuple[GradientBoostingClassifier, list[GradientBoostingClassifier | None]]:
    """Trees of all candidates, and for every fold those of the others; None where these are not of both kinds.

    They are grown side by side: scikit-learn grows one tree after the other, on one core.
    """
    others = [fold != number for number in range(FOLDS)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        whole = pool.submit(_boosted, candidates, np.ones(len(fold), bool))
        grown = [
            pool.submit(_boosted, candidates, rows) if _both(candidates.is_person[rows]) else None for rows in others
        ]
    return whole.result(), [None if each is None else each.result() for each in grown]


def _scores_of_left_out(
    candidates: LabelledCandidates, fold: np.ndarray, of_others: Sequence[GradientBoostingClassifier | None]
) -> np.ndarray:
    """Score of every candidate by trees that have not seen its fold, float64 (N,); NaN where that cannot be had."""
    score = np.full(len(fold), np.nan)
    for number, boosted in enumerate(of_others):
        own = fold == number
        if boosted is not None and own.any():
            score[own] = boosted.decision_function(candidates.evidence[own])
    return score


def _calibration(is_person: np.ndarray, score: np.ndarray) -> np.ndarray:
    """Offset and slope of the log-odds against the score (Platt 1999), float32 (2,)."""
    measured = np.isfinite(score)
    if not _both(is_person[measured]):
        return np.array([0, 1], np.float32)  # too few to calibrate on
    fit = LogisticRegression(C=100).fit(score[measured, None], is_person[measured])
    return np.array([fit.intercept_[0], fit.coef_[0, 0]], np.float32)


def _auc(is_person: np.ndarray, score: np.ndarray) -> float | None:
    """Area under the ROC curve of candidates that were left out; None without both kinds."""
    measured = np.isfinite(score)
    return float(roc_auc_score(is_person[measured], score[measured])) if _both(is_person[measured]) else None


def _both(is_person: np.ndarray) -> bool:
    return bool(is_person.any() and not is_person.all())
