"""Joint parameters learned from frames: when there is a network, and when it is kept."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.segmentation.views.view import View
from posepipe.training.joints import fit_confidence
from posepipe.training.joints import fit_joints as joint_fitting
from posepipe.training.joints import fit_refinement as refinement_fitting
from posepipe.training.joints.fit_joints import fit_joint_parameters
from tests.support.toy_person import TOY, toy_frame, toy_frames

PARAMETERS = ForestParameters(trees=1, pixels_per_person=150, growth=GrowthRules(max_depth=8, candidates=60), seed=3)
PEOPLE = 30

pytestmark = pytest.mark.filterwarnings("ignore:joint parameters from")


@pytest.fixture(scope="module")
def forest() -> DepthForest:
    return train_forest(toy_frames(16), PARAMETERS, TOY)


@pytest.fixture
def few_are_enough(monkeypatch):
    monkeypatch.setattr(joint_fitting, "REFINEMENT_PEOPLE", PEOPLE)
    monkeypatch.setattr(refinement_fitting, "EPOCHS", 2)


def fit(forest, people=PEOPLE, **watch):
    return fit_joint_parameters(forest, [toy_frame(200 + k) for k in range(people)], **watch)


def test_the_search_reports_its_gain(forest):
    gains = []
    fit(forest, PEOPLE - 1, on_search=lambda before, after: gains.append((before, after)))
    ((before, after),) = gains
    assert 0 < before < after <= 1


def test_joints_too_deep_to_be_found_are_warned_of():
    """A ball of 0.3 m radius: its centre is never visible, and nothing else marks it."""
    ball = BodyDefinition("ball", ("ball",), ("ball",), {"ball": ("ball",)})

    def ball_frame(seed):
        frame = toy_frame(seed)
        centre_m = frame.joints_m[:, 1:2] + np.array([0, 0.2, 0.3], np.float32)
        return replace(frame, parts=frame.people, joints_m=centre_m, visible=np.zeros((1, 1), bool))

    forest = train_forest([ball_frame(k) for k in range(4)], PARAMETERS, ball)
    with pytest.warns(UserWarning, match=r"of 5 people is found within 10 cm.*14 cm below its surface.*no `parts`"):
        fit_joint_parameters(forest, [ball_frame(200 + k) for k in range(5)])


def test_few_people_train_no_network(forest, few_are_enough):
    assert fit(forest, PEOPLE - 1).refinement is None


def test_a_network_is_trained_on_all_but_the_held_out(forest, few_are_enough, monkeypatch):
    trained_on, epochs = [], []
    train = joint_fitting.train_refinement

    def watched(evidence, joints_m, *rest):
        trained_on.append(len(evidence))
        return train(evidence, joints_m, *rest)

    monkeypatch.setattr(joint_fitting, "train_refinement", watched)
    fit(forest, on_epoch=lambda: epochs.append(1))
    assert trained_on == [2 * (PEOPLE - PEOPLE // joint_fitting.HELD_OUT)]  # each of them and their mirror image
    assert len(epochs) == 2


def test_a_network_that_helps_is_kept_with_its_confidence(forest, few_are_enough, monkeypatch):
    truths = watch_truth(monkeypatch)

    def knows_the_truth(network, evidence, mirror):
        return truths["held out"].astype(np.float32), np.full(evidence.sigma_m.shape, 0.99, np.float32)

    monkeypatch.setattr(joint_fitting, "refine", knows_the_truth)
    monkeypatch.setattr(fit_confidence, "CORRECT_M", 0.01)  # within 10 cm the Gaussian has it already
    parameters = fit(forest)
    assert parameters.refinement is not None
    monkeypatch.undo()
    frame = toy_frame(500)
    view = View(frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics)
    pose = PoseInference(JointStages.of(forest, parameters), view).pose
    assert pose is not None
    assert all(0 <= joint.confidence <= 1 and np.isfinite(joint.xyz_m).all() for joint in pose.joints.values())


def test_a_network_that_does_not_help_is_dropped(forest, few_are_enough, monkeypatch):
    def far_off(network, evidence, mirror):
        return evidence.joints_m + np.float32(3), np.full(evidence.sigma_m.shape, 0.5, np.float32)

    monkeypatch.setattr(joint_fitting, "refine", far_off)
    assert fit(forest).refinement is None


def watch_truth(monkeypatch) -> dict[str, np.ndarray]:
    """True joints of the held-out people, as the fit reads them."""
    truths: dict[str, np.ndarray] = {}
    refine = joint_fitting._fit_refinement

    def watched(stages, found, on_epoch):
        truths["held out"] = found.joints_m[found.number % joint_fitting.HELD_OUT == 0]
        return refine(stages, found, on_epoch)

    monkeypatch.setattr(joint_fitting, "_fit_refinement", watched)
    return truths
