"""Bags of training rows, and predictions for the rows outside the bag of each ensemble member."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import r2_score

from posepipe.learn.tables.estimators.ensembles.voting import votes_of


def draw_bag(
    n_rows: int, n_drawn: int, replace: bool, rng: np.random.Generator, probabilities: np.ndarray | None = None
) -> np.ndarray:
    """Draw rows of a table.

    Parameters
    ----------
    n_rows, n_drawn : int; n of n rows with replacement leave out 1/e = 36.8 % of the rows
    replace : bool, draw with replacement
    rng : Generator
    probabilities : float64 (n_rows,), sum 1; None = uniform

    Returns
    -------
    int64 (n_rows,), how often each row was drawn

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.
    """
    if replace and probabilities is None:
        drawn = rng.integers(n_rows, size=n_drawn)
    else:
        drawn = rng.choice(n_rows, n_drawn, replace=replace, p=probabilities)
    return np.bincount(drawn, minlength=n_rows)


class OutOfBag:
    """Mean prediction of each row by the members without the row in their bag."""

    def __init__(self, n_rows: int, n_outputs: int) -> None:
        self._sums = np.zeros((n_rows, n_outputs))
        self._members = np.zeros(n_rows, np.int64)

    def add(self, rows: np.ndarray, predictions: np.ndarray) -> None:
        """Add the predictions of one member, (len(rows), K), for the rows outside its bag."""
        self._sums[rows] += predictions
        self._members[rows] += 1

    def mean(self) -> np.ndarray:
        """Mean prediction of every row: float64 (N, K), NaN for a row that is in every bag."""
        members = np.where(self._members > 0, self._members, np.nan)
        return self._sums / members[:, None]


class OutOfBagVotes(OutOfBag):
    """Out-of-bag votes of classifiers; it also keeps each member's class, for strength and correlation."""

    def __init__(self, n_rows: int, n_classes: int, vote: str) -> None:
        super().__init__(n_rows, n_classes)
        self._n_classes = n_classes
        self._vote = vote
        self._classes: list[np.ndarray] = []

    def add(self, rows: np.ndarray, predictions: np.ndarray) -> None:
        """Add the posteriors of one member, (len(rows), C), for the rows outside its bag."""
        super().add(rows, votes_of(self._vote, predictions))
        predicted = np.full(len(self._sums), -1, np.min_scalar_type(-self._n_classes))
        predicted[rows] = np.argmax(predictions, axis=1)
        self._classes.append(predicted)

    def strength_and_correlation(self, target: np.ndarray) -> tuple[float, float]:
        """Apply the function `strength_and_correlation`; ``target`` is int (N,), class of every row."""
        return strength_and_correlation(np.array(self._classes), target, self._n_classes)


def row_losses(predictions: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Loss of every row: 0 or 1 for classes, the squared error for numbers.

    Parameters
    ----------
    predictions : float64 (N, C), vote shares, of which the first maximum is the predicted class; or (N,), numbers
    target : (N,), class or number

    Returns
    -------
    float64 (N,), NaN where the prediction is NaN
    """
    if predictions.ndim == 1:
        return (predictions - target) ** 2
    return np.where(np.isnan(predictions[:, 0]), np.nan, np.argmax(predictions, axis=1) != target)


def mean_loss(losses: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of losses, (N,), without NaN; NaN if all are NaN."""
    known = ~np.isnan(losses)
    return float(np.average(losses[known], weights=weight[known])) if known.any() else float("nan")


def determination(predictions: np.ndarray, target: np.ndarray, weight: np.ndarray) -> float:
    """Weighted coefficient of determination of the predictions, (N,), that are not NaN; NaN for fewer than two."""
    known = ~np.isnan(predictions)
    if known.sum() < 2:
        return float("nan")
    return float(r2_score(target[known], predictions[known], sample_weight=weight[known]))


def strength_and_correlation(votes: np.ndarray, target: np.ndarray, n_classes: int) -> tuple[float, float]:
    """Strength of a forest's trees and correlation between them, from votes on out-of-bag rows.

    Q(x, j) is the share of a row's votes for class j, and J the wrong class of maximum share. The margin of a row
    is Q(x, y) - Q(x, J), and the strength is its mean. The correlation is the variance of the margin divided by
    the squared mean, over trees, of sd = sqrt(p1 + p2 - (p1 - p2)^2), where p1 and p2 are the shares of a tree's
    votes for y and for J.

    Parameters
    ----------
    votes : int (T, N), class that each tree predicts for each row; -1 = the row is in its bag
    target : int (N,), true classes
    n_classes : int

    Returns
    -------
    strength : float, -1 to 1; NaN if no row is outside any bag
    correlation : float; NaN likewise, and 0 if no tree's margin varies

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001, section 2.2 and appendix II.
    """
    shares = np.zeros((len(target), max(n_classes, 2)))  # a single class still needs a wrong one
    for predicted in votes:
        oob = np.flatnonzero(predicted >= 0)
        shares[oob, predicted[oob]] += 1
    answered = shares.any(axis=1)
    if not answered.any():
        return float("nan"), float("nan")
    votes, target, shares = votes[:, answered], target[answered], shares[answered]
    row = np.arange(len(target))
    shares /= shares.sum(axis=1, keepdims=True)
    correct = shares[row, target]
    shares[row, target] = -1
    strongest_wrong = np.argmax(shares, axis=1)
    margin = correct - shares[row, strongest_wrong]
    deviation = np.mean(_margin_deviations(votes, target, strongest_wrong))
    correlation = margin.var() / deviation**2 if deviation > 0 else 0.0
    return float(margin.mean()), float(correlation)


def _margin_deviations(votes: np.ndarray, target: np.ndarray, strongest_wrong: np.ndarray) -> list[float]:
    """Standard deviation of the margin of each tree that has out-of-bag rows."""
    deviations = []
    for predicted in votes:
        oob = predicted >= 0
        if oob.any():
            p1 = np.mean(predicted[oob] == target[oob])
            p2 = np.mean(predicted[oob] == strongest_wrong[oob])
            deviations.append(np.sqrt(max(p1 + p2 - (p1 - p2) ** 2, 0)))
    return deviations
