"""Evaluation of whole frames: people found, people missed, and false people."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.evaluation.evaluate_poses import evaluate, find_poses
from posepipe.evaluation.metrics.people_in_view import joints_in_view
from posepipe.evaluation.oracle_parts import OracleParts
from posepipe.frames import LabelledFrame
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.depth.train_votes import train_votes
from posepipe.learn.depth.voting_forest import VotingForest
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.segmentation.person_filter import PersonFilter
from posepipe.training.joints.fit_joints import fit_joint_parameters
from tests.support.toy_person import TOY, toy_frame, toy_frames

FURTHER = 1.15
"""The second person stands so much further away: in one plane, two flat people would pass for a wall."""


@pytest.fixture(scope="module")
def model() -> PoseModel:
    parameters = ForestParameters(trees=2, pixels_per_person=150, growth=GrowthRules(max_depth=9, candidates=80))
    forest = train_forest(toy_frames(24), parameters, TOY)
    return PoseModel(forest, fit_joint_parameters(forest, toy_frames(120, first=200)))


def side_by_side(seed: int) -> LabelledFrame:
    """The same person twice, the second an image width further right, and further away."""
    frame = toy_frame(seed)
    k = frame.depth.intrinsics
    depth_m = np.hstack([frame.depth.depth_m, frame.depth.depth_m * np.float32(FURTHER)])
    parts, people = np.hstack([frame.parts, frame.parts]), np.hstack([frame.people, frame.people * 2])
    aside_m = frame.people.shape[1] / k.fx * frame.joints_m[:, :, 2:]
    second = (frame.joints_m + aside_m * [1, 0, 0]) * FURTHER
    joints_m = np.concatenate([frame.joints_m, second]).astype(np.float32)
    depth = replace(frame.depth, depth_m=depth_m)
    return LabelledFrame(depth, parts, people, joints_m, np.repeat(frame.visible, 2, axis=0))


def with_chair(frame: LabelledFrame) -> LabelledFrame:
    """A block beside the people, background, and as large as a person."""
    depth_m = np.hstack([frame.depth.depth_m, np.zeros((48, 30), np.float32)])
    depth_m[10:40, -20:] = 1.6  # in no plane with the people
    nothing = np.zeros((48, 30), np.uint8)
    return replace(
        frame,
        depth=replace(frame.depth, depth_m=depth_m),
        parts=np.hstack([frame.parts, nothing]),
        people=np.hstack([frame.people, nothing]),
    )


def test_a_small_body_is_in_view_with_half_of_its_joints():
    assert joints_in_view(HUMAN) == 5
    assert joints_in_view(TOY) == 2


def test_two_people_are_found_in_whole_frames(model):
    report = evaluate(model, [side_by_side(seed) for seed in range(30, 34)], whole_frames=True)
    figures = report.detection.figures()
    assert figures["people missed"] == 0
    assert figures["false people a frame"] == 0
    assert report.joints.people == 8
    assert report.parts.mean_accuracy() > 0.8


def test_furniture_taken_for_a_person_is_counted(model):
    """This forest never saw furniture, and takes it for a person; oracle labels do not."""
    frames = [with_chair(side_by_side(seed)) for seed in range(30, 34)]
    report = evaluate(model, frames, whole_frames=True)
    by_forest = report.detection.figures()
    assert by_forest["room pixels taken for people"] == 1
    assert by_forest["false people a frame"] == 1
    without_chair = evaluate(model, [side_by_side(seed) for seed in range(30, 34)], whole_frames=True)
    assert report.joints.means()["map"] < without_chair.joints.means()["map"]
    by_oracle = evaluate(model, frames, oracle=OracleParts(model.forest), whole_frames=True).detection.figures()
    assert by_oracle["room pixels taken for people"] == 0
    assert by_oracle["false people a frame"] == 0


@dataclass(frozen=True, slots=True)
class AnyLimits(PersonFilter):
    """A filter of one's own, whose limits nobody may reach: those of `PersonFilter` itself are checked."""


@pytest.mark.parametrize(("limits", "people"), [({}, 3), ({"max_background": -0.1}, 0), ({"min_confidence": 1.01}, 0)])
def test_candidates_are_people_as_the_person_filter_decides(model, limits, people):
    """The chair is a person too for a forest without class 0."""
    pipeline = Pipeline.from_model(model, tracking=False)
    pipeline.person_filter = AnyLimits(**limits)
    assert len(pipeline.step(with_chair(side_by_side(31)).depth).people) == people


def test_a_person_without_known_joints_is_not_judged(model):
    known = [side_by_side(seed) for seed in range(30, 34)]
    frames = [replace(frame, joints_m=frame.joints_m.copy(), visible=frame.visible.copy()) for frame in known]
    for frame in frames:
        frame.joints_m[0], frame.visible[0] = np.nan, False  # as of another tracker, which lost them
    report = evaluate(model, frames, whole_frames=True)
    figures = report.detection.figures()
    assert (figures["people missed"], figures["false people a frame"]) == (0, 0)
    assert report.joints.people == 4


def test_all_joints_of_a_missed_person_are_wrong(model):
    frame = side_by_side(31)
    gone = replace(frame, depth=replace(frame.depth, depth_m=np.where(frame.people == 2, 0, frame.depth.depth_m)))
    report = evaluate(model, [gone], whole_frames=True)
    assert report.detection.figures()["people missed"] == 0.5
    assert report.joints.means()["all_within_15cm"] <= 0.5


def test_detection_is_not_scored_for_cut_out_people(model):
    report = evaluate(model, toy_frames(3, first=40))
    assert all(np.isnan(value) for value in report.detection.figures().values())
    assert "people missed" not in report.text()


def test_poses_are_of_people_cut_out_or_found_in_whole_frames(model):
    frame = side_by_side(31)
    gone = replace(frame, people=np.where(frame.people == 2, 0, frame.people))
    (_, both), (same, one) = find_poses(model, [frame, gone])
    assert same is gone
    assert (len(both), len(one)) == (2, 1)
    for pose, truth in zip(both, frame.joints_m, strict=True):
        assert np.linalg.norm(pose.joints["head"].xyz_m - truth[0]) < 0.1
    (_, found), (_, still) = find_poses(model, [frame, gone], whole_frames=True)
    assert len(found) == len(still) == 2  # labels of people play no part


def parts_by(classifier, frame: LabelledFrame) -> PartProbabilities:
    return classifier.predict(frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics)


def test_oracle_labels_are_the_truth_of_the_frame(model):
    frame, oracle = toy_frame(30), OracleParts(model.classifier())
    oracle.labels = frame.parts
    parts = parts_by(oracle, frame)
    np.testing.assert_array_equal(parts.probabilities.argmax(axis=1), frame.parts[tuple(parts.pixels.T)])
    assert (parts.probabilities.max(axis=1) == 1).all()
    assert oracle.body == TOY


def test_shuffled_oracle_labels_are_those_of_other_pixels(model):
    frame, oracle = toy_frame(30), OracleParts(model.classifier(), shuffled=True)
    oracle.labels = frame.parts
    parts = parts_by(oracle, frame)
    found, truth = parts.probabilities.argmax(axis=1), frame.parts[tuple(parts.pixels.T)]
    np.testing.assert_array_equal(np.bincount(found), np.bincount(truth))
    assert (found != truth).mean() > 0.5


def test_an_oracle_keeps_the_votes_of_its_classifier(model):
    frame = toy_frame(30)
    voting = VotingForest(model.forest, train_votes(model.forest, toy_frames(8)))
    oracle = OracleParts(voting)
    oracle.labels = frame.parts
    votes = []
    for parts in (parts_by(voting, frame), parts_by(oracle, frame)):
        rows, cols = parts.pixels.T
        points = frame.depth.intrinsics.deproject_pixels(rows, cols, frame.depth.depth_m[rows, cols])
        votes.append(parts.cast_votes(points.astype(np.float32), np.full(len(rows), 1e-4, np.float32)))
    assert votes[0].counts.all()
    np.testing.assert_array_equal(votes[0].places_m, votes[1].places_m)
    np.testing.assert_array_equal(votes[0].weights_m2, votes[1].weights_m2)
