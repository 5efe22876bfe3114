"""Evaluation of whole frames: who is found, who is missed, and what is taken for a person."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.evaluation.evaluate_poses import OracleParts, evaluate, find_poses
from posepipe.frames import LabelledFrame
from posepipe.learn.depth.depth_forest import DepthForest, ForestParameters, train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.pipeline import Pipeline
from posepipe.segmentation.person_filter import PersonFilter
from posepipe.training.fit_joints import fit_joint_parameters
from tests.support.toy_person import TOY, toy_frame, toy_frames

FURTHER = 1.15
"""The second person stands so much further away: in one plane, two flat people would pass for a wall."""


@pytest.fixture(scope="module")
def forest() -> DepthForest:
    parameters = ForestParameters(trees=2, pixels_per_person=150, growth=GrowthRules(max_depth=9, candidates=80))
    grown = train_forest(toy_frames(24), parameters, TOY)
    grown.joint_parameters = fit_joint_parameters(grown, toy_frames(120, first=200))
    return grown


def beside_each_other(seed: int) -> LabelledFrame:
    """The same person twice, the second a picture further right, and further away."""
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
    """A block beside the people, nobody's, and as large as a person."""
    depth_m = np.hstack([frame.depth.depth_m, np.zeros((48, 30), np.float32)])
    depth_m[10:40, -20:] = 1.6  # in no plane with the people
    nothing = np.zeros((48, 30), np.uint8)
    return replace(
        frame,
        depth=replace(frame.depth, depth_m=depth_m),
        parts=np.hstack([frame.parts, nothing]),
        people=np.hstack([frame.people, nothing]),
    )


@pytest.fixture
def four_in_view(monkeypatch):
    monkeypatch.setattr("posepipe.evaluation.evaluate_poses.IN_VIEW_JOINTS", 4)  # a toy has no more


def test_two_people_are_found_in_whole_frames(forest, four_in_view):
    report = evaluate(forest, [beside_each_other(seed) for seed in range(30, 34)], whole_frames=True)
    figures = report.presence.figures()
    assert figures["people missed"] == 0
    assert figures["false people a frame"] == 0
    assert report.joints.people == 8
    assert report.parts.mean_accuracy() > 0.8


def test_what_is_nobodys_and_looks_like_somebody_is_counted(forest, four_in_view):
    """This forest never saw furniture, so that all is a person to it; perfect labels know better."""
    frames = [with_chair(beside_each_other(seed)) for seed in range(30, 34)]
    fooled = evaluate(forest, frames, whole_frames=True).presence.figures()
    assert fooled["room pixels taken for people"] == 1
    assert fooled["false people a frame"] == 1
    knowing = evaluate(forest, frames, instead=OracleParts(TOY), whole_frames=True).presence.figures()
    assert knowing["room pixels taken for people"] == 0
    assert knowing["false people a frame"] == 0


@pytest.mark.parametrize(
    ("presence", "people"), [({}, 3), ({"max_background": -0.1}, 0), ({"min_confidence": 1.01}, 0)]
)
def test_candidates_are_people_as_presence_says(forest, presence, people):
    """The chair too: to a forest without class 0 nothing is like nobody."""
    pipeline = Pipeline.from_forest(forest, tracking=False)
    pipeline.presence = PersonFilter(**presence)
    assert len(pipeline.step(with_chair(beside_each_other(31)).depth).people) == people


def test_somebody_who_is_not_found_is_missed_and_all_his_joints_are_wrong(forest, four_in_view):
    frame = beside_each_other(31)
    gone = replace(frame, depth=replace(frame.depth, depth_m=np.where(frame.people == 2, 0, frame.depth.depth_m)))
    report = evaluate(forest, [gone], whole_frames=True)
    assert report.presence.figures()["people missed"] == 0.5
    assert report.joints.means()["all_within_15cm"] <= 0.5


def test_cut_out_people_are_asked_for_nothing_else(forest):
    report = evaluate(forest, toy_frames(3, first=40))
    assert all(np.isnan(value) for value in report.presence.figures().values())
    assert "people missed" not in report.text()


def test_trackers_are_given_a_pose_of_everybody_cut_out_and_of_whom_the_pipeline_finds(forest):
    frame = beside_each_other(31)
    gone = replace(frame, people=np.where(frame.people == 2, 0, frame.people))
    (_, both), (same, one) = find_poses(forest, [frame, gone])
    assert same is gone
    assert (len(both), len(one)) == (2, 1)
    for pose, truth in zip(both, frame.joints_m, strict=True):
        assert np.linalg.norm(pose.joints["head"].xyz_m - truth[0]) < 0.1
    (_, found), (_, still) = find_poses(forest, [frame, gone], whole_frames=True)
    assert len(found) == len(still) == 2  # whoever's the pixels are said to be
