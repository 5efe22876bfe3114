"""HTML documents of reports: one file that needs no other and loads nothing, its sections, tables and pictures."""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import TypeVar

import cv2
import numpy as np

Report = TypeVar("Report")

_STYLE = Path(__file__).with_name("report.css")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def document(title: str, content: Sequence[str]) -> str:
    """Format a whole page of a title and sections, HTML."""
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)}</title><style>{_STYLE.read_text('utf-8')}</style>"
    )
    body = f"<h1>{escape(title)}</h1>{''.join(content)}"
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


def section(name: str, content: str, about: str) -> str:
    """Format a section: its name and a sentence about it, plain text, and its content, HTML."""
    return f"<section><h2>{escape(name)}</h2><p>{escape(about)}</p>{content}</section>"


def section_by_model(reports: Mapping[str, Report], name: str, about: str, draw: Callable[[Report], str]) -> list[str]:
    """Format a section with a column for each model; none where no model has anything to show."""
    drawn = {model: draw(report) for model, report in reports.items()}
    if not any(drawn.values()):
        return []
    columns = "".join(f"<div><h3>{escape(model)}</h3>{content}</div>" for model, content in drawn.items())
    return [section(name, f'<div class="pair">{columns}</div>', about)]


def side_by_side(figures: Sequence[Mapping[str, float | None]]) -> dict[str, list[float]]:
    """Values of every model by name; NaN where a model has none."""
    names = dict.fromkeys(name for each in figures for name in each)
    values = ([each.get(name) for each in figures] for name in names)
    return {
        name: [float("nan") if value is None else value for value in row]
        for name, row in zip(names, values, strict=True)
    }


def figures_table(figures: Mapping[str, Mapping[str, float | None]]) -> str:
    """Format a table with a column for each model; counts without decimals, and no row without any figure."""
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *figures))
    lines = [
        f"<tr><td>{escape(name)}</td>{''.join(f'<td>{_figure(value)}</td>' for value in values)}</tr>"
        for name, values in side_by_side(list(figures.values())).items()
        if np.isfinite(values).any()
    ]
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def pictures(figures: Sequence[str], wide: bool = False) -> str:
    """Lay pictures out in a grid, or wide ones below each other; nothing without any."""
    return f'<div class="{"pair" if wide else "frames"}">{"".join(figures)}</div>' if figures else ""


def picture(image: np.ndarray, caption: str) -> str:
    """Embed an image, uint8 (H, W, 3), BGR, with a caption."""
    ok, data = cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, 80])
    assert ok
    source, text = f"data:image/jpeg;base64,{base64.b64encode(data.tobytes()).decode()}", escape(caption, quote=True)
    return f'<figure><img src="{source}" alt="{text}"><figcaption>{text}</figcaption></figure>'


def _figure(value: float) -> str:
    if isinstance(value, int):
        return f"{value:,}"
    return f"{value:.3f}" if np.isfinite(value) else "-"
