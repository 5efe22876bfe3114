"""How the answers of many classifiers become one."""

from __future__ import annotations

import numpy as np

VOTES = ("posterior", "majority")
VOTE_WEIGHTS = (None, "inverse-frequency")


def check_votes(vote: str, vote_weight: str | None) -> None:
    """Raise ValueError for a way of voting that is not known."""
    for name, value, known in (("vote", vote, VOTES), ("vote_weight", vote_weight, VOTE_WEIGHTS)):
        if value not in known:
            raise ValueError(f"{name} must be one of {known}, got {value!r}")


def ballot(vote: str, posteriors: np.ndarray) -> np.ndarray:
    """What one voter says of every row, (N, C): its posteriors as they are, or 1 for the likeliest class only."""
    if vote == "posterior":
        return posteriors
    votes = np.zeros(posteriors.shape)
    votes[np.arange(len(votes)), np.argmax(posteriors, axis=1)] = 1
    return votes


def vote_weights(vote_weight: str | None, class_totals: np.ndarray) -> np.ndarray:
    """What a vote for each class counts: float64 (C,), 1, or the inverse of the class's share of the training weight.

    Parameters
    ----------
    vote_weight : of VOTE_WEIGHTS
    class_totals : float64 (C,), training weight of each class; a class of 0 gets no votes anyway
    """
    if vote_weight is None:
        return np.ones(len(class_totals))
    return class_totals.sum() / np.where(class_totals > 0, class_totals, 1)


def elect(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Shares of the weighted votes: float64 (N, C), rows sum to 1.

    Parameters
    ----------
    votes : float64 (N, C), sums or means of ballots; a row of NaN stays one
    weights : float64 (C,), what a vote for each class counts
    """
    weighted = votes * weights
    return weighted / weighted.sum(axis=1, keepdims=True)
