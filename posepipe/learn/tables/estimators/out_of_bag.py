"""Bags of training rows, and what an ensemble's members say of the rows outside of theirs."""

from __future__ import annotations

import numpy as np

from posepipe.learn.tables.estimators.voting import ballot


def draw_bag(
    n_rows: int, n_drawn: int, replace: bool, rng: np.random.Generator, chances: np.ndarray | None = None
) -> np.ndarray:
    """Draw rows of a table: how often each was drawn, int64 (n_rows,).

    Parameters
    ----------
    n_rows, n_drawn : with replacement, n out of n leave out 1/e = 36.8 % of the rows
    replace : whether a row may be drawn again
    rng : Generator
    chances : float64 (n_rows,), which sum to 1; None = all alike

    References
    ----------
    Breiman, Bagging predictors, Machine Learning 24, 1996.
    """
    if replace and chances is None:
        drawn = rng.integers(n_rows, size=n_drawn)
    else:
        drawn = rng.choice(n_rows, n_drawn, replace=replace, p=chances)
    return np.bincount(drawn, minlength=n_rows)


class OutOfBag:
    """Sums up what members answer to rows that they did not see in training."""

    def __init__(self, n_rows: int, n_answers: int) -> None:
        self._sums = np.zeros((n_rows, n_answers))
        self._members = np.zeros(n_rows, np.int64)

    def add(self, rows: np.ndarray, answers: np.ndarray) -> None:
        """Count one member: its answers, (len(rows), K), to the rows outside its bag."""
        self._sums[rows] += answers
        self._members[rows] += 1

    def mean(self) -> np.ndarray:
        """Mean answer to every row: float64 (N, K), NaN for a row that was in every bag."""
        members = np.where(self._members > 0, self._members, np.nan)
        return self._sums / members[:, None]


class OutOfBagVotes(OutOfBag):
    """The same of classifiers, with each one's vote, for strength and correlation."""

    def __init__(self, n_rows: int, n_classes: int, vote: str) -> None:
        super().__init__(n_rows, n_classes)
        self._n_classes = n_classes
        self._vote = vote
        self._votes: list[np.ndarray] = []

    def add(self, rows: np.ndarray, answers: np.ndarray) -> None:
        super().add(rows, ballot(self._vote, answers))
        said = np.full(len(self._sums), -1, np.min_scalar_type(-self._n_classes))
        said[rows] = np.argmax(answers, axis=1)
        self._votes.append(said)

    def strength_and_correlation(self, target: np.ndarray) -> tuple[float, float]:
        """By the function of this name. ``target`` int (N,), class of every row."""
        return strength_and_correlation(np.array(self._votes), target, self._n_classes)


def row_losses(answers: np.ndarray, target: np.ndarray) -> np.ndarray:
    """Loss of every row: float64 (N,), NaN where there is no answer.

    Parameters
    ----------
    answers : float64 (N, C), shares of votes: the loss is 1 where the first likeliest class is wrong. Or (N,),
        numbers: the loss is the squared error
    target : (N,), class or number
    """
    if answers.ndim == 1:
        return (answers - target) ** 2
    return np.where(np.isnan(answers[:, 0]), np.nan, np.argmax(answers, axis=1) != target)


def mean_loss(losses: np.ndarray, weight: np.ndarray) -> float:
    """Weighted mean of losses, (N,), leaving out those that are NaN; NaN when all are."""
    known = ~np.isnan(losses)
    return float(np.average(losses[known], weights=weight[known])) if known.any() else float("nan")


def strength_and_correlation(votes: np.ndarray, target: np.ndarray, n_classes: int) -> tuple[float, float]:
    """How good a forest's trees are, and how much alike, by their votes on rows outside their bags.

    With Q(x, j) the share of a row's votes for class j, and J its likeliest wrong class, the margin of a row is
    Q(x, y) - Q(x, J); the strength is its mean. The correlation is the margin's variance over the square of the
    mean, over trees, of the deviation sd = sqrt(p1 + p2 - (p1 - p2)^2) of a single tree's margin, where p1 and p2
    are its shares of votes for y and for J.

    Parameters
    ----------
    votes : int (T, N), class that each tree says of each row; -1 = the row was in its bag
    target : int (N,), true classes
    n_classes : int

    Returns
    -------
    strength : float, -1 to 1; NaN when no row was ever left out
    correlation : float; the same, and 0 where no tree's margin varies at all

    References
    ----------
    Breiman, Random Forests, Machine Learning 45, 2001, section 2.2 and appendix II.
    """
    shares = np.zeros((len(target), max(n_classes, 2)))  # where there is one class only, there still is a wrong one
    for said in votes:
        outside = np.flatnonzero(said >= 0)
        shares[outside, said[outside]] += 1
    answered = shares.any(axis=1)
    if not answered.any():
        return float("nan"), float("nan")
    votes, target, shares = votes[:, answered], target[answered], shares[answered]
    row = np.arange(len(target))
    shares /= shares.sum(axis=1, keepdims=True)
    right = shares[row, target]
    shares[row, target] = -1
    likeliest_wrong = np.argmax(shares, axis=1)
    margin = right - shares[row, likeliest_wrong]
    deviations = []
    for said in votes:
        outside = said >= 0
        if outside.any():
            p1 = np.mean(said[outside] == target[outside])
            p2 = np.mean(said[outside] == likeliest_wrong[outside])
            deviations.append(np.sqrt(max(p1 + p2 - (p1 - p2) ** 2, 0)))
    deviation = np.mean(deviations)
    correlation = margin.var() / deviation**2 if deviation > 0 else 0.0
    return float(margin.mean()), float(correlation)
