"""ITOP benchmark: share of joints within 10 cm, one prediction for each joint and frame, including hidden joints.

Scores are printed beside published results on the same frames. Those methods were trained on ITOP's training frames, of
the same camera and place; posepipe models are trained on rendered frames only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.evaluation.figures import without_nan
from posepipe.evaluation.metrics.pose_metrics import JointScores
from posepipe.evaluation.pose_report import PoseReport

ROWS = {
    "head": ("head",),
    "neck": ("neck",),
    **{f"{row}s": (f"left_{row}", f"right_{row}") for row in ("shoulder", "elbow", "hand")},
    "torso": ("torso",),
    **{f"{row}s": (f"left_{row}", f"right_{row}") for row in ("hip", "knee")},
    "feet": ("left_foot", "right_foot"),
}
"""Rows of the benchmark's table; each is the mean of its joints."""
UPPER_BODY = ("head", "neck", "shoulders", "elbows", "hands")
LOWER_BODY = ("hips", "knees", "feet")

PUBLISHED = {
    "side": {
        "Shotton et al. 2011, forest": 65.8,
        "Carreira et al. 2016, IEF": 71.0,
        "Haque et al. 2016": 77.4,
        "Jung et al. 2015, RTW": 80.5,
        "Xiong et al. 2019, A2J": 88.0,
        "Moon et al. 2018, V2V": 88.7,
    },
    "top": {
        "Shotton et al. 2011, forest": 47.4,
        "Jung et al. 2015, RTW": 68.2,
        "Moon et al. 2018, V2V": 83.4,
    },
}
"""Percent over all 15 joints, test frames. Forest, IEF, RTW and Haque et al. are from Haque et al., ECCV 2016; V2V is
Moon et al., CVPR 2018; A2J is Xiong et al., ICCV 2019."""
FOREST_SIDE = {
    "head": 63.8,
    "neck": 86.4,
    "shoulders": 83.3,
    "elbows": 73.2,
    "hands": 51.3,
    "torso": 65.0,
    "hips": 50.8,
    "knees": 65.7,
    "feet": 61.3,
}
"""Rows of the forest of Shotton et al., side view (Haque et al., ECCV 2016)."""


def itop_scores(joints: JointScores) -> dict[str, float]:
    """Percent of joints within 10 cm, by row, and for upper body, lower body and all; NaN where there is no truth.

    References
    ----------
    Haque et al., ECCV 2016, section 5: a joint counts when it is less than 10 cm from the truth.
    """
    within = {joint: 100 * row["all_within_10cm"] for joint, row in joints.table().items()}

    def mean(rows: Sequence[str]) -> float:
        known = [within[joint] for row in rows for joint in ROWS[row] if np.isfinite(within.get(joint, np.nan))]
        return float(np.mean(known)) if known else float("nan")

    scores = {row: mean([row]) for row in ROWS}
    return {**scores, "upper body": mean(UPPER_BODY), "lower body": mean(LOWER_BODY), "all": mean(list(ROWS))}


def itop_view(paths: Sequence[str | Path]) -> str:
    """Camera of some files, by their names: "side", "top", or "" if unknown."""
    views = {next((view for view in PUBLISHED if f"_{view}_" in Path(path).name), "") for path in paths}
    return views.pop() if len(views) == 1 else ""


@dataclass(frozen=True, slots=True, eq=False)
class ItopReport(PoseReport):
    """Report with ITOP's table."""

    view: str = ""  #: "side" or "top"; "" = no published results

    @classmethod
    def of(cls, report: PoseReport, view: str) -> ItopReport:
        """Extend a report by ITOP's table for a view."""
        known = report.frames, report.parts, report.joints, report.detection, report.extremes, report.bodies
        return cls(*known, view=view)

    def to_dict(self) -> dict:
        """Every figure, with ITOP's under ``itop``."""
        return {**PoseReport.to_dict(self), "itop": without_nan(itop_scores(self.joints))}

    def text(self) -> str:
        """Format for the terminal."""
        return f"{PoseReport.text(self)}\n{self._table()}"

    def _table(self) -> str:
        forest = FOREST_SIDE if self.view == "side" else {}
        lines = [
            "ITOP: percent of joints within 10 cm, hidden ones too" + ("; beside it Shotton's forest" if forest else "")
        ]
        for row, value in itop_scores(self.joints).items():
            figure = f"{value:8.1f}" if np.isfinite(value) else f"{'-':>8s}"
            lines.append(f"  {row:12s}{figure}" + (f"{forest[row]:8.1f}" if row in forest else ""))
        published = PUBLISHED.get(self.view, {})
        lines += [f"  all, {who:30s}{value:6.1f}" for who, value in published.items()]
        return "\n".join([*lines, *(["  (the others learned from ITOP's own training frames)"] if published else [])])
