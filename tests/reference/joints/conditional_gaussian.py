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


def precision(noise, covariance, seen, shared, nugget):
    """Inverse covariance (A, S, S) of the values seen."""
    return np.array(
        [
            np.linalg.inv(own[np.ix_(seen, seen)] + shared + np.diag(noise[seen] + nugget))
            for own in covariance.astype(float)
        ]
    )
