"""Readouts of a page as HTML: title, frame rate, counts, and the time of each stage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape

_BAR = "rgb(46,134,222)"
_TRACK = "rgba(128,128,128,.22)"
_FRAME = '<div style="padding:.2em .9em .5em;font-size:.82em;line-height:1.35">'


def readouts_html(title: str, readouts: Sequence[tuple[str, str]]) -> str:
    """Format a title, and readouts given as (value, label)."""
    values = "".join(_readout(*each) for each in readouts)
    return (
        f'{_FRAME}<div style="font-weight:600;overflow-wrap:anywhere">{escape(title)}</div>'
        f'<div style="display:flex;gap:1.1em;margin-top:.5em">{values}</div></div>'
    )


def stage_times_html(stages_s: Mapping[str, float]) -> str:
    """Format the time of each stage, seconds per frame, as bars."""
    return f"{_FRAME}{_bars(stages_s) or 'no times yet'}</div>"


def _readout(value: str, label: str) -> str:
    return (
        f'<div><div style="font-size:1.35em;font-variant-numeric:tabular-nums">{escape(value)}</div>'
        f'<div style="opacity:.6">{escape(label)}</div></div>'
    )


def _bars(stages_s: Mapping[str, float]) -> str:
    longest_s = max(stages_s.values(), default=0.0)
    if longest_s <= 0:
        return ""
    rows = "".join(_bar(name, seconds, seconds / longest_s) for name, seconds in stages_s.items())
    return (
        f'<div style="display:grid;grid-template-columns:auto 1fr auto;gap:.1em .6em;align-items:center">{rows}</div>'
    )


def _bar(name: str, seconds: float, share: float) -> str:
    return (
        f'<span style="opacity:.75">{escape(name)}</span>'
        f'<span style="background:{_TRACK};height:.45em;border-radius:.2em">'
        f'<span style="display:block;width:{100 * share:.0f}%;height:100%;background:{_BAR};border-radius:.2em"></span>'
        f'</span><span style="font-variant-numeric:tabular-nums;text-align:right">{1000 * seconds:.1f} ms</span>'
    )
