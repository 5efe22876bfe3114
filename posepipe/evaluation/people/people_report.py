"""Reports on people: tables, and a picture of each of the worst frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.evaluation.people.evaluate_people import JudgedFrame, PeopleReport
from posepipe.evaluation.report import write_figures
from posepipe.io.files import disk_errors, replace_file
from posepipe.sinks.images.drawing import draw_depth, draw_parts, draw_skeleton, joint_pixels

FOUND, MISSED, FALSE, IGNORED = (80, 200, 80), (60, 160, 255), (60, 60, 255), (170, 170, 170)
"""Colours, BGR: boxes of people found (green), missed (orange) and ignored (grey), discs of false people (red)."""
MIN_HEIGHT_PX = 360
_INK, _PAPER, _TITLE_PX = (40, 40, 40), (250, 250, 250), 24


def write_people_report(
    folder: str | Path, title: str, reports: Mapping[str, PeopleReport], body: BodyDefinition
) -> None:
    """Write ``report.md``, ``figures.json``, and a picture of every frame of `PeopleReport.worst`.

    Parameters
    ----------
    folder : created if needed
    title : name of the frames that were scored
    reports : by name of the model
    body : parts and bones to draw
    """
    folder = Path(folder)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    lines = [f"# {title}", ""]
    for number, (model, report) in enumerate(reports.items()):
        lines += [f"## {model}", "", "```", report.text(), "```", ""]
        lines += ["Green: found. Orange: missed. Grey: counts neither way. Red: false.", ""] if report.worst else []
        for rank, judged in enumerate(report.worst):
            name = f"worst-{number}-{rank:02d}.png"
            replace_file(folder / name, cv2.imencode(".png", draw_judged(judged, body))[1].tobytes())
            lines += [f"![{_caption(judged)}]({name})", ""]
    replace_file(folder / "report.md", "\n".join(lines).encode())
    write_figures(folder / "figures.json", title, reports)


def draw_judged(judged: JudgedFrame, body: BodyDefinition) -> np.ndarray:
    """Draw one frame: its labels and the people found over the depth, and their parts. uint8 (H, 2 W, 3), BGR."""
    result = judged.result
    height, width = result.frame.depth_m.shape
    scale = max(1, -(-MIN_HEIGHT_PX // height))
    image, parts = draw_depth(result.frame.depth_m), draw_parts(result.parts, body)
    image, parts = (np.repeat(np.repeat(each, scale, 0), scale, 1) for each in (image, parts))
    for track in result.people:
        pixels = joint_pixels(track.pose, result.frame.intrinsics)
        scaled = {name: (scale * column, scale * row) for name, (column, row) in pixels.items()}
        draw_skeleton(image, track.pose, body, scaled)
    for row, label in enumerate(judged.labels.people):
        colour = IGNORED if label.ignore else FOUND if row in judged.matches.found else MISSED
        left, top, right, bottom = (round(scale * side) for side in label.box)
        cv2.rectangle(image, (left, top), (right, bottom), colour, 2)
        cv2.drawMarker(image, (scale * label.torso[0], scale * label.torso[1]), colour, cv2.MARKER_CROSS, 12, 2)
    for row in judged.matches.false:
        centre = judged.centres[row]
        place = [int(np.clip(scale * side, 0, scale * max(height, width))) for side in (centre.column, centre.row)]
        cv2.circle(image, place, 9, FALSE, cv2.FILLED, cv2.LINE_AA)
    strip = np.full((_TITLE_PX, 2 * scale * width, 3), _PAPER, np.uint8)
    cv2.putText(strip, _caption(judged), (6, 17), cv2.FONT_HERSHEY_SIMPLEX, 0.5, _INK, 1, cv2.LINE_AA)
    return np.vstack([strip, np.hstack([image, parts])])


def _caption(judged: JudgedFrame) -> str:
    missed, false = len(judged.matches.missed), len(judged.matches.false)
    return f"{judged.source}, frame {judged.result.frame.index}: {missed} missed, {false} false"
