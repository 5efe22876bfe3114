"""Axes of SVG drawings: a frame over two ranges of numbers, with ticks at round ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from posepipe.learn.tables.plotting.svg import FAINT_INK, LINE, element, label, shortened

MARGIN = 20.0
"""Margin of the drawing, pixels."""
LEFT_SPACE = 52.0
"""Space for ticks and name of the vertical axis, pixels."""
PADDING = 0.05
"""Space around the numbers, as a share of their range."""


@dataclass(frozen=True, slots=True)
class Axes:
    """Ranges of two numbers, and the frame that they fill."""

    low: tuple[float, float]  #: horizontal and vertical
    high: tuple[float, float]
    left: float  #: of the frame, pixels
    top: float
    right: float
    bottom: float

    def x(self, values: Any) -> Any:
        """Place of numbers along the horizontal axis, pixels."""
        return self.left + (values - self.low[0]) / (self.high[0] - self.low[0]) * (self.right - self.left)

    def y(self, values: Any) -> Any:
        """Place of numbers along the vertical axis, pixels."""
        return self.bottom - (values - self.low[1]) / (self.high[1] - self.low[1]) * (self.bottom - self.top)

    def axes(self, across: str, up: str, ticks: list[tuple[float, str]] | None = None) -> list[str]:
        """Draw the frame, the ticks and the names; ``ticks`` of the horizontal axis, None = round numbers."""
        width, height = self.right - self.left, self.bottom - self.top
        shapes = [element("rect", x=self.left, y=self.top, width=width, height=height, fill="none", stroke=LINE)]
        for value, text in round_numbers(self.low[0], self.high[0], width / 90) if ticks is None else ticks:
            x = float(self.x(value))
            shapes.append(element("path", d=f"M{x:.1f} {self.bottom:.1f}v5", stroke=LINE))
            shapes.append(label(x, self.bottom + 14, text, 11, fill=FAINT_INK))
        for value, text in round_numbers(self.low[1], self.high[1], height / 60):
            y = float(self.y(value))
            shapes.append(element("path", d=f"M{self.left:.1f} {y:.1f}h-5", stroke=LINE))
            shapes.append(label(self.left - 8, y, text, 11, fill=FAINT_INK, text_anchor="end"))
        middle = (self.top + self.bottom) / 2
        shapes.append(label(self.left + width / 2, self.bottom + 34, shortened(across, width, 13), 13))
        rotated = {"transform": f"rotate(-90 {MARGIN} {middle:.1f})"}
        shapes.append(label(MARGIN, middle, shortened(up, height, 13), 13, **rotated))
        return shapes


def padded_range(values: np.ndarray) -> tuple[float, float]:
    """Least and greatest number, with some space around; NaN are left out."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    padding = PADDING * (high - low) or 0.5 * abs(low) or 0.5
    return low - padding, high + padding


def round_numbers(low: float, high: float, count: float) -> list[tuple[float, str]]:
    """About ``count`` round numbers in a range, with their texts."""
    min_step = (high - low) / max(count, 1)
    power = 10.0 ** np.floor(np.log10(min_step))
    step = next(float(power * k) for k in (1, 2, 5, 10) if power * k >= min_step * 0.999)
    digits = max(0, -int(np.floor(np.log10(step * 1.001))))
    values = [step * k for k in range(int(np.ceil(low / step)), int(np.floor(high / step)) + 1)]
    return [(v, f"{v:.{digits}f}" if 1e-4 < step < 1e6 else f"{v:.6g}") for v in values]
