"""Naive twin of posepipe/second_pass/relabelling.py: a log-linear pool (Genest and Zidek 1986), pixel by pixel."""

from __future__ import annotations

import math


def pool_terms(values, points_m, joints_m, confidences):
    """Log probabilities of the parts, then log distances to the joints, each weighted by its confidence."""
    return [
        [math.log(float(p) + 0.01) for p in probabilities[1:]]
        + [
            float(c) * math.log((math.dist(point, joint) + 0.03) / 0.2) if c > 0 else 0.0
            for joint, c in zip(joints_m.tolist(), confidences, strict=True)
        ]
        for probabilities, point in zip(values, points_m.tolist(), strict=True)
    ]


def relabel(values, points_m, joints_m, confidences, weights, bias):
    """Probabilities (N, 1 + K): class 0 as it was, the parts in proportion to exp(bias + terms * weights)."""
    rows = []
    for probabilities, terms in zip(values, pool_terms(values, points_m, joints_m, confidences), strict=True):
        pooled = [
            float(b) + sum(t * float(w) for t, w in zip(terms, column, strict=True))
            for b, column in zip(bias, weights.T, strict=True)
        ]
        odds = [math.exp(each - max(pooled)) for each in pooled]
        rest = 1 - float(probabilities[0])
        rows.append([float(probabilities[0]), *(rest * each / sum(odds) for each in odds)])
    return rows
