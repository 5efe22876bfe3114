"""Elements of SVG drawings: escaped text and its width, shapes, colour-blind safe colours, a legend."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from xml.sax.saxutils import escape, quoteattr

INK, FAINT_INK, LINE, PANEL, PAPER = "#1f2933", "#5f6b7a", "#b3bcc7", "#f3f5f7", "#ffffff"
CLASS_COLOURS = ("#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#999933", "#8c8c8c")
"""Okabe and Ito, Color universal design, 2008, with olive and grey for yellow and black; repeats after eight."""
LEGEND_LINE = 20.0
"""Height of a legend line, pixels."""
_NARROW, _SLIM, _BROAD = set("ijlI|!'.,:;"), set('frt()[]{}/\\ -"*'), set("mwMW@%")


def class_colour(k: int) -> str:
    """Return the colour of class k."""
    return CLASS_COLOURS[k % len(CLASS_COLOURS)]


def tint(colour: str, share: float) -> str:
    """Blend a colour with white; ``share`` 1 is the full colour."""
    channels = [int(colour[k : k + 2], 16) for k in (1, 3, 5)]
    return "#" + "".join(f"{round(255 + share * (channel - 255)):02x}" for channel in channels)


def text_width(text: str, size: float) -> float:
    """Estimate the width of a line in pixels, on the large side because the font is unknown."""
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
    """Truncate a line to a width, with an ellipsis."""
    if text_width(text, size) <= width:
        return text
    while text and text_width(text + "\u2026", size) > width:
        text = text[:-1]
    return text.rstrip() + "\u2026"


def wrapped(text: str, width: float, size: float, max_lines: int) -> list[str]:
    """Break a text between words into at most ``max_lines`` lines; the rest becomes an ellipsis."""
    lines: list[str] = []
    words = text.split()
    while words and len(lines) < max_lines - 1:
        count = 1
        while count < len(words) and text_width(" ".join(words[: count + 1]), size) <= width:
            count += 1
        lines.append(shortened(" ".join(words[:count]), width, size))
        words = words[count:]
    return lines + ([shortened(" ".join(words), width, size)] if words else [])


def text_of(content: object) -> str:
    """Escape text for the inside of an element and replace control characters, which XML does not allow."""
    return escape("".join(c if _is_xml(c) else "\ufffd" for c in str(content)))


def _is_xml(letter: str) -> bool:
    return letter in "\t\n\r" or (letter >= " " and not "\ud800" <= letter <= "\udfff" and letter not in "\ufffe\uffff")


def element(tag: str, inside: str = "", /, **attributes: object) -> str:
    """Write one element around ``inside``, which is SVG; underscores in attribute names become hyphens."""
    written = "".join(
        f" {name.rstrip('_').replace('_', '-')}={quoteattr(_plain(value))}" for name, value in attributes.items()
    )
    return f"<{tag}{written}>{inside}</{tag}>" if inside else f"<{tag}{written}/>"


def _plain(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def label(x: float, y: float, content: str, size: float = 13, /, **attributes: object) -> str:
    """Write a line of text centred at (x, y), or starting or ending there, by ``text_anchor``."""
    # the baseline is a third of the size below the middle; not every viewer supports dominant-baseline
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
    """Lay out a legend in lines of at most ``width``.

    Parameters
    ----------
    names : one for each class
    swatch : callable (k, x, y), draws the symbol of class k around that point
    x, y : float, top left corner, pixels
    width : float, pixels
    one_a_line : bool, start a new line for each name

    Returns
    -------
    shapes : list of SVG elements
    height : float, pixels
    """
    shapes, left, line = [], 0.0, 0
    for k, name in enumerate(names):
        text = shortened(name, width - 22, 12)
        entry_width = 22 + text_width(text, 12)
        if left and (one_a_line or left + entry_width > width):
            left, line = 0.0, line + 1
        middle = y + LEGEND_LINE * (line + 0.5)
        shapes.append(swatch(k, x + left + 7, middle))
        shapes.append(label(x + left + 20, middle, text, 12, text_anchor="start"))
        left += entry_width + 14
    return shapes, LEGEND_LINE * (line + 1)


class Drawing(str):
    """An SVG document that notebooks show as a picture."""

    __slots__ = ()

    def _repr_svg_(self) -> str:
        return str(self)


def document(width: float, height: float, title: str, shapes: Iterable[str]) -> Drawing:
    """Write a complete SVG document on a white background."""
    paper = element("rect", width="100%", height="100%", fill=PAPER)
    svg = element(
        "svg",
        "\n".join(["", element("title", text_of(title)), paper, *shapes, ""]),
        xmlns="http://www.w3.org/2000/svg",
        width=float(round(width)),
        height=float(round(height)),
        viewBox=f"0 0 {round(width)} {round(height)}",
        font_family="Helvetica, Arial, DejaVu Sans, sans-serif",
        role="img",
    )
    return Drawing(svg)
