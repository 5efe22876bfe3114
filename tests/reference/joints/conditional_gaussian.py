"""Naive twin of posepipe/joints/conditional_gaussian.py.

Bishop 2006, eq. 2.81-2.82, by plain inverses, axis by axis.
"""

from __future__ import annotations

import numpy as np


def condition(surprise, noise, covariance, seen, asked, shared, nugget):
    """Shift and variance (Q, A) of the values asked for, given those seen."""
    shift, variance = np.zeros((len(asked), len(covariance))), np.zeros((len(asked), len(covariance)))
    for axis, own in enumerate(covariance.astype(float) + shared):
        gain = own[np.ix_(asked, seen)] @ np.linalg.inv(own[np.ix_(seen, seen)] + np.diag(noise[seen] + nugget))
        shift[:, axis] = gain @ surprise[seen, axis]
        variance[:, axis] = np.diag(own[np.ix_(asked, asked)] - gain @ own[np.ix_(seen, asked)])
    return shift, variance


def leave_one_out(surprise, noise, covariance, seen, shared, nugget):
    """Each value seen, given all others that were: how far from the measurement it is expected, and its variance."""
    shift, variance = np.zeros(surprise.shape), np.zeros(surprise.shape)
    for value in seen:
        others = np.array([other for other in seen if other != value])
        expected, spread = condition(surprise, noise, covariance, others, np.array([value]), shared, nugget)
        shift[value], variance[value] = expected[0] - surprise[value], spread[0] + nugget
    return shift, variance
