"""Pose search: limbs of any body, and poses that one landmark after the other does not reach."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from apps.bench import RECORDING
from posepipe.body import HUMAN, BodyDefinition, mirror_name
from posepipe.evaluation.evaluate_poses import cut_out
from posepipe.frames import LabelledFrame
from posepipe.inference.pose_inference import PoseInference
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.pose_search import STAYS, PoseSearch, Starts, limbs_of
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.pipeline import Pipeline
from posepipe.results import Proposals
from posepipe.segmentation.views.view import View
from posepipe.sources import open_source
from tests.support.rendered_people import recipe_of, renderer_of
from tests.support.shipped_model import shipped_model

WALKER = BodyDefinition(
    "walker",
    ("trunk", "left_knee", "right_knee", "left_foot", "right_foot"),
    ("trunk", "left_foot", "right_foot", "left_knee", "right_knee"),
    {name: (name,) for name in ("trunk", "left_knee", "right_knee", "left_foot", "right_foot")},
    {
        "trunk": None,
        **{f"{s}_knee": "trunk" for s in ("left", "right")},
        "left_foot": "left_knee",
        "right_foot": "right_knee",
    },
)  #: children before their parents


def test_limbs_of_a_person_are_arms_and_legs():
    arm = ("left_shoulder", "left_elbow", "left_wrist", "left_hand")
    assert limbs_of(HUMAN) == (arm, ("left_hip", "left_knee", "left_ankle", "left_foot"))


def test_limbs_are_found_in_any_order_of_joints():
    assert [set(limb) for limb in limbs_of(WALKER)] == [{"left_foot", "left_knee"}]


@pytest.mark.parametrize("method", ["parts", "votes", "both"])
def test_starts_exchange_limbs_and_place_each_limb_apart(method):
    landmarks, starts = landmarks_of(HUMAN, method), Starts.of(HUMAN, method)
    assert starts.mirrored.shape == (7, len(landmarks))
    assert starts.apart.tolist() == [False, False, True, True, False, True, True]
    moved = []
    for start in starts.mirrored:
        for row in np.flatnonzero(start != STAYS):
            name, voted = landmarks[row]
            assert landmarks[start[row]] == (mirror_name(name), voted)
        moved.append({landmarks[row].name for row in np.flatnonzero(start != STAYS)})
    assert moved[0] == {name for name, _ in landmarks if name.startswith(("left_", "right_"))}
    hands, feet = {"left_hand", "right_hand"}, {"left_foot", "right_foot"}
    of_limbs = [each & (hands | feet) for each in moved[1:]]
    assert of_limbs == [hands, {"left_hand"}, {"right_hand"}, feet, {"left_foot"}, {"right_foot"}]


def test_a_body_without_sides_has_no_starts():
    arm = BodyDefinition("arm", ("base", "lever"), ("base", "tip"), {"base": ("base",)}, {"base": None, "tip": "base"})
    starts = Starts.of(arm, "parts")
    assert starts.mirrored.shape == (0, 2)
    assert starts.apart.shape == (0,)


def test_a_part_without_a_mirror_image_changes_in_no_start():
    names = ("trunk", "left_claw")
    crab = BodyDefinition("crab", names, names, {name: (name,) for name in names}, {"left_claw": "trunk"})
    assert Starts.of(crab, "both").mirrored.shape == (0, 4)


@pytest.fixture(scope="module")
def model():
    return shipped_model()


@pytest.fixture(scope="module")
def estimator(model):
    return PoseEstimator(model.body, model.joint_parameters)


@pytest.fixture(scope="module")
def search(model):
    return PoseSearch(Starts.of(model.body, model.joint_parameters.method), enough=2)


@pytest.fixture(scope="module")
def seen(model):
    """Proposals for a person who turns, every sixth frame."""
    stages = Pipeline.from_model(model, foreground="none").joint_stages
    with open_source(RECORDING) as source:
        frames = list(source)[::6]
    return [PoseInference(stages, View(f.depth_m, f.depth_m > 0, f.intrinsics)).proposals for f in frames]


def with_legs_exchanged(proposals: Proposals) -> Proposals:
    """Each landmark of a leg was found at the place of the other leg, and with less confidence at its own."""
    places_m, confidence = proposals.places_m[:, :2].copy(), proposals.confidence[:, :2].copy()
    for row, (name, voted) in enumerate(proposals.landmarks):
        other = Landmark(mirror_name(name), voted)
        own_m, own = proposals.of(Landmark(name, voted))
        other_m, found = proposals.of(other)
        if name.endswith(("knee", "ankle", "foot", "_leg")) and len(own) and len(found):
            places_m[row], confidence[row] = [other_m[0], own_m[0]], [0.6, 0.55]
    return Proposals(proposals.landmarks, places_m, confidence)


def test_more_joints_of_rendered_people_are_right(model):
    # near people seen from all around, in poses that no forest was grown on
    renderer = renderer_of(recipe_of(seed=5, poses="validation", distance_m=(0.8, 2.0), facing_share=0.0))
    frames = [renderer.render(number) for number in range(150)]
    searched, first = (Pipeline.from_model(model, foreground="none", tracking=False, fit=False) for _ in range(2))
    searched.rotated_views = first.rotated_views = None  # other views mend some of the same poses
    first.pose_search = None
    assert right_share(searched, frames) > right_share(first, frames) + 0.005


def right_share(pipeline: Pipeline, frames: list[LabelledFrame]) -> float:
    """Share of the visible joints within 10 cm of the truth."""
    right = []
    for frame in frames:
        people = pipeline.step(cut_out(frame, 1)).people
        joints = people[0].pose.joints if people else {}
        for name, place, visible in zip(HUMAN.joints, frame.joints_m[0], frame.visible[0], strict=True):
            if visible:
                right.append(name in joints and np.linalg.norm(np.subtract(joints[name].xyz_m, place)) < 0.1)
    return float(np.mean(right))


def test_the_pose_searched_for_is_never_expected_to_be_worse(estimator, search, seen):
    for proposals in seen:
        for each in (proposals, with_legs_exchanged(proposals)):
            first = estimator.estimate(each)
            assert search.search(estimator, each, first).expected_correct >= first.expected_correct


def test_joints_follow_from_the_moments_of_the_parts_too(estimator, seen):
    """Without them the same network finds other places from the same proposals."""
    assert seen[1].moments.any()
    with_moments, without = (estimator.estimate(each) for each in (seen[1], replace(seen[1], moments=None)))
    assert abs(with_moments.joints_m - without.joints_m).max() > 0.05


def test_a_pose_is_changed_by_enough_gain_near_by_alone(estimator, search, seen):
    exchanged = with_legs_exchanged(seen[0])
    first = estimator.estimate(exchanged)
    unsure = replace(first, confidences=first.confidences / 2)
    found = search.search(estimator, exchanged, unsure)
    gain = (found.expected_correct - unsure.expected_correct) / len(HUMAN.joints)
    assert gain > 0.1
    assert replace(search, min_gain=gain + 0.01).search(estimator, exchanged, unsure) is unsure
    assert replace(search, max_moved_m=1e-6).search(estimator, exchanged, unsure) is unsure


def test_a_pose_that_is_sure_is_not_searched(estimator, search, seen):
    exchanged = with_legs_exchanged(seen[0])
    first = estimator.estimate(exchanged)
    assert replace(search, enough=0).search(estimator, exchanged, first) is first


def test_without_a_network_the_first_pose_is_kept(model, search, seen):
    alone = PoseEstimator(model.body, replace(model.joint_parameters, refinement=None))
    exchanged = with_legs_exchanged(seen[0])
    first = alone.estimate(exchanged)
    assert search.search(alone, exchanged, first) is first
