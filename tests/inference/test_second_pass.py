"""Second pass: what the first pose changes in the labels, and what still knows nothing of it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.evaluation.evaluate_poses import evaluate
from posepipe.inference.pose_inference import PoseInference
from posepipe.inference.second_pass import SecondPass, joint_arrays
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.regions.head_split import HeadSplit
from posepipe.segmentation.views.view import View
from posepipe.training.fit_second_pass import refit_second_pass
from tests.inference.planned_stages import AlwaysRotated
from tests.support.toy_person import TOY, FramesInMemory, toy_frame, toy_frames, toy_model

pytestmark = pytest.mark.filterwarnings("ignore:joint parameters from")


@pytest.fixture(scope="module")
def model() -> PoseModel:
    """Trees of so few levels that many labels are wrong, and joints are nearly right."""
    first = toy_model(max_depth=3, joint_frames=40)
    return refit_second_pass(first, FrameSequence([FramesInMemory(toy_frames(40, first=300))]))


def pipeline_of(model: PoseModel, **stages) -> Pipeline:
    return replace(Pipeline.from_model(model, tracking=False, foreground="none"), **stages)


def right_labels(pipeline: Pipeline) -> float:
    """Share of right labels over some frames."""
    shown = [(frame.parts, pipeline.step(frame.depth).parts) for frame in toy_frames(20, first=500)]
    return float(np.mean([(found == truth)[truth > 0].mean() for truth, found in shown]))


def test_labels_are_better_given_the_pose(model):
    assert right_labels(pipeline_of(model)) > right_labels(pipeline_of(model, second_pass=None)) + 0.1


def test_joints_are_found_from_the_new_labels(model):
    pipeline, frame = pipeline_of(model), toy_frame(500).depth
    twice = pipeline.estimate(frame, frame.depth_m > 0)
    once = replace(pipeline, second_pass=None).estimate(frame, frame.depth_m > 0)
    assert once.first.pose == once.pose == twice.first.pose != twice.pose
    assert once.first.proposals == once.proposals == twice.first.proposals != twice.proposals


def test_the_minimum_confidence_of_joints_holds_for_both(model):
    pipeline = pipeline_of(model)
    picky = replace(pipeline, pose_estimator=replace(pipeline.pose_estimator, min_confidence=2.0))
    frame = toy_frame(500).depth
    assert pipeline.estimate(frame, frame.depth_m > 0).pose.names
    assert picky.estimate(frame, frame.depth_m > 0).pose.names == ()
    always = replace(picky, second_pass=replace(picky.second_pass, min_expected=0.0))
    assert always.estimate(frame, frame.depth_m > 0).pose.names == ()


def test_a_poor_first_pose_is_not_confirmed(model):
    pipeline, frame = pipeline_of(model), toy_frame(500).depth
    strict = replace(pipeline, second_pass=replace(pipeline.second_pass, min_expected=1.1))
    person = strict.estimate(frame, frame.depth_m > 0)
    assert person.pose == person.first.pose


def test_parts_by_a_poor_first_pose_are_scored_as_in_use(model, monkeypatch):
    frames = toy_frames(10, first=500)
    alone, again = (evaluate(each, frames).parts.mean_accuracy() for each in (replace(model, second_pass=None), model))
    assert again > alone
    monkeypatch.setattr(SecondPass, "trusts", lambda *_: False)
    assert evaluate(model, frames).parts.mean_accuracy() == alone


def test_a_replaced_weighting_serves_both_passes(model):
    """A stage is what it is in the pipeline, at the time of a frame."""
    pipeline, frame, seen = pipeline_of(model), toy_frame(500).depth, []

    class Watched:
        def weigh(self, *given):
            seen.append(1)
            return pipeline.weighting.weigh(*given)

    replace(pipeline, weighting=Watched()).estimate(frame, frame.depth_m > 0)
    assert len(seen) == 2


def test_heads_are_those_of_the_first_pass(model):
    """Labels of the second pass know one pose, and so a single head, where there may be two."""
    frame, seen = toy_frame(500).depth, []

    class WatchedSplit(HeadSplit):
        def split(self, proposals, *rest) -> list[np.ndarray]:
            seen.append(proposals)
            return []

    inference = pipeline_of(model, head_split=WatchedSplit()).person_inference
    (person,) = inference.people_in(frame, frame.depth_m > 0, None)
    assert seen == [person.first.proposals]
    assert seen != [person.proposals]


def test_a_rotated_view_is_labelled_in_its_own_axes(model):
    """The same person in the same view, and the joints in camera axes."""
    frame = toy_frame(500).depth
    mask = frame.depth_m > 0
    pipeline = pipeline_of(model, rotated_views=AlwaysRotated(len(TOY.joints)))
    found = pipeline.estimate(frame, mask)
    view = View(frame.depth_m, mask, frame.intrinsics).rotated(1)
    first = PoseInference(pipeline.joint_stages, view)
    again = pipeline.second_pass.infer(pipeline.joint_stages, first, first.pose)
    np.testing.assert_array_equal(found.pose.joints_m, view.to_camera(again.pose.joints_m))
    np.testing.assert_array_equal(found.pixels.probabilities, again.parts.probabilities)


def test_a_joint_that_a_pose_lacks_says_nothing():
    pose = Pose(("torso",), np.array([[1.0, 2, 3]]), np.array([0.5]))
    joints_m, confidences = joint_arrays(pose, TOY)
    assert joints_m.dtype == confidences.dtype == np.float32
    assert joints_m.tolist() == [[0, 0, 0], [1, 2, 3], [0, 0, 0], [0, 0, 0]]
    assert confidences.tolist() == [0, 0.5, 0, 0]
