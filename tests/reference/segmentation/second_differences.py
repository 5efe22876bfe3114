"""Naive twin of the second differences: one pixel, radius and axis after another."""

from __future__ import annotations

import numpy as np


def second_differences(depth_m, mask, pixels, fx, fy, radii_m=(0.04, 0.1), steepest=2.5) -> np.ndarray:
    """Second differences, float (4, N), metres; inf where there is none."""

    def read(row: int, col: int) -> float | None:
        height, width = depth_m.shape
        if not (0 <= row < height and 0 <= col < width) or not mask[row, col] or depth_m[row, col] == 0:
            return None
        return float(depth_m[row, col])

    def difference(row: int, col: int, radius: float, focal: float, down: bool) -> float:
        here = read(row, col)
        if here is None:
            return np.inf
        step = max(1, round(float(np.float32(radius * focal) / np.float32(here))))
        places = [(row + sign * step, col) if down else (row, col + sign * step) for sign in (-1, 1)]
        ends = [read(*place) for place in places]
        if any(end is None or abs(end - here) >= steepest * radius for end in ends):
            return np.inf
        return ends[0] + ends[1] - 2 * here

    rows = []
    for radius in radii_m:
        rows.append([difference(int(r), int(c), radius, fx, down=False) for r, c in pixels])
        rows.append([difference(int(r), int(c), radius, fy, down=True) for r, c in pixels])
    return np.array(rows)
