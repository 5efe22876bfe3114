"""The table by which joints one by one and a fitted body are compared, set by set."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from posepipe.evaluation.suite.markdown import markdown_table, number

UNFITTED = "no fit"
"""Title of what was scored without the fitted body."""
TITLES = {UNFITTED: "joint stages", "model": "and fit"}
"""Title of what was scored -> how joints were found. The fit starts from the pose of the joint stages."""
JOINTS = {
    "visible joints within 10 cm": "visible joints within 10 cm",
    "hidden joints within 15 cm": "hidden joints within 15 cm",
    "all joints within 10 cm": "all joints within 10 cm",
}
DEGREES = {"bone directions": "bone direction error, degrees", "twist": "twist error, degrees"}
LENGTHS = {
    "bone lengths": "bone length error",
    "after 2 s": "bone length error after 2 s",
    "spread over a track": "bone length spread",
}
REST = {"jitter at rest, mm": "spread at rest, mm"}
TIME = "ms a person"


def fit_table(own: Mapping[str, Any]) -> str:
    """Make the table of all sets that were scored with a fitted body and without."""
    rows = []
    for name, about in own.items():
        if not {"model", UNFITTED} <= about["scores"].keys():
            continue
        rows += [[name, how, *_cells(about["scores"], title)] for title, how in TITLES.items()]
    columns = [*JOINTS, *(f"{name}, °" for name in DEGREES), *(f"{name}, %" for name in LENGTHS), *REST, TIME]
    return markdown_table(["set", "joints by", *columns], rows)


def _cells(scores: Mapping[str, Any], title: str) -> list[str]:
    headline = scores[title]["headline"]
    tracks = scores.get("all" if title == "model" else f"all, {title}", {}).get("tracker", {}).get("all", {})

    def of(name: str, factor: float = 1.0, digits: int = 3) -> str:
        value = headline[name] if name in headline else tracks.get(name)
        return number(None if value is None else factor * value, digits)

    return [
        *(of(name) for name in JOINTS.values()),
        *(of(name, digits=1) for name in DEGREES.values()),
        *(of(name, 100, 1) for name in LENGTHS.values()),
        *(of(name, digits=1) for name in REST.values()),
        number(scores[title].get(TIME), 1),
    ]
