"""Decision regions of a classifier over two numeric columns, with rows as dots, as an SVG drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils import check_consistent_length

from posepipe.learn.tables.conditions import format_number
from posepipe.learn.tables.plotting.axes import LEFT_SPACE, MARGIN, Axes, padded_range
from posepipe.learn.tables.plotting.svg import (
    FAINT_INK,
    LEGEND_LINE,
    PAPER,
    Drawing,
    class_colour,
    document,
    element,
    label,
    legend,
    shortened,
    text_width,
    tint,
)
from posepipe.learn.tables.splitting.schema import Schema, chosen_columns

CELL = 2
"""Side of the squares for which the classifier predicts, pixels."""
TINT = 0.3
"""Strength of the colour of a region, 0 to 1."""
_MARKS = (
    (3.6, "a3.6 3.6 0 1 0 .01 0"),
    (3.2, "h3.2v6.4h-6.4v-6.4"),
    (4.4, "l4.2 7.4h-8.4"),
    (4.6, "l4.6 4.6l-4.6 4.6l-4.6 -4.6"),
    (3.0, "h4.2l-4.2 7.4l-4.2 -7.4"),
)
"""Outlines of dots by class: start of the outline above the middle, and its path. With eight colours and five
shapes, forty classes differ."""


def draw_regions(
    classifier: Any,
    X: Any,
    y: Any,
    columns: tuple[int | str, int | str] = (0, 1),
    size: tuple[int, int] = (640, 480),
    names: Sequence[str] | None = None,
) -> Drawing:
    """Draw the decision regions of a classifier over two columns.

    The regions are a slice through the other columns at their median or most frequent value, which the drawing
    names. The dots are all rows with both numbers, whatever their other columns.

    Parameters
    ----------
    classifier : fitted, with a method ``predict``
    X : (N, F), array or DataFrame
    y : (N,), classes of the dots
    columns : horizontal and vertical column, both numeric, by name or position
    size : width and height of the drawing, pixels
    names : of the columns, for a table without names

    Returns
    -------
    Drawing, an SVG document that notebooks show

    Raises
    ------
    ValueError
        For unknown or non-numeric columns, for X and y of different lengths, and for a size that is too small.
    """
    cells, schema = _table(X, names)
    check_consistent_length(cells, y)
    codes = schema.encode(cells)
    across, up = (_place(column, schema, codes) for column in columns)
    y = np.asarray(y)
    classes = list(getattr(classifier, "classes_", np.unique(y)))
    below = 78 if len(schema.names) > 2 else 60
    shown, hidden = _limit_names([str(name) for name in classes], int((size[1] - MARGIN - below) // LEGEND_LINE))
    beside = min(max(text_width(text, 12) for text in [*shown, hidden]) + 26, 0.3 * size[0])
    plot = _Plot.of(codes[:, across], codes[:, up], size, beside, below)
    middles = plot.middles()
    slice_, held = _slice(X, cells, codes, schema, {across: middles[0], up: middles[1]})
    predicted = np.asarray(classifier.predict(slice_)).reshape(plot.grid)
    shapes = plot.regions([predicted == name for name in classes])
    shapes += plot.axes(schema.names[across], schema.names[up])
    shapes += plot.dots(codes[:, across], codes[:, up], y, classes)
    shapes += legend(shown, _swatch, plot.right + 14, plot.top, beside, one_a_line=True)[0]
    if hidden:
        below_them = plot.top + LEGEND_LINE * (len(shown) + 0.5)
        shapes.append(label(plot.right + 34, below_them, hidden, 12, text_anchor="start", fill=FAINT_INK))
    if held:
        text = shortened("Regions at " + ", ".join(held), size[0] - 2 * MARGIN, 10.5)
        shapes.append(label(MARGIN, size[1] - 13, text, 10.5, text_anchor="start", fill=FAINT_INK))
    return document(*size, "Decision regions", shapes)


def _table(X: Any, names: Sequence[str] | None) -> tuple[np.ndarray, Schema]:
    """Cells of a table, (N, F), and its column types."""
    cells = np.asarray(X)
    if cells.ndim != 2 or len(cells) == 0:
        raise ValueError(f"X must be a table of rows and columns, got shape {cells.shape}")
    if names is None:
        names = list(getattr(X, "columns", [f"column {k}" for k in range(cells.shape[1])]))
    if len(names) != cells.shape[1]:
        raise ValueError(f"names must be one for each of the {cells.shape[1]} columns, got {len(names)}")
    cells = cells.astype(object) if cells.dtype.kind in "US" else cells
    return cells, Schema.learn(cells, [str(name) for name in names], chosen_columns(None, names, X))


def _limit_names(names: list[str], max_lines: int) -> tuple[list[str], str]:
    """Return the names that fit, and a text that counts the others."""
    if len(names) <= max_lines:
        return names, ""
    return names[: max_lines - 1], f"and {len(names) - max_lines + 1} more"


def _place(column: int | str, schema: Schema, codes: np.ndarray) -> int:
    place = schema.names.index(column) if column in schema.names else column
    if not isinstance(place, int | np.integer) or not -len(schema.names) <= place < len(schema.names):
        raise ValueError(f"columns must be two of {', '.join(schema.names)}, got {column!r}")
    place = int(place) % len(schema.names)
    if schema.is_categorical[place] or np.isnan(codes[:, place]).all():
        raise ValueError(f"columns must hold numbers; {schema.names[place]!r} holds none")
    return place


def _slice(
    X: Any, cells: np.ndarray, codes: np.ndarray, schema: Schema, free: dict[int, np.ndarray]
) -> tuple[Any, list[str]]:
    """Make a table like X from the given columns; returns it with a text for the value of each other column."""
    n_rows = len(next(iter(free.values())))
    columns: list[np.ndarray] = []
    held = []
    for k, name in enumerate(schema.names):
        known = codes[~np.isnan(codes[:, k]), k]
        categories = schema.categories[k]
        if k in free:
            columns.append(free[k])
        elif len(known) == 0:
            columns.append(np.full(n_rows, np.nan))
            held.append(f"{name} missing")
        elif categories is None:
            columns.append(np.full(n_rows, np.median(known)))
            held.append(f"{name} {format_number(float(np.median(known)))}")
        else:
            most_frequent = int(np.bincount(known.astype(np.int64)).argmax())
            columns.append(np.full(n_rows, categories[most_frequent], object))
            held.append(f"{name} {schema.describe(k, most_frequent)}")
    if hasattr(X, "columns"):
        return type(X)(dict(zip(X.columns, columns, strict=True))), held
    return np.stack([c.astype(object) if cells.dtype == object else c for c in columns], axis=1), held


@dataclass(frozen=True, slots=True)
class _Plot(Axes):
    """Axes of the drawing, filled with squares."""

    grid: tuple[int, int]  #: rows and columns of the squares that fill the frame

    @classmethod
    def of(cls, across: np.ndarray, up: np.ndarray, size: tuple[int, int], beside: float, below: float) -> _Plot:
        """Fit the frame to the rows, with space for axes, legend and text around it."""
        ranges = [padded_range(values) for values in (across, up)]
        left, top = MARGIN + LEFT_SPACE, MARGIN
        width, height = size[0] - left - beside - 14 - MARGIN, size[1] - top - below
        if width < 80 or height < 80:
            raise ValueError(f"size must leave room for the drawing beside its texts, got {size}")
        (x_low, x_high), (y_low, y_high) = ranges
        grid = int(height) // CELL, int(width) // CELL
        right, bottom = left + CELL * grid[1], top + CELL * grid[0]
        return cls((x_low, y_low), (x_high, y_high), left, top, right, bottom, grid)

    def middles(self) -> tuple[np.ndarray, np.ndarray]:
        """Values at the middle of each square, horizontal and vertical: float64 (rows x columns,) each, top first."""
        n_rows, n_columns = self.grid
        across = self.low[0] + (np.arange(n_columns) + 0.5) / n_columns * (self.high[0] - self.low[0])
        up = self.high[1] - (np.arange(n_rows) + 0.5) / n_rows * (self.high[1] - self.low[1])
        return np.tile(across, n_rows), np.repeat(up, n_columns)

    def regions(self, masks: list[np.ndarray]) -> list[str]:
        """Draw the squares of each class, bool (rows, columns) each."""
        # crisp edges leave no seams between regions
        placed = {"transform": f"translate({self.left} {self.top}) scale({CELL})", "shape_rendering": "crispEdges"}
        return [
            element("path", d=_outline(mask), fill=tint(class_colour(k), TINT), **placed)
            for k, mask in enumerate(masks)
            if mask.any()
        ]

    def dots(self, across: np.ndarray, up: np.ndarray, y: np.ndarray, classes: list) -> list[str]:
        """Draw the rows with both numbers, by class."""
        shapes = []
        for k, name in enumerate(classes):
            rows = (y == name) & ~np.isnan(across) & ~np.isnan(up)
            marks = [_mark(k, *place) for place in zip(self.x(across[rows]), self.y(up[rows]), strict=True)]
            shapes.append(element("g", "".join(marks), fill=class_colour(k), stroke=PAPER, stroke_width=0.8))
        return shapes


def _outline(mask: np.ndarray) -> str:
    """Path of a mask, bool (H, W), as rectangles: equal runs in successive rows form one."""
    path = []
    open_runs: dict[tuple[int, int], int] = {}  # (start, end) to first row
    for row in range(len(mask) + 1):
        edges = np.flatnonzero(np.diff(np.pad(mask[row : row + 1].any(axis=0).astype(np.int8), 1)))
        runs = {(int(a), int(b)) for a, b in edges.reshape(-1, 2)}
        for run in [run for run in open_runs if run not in runs]:
            start = open_runs.pop(run)
            path.append(f"M{run[0]} {start}h{run[1] - run[0]}v{row - start}h{run[0] - run[1]}z")
        for run in runs:
            open_runs.setdefault(run, row)
    return "".join(path)


def _mark(k: int, x: float, y: float) -> str:
    up, outline = _MARKS[k % len(_MARKS)]
    return element("path", d=f"M{x:.1f} {y - up:.1f}{outline}z")


def _swatch(k: int, x: float, y: float) -> str:
    region = element("rect", x=x - 8, y=y - 8, width=16, height=16, rx=2, fill=tint(class_colour(k), TINT))
    return region + element("g", _mark(k, x, y), fill=class_colour(k), stroke=PAPER, stroke_width=0.8)
