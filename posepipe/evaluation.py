"""Evaluation on one page: run a forest on labelled frames, compare with the truth, make a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from posepipe.frames import LabelledFrame
from posepipe.learn.depth_forest import DepthForest
from posepipe.metrics import JointScores, PartScores
from posepipe.pipeline import Pipeline

_COLUMNS = ("ap", "within_10cm", "within_15cm", "all_within_10cm", "hidden_within_15cm", "median_m")


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Figures of one model on some frames."""

    frames: int
    parts: PartScores
    joints: JointScores

    def to_dict(self) -> dict:
        """Every figure, ready for JSON; NaN (nothing to measure) becomes None."""
        return _without_nan(
            {
                "frames": self.frames,
                "people": self.joints.people,
                "mean_part_accuracy": self.parts.mean_accuracy(),
                "part_recall": self.parts.recall(),
                "confusion": self.parts.confusion.tolist(),
                "joints_mean": self.joints.means(),
                "joints": self.joints.table(),
            }
        )

    def text(self) -> str:
        """The same, without the confusion, for the terminal."""
        means = self.joints.means()
        lines = [f"mean part accuracy {self.parts.mean_accuracy():.3f}"]
        recall = [f"{part} {value:.2f}" for part, value in self.parts.recall().items()]
        lines += ["  " + "  ".join(recall[i : i + 6]) for i in range(0, len(recall), 6)]
        lines.append(
            f"joints: mAP@10cm {means['map']:.3f}   visible within 10 cm {means['within_10cm']:.3f},"
            f" 15 cm {means['within_15cm']:.3f}   all within 10 cm {means['all_within_10cm']:.3f},"
            f" 15 cm {means['all_within_15cm']:.3f}   hidden within 15 cm {means['hidden_within_15cm']:.3f}"
        )
        lines.append(
            f"people with left and right exchanged {means['left_right_flips']:.3f},"
            f" taken to face the wrong way {means['front_back_flips']:.3f}"
        )
        lines.append(f"  {'joint':16s}" + "".join(f"{column:>20s}" for column in _COLUMNS))
        for joint, row in self.joints.table().items():
            lines.append(f"  {joint:16s}" + "".join(f"{row[column]:20.3f}" for column in _COLUMNS))
        return "\n".join(lines)


def _without_nan(value):
    if isinstance(value, dict):
        return {k: _without_nan(v) for k, v in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


def evaluate(
    forest: DepthForest, frames: Iterable[LabelledFrame], on_frame: Callable[[], None] = lambda: None
) -> Report:
    """Run the whole pipeline, without tracking, and score parts and joints.

    A frame is expected to show one person, the first of its truth; more are scored when the
    pipeline finds people in rooms.
    """
    pipeline = Pipeline.from_forest(forest, tracking=False)
    parts, joints = PartScores(forest.body), JointScores(forest.body)
    count = 0
    for frame in frames:
        result = pipeline.step(frame.depth)
        classified = result.mask & (result.parts > 0)
        parts.add(np.where(classified | ~result.mask, frame.parts, 0), result.parts)
        found = result.people[0].pose.joints if result.people else {}
        joints.add(frame.joints_m[0], frame.visible[0], found, result.proposals)
        count += 1
        on_frame()
    return Report(count, parts, joints)
