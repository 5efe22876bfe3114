"""Curves of accuracy drawn side by side in one SVG picture."""

from __future__ import annotations

from collections.abc import Sequence

from posepipe.evaluation.forest_curves.measure import CurvePoint
from posepipe.evaluation.forest_curves.plan import CURVES
from posepipe.learn.tables.plotting.curve_drawing import draw_curves
from posepipe.learn.tables.plotting.svg import Drawing, document, element

PANEL = (380, 320)
"""Width and height of one curve, pixels."""
COLUMNS = 3
_LOGARITHMIC = ("frames", "candidates", "probe_range")


def draw_accuracy_curves(points: Sequence[CurvePoint]) -> Drawing:
    """Draw a panel for each curve that has points, all with the same vertical axis.

    Raises
    ------
    ValueError
        When there are no points.
    """
    curves = {curve: [point for point in points if point.curve == curve] for curve in CURVES}
    if not points:
        raise ValueError("draw_accuracy_curves takes at least one point, got none")
    accuracies = [point.part_accuracy for point in points]
    up_range = min(accuracies), max(accuracies)
    panels = [_panel(curve, own, up_range) for curve, own in curves.items() if own]
    width, height = PANEL
    shapes = [
        element("g", panel, transform=f"translate({k % COLUMNS * width} {k // COLUMNS * height})")
        for k, panel in enumerate(panels)
    ]
    rows = -(-len(panels) // COLUMNS)
    return document(min(len(panels), COLUMNS) * width, rows * height, "part accuracy of depth forests", shapes)


def _panel(curve: str, points: Sequence[CurvePoint], up_range: tuple[float, float]) -> Drawing:
    drawn = {"validation": ([point.value for point in points], [point.part_accuracy for point in points])}
    log = curve in _LOGARITHMIC
    return draw_curves(drawn, CURVES[curve], "mean part accuracy", log=log, size=PANEL, up_range=up_range)


def table(points: Sequence[CurvePoint]) -> str:
    """Format points for the terminal: two lines a curve, numbers and accuracies."""
    lines = []
    for curve, across in CURVES.items():
        own = [point for point in points if point.curve == curve]
        if own:
            lines.append(f"{across:34s}" + "".join(f"{point.value:8g}" for point in own))
            lines.append(f"{'  part accuracy':34s}" + "".join(f"{point.part_accuracy:8.3f}" for point in own))
    return "\n".join(lines)
