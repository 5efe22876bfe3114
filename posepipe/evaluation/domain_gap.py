"""How alike two sources of cut-out people look: silhouettes, holes, and noise on smooth skin.

    python -m posepipe.evaluation.domain_gap data/validation real_frames/ --figure likeness.png

What is compared is what a depth-difference feature meets, whoever the people are and whatever they do.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import islice, pairwise

import cv2
import numpy as np

from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame
from posepipe.io.files import replace_file
from posepipe.sources import open_source

WINDOW_PX = 5
SMOOTH_M, SMOOTH_PER_M = 0.03, 0.0075
"""Windows whose depth spans more are no smooth skin: they hold an edge. Noise grows with the square of the distance,
and from 2.4 m on so does the bound: where no reading may be a step off another one, only flat windows are left."""
CLOSING_M = 0.06
"""Gaps in a silhouette narrower than this are raggedness, not shape."""
EDGES_M = (1.5, 1.75, 2, 2.25, 2.5, 2.75, 3, 3.25, 3.5)
"""Between which distances residuals are put together: noise changes by a fifth within a quarter of a metre."""
LEAST_WINDOWS = 100
"""Of fewer no median is given."""
EXAMPLE_M = 2.5
"""Where people stand in the frame that is shown of a source, as near as there is one."""


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
    depth_m, residual_m : float64 (n,) each, of every window that is full and smooth
    """
    windows, _ = _smooth_windows(depth_m, step=2)
    return windows.mean(axis=1), _residuals(windows)


def residual_image(depth_m: np.ndarray) -> np.ndarray:
    """The same residuals at the middles of their windows: float32 (H, W), metres, NaN where there is none."""
    windows, smooth = _smooth_windows(depth_m, step=1)
    out = np.full(depth_m.shape, np.nan, np.float32)
    rows, cols = np.nonzero(smooth)
    out[rows + WINDOW_PX // 2, cols + WINDOW_PX // 2] = _residuals(windows)
    return out


def _smooth_windows(depth_m: np.ndarray, step: int) -> tuple[np.ndarray, np.ndarray]:
    """Every so many-th window that is full and smooth, float64 (n, 25), and which of them are: bool."""
    if min(depth_m.shape) < WINDOW_PX:
        depth_m = np.zeros((WINDOW_PX, WINDOW_PX), np.float32)  # too small for a window: nothing is smooth
    windows = np.lib.stride_tricks.sliding_window_view(depth_m, (WINDOW_PX, WINDOW_PX))[::step, ::step]
    nearest, furthest = windows.min(axis=(2, 3)), windows.max(axis=(2, 3))
    smooth = (nearest > 0) & (furthest - nearest <= np.maximum(SMOOTH_M, SMOOTH_PER_M * nearest**2))
    return windows[smooth].reshape(-1, WINDOW_PX * WINDOW_PX).astype(np.float64), smooth


def _residuals(windows: np.ndarray) -> np.ndarray:
    """Root mean square distance of windows (n, 25) from the plane of least squares through each: float64 (n,)."""
    across = np.arange(WINDOW_PX) - WINDOW_PX // 2
    rows, cols = np.meshgrid(across, across, indexing="ij")
    base = np.stack([np.ones(WINDOW_PX**2), rows.ravel(), cols.ravel()], axis=1)
    flat = windows @ np.linalg.pinv(base).T @ base.T
    freedom = WINDOW_PX**2 - base.shape[1]
    return np.sqrt(((windows - flat) ** 2).sum(axis=1) / freedom)


@dataclass(frozen=True, eq=False)
class Look:
    """What the frames of one source look like."""

    holes: np.ndarray  #: float64 (N,), share of each frame that shows somebody
    raggedness: np.ndarray  #: float64 (M,), of those whose silhouette is not all ragged
    depth_m: np.ndarray  #: float64 (n,), of smooth windows of all frames
    residual_m: np.ndarray  #: float64 (n,)
    example: DepthFrame  #: whose people are nearest to EXAMPLE_M: noise depends on distance

    def figures(self) -> dict[str, float]:
        """Medians: raggedness, residual to a plane in millimetres by distance; and the mean share of holes."""
        out = {
            "frames": float(len(self.holes)),
            "raggedness": float(np.median(self.raggedness)) if len(self.raggedness) else float("nan"),
            "holes": float(np.mean(self.holes)),
        }
        for low, high in pairwise(EDGES_M):
            inside = (self.depth_m >= low) & (self.depth_m < high)
            name = f"residual {low:g}-{high:g} m, mm"
            enough = inside.sum() > LEAST_WINDOWS
            out[name] = float(np.median(self.residual_m[inside]) * 1000) if enough else float("nan")
        return out


def look_at(frames: Iterable[DepthFrame]) -> Look:
    """Measure frames. Raises ValueError when none of them shows anything."""
    holes, ragged, places, residuals = [], [], [np.zeros(0)], [np.zeros(0)]
    example, example_off_m, seen = None, np.inf, 0
    for frame in frames:
        seen += 1
        shown = frame.depth_m > 0
        if not shown.any():
            continue
        holes.append(hole_share(frame.depth_m))
        ragged.append(raggedness(frame.depth_m, frame.intrinsics.fx))
        depth, residual = plane_residuals(frame.depth_m)
        places.append(depth)
        residuals.append(residual)
        off_m = abs(float(np.median(frame.depth_m[shown])) - EXAMPLE_M)
        if off_m < example_off_m:
            example, example_off_m = frame, off_m
    if example is None:
        raise ValueError(f"none of {seen} frames shows anything; give frames with somebody in them")
    known = np.array(ragged)[np.isfinite(ragged)]
    return Look(np.array(holes), known, np.concatenate(places), np.concatenate(residuals), example)


def likeness(frames: Iterable[DepthFrame]) -> dict[str, float]:
    """The figures of some frames, see `Look.figures`."""
    return look_at(frames).figures()


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(
        prog="python -m posepipe.evaluation.domain_gap",
        description="Compare sources of cut-out people: silhouettes, holes, noise.",
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    parser.add_argument("--frames", type=int, default=300, metavar="N", help="look at the first N (default 300)")
    parser.add_argument("--figure", metavar="FILE.png", help="draw two sources side by side: a frame of each, curves")
    parser.add_argument(
        "--curves-only", action="append", default=[], metavar="SOURCE",
        help="show no frame of this source in the figure, where people must not be shown",
    )  # fmt: skip
    args = parser.parse_args(arguments)
    if args.frames < 1:
        parser.error(f"--frames: wanted 1 or more, got {args.frames}")
    if args.figure and (len(set(args.sources)) != 2 or not args.figure.lower().endswith(".png")):
        parser.error(f"--figure: wanted two sources and a name that ends on .png, got {args.figure}")
    if strangers := [name for name in args.curves_only if name not in args.sources]:
        parser.error(f"--curves-only: {strangers[0]} is none of the sources")
    try:
        _compare(args)
    except (PosepipeError, ValueError) as error:
        sys.exit(f"posepipe.evaluation.domain_gap: error: {error}")


def _compare(args: argparse.Namespace) -> None:
    looks = {}
    for name in args.sources:
        with open_source(name) as source:
            try:
                looks[name] = look_at(islice(source, args.frames))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
    print(_table({name: look.figures() for name, look in looks.items()}))
    if args.figure:
        from posepipe.evaluation.domain_gap_figure import draw_looks

        image = draw_looks(looks, without_frame=args.curves_only)
        replace_file(args.figure, cv2.imencode(".png", image)[1].tobytes())


def _table(figures: dict[str, dict[str, float]]) -> str:
    lines = [" " * 24 + "".join(f"{name[-20:]:>22s}" for name in figures)]
    for name in next(iter(figures.values())):
        lines.append(f"{name:24s}" + "".join(f"{each[name]:22.3f}" for each in figures.values()))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
