"""From the pixels of a person to what the fit reads: sampled points, likely capsules, outline."""

from __future__ import annotations

import math

import cv2
import numpy as np

from posepipe.body_model.kernels.fit_arrays import Observation
from posepipe.camera import Intrinsics
from posepipe.compilation import compiled_for, njit
from posepipe.frames import window_of

N_POINTS = 160
"""Points of a person that the fit reads; more cost time and change little."""
N_CHOICES = 4
"""Capsules that a point may lie on: those of highest probability."""
MAX_CELLS = 64
"""Longest side of the grid of the outline, cells."""
MARGIN_SHARE = 0.15
"""Border around the person, share of their size."""
MIN_PROBABILITY = 0.02
"""Lower bound of a capsule's probability: labels may be wrong."""
UNSEEN = Observation(
    points_m=np.zeros((0, 3)),
    point_weights=np.zeros(0),
    choices=np.zeros((0, 1), np.int64),
    choice_costs=np.zeros((0, 1)),
    outside_px=np.zeros((2, 2), np.float32),
    depth_m=np.zeros((2, 2), np.float32),
    camera=np.array([1e-6, 1e-6, 0.5, 0.5]),  # all of space lies within the grid
)
"""What a camera shows that shows nothing: no point, and no outline."""


@compiled_for("f4[:,::1], f4[:,::1], f8[:,::1], f8[:,::1], f8[::1], i8[:,::1], f8[:,::1]")
@njit(cache=True)
def sample(points_m, probabilities, part_capsules, out_m, weights, choices, costs):
    """Sample points evenly in image order, and fill in the most probable capsules of each.

    Parameters
    ----------
    points_m : float (N, 3), camera axes, metres
    probabilities : float32 (N, 1 + P), of the parts
    part_capsules : float64 (1 + P, C), likelihood of each class on each capsule
    out_m : float64 (M, 3), written in place
    weights : float64 (M,), shares of the surface that the pixels show, written in place
    choices : int64 (M, I), written in place, highest probability first
    costs : float64 (M, I), -2 log probability, written in place

    References
    ----------
    Naive twin: tests/reference/body_model/observation.py
    """
    likely, total = np.empty(part_capsules.shape[1]), 0.0
    for m in range(len(out_m)):
        n = m * len(points_m) // len(out_m)
        for a in range(3):
            out_m[m, a] = points_m[n, a]
        weights[m] = out_m[m, 2] * out_m[m, 2]
        total += weights[m]
        for c in range(len(likely)):
            likely[c] = 0.0
        for part in range(1, len(part_capsules)):
            share = probabilities[n, part]
            if share > 0:
                for c in range(len(likely)):
                    likely[c] += share * part_capsules[part, c]
        for i in range(choices.shape[1]):
            best = 0
            for c in range(1, len(likely)):
                if likely[c] > likely[best]:
                    best = c
            choices[m, i] = best
            costs[m, i] = -2 * math.log(min(max(likely[best], MIN_PROBABILITY), 1.0))
            likely[best] = -1.0
    for m in range(len(weights)):
        weights[m] /= max(total, 1e-12)


def sample_points(
    points_m: np.ndarray, probabilities: np.ndarray, part_capsules: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Sample points evenly in image order, and choose the capsules that each may lie on.

    Parameters
    ----------
    points_m : float (N, 3), camera axes, metres; N > 0
    probabilities : float32 (N, 1 + P), of the parts
    part_capsules : float64 (1 + P, C)

    Returns
    -------
    points_m, point_weights, choices, choice_costs : as in `Observation`
    """
    count = min(N_POINTS, len(points_m))
    shape = count, min(N_CHOICES, part_capsules.shape[1])
    out = np.empty((count, 3)), np.empty(count), np.empty(shape, np.int64), np.empty(shape)
    sample(points_m, probabilities, part_capsules, *out)
    return out


def outline(depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Crop a person to a coarse grid and measure how far each cell lies outside them.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    mask : bool (H, W), the person, at least one pixel
    intrinsics : Intrinsics

    Returns
    -------
    outside_px, depth_m, camera : as in `Observation`
    """
    rows, cols = window_of(mask)
    margin = int(MARGIN_SHARE * max(rows.stop - rows.start, cols.stop - cols.start)) + 2
    top, left = max(rows.start - margin, 0), max(cols.start - margin, 0)
    rows, cols = slice(top, rows.stop + margin), slice(left, cols.stop + margin)
    step = max(1, -(-max(mask[rows].shape[0], mask[:, cols].shape[1]) // MAX_CELLS))
    own = np.ascontiguousarray(mask[rows, cols][::step, ::step]).view(np.uint8)
    if not own.any():  # thinner than the grid
        own = _any_in_cells(mask[rows, cols], step)
    missing = max(0, 2 - own.shape[0]), max(0, 2 - own.shape[1])  # distances are interpolated between two cells
    padded = cv2.copyMakeBorder(own, 0, missing[0], 0, missing[1], cv2.BORDER_REPLICATE) if any(missing) else own
    filled = cv2.morphologyEx(padded, cv2.MORPH_CLOSE, np.ones((3, 3), np.uint8))
    outside_px = cv2.distanceTransform(1 - filled, cv2.DIST_L2, 3)
    camera = (intrinsics.fx / step, intrinsics.fy / step, (intrinsics.cx - left) / step, (intrinsics.cy - top) / step)
    return outside_px, np.ascontiguousarray(depth_m[rows, cols][::step, ::step]), np.array(camera)


def _any_in_cells(mask: np.ndarray, step: int) -> np.ndarray:
    """Whether each cell of step x step pixels holds a pixel of a mask: uint8, 0 or 1."""
    tall = np.logical_or.reduceat(mask, np.arange(0, mask.shape[0], step), axis=0)
    return np.logical_or.reduceat(tall, np.arange(0, mask.shape[1], step), axis=1).view(np.uint8)


def observe_person(
    points_m: np.ndarray,
    probabilities: np.ndarray,
    image: tuple[np.ndarray, np.ndarray, Intrinsics],
    part_capsules: np.ndarray,
) -> Observation:
    """Gather what the fit reads of one person whose build is known.

    Parameters
    ----------
    points_m, probabilities, part_capsules : as in `sample_points`
    image : depth, mask and intrinsics, as in `outline`
    """
    return Observation(*sample_points(points_m, probabilities, part_capsules), *outline(*image))
