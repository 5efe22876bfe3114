"""A tree as an SVG drawing: questions in boxes, answers on the lines, the rows of a leaf as coloured bars."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.learn.tables.plotting.svg import (
    FAINT_INK,
    LINE,
    PANEL,
    PAPER,
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
from posepipe.learn.tables.plotting.tree_text import leaf_sayings, tie_notes
from posepipe.learn.tables.questions import AT_MOST, Condition, Questions, amount, answers_of_nodes, class_names, number
from posepipe.learn.tables.single_tree import SingleTree, SingleTreeClassifier
from posepipe.learn.tree import Tree

MARGIN, GAP, LEVEL_GAP, ANSWER = 24.0, 14.0, 60.0, 20.0
"""Round the drawing; between neighbours; between levels; the part of it that holds the answer. Pixels."""
WIDEST, MOST_LINES = 230.0, 5
"""Longer texts are broken or shortened; the tip that shows on a node has them whole."""
BOLD = 1.06
"""How much wider bold letters are."""
BAR = 52.0
"""Width of a leaf's bar when all its rows are of one class."""
MOST_BARS = 6
"""A leaf with more classes than that shows the largest."""


@dataclass(frozen=True, slots=True)
class _Box:
    """One node's shapes, drawn about the middle of its upper edge."""

    width: float
    height: float
    shapes: list[str]


def draw_tree(learner: SingleTree, names: Sequence[str] | None = None) -> str:
    """Draw a fitted tree.

    A line is as thick as its share of the training rows. A strip below each question shows the classes of its
    rows. A leaf that no training row reached is dashed.

    Parameters
    ----------
    learner : of classes or of a number
    names : of the columns, for a table that came without

    Returns
    -------
    str, an SVG document
    """
    tree, questions = learner.tree_.tree, Questions.of(learner, names)
    leaf_box = _leaf_of_classes(learner) if isinstance(learner, SingleTreeClassifier) else _leaf_of_number(learner)
    strip = _strip_of_classes(learner) if isinstance(learner, SingleTreeClassifier) else None
    say, ties = leaf_sayings(learner), tie_notes(learner, questions)
    boxes, answers = [], [""] * tree.n_nodes
    for node in range(tree.n_nodes):
        children = tree.children(node)
        if not children:
            boxes.append(leaf_box(node))
            continue
        column = int(tree.feature[node])
        boxes.append(_question(questions.subject(column), ties.get(node, ""), say(node), node, strip))
        for child, demand in zip(
            children, questions.branches(column, tree.threshold[node], len(children)), strict=True
        ):
            answers[child] = _answer(questions, demand)
    x, y, width, height = _lay_out(tree, boxes, answers)
    shapes = _lines(tree, x, y, boxes, learner.tree_.weight) + _answers(answers, x, y)
    shapes += [
        element("g", "".join(box.shapes), transform=f"translate({left:.1f} {top:.1f})")
        for box, left, top in zip(boxes, x, y, strict=True)
    ]
    if isinstance(learner, SingleTreeClassifier):
        width = max(width, 200.0)
        more, high = legend(class_names(learner), _swatch, MARGIN, height + 4, width - 2 * MARGIN)
        shapes += more
        height += high + MARGIN
    return document(width, height, f"Decision tree of {tree.n_leaves} leaves", shapes)


def _swatch(k: int, x: float, y: float) -> str:
    return element("rect", x=x - 6, y=y - 6, width=12, height=12, rx=2, fill=class_colour(k))


def _answer(questions: Questions, demand: Condition) -> str:
    said = questions.answer(demand)
    return shortened(said.replace("<=", "\u2264") if demand.relation == AT_MOST else said, WIDEST, 12)


def _lay_out(tree: Tree, boxes: list[_Box], answers: list[str]) -> tuple[np.ndarray, np.ndarray, float, float]:
    """Middle and top of every box, float64 (N,), and the drawing's size.

    Every subtree has a strip of its own, as wide as its widest part, so that nothing overlaps; a parent
    stands midway between its first and its last child.
    """
    half = np.array([max(b.width, text_width(a, 12) + 8) / 2 for b, a in zip(boxes, answers, strict=True)]) + GAP / 2
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
    high = np.zeros(levels.max() + 1)
    np.maximum.at(high, levels, [box.height for box in boxes])
    top = MARGIN + np.cumsum(high + LEVEL_GAP) - (high + LEVEL_GAP)
    return x, top[levels], float(left[0] + right[0] + 2 * MARGIN), float(top[-1] + high[-1] + MARGIN)


def _lines(tree: Tree, x: np.ndarray, y: np.ndarray, boxes: list[_Box], weight: np.ndarray) -> list[str]:
    shapes = []
    for node, parent in enumerate(tree.parents()):
        if parent < 0:
            continue
        start, end = y[parent] + boxes[parent].height, y[node] - ANSWER  # above the answers no line crosses one
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


def _answers(answers: list[str], x: np.ndarray, y: np.ndarray) -> list[str]:
    places = zip(answers, x, y, strict=True)
    return [label(middle, top - ANSWER / 2, answer, 12) for answer, middle, top in places if answer]


def _question(subject: str, note: str, tip: str, node: int, strip: Callable[[int, float], list[str]] | None) -> _Box:
    lines, small = wrapped(subject, WIDEST, 13, MOST_LINES), shortened(note, WIDEST, 10.5)
    width = max([BOLD * text_width(line, 13) for line in lines] + [text_width(small, 10.5), 24.0]) + 24
    height = (18.0 if strip else 14.0) + 16 * len(lines) + (14 if note else 0)
    whole = f"{subject}; {note}; {tip}" if note else f"{subject}; {tip}"
    shapes = [
        element("title", text_of(whole)),
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
    """Draws which classes the rows of a node have, over a width."""
    statistics = learner.tree_.tree.node_statistics()

    def draw(node: int, width: float) -> list[str]:
        shapes, left = [], 0.0
        for k in np.flatnonzero(statistics[node]).tolist():
            wide = float(width * statistics[node, k] / statistics[node].sum())
            shapes.append(element("rect", x=left, y=0, width=wide, height=4, fill=class_colour(k)))
            left += wide
        return shapes

    return draw


def _leaf_of_classes(learner: SingleTreeClassifier) -> Callable[[int], _Box]:
    names, said, say = class_names(learner), answers_of_nodes(learner), leaf_sayings(learner)
    statistics = learner.tree_.tree.node_statistics()

    def box(node: int) -> _Box:
        present = [int(k) for k in (-statistics[node]).argsort(kind="stable") if statistics[node, k] > 0]
        hidden = len(present) - MOST_BARS
        counts = [amount(statistics[node, k]) for k in present[:MOST_BARS]]
        name = shortened(names[said[node]], WIDEST, 13)
        bars = BAR + 6 + max([text_width(c, 11) for c in counts], default=0)
        width = max(BOLD * text_width(name, 13), bars, 60.0) + 20
        height = 30.0 + 15 * max(len(counts), 1) + (14 if hidden > 0 else 0)
        edge = {"stroke": class_colour(said[node]), "stroke_width": 1.6}
        if not present:
            edge = {"stroke": LINE, "stroke_dasharray": "4 3"}
        shapes = [
            element("title", text_of(say(node))),
            element("rect", x=-width / 2, y=0, width=width, height=height, rx=6, fill=PAPER, **edge),
            label(0, 14, name, 13, font_weight="bold", **({} if present else {"fill": FAINT_INK})),
        ]
        for row, (k, count) in enumerate(zip(present, counts, strict=False)):
            middle, left = 31.0 + 15 * row, -bars / 2
            long = float(max(2.0, BAR * statistics[node, k] / statistics[node].sum()))
            shapes.append(element("rect", x=left, y=middle - 4.5, width=long, height=9, rx=1.5, fill=class_colour(k)))
            shapes.append(label(left + long + 5, middle, count, 11, text_anchor="start"))
        if not present:
            shapes.append(label(0, 31, "no rows", 11, fill=FAINT_INK))
        if hidden > 0:
            shapes.append(label(0, height - 11, f"and {hidden} more", 10.5, fill=FAINT_INK))
        return _Box(width, height, shapes)

    return box


def _leaf_of_number(learner: SingleTree) -> Callable[[int], _Box]:
    """A leaf shows its mean, and by a dot where that lies between the least and the largest of all leaves."""
    tree, say = learner.tree_, leaf_sayings(learner)
    means = tree.values[:, 0] + learner.mean_
    low, high = means[tree.tree.is_leaf].min(), means[tree.tree.is_leaf].max()

    def box(node: int) -> _Box:
        mean, rows = number(means[node]), say(node).partition(" (")[2].rstrip(")")
        width = max(BOLD * text_width(mean, 13), text_width(rows, 11), BAR) + 20
        place = BAR * (0.5 if high == low else (means[node] - low) / (high - low)) - BAR / 2
        shapes = [
            element("title", text_of(say(node))),
            element("rect", x=-width / 2, y=0, width=width, height=58, rx=6, fill=PAPER, stroke=class_colour(0)),
            label(0, 14, mean, 13, font_weight="bold"),
            element("rect", x=-BAR / 2, y=27, width=BAR, height=2, fill=LINE),
            element("circle", cx=float(place), cy=28, r=4, fill=class_colour(0)),
            label(0, 44, rows, 11, fill=FAINT_INK),
        ]
        return _Box(width, 58.0, shapes)

    return box
