"""Evaluation on one page: run a forest on labelled frames, compare with the truth, make a report."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.evaluation.pose_metrics import DetectionScores, JointScores, PartScores
from posepipe.evaluation.track_metrics import joints_of, match, mean_distance
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.parts import EVERY_PIXEL, PartProbabilities, Stride
from posepipe.pipeline import Pipeline
from posepipe.results import FrameResult, JointProposal, Pose
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.pixel_grid import pixels_of

IN_VIEW_JOINTS = 5
"""A person who shows fewer joints is asked for by nobody, and is no mistake when found."""
SAME_PERSON_M = 0.5
"""Found joints further from the true ones, on average, are somebody else's, or nobody's."""
_KEPT = ("ap", "within_10cm", "hidden_within_15cm")
_COLUMNS = ("ap", "within_10cm", "within_15cm", "all_within_10cm", "hidden_within_15cm", "median_m")


@dataclass(frozen=True, slots=True, eq=False)
class Report:
    """Figures of one model on some frames."""

    frames: int
    parts: PartScores
    joints: JointScores
    presence: DetectionScores = field(default_factory=DetectionScores)  #: of whole frames; else empty

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
                "within_10cm_by_distance": self.joints.by_distance(),
                "within_10cm_by_yaw": self.joints.by_yaw(),
                "calibration": self.joints.calibration(),
                "presence": self.presence.figures(),
            }
        )

    def headline(self) -> dict[str, float]:
        """The figures that models are compared by."""
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
            **self.presence.figures(),
        }

    def summary(self) -> dict:
        """What a model keeps of it: ``headline``, and for each of the ``joints`` three figures; NaN becomes None."""
        joints = {joint: {column: row[column] for column in _KEPT} for joint, row in self.joints.table().items()}
        return _without_nan({"headline": self.headline(), "joints": joints})

    def text(self) -> str:
        """Every figure but the confusion, for the terminal; what there was nothing to measure for is left out."""
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
        columns = [column for column in _COLUMNS if any(np.isfinite(row[column]) for row in rows.values())]
        lines = [f"  {'joint':16s}" + "".join(f"{column:>20s}" for column in columns)]
        return lines + [
            f"  {joint:16s}" + "".join(f"{row[c]:20.3f}" if np.isfinite(row[c]) else f"{'-':>20s}" for c in columns)
            for joint, row in rows.items()
        ]


def _without_nan(value):
    if isinstance(value, dict):
        return {k: _without_nan(v) for k, v in value.items()}
    if isinstance(value, float) and not np.isfinite(value):
        return None
    return value


class OracleParts:
    """A `PartClassifier` that knows the truth of the frame at hand: what the joint stages make of perfect labels.

    Shuffled, it gives every pixel the label of another, which is chance.
    """

    def __init__(self, body: BodyDefinition, shuffled: bool = False) -> None:
        self.body = body
        self.labels = np.zeros((0, 0), np.uint8)  #: uint8 (H, W), of the frame that comes next
        self._shuffle = np.random.default_rng(0) if shuffled else None

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> PartProbabilities:
        pixels = pixels_of(mask & (depth_m > 0), stride)
        labels = self.labels[pixels[:, 0], pixels[:, 1]]
        if self._shuffle is not None:
            labels = self._shuffle.permutation(labels)
        return PartProbabilities(pixels, np.eye(self.body.n_classes, dtype=np.float32)[labels], stride)


def evaluate(
    forest: DepthForest,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], object] = lambda: None,
    instead: OracleParts | None = None,
    whole_frames: bool = False,
    in_view_joints: int | None = None,
) -> Report:
    """Run the whole pipeline, without tracking, and score parts and joints.

    Parameters
    ----------
    forest : DepthForest
    frames : labelled. Joints that are NaN are left out
    on_frame : called after every frame
    instead : takes the place of the trees, for the ceiling and for chance; the joint parameters stay the forest's
    whole_frames : the pipeline finds the people itself, as in use, and is scored on that too; otherwise each
        person of the truth is cut out and scored alone
    in_view_joints : in whole frames, only people who show so many joints are asked for; None = IN_VIEW_JOINTS
    """
    pipeline = Pipeline.from_forest(forest, tracking=False, foreground="auto" if whole_frames else "none")
    if instead is not None:
        pipeline.parts, pipeline.rotated_views = instead, None  # it knows the labels of the picture as it is
    report = Report(0, PartScores(forest.body), JointScores(forest.body))
    for frame in frames:
        if instead is not None:
            instead.labels = frame.parts
        if whole_frames:
            _score_whole(pipeline, frame, report, IN_VIEW_JOINTS if in_view_joints is None else in_view_joints)
        else:
            _score_cut_out(pipeline, frame, report)
        report = replace(report, frames=report.frames + 1)
        on_frame()
    return report


def find_poses(
    forest: DepthForest, frames: Iterable[LabelledFrame], whole_frames: bool = False
) -> Iterator[tuple[LabelledFrame, list[Pose]]]:
    """What trackers are given: the poses in every frame of one sequence.

    Parameters
    ----------
    forest : DepthForest
    frames : of the sequence, in order
    whole_frames : the pipeline finds the people itself and remembers the background, as in use; otherwise each person
        of the truth is cut out and gives one pose, or none
    """
    pipeline = Pipeline.from_forest(forest, tracking=whole_frames, foreground="auto" if whole_frames else "none")
    for frame in frames:
        people = range(1, len(frame.joints_m) + 1)
        looks = [frame.depth] if whole_frames else [_cut_out(frame, person) for person in people]
        yield frame, [track.pose for look in looks for track in pipeline.step(look).people]


def _cut_out(frame: LabelledFrame, person: int) -> DepthFrame:
    """One person of the truth, nothing else."""
    return replace(frame.depth, depth_m=np.where(frame.people == person, frame.depth.depth_m, 0))


def _score_cut_out(pipeline: Pipeline, frame: LabelledFrame, report: Report) -> None:
    for person, joints_m in enumerate(frame.joints_m, start=1):
        depth = _cut_out(frame, person)
        alone, result = depth.depth_m, pipeline.step(depth)
        # parts are scored pixel by pixel, joints as in use, from as many pixels as the pipeline looks at
        every_pixel = pipeline.parts.predict(alone, alone > 0, frame.depth.intrinsics)
        report.parts.add(np.where(frame.people == person, frame.parts, 0), draw_labels(every_pixel, alone > 0))
        report.joints.add(joints_m, frame.visible[person - 1], *_first(result))


def _score_whole(pipeline: Pipeline, frame: LabelledFrame, report: Report, in_view_joints: int) -> None:
    result = pipeline.step(frame.depth)
    report.parts.add(frame.parts, result.parts)
    joints = pipeline.parts.body.joints
    found = [joints_of(track, joints) for track in result.people]
    distances = np.array([[mean_distance(truth, pose) for pose in found] for truth in frame.joints_m])
    pairs = match(distances.reshape(len(frame.joints_m), len(found)), {}, SAME_PERSON_M)
    in_view = np.flatnonzero(frame.visible.sum(axis=1) >= in_view_joints).tolist()
    for person in in_view:
        one = replace(result, people=(), proposals=())
        if person in pairs:
            k = pairs[person]
            one = replace(result, people=result.people[k : k + 1], proposals=result.proposals[k : k + 1])
        report.joints.add(frame.joints_m[person], frame.visible[person], *_first(one))
    report.presence.add(
        people=len(in_view),
        missed=sum(person not in pairs for person in in_view),
        false_people=len(found) - len(pairs),
        room=(frame.people == 0) & (frame.depth.depth_m > 0),
        parts=result.parts,
    )


def _first(result: FrameResult) -> tuple[Pose, Sequence[JointProposal]]:
    """Pose and proposals of the first person found, empty for nobody."""
    return (result.people[0].pose, result.proposals[0]) if result.people else (Pose({}), ())


def compare(reports: Mapping[str, Report]) -> str:
    """The headline figures of several models, side by side; what none has is left out."""
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
