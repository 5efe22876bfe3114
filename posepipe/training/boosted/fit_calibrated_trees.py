"""Trains boosted trees that tell people from furniture, and calibrates them on folds that they have not seen."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from posepipe.segmentation.boosted_trees.boosted_trees import BoostedTrees
from posepipe.training.boosted.flat_trees import flat_trees
from posepipe.training.boosted.folds import FOLDS
from posepipe.training.boosted.labelled_candidates import LabelledCandidates

BOOSTING: dict[str, Any] = {
    "max_iter": 500,
    "learning_rate": 0.1,
    "max_leaf_nodes": 31,
    "min_samples_leaf": 40,
    "l2_regularization": 1.0,
    "max_features": 0.3,
    "early_stopping": False,
    "random_state": 0,
}
"""Parameters of scikit-learn's gradient boosting on histograms (Friedman 2001; Ke et al., NeurIPS 2017)."""


class CalibratedFit(NamedTuple):
    """Trees of all candidates, and how well trees did on folds that they had not seen."""

    trees: BoostedTrees
    calibration: np.ndarray  #: float32 (2,), offset and slope of the log-odds of a person against the score
    probability: np.ndarray  #: float64 (N,), of each candidate by trees of the other folds; NaN where there are none
    auc: float | None  #: area under the ROC curve of candidates that were left out; None without both kinds


def fit_calibrated_trees(candidates: LabelledCandidates, fold: np.ndarray, names: tuple[str, ...]) -> CalibratedFit:
    """Train trees on candidates of frames in folds, int64 (N,), whose evidence has these names."""
    score = _scores_of_left_out(candidates, fold)
    calibration = _calibration(candidates.is_person, score)
    probability = expit(float(calibration[0]) + float(calibration[1]) * score)
    whole = _boosted(candidates, np.ones(len(fold), bool))
    return CalibratedFit(flat_trees(whole, names), calibration, probability, _auc(candidates.is_person, score))


def _boosted(candidates: LabelledCandidates, rows: np.ndarray) -> HistGradientBoostingClassifier:
    return HistGradientBoostingClassifier(**BOOSTING).fit(candidates.evidence[rows], candidates.is_person[rows])


def _scores_of_left_out(candidates: LabelledCandidates, fold: np.ndarray) -> np.ndarray:
    """Score of every candidate by trees that have not seen its fold, float64 (N,); NaN where that cannot be had."""
    score = np.full(len(fold), np.nan)
    for number in range(FOLDS):
        own = fold == number
        if own.any() and _both(candidates.is_person[~own]):
            score[own] = _boosted(candidates, ~own).decision_function(candidates.evidence[own])
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
