"""Naive twin of posepipe/joints/part_moments.py, part by part."""

from __future__ import annotations

import numpy as np


def part_moments(points_m, area_m2, values, min_surface_m2):
    rows = []
    for part in range(1, values.shape[1]):
        weight = area_m2.astype(float) * values[:, part].astype(float) ** 2
        surface = weight.sum()
        if surface < min_surface_m2:
            rows.append(np.zeros(10))
            continue
        centre = np.average(points_m.astype(float), axis=0, weights=weight)
        spread = np.cov(points_m.astype(float).T, aweights=weight, ddof=0)
        pairs = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))
        rows.append(np.hstack([surface, centre, [spread[pair] for pair in pairs]]))
    return np.array(rows)
