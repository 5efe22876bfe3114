"""Charts of a report as HTML and SVG, without scripts; model k has the colour ``--mK`` of the style sheet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

import numpy as np

COLOURS = 4
"""Number of colours of models; further models start again."""
_WIDTH, _HEIGHT, _LEFT, _BOTTOM, _TOP, _RIGHT = 440, 300, 44, 44, 12, 14
_CELL, _NAMES = 18, 130
Curve = tuple[np.ndarray, np.ndarray]


def colour(model: int) -> str:
    """CSS colour of a model by its number."""
    return f"var(--m{model % COLOURS})"


def key_html(names: Sequence[str]) -> str:
    """Say which colour is which model."""
    marks = (f'<span><i style="background:{colour(k)}"></i>{escape(name)}</span>' for k, name in enumerate(names))
    return f'<p class="key">{"".join(marks)}</p>'


def bars_html(rows: Mapping[str, Sequence[float]]) -> str:
    """Draw a bar for each model in every row: shares 0 to 1; a row without any value is left out."""
    lines = []
    for name, values in rows.items():
        if not np.isfinite(values).any():
            continue
        bars = "".join(_bar(k, value) for k, value in enumerate(values))
        lines.append(f"<div>{escape(name.replace('_', ' '))}</div><div>{bars}</div>")
    return f'<div class="bars">{"".join(lines)}</div>' if lines else "<p>nothing to show</p>"


def _bar(model: int, value: float) -> str:
    if not np.isfinite(value):
        return '<div class="bar"><b></b><span>-</span></div>'
    length = f"width:{100 * min(max(value, 0), 1):.1f}%"
    return f'<div class="bar"><b><i style="{length};background:{colour(model)}"></i></b><span>{value:.3f}</span></div>'


def curves_svg(curves: Sequence[Curve], across: str, up: str, diagonal: bool = False, dots: bool = False) -> str:
    """Draw a curve for each model in a square of 0 to 1.

    Parameters
    ----------
    curves : x and y of each model, float (K,) each
    across, up : names of the axes
    diagonal : draw where x equals y
    dots : also mark the points
    """
    shapes = [_axes(across, up)]
    if diagonal:
        shapes.append(f'<path class="axis" stroke-dasharray="4 4" d="M{_places([0, 1], [0, 1])}"/>')
    for model, (x, y) in enumerate(curves):
        if not len(x):
            continue
        line = f'<path fill="none" stroke="{colour(model)}" stroke-width="2" d="M{_places(x, y)}"/>'
        marks = [
            f'<circle cx="{_x(a):.1f}" cy="{_y(b):.1f}" r="4" fill="{colour(model)}"/>'
            for a, b in zip(x, y, strict=True)
        ]
        shapes += [line, *(marks if dots else [])]
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{escape(up)} over {escape(across)}">' + (
        "".join(shapes) + "</svg>"
    )


def _axes(across: str, up: str) -> str:
    texts = [f'<rect class="axis" x="{_x(0)}" y="{_y(1)}" width="{_x(1) - _x(0)}" height="{_y(0) - _y(1)}"/>']
    for tick in (0, 0.5, 1):
        texts.append(f'<text class="soft" x="{_x(tick)}" y="{_y(0) + 17}" text-anchor="middle">{tick:g}</text>')
        texts.append(f'<text class="soft" x="{_LEFT - 7}" y="{_y(tick) + 4}" text-anchor="end">{tick:g}</text>')
    texts.append(f'<text x="{_x(0.5)}" y="{_HEIGHT - 8}" text-anchor="middle">{escape(across)}</text>')
    middle = f"{14} {_y(0.5)}"
    texts.append(f'<text transform="translate({middle}) rotate(-90)" text-anchor="middle">{escape(up)}</text>')
    return "".join(texts)


def _x(value: float) -> float:
    return _LEFT + value * (_WIDTH - _LEFT - _RIGHT)


def _y(value: float) -> float:
    return _TOP + (1 - value) * (_HEIGHT - _TOP - _BOTTOM)


def _places(x: Sequence[float] | np.ndarray, y: Sequence[float] | np.ndarray) -> str:
    return " ".join(f"{_x(a):.1f},{_y(b):.1f}" for a, b in zip(x, y, strict=True))


def confusion_svg(confusion: np.ndarray, parts: Sequence[str]) -> str:
    """Draw the confusion of parts: rows are true parts, columns predicted ones, opacity is the share of the true part.

    Parameters
    ----------
    confusion : int (C, C), true class, predicted class; class 0 is not drawn, but pixels taken for it count
    parts : names of classes 1 to C - 1
    """
    counts = confusion[1:].astype(float)
    share = counts[:, 1:] / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    side = _NAMES + _CELL * len(parts)
    shapes = []
    for row, name in enumerate(parts):
        text, place = escape(name.replace("_", " ")), _NAMES + _CELL * row + 13
        shapes.append(f'<text x="{_NAMES - 6}" y="{place}" text-anchor="end">{text}</text>')
        shapes.append(f'<text transform="translate({place} {_NAMES - 6}) rotate(-90)">{text}</text>')
    for row, col in np.argwhere(share >= 0.005):
        x, y = _NAMES + _CELL * col, _NAMES + _CELL * row
        about = f"{parts[row]} labelled {parts[col]}: {share[row, col]:.2f}"
        shapes.append(
            f'<rect x="{x}" y="{y}" width="{_CELL - 1}" height="{_CELL - 1}" fill="{colour(0)}"'
            f' fill-opacity="{share[row, col]:.2f}"><title>{escape(about)}</title></rect>'
        )
    frame = f'<rect class="axis" x="{_NAMES}" y="{_NAMES}" width="{side - _NAMES}" height="{side - _NAMES}"/>'
    return f'<div class="scroll"><svg viewBox="0 0 {side} {side}" role="img">{"".join(shapes)}{frame}</svg></div>'
