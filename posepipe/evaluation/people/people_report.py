"""Report pages on people: figures, charts, and a picture of each of the worst frames."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.evaluation.figures import write_figures
from posepipe.evaluation.html_report.charts import bars_html, key_html
from posepipe.evaluation.html_report.document import (
    document,
    figures_table,
    picture,
    pictures,
    section,
    section_by_model,
    side_by_side,
)
from posepipe.evaluation.people.evaluate_people import JudgedFrame, PeopleReport
from posepipe.io.files import disk_errors, name_text, replace_file
from posepipe.sinks.images.drawing import draw_depth, draw_parts, draw_skeleton, joint_pixels

FOUND, MISSED, FALSE, IGNORED = (80, 200, 80), (60, 160, 255), (60, 60, 255), (170, 170, 170)
"""Colours, BGR: boxes of people found (green), missed (orange) and ignored (grey), discs of false people (red)."""
MIN_HEIGHT_PX = 360
_COLOURS = "Green boxes: people found. Orange: missed. Grey: counts neither way. Red discs: false people."
_OF_FIGURES = "Recall: labelled people who are found. Precision: people found who are there."
_GROUPS = {"state": "what they do", "visible": "how much of them is in view", "place": "place"}


def write_people_report(
    folder: str | Path, title: str, reports: Mapping[str, PeopleReport], body: BodyDefinition
) -> None:
    """Write ``report.html``, which needs no other file and loads nothing, and ``figures.json``.

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
    replace_file(folder / "report.html", name_text(people_report_html(title, reports, body)).encode())
    write_figures(folder / "figures.json", title, reports)


def people_report_html(title: str, reports: Mapping[str, PeopleReport], body: BodyDefinition) -> str:
    """Format the page: figures, people found by state and by place, and a picture of every frame with the most errors.

    Parameters are those of `write_people_report`.
    """
    scored = {model: report.to_dict() for model, report in reports.items()}
    plain = {model: {k: v for k, v in own.items() if not isinstance(v, dict)} for model, own in scored.items()}
    sections = [
        section("Figures", figures_table(plain), _OF_FIGURES),
        *(_recalls(scored, f"by {what}", f"Share of people found, by {words}.") for what, words in _GROUPS.items()),
    ]
    worst = section_by_model(reports, "Worst frames", _COLOURS, lambda report: _pictures(report, body))
    return document(title, [key_html(list(reports)), f'<div class="charts">{"".join(sections)}</div>', *worst])


def _recalls(scored: Mapping[str, Mapping[str, Any]], group: str, about: str) -> str:
    """Bars of the share of people found in each group; nothing where no people are labelled."""
    shares = [{word: each["recall"] for word, each in own[group].items()} for own in scored.values()]
    known = {word: values for word, values in side_by_side(shares).items() if np.isfinite(values).any()}
    return section(f"Found {group}", bars_html(known), about) if known else ""


def _pictures(report: PeopleReport, body: BodyDefinition) -> str:
    return pictures([picture(draw_judged(judged, body), _caption(judged)) for judged in report.worst], wide=True)


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
    return np.hstack([image, parts])


def _caption(judged: JudgedFrame) -> str:
    missed, false = len(judged.matches.missed), len(judged.matches.false)
    return f"{judged.source}, frame {judged.result.frame.index}: {missed} missed, {false} false"
