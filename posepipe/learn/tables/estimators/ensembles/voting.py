"""Votes of an ensemble of classifiers."""

from __future__ import annotations

import numpy as np

VOTES = ("posterior", "majority")


def votes_of(vote: str, posteriors: np.ndarray) -> np.ndarray:
    """Return the votes of one member for every row.

    Parameters
    ----------
    vote : str, one of VOTES
    posteriors : float64 (N, C), of the member

    Returns
    -------
    float64 (N, C), the posteriors, or 1 for the most probable class only
    """
    if vote == "posterior":
        return posteriors
    votes = np.zeros(posteriors.shape)
    votes[np.arange(len(votes)), np.argmax(posteriors, axis=1)] = 1
    return votes


def vote_weights(vote_weight: str | None, class_totals: np.ndarray) -> np.ndarray:
    """Weight of a vote for each class: 1, or the inverse of the class's share of the training weight.

    Parameters
    ----------
    vote_weight : None or "inverse-frequency"
    class_totals : float64 (C,), training weight of each class; a class of weight 0 gets no votes

    Returns
    -------
    float64 (C,)
    """
    if vote_weight is None:
        return np.ones(len(class_totals))
    return class_totals.sum() / np.where(class_totals > 0, class_totals, 1)


def vote_shares(votes: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Normalise weighted votes.

    Parameters
    ----------
    votes : float64 (N, C), sums or means of votes; a row of NaN stays NaN
    weights : float64 (C,), of a vote for each class

    Returns
    -------
    float64 (N, C), rows sum to 1
    """
    weighted = votes * weights
    return weighted / weighted.sum(axis=1, keepdims=True)
