"""Statistics of cut-out people in depth frames: silhouettes, holes, and noise on smooth surfaces.

They affect depth-difference features and depend on the sensor more than on the people.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import cv2
import numpy as np

from posepipe.frames import DepthFrame

WINDOW_PX = 5
SMOOTH_M, SMOOTH_PER_M = 0.03, 0.0075
"""Maximum depth span of a smooth window; a larger span is an edge. Noise grows with the square of the distance, and so
does this bound beyond 2 m."""
CLOSING_M = 0.06
"""Width of the gaps in a silhouette that smoothing closes: narrower ones are raggedness, not shape."""
EDGES_M = (1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5)
"""Edges of the distance bins of residuals: noise changes by a fifth within a quarter of a metre."""
MIN_WINDOWS = 100
"""Minimum number of windows for a median."""
MAX_COVERED = 0.5
"""Maximum share of the image, median over frames, that people who are cut out cover; of rooms 0.6 or more is read."""
EXAMPLE_M = 2.5
"""Preferred distance of the people in the example frame."""


def hole_share(depth_m: np.ndarray) -> float:
    """Share of the filled silhouette without a reading, for ``depth_m`` float32 (H, W): the holes inside it."""
    readings = (depth_m > 0).astype(np.uint8)
    outlines, _ = cv2.findContours(readings, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros_like(readings)
    cv2.drawContours(filled, outlines, -1, 1, cv2.FILLED)
    return float(1 - readings.sum() / max(filled.sum(), 1))


def raggedness(depth_m: np.ndarray, focal_px: float) -> float:
    """Ratio of the silhouette's length to that of the smoothed silhouette; 1 = perfectly smooth."""
    readings = (depth_m > 0).astype(np.uint8)
    if not readings.any():
        return float("nan")
    side = max(3, round(CLOSING_M * focal_px / float(np.median(depth_m[depth_m > 0]))) | 1)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    smooth = cv2.morphologyEx(cv2.morphologyEx(readings, cv2.MORPH_CLOSE, kernel), cv2.MORPH_OPEN, kernel)
    lengths = [
        sum(cv2.arcLength(c, True) for c in cv2.findContours(image, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0])
        for image in (readings, smooth)
    ]
    return lengths[0] / lengths[1] if lengths[1] > 0 else float("nan")


def plane_residuals(depth_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean depth of smooth windows, and root mean square residual of their readings from a fitted plane.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading

    Returns
    -------
    depth_m, residual_m : float64 (n,) each, metres, of every full and smooth window
    """
    windows, _ = _smooth_windows(depth_m, step=2)
    return windows.mean(axis=1), _residuals(windows)


def residual_image(depth_m: np.ndarray) -> np.ndarray:
    """Residuals of `plane_residuals` at the centres of their windows: float32 (H, W), metres, NaN elsewhere."""
    windows, smooth = _smooth_windows(depth_m, step=1)
    out = np.full(depth_m.shape, np.nan, np.float32)
    rows, cols = np.nonzero(smooth)
    out[rows + WINDOW_PX // 2, cols + WINDOW_PX // 2] = _residuals(windows)
    return out


def _smooth_windows(depth_m: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Full and smooth windows at every ``step``-th pixel, float64 (n, 25), and the mask of these windows, bool."""
    if min(depth_m.shape) < WINDOW_PX:
        depth_m = np.zeros((WINDOW_PX, WINDOW_PX), np.float32)  # too small for a window
    windows = np.lib.stride_tricks.sliding_window_view(depth_m, (WINDOW_PX, WINDOW_PX))[::step, ::step]
    nearest, farthest = windows.min(axis=(2, 3)), windows.max(axis=(2, 3))
    smooth = (nearest > 0) & (farthest - nearest <= np.maximum(SMOOTH_M, SMOOTH_PER_M * nearest**2))
    return windows[smooth].reshape(-1, WINDOW_PX * WINDOW_PX).astype(np.float64), smooth


def _residuals(windows: np.ndarray) -> np.ndarray:
    """Root mean square residual of windows (n, 25) from their least-squares planes: float64 (n,)."""
    across = np.arange(WINDOW_PX) - WINDOW_PX // 2
    rows, cols = np.meshgrid(across, across, indexing="ij")
    base = np.stack([np.ones(WINDOW_PX**2), rows.ravel(), cols.ravel()], axis=1)
    flat = windows @ np.linalg.pinv(base).T @ base.T
    freedom = WINDOW_PX**2 - base.shape[1]
    return np.sqrt(((windows - flat) ** 2).sum(axis=1) / freedom)


@dataclass(frozen=True, eq=False)
class DepthStatistics:
    """Statistics of one source."""

    covered: np.ndarray  #: float64 (N,), share of the image with a reading, of each frame that is not empty
    holes: np.ndarray  #: float64 (N,), `hole_share` of each frame that is not empty
    raggedness: np.ndarray  #: float64 (M,), of each frame whose smoothed silhouette is not empty
    depth_m: np.ndarray  #: float64 (n,), of smooth windows of all frames
    residual_m: np.ndarray  #: float64 (n,)
    example: DepthFrame  #: frame whose distance is nearest to EXAMPLE_M

    def figures(self) -> dict[str, float]:
        """Median raggedness, mean share of holes, and median plane residual, millimetres, by distance."""
        out = {
            "frames": float(len(self.holes)),
            "raggedness": float(np.median(self.raggedness)) if len(self.raggedness) else float("nan"),
            "holes": float(np.mean(self.holes)),
        }
        for low, high in pairwise(EDGES_M):
            inside = (self.depth_m >= low) & (self.depth_m < high)
            name = f"residual {low:g}-{high:g} m, mm"
            enough = inside.sum() > MIN_WINDOWS
            out[name] = float(np.median(self.residual_m[inside]) * 1000) if enough else float("nan")
        return out


def measure_depth(frames: Iterable[DepthFrame]) -> DepthStatistics:
    """Measure the frames of a source. Raises ValueError when all of them are empty."""
    holes, ragged, covered, places, residuals = [], [], [], [np.zeros(0)], [np.zeros(0)]
    example, example_offset_m, n_frames = None, np.inf, 0
    for frame in frames:
        n_frames += 1
        readings = frame.depth_m > 0
        if not readings.any():
            continue
        covered.append(np.count_nonzero(readings) / readings.size)
        holes.append(hole_share(frame.depth_m))
        ragged.append(raggedness(frame.depth_m, frame.intrinsics.fx))
        depth, residual = plane_residuals(frame.depth_m)
        places.append(depth)
        residuals.append(residual)
        offset_m = abs(float(np.median(frame.depth_m[readings])) - EXAMPLE_M)
        if offset_m < example_offset_m:
            example, example_offset_m = frame, offset_m
    if example is None:
        raise ValueError(f"all of {n_frames} frames are empty; give frames with people in them")
    known = np.array(ragged)[np.isfinite(ragged)]
    of_frames = np.array(covered), np.array(holes), known
    return DepthStatistics(*of_frames, np.concatenate(places), np.concatenate(residuals), example)
