"""Evaluations on paper: a folder with tables, figures and the confusion of parts."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.disk import disk_errors, replace_file
from posepipe.evaluation import Report, compare

_CELL_PX, _MARGIN_PX = 22, 170


def write_report(folder: str | Path, title: str, reports: Mapping[str, Report]) -> None:
    """Write ``report.md``, ``figures.json`` and a picture of each model's confusion of parts.

    Parameters
    ----------
    folder : made if needed
    title : which frames were scored
    reports : by name of the model
    """
    folder = Path(folder)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {title}", "", "```", compare(reports), "```", ""]
    for number, (name, report) in enumerate(reports.items()):
        picture = f"confusion-{number}.png"
        with disk_errors(folder / picture):
            ok, png = cv2.imencode(".png", draw_confusion(report.parts.confusion, report.parts.body))
            assert ok
            (folder / picture).write_bytes(png.tobytes())
        lines += [f"## {name}", "", "```", report.text(), "```", "", f"![confusion of the parts]({picture})", ""]
    replace_file(folder / "report.md", "\n".join(lines).encode())
    write_figures(folder / "figures.json", title, reports)


def write_figures(path: str | Path, title: str, reports: Mapping[str, Report]) -> None:
    """Write every figure as JSON."""
    figures = {"frames": title, "models": {name: report.to_dict() for name, report in reports.items()}}
    replace_file(path, json.dumps(figures, indent=1).encode() + b"\n")


def draw_confusion(confusion: np.ndarray, body: BodyDefinition) -> np.ndarray:
    """Rows: true part; columns: predicted; darker = a larger share of the row. uint8 (H, W, 3) BGR."""
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
