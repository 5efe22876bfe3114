"""The report page: figures of models side by side, charts, and the people found best and worst."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from posepipe.evaluation.figures import write_figures
from posepipe.evaluation.html_report.charts import bars_html, confusion_svg, curves_svg, key_html
from posepipe.evaluation.html_report.document import (
    document,
    figures_table,
    pictures,
    section,
    section_by_model,
    side_by_side,
)
from posepipe.evaluation.html_report.pictures import picture_html
from posepipe.evaluation.metrics.extremes import ScoredPerson
from posepipe.evaluation.pose_report import PoseReport
from posepipe.io.files import disk_errors, name_text, replace_file


def write_report(folder: str | Path, title: str, reports: Mapping[str, PoseReport]) -> None:
    """Write ``report.html``, which needs no other file and loads nothing, and ``figures.json``.

    Parameters
    ----------
    folder : created if needed
    title : name of the frames that were scored
    reports : by name of the model
    """
    folder = Path(folder)
    with disk_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
    replace_file(folder / "report.html", name_text(report_html(title, reports)).encode())
    write_figures(folder / "figures.json", title, reports)


def report_html(title: str, reports: Mapping[str, PoseReport]) -> str:
    """Format the page; parameters are those of `write_report`."""
    names, scored = list(reports), list(reports.values())
    headlines = {name: report.headline() for name, report in reports.items()}
    sections = [
        section("Figures", figures_table(headlines), "A rate of people or joints is a share of 1."),
        section("Joints", bars_html(_joints(scored)), "Share of the visible joints within 10 cm of the truth."),
        section(
            "Precision and recall",
            curves_svg([report.joints.precision_recall() for report in scored], "recall", "precision"),
            "All proposals of all visible joints at 10 cm, ranked by confidence.",
        ),
        section(
            "Calibration",
            curves_svg([_calibration(report) for report in scored], "stated confidence", "within 10 cm", True, True),
            "On the dashed line the stated confidence is the share of joints within 10 cm.",
        ),
        section(
            "Distance",
            bars_html(side_by_side([report.joints.by_distance() for report in scored])),
            "Share of a person's visible joints within 10 cm, mean over people, by their distance.",
        ),
        section(
            "Direction",
            bars_html(side_by_side([report.joints.by_yaw() for report in scored])),
            "The same by direction: 0 degrees faces the camera, 180 shows the back.",
        ),
    ]
    models = [
        *section_by_model(reports, "Parts", _OF_PARTS, _confusion),
        *section_by_model(reports, "Best people", _OF_PEOPLE, lambda report: _people(report.extremes.best, report)),
        *section_by_model(reports, "Worst people", _OF_PEOPLE, lambda report: _people(report.extremes.worst, report)),
    ]
    charts = f'<div class="charts">{"".join(sections)}</div>'
    return document(title, [key_html(names), charts, *models])


_OF_PARTS = "Rows are true parts, columns labelled ones; stronger = a larger share of the true part's pixels."
_OF_PEOPLE = (
    "By the mean error of visible joints, where a missing joint counts 0.5 m. Discs: joints found. White rings: visible"
    " joints of the truth. Red lines: 10 cm or more apart."
)


def _joints(scored: Sequence[PoseReport]) -> dict[str, list[float]]:
    tables = [{joint: row["within_10cm"] for joint, row in report.joints.table().items()} for report in scored]
    return side_by_side(tables)


def _calibration(report: PoseReport) -> tuple[np.ndarray, np.ndarray]:
    rows = report.joints.calibration()
    return np.array([row["confidence"] for row in rows]), np.array([row["right"] for row in rows])


def _confusion(report: PoseReport) -> str:
    counted = report.parts.confusion.any()
    return confusion_svg(report.parts.confusion, report.parts.body.parts) if counted else ""


def _people(people: Sequence[ScoredPerson], report: PoseReport) -> str:
    return pictures([picture_html(person, report.joints.body) for person in people])
