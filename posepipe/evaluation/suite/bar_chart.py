"""One picture of the suite: the share of joints that are right, set by set."""

from __future__ import annotations

import cv2
import numpy as np

from posepipe.evaluation.suite.figure_names import REAL_FRAMES
from posepipe.evaluation.suite.sets import SuiteFigures, damaged_figures

_PAPER, _INK, _GRID = (255, 255, 255), (60, 60, 60), (225, 225, 225)
_CUT_OUT, _ROOM, _REAL = (176, 114, 76), (82, 132, 221), (104, 168, 85)  # BGR: blue, orange, green
_LABELS = {
    REAL_FRAMES: "real people, facing, cut out",
    "held-out-clips": "unseen motions, any direction",
    "embedded-clips": "jump, run, spin",
    "rooms": "rooms, one to three people",
    "furnished-rooms": "rooms with real furniture",
    "seated": "rooms, seated",
    "lying": "rooms, lying",
    "bending": "rooms, bending",
    "near": "within arm's reach, waist up",
    "upside-down": "cartwheels",
}
_LEFT, _RIGHT, _TOP, _ROW, _BAR = 330, 90, 64, 44, 26
_PLOT_PX = 560


def draw_suite(figures: SuiteFigures, model: str) -> np.ndarray:
    """Draw a bar for every set of single frames: visible joints within 10 cm.

    Parameters
    ----------
    figures : SuiteFigures
    model : name of the model that is shown

    Returns
    -------
    uint8 (H, W, 3), BGR

    Raises
    ------
    FormatError
        For damaged figures.
    """
    with damaged_figures(f"suite figure of {model}"):
        bars = [(label, *bar) for name, label in _LABELS.items() if (bar := _bar(figures, name, model)) is not None]
    image = np.full((_TOP + _ROW * len(bars) + 44, _LEFT + _PLOT_PX + _RIGHT, 3), _PAPER, np.uint8)
    _write(image, f"model {model}: visible joints within 10 cm of the truth", (20, 34), 0.62)
    bottom = _TOP + _ROW * len(bars)
    for tenth in range(0, 11, 2):
        x = _LEFT + _PLOT_PX * tenth // 10
        cv2.line(image, (x, _TOP), (x, bottom), _GRID, 1)
        _write(image, f"{10 * tenth} %", (x - 16, bottom + 24), 0.45)
    for row, (label, share, colour) in enumerate(bars):
        top = _TOP + row * _ROW + (_ROW - _BAR) // 2
        end = _LEFT + round(_PLOT_PX * share)
        cv2.rectangle(image, (_LEFT, top), (end, top + _BAR), colour, cv2.FILLED)
        _write(image, label, (20, top + 19), 0.52)
        _write(image, f"{100 * share:.0f} %", (end + 8, top + 19), 0.52)
    return image


def _bar(figures: SuiteFigures, name: str, model: str) -> tuple[float, tuple[int, int, int]] | None:
    """Length and colour of a set's bar; None where it was not scored."""
    scores = figures.sets.get(name, {}).get("models", {}).get(model)
    if scores is None:
        return None
    if name == REAL_FRAMES:
        shares = scores.get("offsets removed", scores["as found"])
        return _share(shares["within 10 cm"]), _REAL
    headline = scores["model"]["headline"]
    colour = _ROOM if headline.get("people missed") is not None else _CUT_OUT
    return _share(headline["visible joints within 10 cm"]), colour


def _share(value: float) -> float:
    if not 0 <= value <= 1:
        raise ValueError(f"wanted a share from 0 to 1, got {value!r:.40}")
    return value


def _write(image: np.ndarray, text: str, place: tuple[int, int], size: float) -> None:
    cv2.putText(image, text, place, cv2.FONT_HERSHEY_SIMPLEX, size, _INK, 1, cv2.LINE_AA)
