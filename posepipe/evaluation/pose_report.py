"""Figures of the poses of one model, and of several side by side."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from posepipe.evaluation.figures import without_nan
from posepipe.evaluation.metrics.body_metrics import BodyScores
from posepipe.evaluation.metrics.extremes import Extremes
from posepipe.evaluation.metrics.part_metrics import DetectionScores, PartScores
from posepipe.evaluation.metrics.pose_metrics import JointScores

_KEPT = ("ap", "within_10cm", "hidden_within_15cm")
_COLUMNS = ("ap", "within_10cm", "within_15cm", "all_within_10cm", "hidden_within_15cm", "median_m")


@dataclass(frozen=True, slots=True, eq=False)
class PoseReport:
    """Figures of one model on labelled frames."""

    frames: int
    parts: PartScores
    joints: JointScores
    detection: DetectionScores = field(default_factory=DetectionScores)  #: of whole frames; empty for cut-out people
    extremes: Extremes = field(default_factory=Extremes)  #: people found best and worst
    bodies: BodyScores = field(default_factory=BodyScores)  #: of limbs; empty where their truth is not stored

    def __add__(self, other: PoseReport) -> PoseReport:
        """Report on the frames of both, in this order: the same as one on all these frames."""
        return PoseReport(
            self.frames + other.frames,
            self.parts + other.parts,
            self.joints + other.joints,
            self.detection + other.detection,
            self.extremes + other.extremes,
            self.bodies + other.bodies,
        )

    def to_dict(self) -> dict:
        """Every figure, ready for JSON; NaN (nothing to measure) becomes None."""
        return without_nan(
            {
                "frames": self.frames,
                "people": self.joints.people,
                "mean_part_accuracy": self.parts.mean_accuracy(),
                "part_recall": self.parts.recall(),
                "confusion": self.parts.confusion.tolist(),
                "joints_mean": self.joints.means(),
                "joints": self.joints.table(),
                "within_10cm_by_distance": self.joints.by_distance(),
                "within_10cm_by_yaw": self.joints.by_yaw(),
                "calibration": self.joints.calibration(),
                "detection": self.detection.figures(),
                "bodies": self.bodies.figures(),
            }
        )

    def headline(self) -> dict[str, float]:
        """Figures by which models are compared."""
        means = self.joints.means()
        return {
            "mean part accuracy": self.parts.mean_accuracy(),
            "joint mAP at 10 cm": means["map"],
            "visible joints within 10 cm": means["within_10cm"],
            "visible joints within 15 cm": means["within_15cm"],
            "all joints within 10 cm": means["all_within_10cm"],
            "all joints within 15 cm": means["all_within_15cm"],
            "hidden joints within 15 cm": means["hidden_within_15cm"],
            "people with left and right swapped": means["left_right_flips"],
            "people taken to face the wrong way": means["front_back_flips"],
            "calibration error": self.joints.calibration_error(),
            **self.detection.figures(),
            **self.bodies.figures(),
        }

    def summary(self) -> dict:
        """Figures for the model file: ``headline``, and three for each of the ``joints``; NaN becomes None."""
        joints = {joint: {column: row[column] for column in _KEPT} for joint, row in self.joints.table().items()}
        return without_nan({"headline": self.headline(), "joints": joints})

    def text(self) -> str:
        """Format every figure but the confusion for the terminal; NaN is left out."""
        lines = [f"{name:34s}{value:8.3f}" for name, value in self.headline().items() if np.isfinite(value)]
        recall = [f"{part} {value:.2f}" for part, value in self.parts.recall().items()]
        lines += ["recall of the parts:"] if recall else []
        lines += ["  " + "  ".join(recall[i : i + 6]) for i in range(0, len(recall), 6)]
        for title, figures in (("distance", self.joints.by_distance()), ("turn", self.joints.by_yaw())):
            known = [f"{name} {value:.2f}" for name, value in figures.items() if np.isfinite(value)]
            lines += [f"visible within 10 cm by {title}:  " + "  ".join(known)] if known else []
        return "\n".join([*lines, *self._table_of_joints()])

    def _table_of_joints(self) -> list[str]:
        rows = {joint: row for joint, row in self.joints.table().items() if np.isfinite(list(row.values())).any()}
        if not rows:
            return ["joints: none scored, because nobody has enough visible joints to count as in view"]
        columns = [column for column in _COLUMNS if any(np.isfinite(row[column]) for row in rows.values())]
        lines = [f"  {'joint':16s}" + "".join(f"{column:>20s}" for column in columns)]
        return lines + [
            f"  {joint:16s}" + "".join(f"{row[c]:20.3f}" if np.isfinite(row[c]) else f"{'-':>20s}" for c in columns)
            for joint, row in rows.items()
        ]


def compare_reports(reports: Mapping[str, PoseReport]) -> str:
    """Format the headline figures of several models side by side; rows without a value are left out."""
    rows: dict[str, list[float]] = {}
    for report in reports.values():
        for name, value in report.headline().items():
            rows.setdefault(name, []).append(value)
    width = max(12, *(len(name) + 2 for name in reports))
    lines = [" " * 34 + "".join(f"{name:>{width}s}" for name in reports)]
    lines += [
        f"{name:34s}" + "".join(f"{value:{width}.3f}" for value in values)
        for name, values in rows.items()
        if np.isfinite(values).any()
    ]
    return "\n".join(lines)
