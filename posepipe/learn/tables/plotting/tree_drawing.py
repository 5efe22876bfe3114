"""A tree as an SVG drawing: split columns in boxes, branches on lines, class weights of leaves as bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.learn.tables.conditions import (
    LESS_EQUAL,
    Condition,
    SplitConditions,
    class_names,
    format_number,
    format_weight,
    predicted_classes,
)
from posepipe.learn.tables.plotting.svg import (
    FAINT_INK,
    LINE,
    PANEL,
    PAPER,
    Drawing,
    class_colour,
    document,
    element,
    label,
    legend,
    shortened,
    text_of,
    text_width,
    wrapped,
)
from posepipe.learn.tables.plotting.tree_text import leaf_descriptions, tie_notes
from posepipe.learn.tables.single_tree import SingleTree, SingleTreeClassifier
from posepipe.learn.tree import Tree

MARGIN, GAP, LEVEL_GAP, BRANCH_TEXT_HEIGHT = 24.0, 14.0, 60.0, 20.0
"""Margin; gap between neighbours; gap between levels; part of that gap for branch texts; pixels."""
MAX_TEXT_WIDTH, MAX_LINES = 230.0, 5
"""Limits of a text in pixels and lines; the tooltip of a node shows the full text."""
BOLD = 1.06
"""Width of bold text relative to normal text."""
BAR = 52.0
"""Length of a leaf's bar for a class with all of its rows, pixels."""
MAX_BARS = 6
"""Maximum number of classes shown in a leaf, in descending order of weight."""


@dataclass(frozen=True, slots=True)
class _Box:
    """Shapes of one node, with the origin at the middle of its upper edge."""

    width: float
    height: float
    shapes: list[str]


def draw_tree(learner: SingleTree, names: Sequence[str] | None = None) -> Drawing:
    """Draw a fitted tree.

    Line widths show the share of training rows. A strip in each inner node shows the classes of its rows. Leaves
    without training rows are dashed.

    Parameters
    ----------
    learner : SingleTree, fitted
    names : of the columns, for a training table without names

    Returns
    -------
    Drawing, an SVG document that notebooks show
    """
    splits = SplitConditions.of(learner, names)
    tree = learner.tree_.tree
    leaf_box = _leaf_of_classes(learner) if isinstance(learner, SingleTreeClassifier) else _leaf_of_number(learner)
    strip = _strip_of_classes(learner) if isinstance(learner, SingleTreeClassifier) else None
    describe, ties = leaf_descriptions(learner), tie_notes(learner, splits)
    boxes, branch_texts = [], [""] * tree.n_nodes
    for node in range(tree.n_nodes):
        children = tree.children(node)
        if not children:
            boxes.append(leaf_box(node))
            continue
        column = int(tree.feature[node])
        boxes.append(_split_box(splits.column_text(column), ties.get(node, ""), describe(node), node, strip))
        conditions = splits.branches(column, tree.threshold[node], len(children))
        for child, condition in zip(children, conditions, strict=True):
            branch_texts[child] = _branch_text(splits, condition)
    x, y, width, height = _lay_out(tree, boxes, branch_texts)
    shapes = _lines(tree, x, y, boxes, learner.tree_.weight) + _branch_labels(branch_texts, x, y)
    shapes += [
        element("g", "".join(box.shapes), transform=f"translate({left:.1f} {top:.1f})")
        for box, left, top in zip(boxes, x, y, strict=True)
    ]
    if isinstance(learner, SingleTreeClassifier):
        width = max(width, 200.0)
        legend_shapes, legend_height = legend(class_names(learner), _swatch, MARGIN, height + 4, width - 2 * MARGIN)
        shapes += legend_shapes
        height += legend_height + MARGIN
    return document(width, height, f"Decision tree of {tree.n_leaves} leaves", shapes)


def _swatch(k: int, x: float, y: float) -> str:
    return element("rect", x=x - 6, y=y - 6, width=12, height=12, rx=2, fill=class_colour(k))


def _branch_text(splits: SplitConditions, condition: Condition) -> str:
    text = splits.branch_text(condition)
    return shortened(text.replace("<=", "\u2264") if condition.relation == LESS_EQUAL else text, MAX_TEXT_WIDTH, 12)


def _lay_out(tree: Tree, boxes: list[_Box], branch_texts: list[str]) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Middle and top of every box, float64 (N,), and width and height of the drawing.

    Every subtree has its own vertical strip, as wide as its widest part, so nothing overlaps. A parent is centred
    between its first and last child.
    """
    widths = [max(box.width, text_width(text, 12) + 8) for box, text in zip(boxes, branch_texts, strict=True)]
    half = np.array([width / 2 for width in widths]) + GAP / 2
    left, right, from_parent = half.copy(), half.copy(), np.zeros(tree.n_nodes)
    for node in range(tree.n_nodes - 1, -1, -1):  # children before their parent
        children = tree.children(node)
        if not children:
            continue
        part = slice(children.start, children.stop)
        span = left[part] + right[part]
        places = np.cumsum(span) - right[part]
        middle = (places[0] + places[-1]) / 2
        from_parent[part] = places - middle
        left[node], right[node] = max(half[node], middle), max(half[node], span.sum() - middle)
    x = from_parent
    x[0] = MARGIN + left[0]
    for node in range(tree.n_nodes):
        children = tree.children(node)
        if children:
            x[children.start : children.stop] += x[node]
    levels = tree.levels()
    heights = np.zeros(levels.max() + 1)
    np.maximum.at(heights, levels, [box.height for box in boxes])
    top = MARGIN + np.cumsum(heights + LEVEL_GAP) - (heights + LEVEL_GAP)
    return x, top[levels], float(left[0] + right[0] + 2 * MARGIN), float(top[-1] + heights[-1] + MARGIN)


def _lines(tree: Tree, x: np.ndarray, y: np.ndarray, boxes: list[_Box], weight: np.ndarray) -> list[str]:
    shapes = []
    for node, parent in enumerate(tree.parents()):
        if parent < 0:
            continue
        start, end = y[parent] + boxes[parent].height, y[node] - BRANCH_TEXT_HEIGHT  # lines end above the branch texts
        middle = (start + end) / 2
        share = weight[node] / weight[0] if weight[0] > 0 else 0.0
        shapes.append(
            element(
                "path",
                d=f"M{x[parent]:.1f} {start:.1f}C{x[parent]:.1f} {middle:.1f} {x[node]:.1f} {middle:.1f}"
                f" {x[node]:.1f} {end:.1f}",
                fill="none",
                stroke=LINE,
                stroke_width=float(1.2 + 5 * share),
                **({"stroke_dasharray": "3 3"} if share == 0 else {}),
            )
        )
    return shapes


def _branch_labels(branch_texts: list[str], x: np.ndarray, y: np.ndarray) -> list[str]:
    places = zip(branch_texts, x, y, strict=True)
    return [label(middle, top - BRANCH_TEXT_HEIGHT / 2, text, 12) for text, middle, top in places if text]


def _split_box(
    column: str, note: str, description: str, node: int, strip: Callable[[int, float], list[str]] | None
) -> _Box:
    lines, small = wrapped(column, MAX_TEXT_WIDTH, 13, MAX_LINES), shortened(note, MAX_TEXT_WIDTH, 10.5)
    width = max([BOLD * text_width(line, 13) for line in lines] + [text_width(small, 10.5), 24.0]) + 24
    height = (18.0 if strip else 14.0) + 16 * len(lines) + (14 if note else 0)
    tooltip = f"{column}; {note}; {description}" if note else f"{column}; {description}"
    shapes = [
        element("title", text_of(tooltip)),
        element("rect", x=-width / 2, y=0, width=width, height=height, rx=6, fill=PANEL, stroke=LINE),
        *(label(0, 15 + 16 * k, line, 13, font_weight="bold") for k, line in enumerate(lines)),
    ]
    if note:
        shapes.append(label(0, 15 + 16 * len(lines), small, 10.5, fill=FAINT_INK, font_style="italic"))
    if strip:
        shapes.append(
            element(
                "g", "".join(strip(node, width - 20)), transform=f"translate({10 - width / 2:.1f} {height - 8:.1f})"
            )
        )
    return _Box(width, height, shapes)


def _strip_of_classes(learner: SingleTreeClassifier) -> Callable[[int, float], list[str]]:
    """Return a function that draws the class shares of a node over a width."""
    statistics = learner.tree_.tree.node_statistics()

    def draw(node: int, width: float) -> list[str]:
        shapes, left = [], 0.0
        for k in np.flatnonzero(statistics[node]).tolist():
            part = float(width * statistics[node, k] / statistics[node].sum())
            shapes.append(element("rect", x=left, y=0, width=part, height=4, fill=class_colour(k)))
            left += part
        return shapes

    return draw


def _leaf_of_classes(learner: SingleTreeClassifier) -> Callable[[int], _Box]:
    names, predicted, describe = class_names(learner), predicted_classes(learner), leaf_descriptions(learner)
    statistics = learner.tree_.tree.node_statistics()

    def box(node: int) -> _Box:
        present = [int(k) for k in (-statistics[node]).argsort(kind="stable") if statistics[node, k] > 0]
        hidden = len(present) - MAX_BARS
        counts = [format_weight(statistics[node, k]) for k in present[:MAX_BARS]]
        name = shortened(names[predicted[node]], MAX_TEXT_WIDTH, 13)
        bars = BAR + 6 + max([text_width(c, 11) for c in counts], default=0)
        width = max(BOLD * text_width(name, 13), bars, 60.0) + 20
        height = 30.0 + 15 * max(len(counts), 1) + (14 if hidden > 0 else 0)
        edge = {"stroke": class_colour(predicted[node]), "stroke_width": 1.6}
        if not present:
            edge = {"stroke": LINE, "stroke_dasharray": "4 3"}
        shapes = [
            element("title", text_of(describe(node))),
            element("rect", x=-width / 2, y=0, width=width, height=height, rx=6, fill=PAPER, **edge),
            label(0, 14, name, 13, font_weight="bold", **({} if present else {"fill": FAINT_INK})),
        ]
        for row, (k, count) in enumerate(zip(present, counts, strict=False)):
            middle, left = 31.0 + 15 * row, -bars / 2
            bar = float(max(2.0, BAR * statistics[node, k] / statistics[node].sum()))
            shapes.append(element("rect", x=left, y=middle - 4.5, width=bar, height=9, rx=1.5, fill=class_colour(k)))
            shapes.append(label(left + bar + 5, middle, count, 11, text_anchor="start"))
        if not present:
            shapes.append(label(0, 31, "no rows", 11, fill=FAINT_INK))
        if hidden > 0:
            shapes.append(label(0, height - 11, f"and {hidden} more", 10.5, fill=FAINT_INK))
        return _Box(width, height, shapes)

    return box


def _leaf_of_number(learner: SingleTree) -> Callable[[int], _Box]:
    """Return a function that draws a leaf with its mean, also as a dot between the extremes of all leaves."""
    tree, describe = learner.tree_, leaf_descriptions(learner)
    means = tree.values[:, 0] + learner.mean_
    low, high = means[tree.tree.is_leaf].min(), means[tree.tree.is_leaf].max()

    def box(node: int) -> _Box:
        mean, rows = format_number(means[node]), describe(node).partition(" (")[2].rstrip(")")
        width = max(BOLD * text_width(mean, 13), text_width(rows, 11), BAR) + 20
        place = BAR * (0.5 if high == low else (means[node] - low) / (high - low)) - BAR / 2
        shapes = [
            element("title", text_of(describe(node))),
            element("rect", x=-width / 2, y=0, width=width, height=58, rx=6, fill=PAPER, stroke=class_colour(0)),
            label(0, 14, mean, 13, font_weight="bold"),
            element("rect", x=-BAR / 2, y=27, width=BAR, height=2, fill=LINE),
            element("circle", cx=float(place), cy=28, r=4, fill=class_colour(0)),
            label(0, 44, rows, 11, fill=FAINT_INK),
        ]
        return _Box(width, 58.0, shapes)

    return box
