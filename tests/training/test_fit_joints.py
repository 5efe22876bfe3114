"""Joint parameters learned from frames: when there is a network, and when it is kept."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.weighted_points import weigh_points
from posepipe.landmarks import landmark_classes
from posepipe.learn.depth.depth_forest import DepthForest, ForestParameters, train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.training import fit_joints as joint_fitting
from posepipe.training import fit_refinement as refinement_fitting
from posepipe.training.fit_joints import fit_joint_parameters
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


def test_the_search_says_what_it_gains(forest):
    gains = []
    fit(forest, PEOPLE - 1, on_search=lambda before, after: gains.append((before, after)))
    ((before, after),) = gains
    assert 0 < before < after <= 1


def test_few_people_teach_no_network(forest, few_are_enough):
    assert fit(forest, PEOPLE - 1).refinement is None


def test_a_network_is_taught_round_by_round_on_all_but_the_judges(forest, few_are_enough, monkeypatch):
    taught_on, rounds = [], []
    train = joint_fitting.train_refinement

    def watched(evidence, joints_m, *rest):
        taught_on.append(len(evidence))
        return train(evidence, joints_m, *rest)

    monkeypatch.setattr(joint_fitting, "train_refinement", watched)
    fit(forest, on_epoch=lambda: rounds.append(1))
    assert taught_on == [2 * (PEOPLE - PEOPLE // joint_fitting.HELD_BACK)]  # each of them and his mirror image
    assert len(rounds) == 2


def test_a_network_that_helps_is_kept_and_says_how_sure_it_is(forest, few_are_enough, monkeypatch):
    truths = watch_truth(monkeypatch)

    def knows_the_truth(network, evidence, mirror):
        return truths["judges"].astype(np.float32), np.full(evidence.sigma_m.shape, 0.99, np.float32)

    monkeypatch.setattr(joint_fitting, "refine", knows_the_truth)
    monkeypatch.setattr(joint_fitting, "RIGHT_M", 0.01)  # within 10 cm the Gaussian has it already
    parameters = fit(forest)
    assert parameters.refinement is not None
    monkeypatch.undo()
    frame = toy_frame(500)
    depth_m, intrinsics = frame.depth.depth_m, frame.depth.intrinsics
    parts = forest.predict(depth_m, frame.people > 0, intrinsics)
    density = weigh_points(depth_m, intrinsics, parts, landmark_classes(TOY))
    pose = PoseEstimator(TOY, parameters).assemble(ModeProposer(TOY, parameters).find(density))
    assert pose is not None
    assert all(0 <= joint.confidence <= 1 and np.isfinite(joint.xyz_m).all() for joint in pose.joints.values())


def test_a_network_that_knows_nothing_is_dropped(forest, few_are_enough, monkeypatch):
    def lost(network, evidence, mirror):
        return evidence.joints_m + np.float32(3), np.full(evidence.sigma_m.shape, 0.5, np.float32)

    monkeypatch.setattr(joint_fitting, "refine", lost)
    assert fit(forest).refinement is None


def watch_truth(monkeypatch) -> dict[str, np.ndarray]:
    """Where the joints of those held back really are, as the fit comes to know it."""
    truths: dict[str, np.ndarray] = {}
    find = joint_fitting._find_all

    def watched(people, parameters, body, votes):
        found = find(people, parameters, body, votes)
        number = np.arange(len(found.joints_m)) % (len(found.joints_m) // 2)
        truths["judges"] = found.joints_m[number % joint_fitting.HELD_BACK == 0]
        return found

    monkeypatch.setattr(joint_fitting, "_find_all", watched)
    return truths
