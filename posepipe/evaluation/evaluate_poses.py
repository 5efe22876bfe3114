"""Evaluation of poses: run a model on labelled frames, compare with the truth, make a report."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from posepipe.body_model.body_model import BodyModel, body_to_fit
from posepipe.evaluation.metrics.part_metrics import PartScores
from posepipe.evaluation.metrics.people_in_view import (
    SAME_PERSON_M,
    distances_to_people,
    joints_in_view,
    people_in_view,
)
from posepipe.evaluation.metrics.pose_metrics import JointScores
from posepipe.evaluation.metrics.track_metrics import joints_of, match
from posepipe.evaluation.oracle_parts import OracleParts
from posepipe.evaluation.pose_report import PoseReport
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import FrameResult, JointProposal, Pose
from posepipe.segmentation.label_map import draw_labels


def evaluate(
    model: PoseModel,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], object] = lambda: None,
    oracle: OracleParts | None = None,
    whole_frames: bool = False,
    in_view_joints: int | None = None,
    fit: bool | BodyModel = True,
) -> PoseReport:
    """Run the pipeline without tracking, and score parts and joints.

    Parameters
    ----------
    model : PoseModel
    frames : labelled; joints that are NaN are left out. People without other joints are neither found, missed nor false
    on_frame : called after every frame
    oracle : replaces the classifier, for the upper bound and for chance. Labels are not changed by a pose; joint
        parameters are those of the model's second pass, if it has one
    whole_frames : True = the pipeline finds the people, as in use, and detection is scored too; False = each true
        person is cut out and scored alone
    in_view_joints : minimum number of visible joints of a person in view, in whole frames; None = `joints_in_view`
    fit : as in `Pipeline.load`

    Returns
    -------
    PoseReport
    """
    if oracle is not None and model.second_pass is not None:
        # true labels need no relabelling: joints are found from them as from labels of the second pass
        model = replace(model, joint_parameters=model.second_pass.joint_parameters, second_pass=None)
    foreground = "auto" if whole_frames else "none"
    pipeline = Pipeline.from_model(model, tracking=False, foreground=foreground, fit=fit)
    if oracle is not None:
        pipeline.classifier, pipeline.rotated_views = oracle, None  # its labels are of the unrotated image
    report = PoseReport(0, PartScores(model.body), JointScores(model.body))
    for frame in frames:
        if oracle is not None:
            oracle.labels = frame.parts
        if whole_frames:
            wanted = joints_in_view(model.body) if in_view_joints is None else in_view_joints
            _score_whole(pipeline, frame, report, wanted)
        else:
            _score_cut_out(pipeline, frame, report)
        report = replace(report, frames=report.frames + 1)
        on_frame()
    return report


def find_poses(
    model: PoseModel,
    frames: Iterable[LabelledFrame],
    whole_frames: bool = False,
    fit: bool | BodyModel = True,
) -> Iterator[tuple[LabelledFrame, list[Pose]]]:
    """Find the poses in every frame of one sequence, as input of trackers.

    Parameters
    ----------
    model : PoseModel
    frames : of the sequence, in order
    whole_frames : True = the pipeline finds the people with a background model, as in use; False = each true person is
        cut out and gives at most one pose
    fit : as in `Pipeline.load`; a body is fitted over time

    Yields
    ------
    LabelledFrame and its poses
    """
    fitted = body_to_fit(fit, model.body) is not None
    make = partial(Pipeline.from_model, model, whole_frames or fitted, "auto" if whole_frames else "none", fit=fit)
    pipelines: defaultdict[int, Pipeline] = defaultdict(make)
    for frame in frames:
        people = range(1, len(frame.joints_m) + 1)
        depth_frames = [frame.depth] if whole_frames else [cut_out(frame, person) for person in people]
        # a body is fitted to one person over time: each who is cut out has a pipeline
        steps = [pipelines[row if fitted else 0].step(depth) for row, depth in enumerate(depth_frames)]
        yield frame, [track.pose for step in steps for track in step.people]


def cut_out(frame: LabelledFrame, person: int) -> DepthFrame:
    """Cut one true person out of the depth frame."""
    return replace(frame.depth, depth_m=np.where(frame.people == person, frame.depth.depth_m, 0))


def _score_cut_out(pipeline: Pipeline, frame: LabelledFrame, report: PoseReport) -> None:
    for person, joints_m in enumerate(frame.joints_m, start=1):
        depth = cut_out(frame, person)
        alone, result = depth.depth_m, pipeline.step(depth)
        # parts are scored at every pixel; joints as in use, from the grid of classified pixels
        every_pixel = _label_every_pixel(pipeline, depth)
        report.parts.add(np.where(frame.people == person, frame.parts, 0), draw_labels(every_pixel, alone > 0))
        report.joints.add(joints_m, frame.visible[person - 1], *_first(result))
        report.extremes.add(joints_m, frame.visible[person - 1], result, report.joints.body)
        _score_body(frame, person - 1, result, report)


def _label_every_pixel(pipeline: Pipeline, depth: DepthFrame) -> PartProbabilities:
    """Part probabilities of every pixel of a cut-out person; given the first pose, where the second pass trusts it."""
    mask, again = depth.depth_m > 0, pipeline.second_pass
    parts = pipeline.classifier.predict(depth.depth_m, mask, depth.intrinsics)
    found = None if again is None else pipeline.estimate(depth, mask)
    if again is None or found is None or not again.trusts(found.first.pose):
        return parts
    points_m = pipeline.weighting.weigh(depth.depth_m, depth.intrinsics, parts).points_m
    return again.relabel(parts, points_m, found.first.pose)


def _score_whole(pipeline: Pipeline, frame: LabelledFrame, report: PoseReport, in_view_joints: int) -> None:
    result = pipeline.step(frame.depth)
    report.parts.add(frame.parts, result.parts)
    found, body = [track.pose for track in result.people], pipeline.classifier.body
    in_view = people_in_view(frame, in_view_joints)
    pairs = match(distances_to_people(frame, found, body, in_view_joints), {}, SAME_PERSON_M, first=in_view)
    to_find = np.flatnonzero(in_view).tolist()
    for person in to_find:
        one = _only(result, pairs.get(person))
        report.joints.add(frame.joints_m[person], frame.visible[person], *_first(one))
        report.extremes.add(frame.joints_m[person], frame.visible[person], one, report.joints.body)
        _score_body(frame, person, one, report)
    unmatched = sorted(set(range(len(found))) - set(pairs.values()))
    unlocated = frame.unlocated_people()  # whoever is found there is not false
    false = [row for row in unmatched if not _is_mostly_in(unlocated, result.person_masks[row])]
    for row in false:
        report.joints.add_false(*_first(_only(result, row)))
    report.detection.add(
        people=len(to_find),
        missed=sum(person not in pairs for person in to_find),
        false_people=len(false),
        background=(frame.people == 0) & (frame.depth.depth_m > 0),
        parts=result.parts,
    )


def _is_mostly_in(area: np.ndarray, mask: np.ndarray) -> bool:
    """Whether more than half of the pixels of a mask are in an area, bool (H, W) both."""
    return bool(np.count_nonzero(area & mask) > np.count_nonzero(mask) / 2)


def _score_body(frame: LabelledFrame, person: int, result: FrameResult, report: PoseReport) -> None:
    """Score the limbs of the first person found, where their truth is stored."""
    if frame.bodies is None or not np.isfinite(frame.joints_m[person]).all():
        return
    body, track = report.joints.body, next(iter(result.people), None)
    truth = frame.joints_m[person], frame.visible[person], frame.bodies, person
    report.bodies.add(body, truth, joints_of(track, body.joints), None if track is None else track.fit)


def _only(result: FrameResult, row: int | None) -> FrameResult:
    """The result with the person of one row alone; None = without people."""
    rows = slice(0) if row is None else slice(row, row + 1)
    return replace(result, people=result.people[rows], proposals=result.proposals[rows])


def _first(result: FrameResult) -> tuple[Pose, Sequence[JointProposal]]:
    """Pose and proposals of the first person found; empty when there is none."""
    return (result.people[0].pose, result.proposals[0]) if result.people else (Pose.of({}), ())
