"""The legend of a page as HTML: what the colours and sizes mean."""

from __future__ import annotations

from html import escape

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.viewer.scene.palette import BACKGROUND, Palette

_SIDES = {"left_": "their left", "right_": "their right", "": "middle"}


def legend_html(body: BodyDefinition, palette: Palette, has_depth: bool) -> str:
    """Format the colours of sides, and of body parts where there is depth."""
    rows = [(f"joint, {side}", _of_side(body, palette, prefix)) for prefix, side in _SIDES.items()]
    joints = _swatches([(name, colour) for name, colour in rows if colour is not None], round_=True)
    parts = list(zip((part.replace("_", " ") for part in body.parts), palette.parts[1:], strict=True))
    surfaces = [("no person", np.array(BACKGROUND)), *parts]
    shown = f'<details style="margin-top:.3em"><summary>colours of points</summary>{_swatches(surfaces)}</details>'
    return (
        f'<div style="padding:.2em .9em .5em;font-size:.82em;line-height:1.5">{joints}'
        f'<div style="opacity:.75">Larger = higher confidence. Point at a joint for its name and place.</div>'
        f"{shown if has_depth else ''}</div>"
    )


def _of_side(body: BodyDefinition, palette: Palette, prefix: str) -> np.ndarray | None:
    """Colour of the joints of a side; None where the body has none there."""
    sides = [name.startswith(("left_", "right_")) for name in body.joints]
    for row, name in enumerate(body.joints):
        if name.startswith(prefix) if prefix else not sides[row]:
            return palette.joints[row]
    return None


def _swatches(rows: list[tuple[str, np.ndarray]], round_: bool = False) -> str:
    return "".join(
        '<span style="display:inline-block;margin-right:.8em;white-space:nowrap">'
        f'<span style="display:inline-block;width:.7em;height:.7em;margin-right:.35em;'
        f"border-radius:{'50%' if round_ else '.15em'};background:rgb({','.join(str(int(c)) for c in colour)})"
        f'"></span>{escape(name)}</span>'
        for name, colour in rows
    )
