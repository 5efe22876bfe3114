"""Curves of numbers as an SVG drawing: errors over the size of a tree, impurities over shares."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from posepipe.learn.tables.plotting.axes import LEFT_SPACE, MARGIN, Axes, padded_range
from posepipe.learn.tables.plotting.svg import (
    FAINT_INK,
    LEGEND_LINE,
    PAPER,
    Drawing,
    class_colour,
    document,
    element,
    legend,
)

BELOW = 44.0
"""Space for ticks and name of the horizontal axis, pixels."""
MAX_DOTS = 25
"""Maximum points of a curve that has a dot at each."""
LOG_TICKS = (1, 2, 5)
"""Digits of the ticks of a logarithmic axis."""


def draw_curves(
    curves: Mapping[str, tuple[Any, Any]],
    across: str,
    up: str,
    marked: float | None = None,
    log: bool = False,
    size: tuple[int, int] = (560, 360),
    up_range: tuple[float, float] | None = None,
) -> Drawing:
    """Draw curves over one horizontal axis.

    Parameters
    ----------
    curves : name to horizontal and vertical numbers, (N,) each; NaN are left out
    across, up : names of the axes
    marked : horizontal number at which a dashed line stands; None = none
    log : bool, whether the horizontal axis is logarithmic
    size : width and height of the drawing, pixels
    up_range : numbers that the vertical axis holds at least; None = those of the curves

    Returns
    -------
    Drawing, an SVG document that notebooks show

    Raises
    ------
    ValueError
        For no curves, for lengths that differ, and for numbers up to 0 on a logarithmic axis.
    """
    lines = {name: _points(name, *curve, log) for name, curve in curves.items()}
    if not lines:
        raise ValueError("draw_curves takes at least one curve, got none")
    if log and marked is not None and not marked > 0:
        raise ValueError(f"a logarithmic axis takes numbers above 0, marked is {marked:g}")
    width, height = size
    frame_left, bottom = MARGIN + LEFT_SPACE, height - MARGIN - BELOW
    entries, legend_height = legend(list(lines), _swatch, frame_left, MARGIN - 8, width - frame_left - MARGIN)
    every = np.concatenate(list(lines.values()), axis=1)
    (x_low, x_high), (y_low, y_high) = padded_range(every[0]), padded_range(np.append(every[1], up_range or ()))
    top = MARGIN + legend_height - LEGEND_LINE / 2
    axes = Axes((x_low, y_low), (x_high, y_high), frame_left, top, width - MARGIN, bottom)
    shapes = axes.axes(across, up, _powers_of_ten(x_low, x_high) if log else None)
    if marked is not None:
        x = float(axes.x(np.log10(marked) if log else marked))
        shapes.append(element("path", d=f"M{x:.1f} {top:.1f}V{bottom:.1f}", stroke=FAINT_INK, stroke_dasharray="4 3"))
    for k, points in enumerate(lines.values()):
        shapes += _curve(k, axes.x(points[0]), axes.y(points[1]))
    return document(width, height, f"{up} over {across}", shapes + entries)


def _points(name: str, x: Any, y: Any, log: bool) -> np.ndarray:
    """Points of a curve without NaN: float64 (2, N)."""
    x, y = np.asarray(x, np.float64).ravel(), np.asarray(y, np.float64).ravel()
    if len(x) != len(y):
        raise ValueError(f"a curve takes one number up for each number across, {name!r} has {len(x)} and {len(y)}")
    if log and (x <= 0).any():
        raise ValueError(f"a logarithmic axis takes numbers above 0, {name!r} has {x.min():g}")
    points = np.stack([np.log10(x) if log else x, y])
    known = points[:, np.isfinite(points).all(axis=0)]
    if known.shape[1] == 0:
        raise ValueError(f"a curve takes at least one pair of finite numbers, {name!r} has none")
    return known


def _curve(k: int, x: np.ndarray, y: np.ndarray) -> list[str]:
    line = "L".join(f"{a:.1f} {b:.1f}" for a, b in zip(x, y, strict=True))
    shapes = [element("path", d=f"M{line}", fill="none", stroke=class_colour(k), stroke_width=2)]
    if len(x) <= MAX_DOTS:
        dots = [element("circle", cx=float(a), cy=float(b), r=3) for a, b in zip(x, y, strict=True)]
        shapes.append(element("g", "".join(dots), fill=class_colour(k), stroke=PAPER, stroke_width=0.8))
    return shapes


def _powers_of_ten(low: float, high: float) -> list[tuple[float, str]]:
    """Ticks at 1, 2 and 5 of each power of ten, between two logarithms."""
    powers = range(int(np.floor(low)), int(np.ceil(high)) + 1)
    values = [digit * 10.0**power for power in powers for digit in LOG_TICKS]
    return [(float(np.log10(v)), f"{v:g}") for v in values if low <= np.log10(v) <= high]


def _swatch(k: int, x: float, y: float) -> str:
    return element("path", d=f"M{x - 8:.1f} {y:.1f}h16", stroke=class_colour(k), stroke_width=3)
