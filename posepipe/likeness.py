"""How alike two sources of cut-out people look: silhouettes, holes, and noise on smooth skin.

    python -m posepipe.likeness data/validation real_frames/

What is compared is what a depth-difference feature meets, whoever the people are and whatever they do.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterable
from itertools import pairwise

import cv2
import numpy as np

from posepipe.frames import DepthFrame
from posepipe.sources import open_source

WINDOW_PX = 5
SMOOTH_M = 0.03
"""Windows whose depth spans more are no smooth skin: they hold an edge."""
CLOSING_M = 0.06
"""Gaps in a silhouette narrower than this are raggedness, not shape."""


def hole_share(depth_m: np.ndarray) -> float:
    """Share of the filled silhouette that has no reading: holes wholly inside it. ``depth_m`` float32 (H, W)."""
    shown = (depth_m > 0).astype(np.uint8)
    outlines, _ = cv2.findContours(shown, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)
    filled = np.zeros_like(shown)
    cv2.drawContours(filled, outlines, -1, 1, cv2.FILLED)
    return float(1 - shown.sum() / max(filled.sum(), 1))


def raggedness(depth_m: np.ndarray, focal_px: float) -> float:
    """Length of the silhouette over that of the same silhouette smoothed; 1 = as smooth as can be."""
    shown = (depth_m > 0).astype(np.uint8)
    if not shown.any():
        return float("nan")
    side = max(3, round(CLOSING_M * focal_px / float(np.median(depth_m[depth_m > 0]))) | 1)
    kernel = cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side))
    smooth = cv2.morphologyEx(cv2.morphologyEx(shown, cv2.MORPH_CLOSE, kernel), cv2.MORPH_OPEN, kernel)
    lengths = [
        sum(cv2.arcLength(c, True) for c in cv2.findContours(image, cv2.RETR_EXTERNAL, cv2.CHAIN_APPROX_NONE)[0])
        for image in (shown, smooth)
    ]
    return lengths[0] / lengths[1] if lengths[1] > 0 else float("nan")


def plane_residuals(depth_m: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Depth of smooth windows, and how far their readings lie from a plane through them (root mean square).

    Returns
    -------
    depth_m, residual_m : float64 (n,) each, of every window that is full and spans at most SMOOTH_M
    """
    windows = np.lib.stride_tricks.sliding_window_view(depth_m, (WINDOW_PX, WINDOW_PX))[::2, ::2]
    windows = windows.reshape(-1, WINDOW_PX * WINDOW_PX).astype(np.float64)
    full = (windows > 0).all(axis=1) & (np.ptp(windows, axis=1) <= SMOOTH_M)
    windows = windows[full]
    across = np.arange(WINDOW_PX) - WINDOW_PX // 2
    rows, cols = np.meshgrid(across, across, indexing="ij")
    base = np.stack([np.ones(WINDOW_PX**2), rows.ravel(), cols.ravel()], axis=1)
    flat = windows @ np.linalg.pinv(base).T @ base.T
    freedom = WINDOW_PX**2 - base.shape[1]
    return windows.mean(axis=1), np.sqrt(((windows - flat) ** 2).sum(axis=1) / freedom)


def likeness(frames: Iterable[DepthFrame], edges_m: tuple[float, ...] = (1.5, 2, 2.5, 3, 3.5)) -> dict[str, float]:
    """Medians over frames: raggedness, share of holes, residual to a plane in millimetres by distance."""
    holes, ragged, places, residuals = [], [], [np.zeros(0)], [np.zeros(0)]
    for frame in frames:
        if not (frame.depth_m > 0).any():
            continue
        holes.append(hole_share(frame.depth_m))
        ragged.append(raggedness(frame.depth_m, frame.intrinsics.fx))
        depth, residual = plane_residuals(frame.depth_m)
        places.append(depth)
        residuals.append(residual)
    depth, residual = np.concatenate(places), np.concatenate(residuals)
    out = {"frames": float(len(holes)), "raggedness": float(np.nanmedian(ragged)), "holes": float(np.mean(holes))}
    for low, high in pairwise(edges_m):
        inside = (depth >= low) & (depth < high)
        name = f"residual {low:g}-{high:g} m, mm"
        out[name] = float(np.median(residual[inside]) * 1000) if inside.sum() > 100 else float("nan")
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description="Compare sources of cut-out people: silhouettes, holes, noise.")
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    parser.add_argument("--frames", type=int, default=300, metavar="N")
    arguments = parser.parse_args()
    tables = {}
    for name in arguments.sources:
        with open_source(name) as source:
            tables[name] = likeness(frame for k, frame in enumerate(source) if k < arguments.frames)
    print("\n".join([" " * 24 + "".join(f"{name[-20:]:>22s}" for name in tables)] + [
        f"{figure:24s}" + "".join(f"{table[figure]:22.3f}" for table in tables.values())
        for figure in next(iter(tables.values()))
    ]))  # fmt: skip


if __name__ == "__main__":
    main()
