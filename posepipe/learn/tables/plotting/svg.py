"""Pieces of SVG drawings: escaped text and how wide it is, shapes, colours that all eyes tell apart, a legend."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from xml.sax.saxutils import escape, quoteattr

INK, FAINT_INK, LINE, PANEL, PAPER = "#1f2933", "#5f6b7a", "#b3bcc7", "#f3f5f7", "#ffffff"
CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#8c8c8c")
"""Okabe and Ito, Color universal design, 2008, with olive and grey for yellow and black; a ninth class begins again."""
LEGEND_LINE = 20.0
"""Height of a line of a legend, in pixels."""
_NARROW, _SLIM, _BROAD = set("ijlI|!'.,:;"), set('frt()[]{}/\\ -"*'), set("mwMW@%")


def class_colour(k: int) -> str:
    """Colour of class k."""
    return CLASS_COLOURS[k % len(CLASS_COLOURS)]


def tint(colour: str, share: float) -> str:
    """A colour on white paper, ``share`` of it strong."""
    channels = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + share * (channel - 255)):02x}" for channel in channels)


def text_width(text: str, size: float) -> float:
    """Width of a line in pixels; rather too much, for which font will draw it is not known."""
    return size * sum(map(_letter_width, text))


@cache
def _letter_width(letter: str) -> float:
    if letter in _NARROW:
        return 0.34
    if letter in _SLIM:
        return 0.42
    if letter in _BROAD:
        return 0.96
    if unicodedata.combining(letter):
        return 0.0
    if unicodedata.east_asian_width(letter) in "WF":
        return 1.0
    return 0.72 if letter.isupper() else 0.63


def shortened(text: str, width: float, size: float) -> str:
    """As much of a line as fits, an ellipsis in place of the rest."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "\u2026", size) > width:
        text = text[:-1]
    return text.rstrip() + "\u2026"


def wrapped(text: str, width: float, size: float, most: int) -> list[str]:
    """A text in at most so many lines, broken between words; what does not fit becomes an ellipsis."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < most - 1:
        count = 1
        while count < len(words) and text_width(" ".join(words[: count + 1]), size) <= width:
            count += 1
        lines.append(shortened(" ".join(words[:count]), width, size))
        words = words[count:]
    return lines + ([shortened(" ".join(words), width, size)] if words else [])


def text_of(content: object) -> str:
    """Text for the inside of an element: escaped, and without the control characters that XML cannot hold."""
    return escape("".join(c if _is_xml(c) else "\ufffd" for c in str(content)))


def _is_xml(letter: str) -> bool:
    return letter in "\t\n\r" or (letter >= " " and not "\ud800" <= letter <= "\udfff" and letter not in "\ufffe\uffff")


def element(tag: str, inside: str = "", /, **attributes: object) -> str:
    """One element; ``inside`` is SVG already. An underscore in an attribute's name stands for a hyphen."""
    said = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(_plain(value))}" for name, value in attributes.items()
    )
    return f"<{tag}{said}>{inside}</{tag}>" if inside else f"<{tag}{said}/>"


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def label(x: float, y: float, content: str, size: float = 13, /, **attributes: object) -> str:
    """A line of text whose middle is at (x, y), or which begins or ends there, by ``text_anchor``."""
    # not every viewer knows dominant-baseline: a third of the size below the middle is a line's foot
    defaults: dict[str, object] = {"text_anchor": "middle", "fill": INK, "font_size": float(size)}
    return element("text", text_of(content), x=float(x), y=float(y + 0.35 * size), **(defaults | attributes))


def legend(
    names: Sequence[str],
    swatch: Callable[[int, float, float], str],
    x: float,
    y: float,
    width: float,
    one_a_line: bool = False,
) -> tuple[list[str], float]:
    """Names in lines of at most ``width``, each behind what ``swatch(k, x, y)`` draws about that point.

    Returns the shapes, and how high they stand.
    """
    shapes, left, line = [], 0.0, 0
    for k, name in enumerate(names):
        said = shortened(name, width - 22, 12)
        wide = 22 + text_width(said, 12)
        if left and (one_a_line or left + wide > width):
            left, line = 0.0, line + 1
        middle = y + LEGEND_LINE * (line + 0.5)
        shapes.append(swatch(k, x + left + 7, middle))
        shapes.append(label(x + left + 20, middle, said, 12, text_anchor="start"))
        left += wide + 14
    return shapes, LEGEND_LINE * (line + 1)


def document(width: float, height: float, title: str, shapes: Iterable[str]) -> str:
    """A whole drawing on white paper."""
    paper = element("rect", width="100%", height="100%", fill=PAPER)
    return element(
        "svg",
        "\n".join(["", element("title", text_of(title)), paper, *shapes, ""]),
        xmlns="http://www.w3.org/2000/svg",
        width=float(round(width)),
        height=float(round(height)),
        viewBox=f"0 0 {round(width)} {round(height)}",
        font_family="Helvetica, Arial, DejaVu Sans, sans-serif",
        role="img",
    )
