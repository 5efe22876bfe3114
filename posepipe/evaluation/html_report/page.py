"""The report page: figures of models side by side, charts, and the people found best and worst."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path

import numpy as np

from posepipe.evaluation.evaluate_poses import Report
from posepipe.evaluation.extremes import ScoredPerson
from posepipe.evaluation.html_report.charts import bars_html, confusion_svg, curves_svg, key_html
from posepipe.evaluation.html_report.pictures import picture_html
from posepipe.evaluation.report import write_figures
from posepipe.io.files import disk_errors, replace_file

_STYLE = Path(__file__).with_name("report.css")
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def write_report(folder: str | Path, title: str, reports: Mapping[str, Report]) -> None:
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
    replace_file(folder / "report.html", report_html(title, reports).encode())
    write_figures(folder / "figures.json", title, reports)


def report_html(title: str, reports: Mapping[str, Report]) -> str:
    """Format the page; parameters are those of `write_report`."""
    names, scored = list(reports), list(reports.values())
    sections = [
        _section("Figures", _figures(reports), "A rate of people or joints is a share of 1."),
        _section("Joints", bars_html(_joints(scored)), "Share of the visible joints within 10 cm of the truth."),
        _section(
            "Precision and recall",
            curves_svg([report.joints.precision_recall() for report in scored], "recall", "precision"),
            "All proposals of all visible joints at 10 cm, ranked by confidence.",
        ),
        _section(
            "Calibration",
            curves_svg([_calibration(report) for report in scored], "stated confidence", "within 10 cm", True, True),
            "On the dashed line the stated confidence is the share of joints within 10 cm.",
        ),
        _section(
            "Distance",
            bars_html(_side_by_side([report.joints.by_distance() for report in scored])),
            "Share of the visible joints within 10 cm, by distance of the person.",
        ),
        _section(
            "Direction",
            bars_html(_side_by_side([report.joints.by_yaw() for report in scored])),
            "The same by direction: 0 degrees faces the camera, 180 shows the back.",
        ),
    ]
    models = [
        *_each(reports, "Parts", "Rows are true parts, columns labelled ones; stronger = a larger share.", _confusion),
        *_each(reports, "Best people", _OF_PEOPLE, lambda report: _people(report.extremes.best, report)),
        *_each(reports, "Worst people", _OF_PEOPLE, lambda report: _people(report.extremes.worst, report)),
    ]
    charts = f'<div class="charts">{"".join(sections)}</div>'
    body = "".join([f"<h1>{escape(title)}</h1>", key_html(names), charts, *models])
    head = (
        f'<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">'
        f"<title>{escape(title)}</title><style>{_STYLE.read_text('utf-8')}</style>"
    )
    return f'<!doctype html>\n<html lang="en"><head>{head}</head><body>{body}</body></html>\n'


_OF_PEOPLE = (
    "By the mean error of visible joints, where a missing joint counts 0.5 m. Discs: joints found. White rings: visible"
    " joints of the truth. Red lines: 10 cm or more apart."
)


def _section(name: str, content: str, about: str) -> str:
    return f"<section><h2>{escape(name)}</h2><p>{escape(about)}</p>{content}</section>"


def _each(reports: Mapping[str, Report], name: str, about: str, draw: Callable[[Report], str]) -> list[str]:
    """A section with a column for each model; none where no model has anything to show."""
    drawn = {model: draw(report) for model, report in reports.items()}
    if not any(drawn.values()):
        return []
    columns = "".join(f"<div><h3>{escape(model)}</h3>{content}</div>" for model, content in drawn.items())
    return [_section(name, f'<div class="pair">{columns}</div>', about)]


def _figures(reports: Mapping[str, Report]) -> str:
    rows = _side_by_side([report.headline() for report in reports.values()])
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", *reports))
    lines = [
        f"<tr><td>{escape(name)}</td>{''.join(f'<td>{_figure(value)}</td>' for value in values)}</tr>"
        for name, values in rows.items()
        if np.isfinite(values).any()
    ]
    return f'<div class="scroll"><table><tr>{head}</tr>{"".join(lines)}</table></div>'


def _figure(value: float) -> str:
    return f"{value:.3f}" if np.isfinite(value) else "-"


def _side_by_side(figures: Sequence[Mapping[str, float]]) -> dict[str, list[float]]:
    """Values of every model by name; NaN where a model has none."""
    names = dict.fromkeys(name for each in figures for name in each)
    return {name: [each.get(name, float("nan")) for each in figures] for name in names}


def _joints(scored: Sequence[Report]) -> dict[str, list[float]]:
    tables = [{joint: row["within_10cm"] for joint, row in report.joints.table().items()} for report in scored]
    return _side_by_side(tables)


def _calibration(report: Report) -> tuple[np.ndarray, np.ndarray]:
    rows = report.joints.calibration()
    return np.array([row["confidence"] for row in rows]), np.array([row["right"] for row in rows])


def _confusion(report: Report) -> str:
    counted = report.parts.confusion.any()
    return confusion_svg(report.parts.confusion, report.parts.body.parts) if counted else ""


def _people(people: Sequence[ScoredPerson], report: Report) -> str:
    pictures = "".join(picture_html(person, report.joints.body) for person in people)
    return f'<div class="frames">{pictures}</div>' if pictures else ""
