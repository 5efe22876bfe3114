"""Reports of evaluations: figures as JSON, or a folder with tables and plots."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.evaluation.evaluate_poses import Report, compare
from posepipe.io.files import disk_errors, replace_file

_CELL_PX, _MARGIN_PX = 22, 170
_PLOT_PX, _FRAME_PX = 360, 60


class Figures(Protocol):
    """Report of poses or of tracks."""

    def to_dict(self) -> dict:
        """Every figure, ready for JSON."""


def write_report(folder: str | Path, title: str, reports: Mapping[str, Report]) -> None:
    """Write ``report.md``, ``figures.json``, and plots of each model's confusion of parts and calibration.

    Parameters
    ----------
    folder : created if needed
    title : name of the frames that were scored
    reports : by name of the model
    """
    folder = Path(folder)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {title}", "", "```", compare(reports), "```", ""]
    for number, (name, report) in enumerate(reports.items()):
        picture = f"confusion-{number}.png"
        _write_picture(folder / picture, draw_confusion(report.parts.confusion, report.parts.body))
        calibration = f"calibration-{number}.png"
        _write_picture(folder / calibration, draw_calibration(report.joints.calibration()))
        lines += [f"## {name}", "", "```", report.text(), "```", ""]
        lines += [
            f"![confusion of the parts]({picture})",
            "",
            f"![stated confidence and share right]({calibration})",
            "",
        ]
    replace_file(folder / "report.md", "\n".join(lines).encode())
    write_figures(folder / "figures.json", title, reports)


def _write_picture(path: Path, image: np.ndarray) -> None:
    ok, png = cv2.imencode(".png", image)
    assert ok
    with disk_errors(path):
        path.write_bytes(png.tobytes())


def write_figures(path: str | Path, title: str, reports: Mapping[str, Figures]) -> None:
    """Write every figure as JSON.

    Parameters
    ----------
    path : replaced in one step
    title : name of the frames that were scored
    reports : by name of the model
    """
    figures = {"frames": title, "models": {name: report.to_dict() for name, report in reports.items()}}
    replace_file(path, json.dumps(figures, indent=1).encode() + b"\n")


def draw_confusion(confusion: np.ndarray, body: BodyDefinition) -> np.ndarray:
    """Draw the confusion of parts: uint8 (H, W, 3) BGR.

    Rows are true parts, columns predicted ones; a darker cell is a larger share of its row.
    """
    counts = confusion[1:, 1:].astype(np.float64)
    share = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    size = _CELL_PX * len(body.parts)
    image = np.full((size + _MARGIN_PX, size + _MARGIN_PX, 3), 255, np.uint8)
    cells = cv2.resize((255 * (1 - share)).astype(np.uint8), (size, size), interpolation=cv2.INTER_NEAREST)
    image[:size, _MARGIN_PX:] = cells[..., None]
    for row, part in enumerate(body.parts):
        place = (4, _CELL_PX * row + 15)
        cv2.putText(image, part, place, cv2.FONT_HERSHEY_SIMPLEX, 0.4, (0, 0, 0), 1, cv2.LINE_AA)
    image[size:, _MARGIN_PX:] = cv2.rotate(image[:size, :_MARGIN_PX], cv2.ROTATE_90_COUNTERCLOCKWISE)
    return image


def draw_calibration(rows: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Draw the share of joints within 10 cm over the confidence: uint8 (H, W, 3) BGR.

    Each bin is a disc whose area grows with its number of joints.
    """
    image = np.full((_PLOT_PX + _FRAME_PX, _PLOT_PX + _FRAME_PX, 3), 255, np.uint8)

    def place(confidence: float, right: float) -> tuple[int, int]:
        return _FRAME_PX + round(confidence * (_PLOT_PX - 10)), round((1 - right) * (_PLOT_PX - 10)) + 10

    grey, ink = (200, 200, 200), (60, 60, 60)
    cv2.rectangle(image, place(0, 0), place(1, 1), grey, 1)
    cv2.line(image, place(0, 0), place(1, 1), grey, 1, cv2.LINE_AA)
    max_joints = max((row["joints"] for row in rows), default=1)
    for row in rows:
        radius = 3 + round(9 * float(np.sqrt(row["joints"] / max_joints)))
        cv2.circle(image, place(row["confidence"], row["right"]), radius, (160, 90, 30), cv2.FILLED, cv2.LINE_AA)
    for text, at in (("0", (-0.01, -0.06)), ("1", (0.98, -0.06)), ("stated confidence", (0.28, -0.12)),
                     ("1", (-0.06, 0.97)), ("within", (-0.17, 0.55)), ("10 cm", (-0.16, 0.49))):  # fmt: skip
        cv2.putText(image, text, place(*at), cv2.FONT_HERSHEY_SIMPLEX, 0.42, ink, 1, cv2.LINE_AA)
    return image
