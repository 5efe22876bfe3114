"""Residuals at points of a small tree of segments, for normal equations."""

from __future__ import annotations

import numpy as np

PARENTS, N_SHAPE = np.array([-1, 0, 1, 1, 0, 4]), 2


def random_residuals(rng: np.random.Generator, count: int = 60) -> list[tuple]:
    """Segment, point, direction, derivative by shape, residual and weight of each."""
    return [
        (
            int(rng.integers(len(PARENTS))),
            *rng.normal(size=(2, 3)),
            rng.normal(size=N_SHAPE),
            rng.normal(),
            rng.random(),
        )
        for _ in range(count)
    ]


def random_starts_m(rng: np.random.Generator) -> np.ndarray:
    """Starts of the segments, float64 (S, 3), metres."""
    return rng.normal(size=(len(PARENTS), 3))
