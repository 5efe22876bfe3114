"""The growth of a tree step by step as an SVG drawing: the gains of all candidates at every split."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posepipe.learn.tables.explanation import Candidate, split_log
from posepipe.learn.tables.plotting.svg import (
    FAINT_INK,
    LINE,
    Drawing,
    class_colour,
    document,
    element,
    label,
    shortened,
    text_width,
)
from posepipe.learn.tables.single_tree import SingleTree

MARGIN, LINE_HEIGHT, STEP_GAP, BAR = 20.0, 18.0, 14.0, 220.0
"""Margin; height of a candidate's line; gap between steps; length of the bar of the greatest gain; pixels."""
MAX_NAME = 200.0
"""Maximum width of a column's name, pixels."""
BELOW_AVERAGE = ", below the average gain"
"""Remark on a column that C4.5 leaves out whatever its ratio."""
_STARTING = {"text_anchor": "start"}


def draw_split_log(learner: SingleTree, names: Sequence[str] | None = None) -> Drawing:
    """Draw the candidates of every split in the order of growth, as bars of their gain; the chosen one is dark.

    Parameters
    ----------
    learner : SingleTree, fitted with ``log=True``
    names : of the columns, for a training table without names

    Returns
    -------
    Drawing, an SVG document that notebooks show

    Raises
    ------
    ValueError
        For a tree fitted without a log.
    """
    log = split_log(learner, names)
    gains = [max(candidate.gain, 0.0) for candidate in log.candidates if np.isfinite(candidate.gain)]
    greatest = max(gains, default=0.0) or 1.0
    beside = max((min(text_width(c.column, 12), MAX_NAME) for c in log.candidates), default=0.0)
    remark = text_width(BELOW_AVERAGE, 11) if any(c.is_below_average for c in log.candidates) else 0.0
    width, y, shapes = MARGIN + beside + 10 + BAR + 130 + remark + MARGIN, MARGIN, []
    nodes = list(dict.fromkeys(candidate.node for candidate in log.candidates))
    for k, node in enumerate(nodes, start=1):
        title = f"split {k}, node {node}" if node else f"split {k}: all rows"
        shapes.append(label(MARGIN, y + 8, title, 13, **_STARTING, font_weight="bold"))
        y += LINE_HEIGHT + 4
        for candidate in log.of(node):
            shapes += _line(candidate, y + LINE_HEIGHT / 2, beside, greatest)
            y += LINE_HEIGHT
        y += STEP_GAP
    return document(width, max(y - STEP_GAP, MARGIN) + MARGIN, f"{len(nodes)} splits, step by step", shapes)


def _line(candidate: Candidate, y: float, beside: float, greatest: float) -> list[str]:
    name = shortened(candidate.column, MAX_NAME, 12)
    left = MARGIN + beside + 10
    shapes = [label(left - 8, y, name, 12, text_anchor="end")]
    if not np.isfinite(candidate.gain):
        return [*shapes, label(left, y, "cannot separate", 11, **_STARTING, fill=FAINT_INK)]
    length = max(1.0, BAR * max(candidate.gain, 0.0) / greatest)
    colour = class_colour(0) if candidate.is_chosen else LINE
    shapes.append(element("rect", x=left, y=y - 6, width=length, height=12, rx=2, fill=colour))
    figures = f"{candidate.gain:.3f}, ratio {candidate.ratio:.3f}{BELOW_AVERAGE * candidate.is_below_average}"
    return [*shapes, label(left + length + 6, y, figures, 11, **_STARTING)]
