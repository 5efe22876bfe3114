"""Facing check: who is in doubt, whose left and right are exchanged, and where the body fit begins."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import mirror_name
from posepipe.camera import Intrinsics
from posepipe.facing.facing_network import DIRECTIONS, Facing
from posepipe.inference.facing_check import FacingCheck
from posepipe.inference.pose_inference import PoseInference
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.views.view import View
from posepipe.stage import check_numbers
from tests.support.toy_person import TOY, toy_frame, toy_model

pytestmark = pytest.mark.filterwarnings("ignore:joint parameters from")
BACKWARDS = np.eye(DIRECTIONS, dtype=np.float32)[0]
FORWARDS = np.roll(BACKWARDS, DIRECTIONS // 2)


class Sees:
    """In place of a network: sees everybody face one way, and counts."""

    def __init__(self, probabilities: np.ndarray) -> None:
        self.facing, self.asked = Facing(probabilities), 0

    def predict(self, picture: np.ndarray) -> Facing:
        self.asked += 1
        return self.facing


@pytest.fixture(scope="module")
def pipeline() -> Pipeline:
    return Pipeline.from_model(toy_model(), tracking=False, foreground="none")


def estimate(pipeline: Pipeline, border: float = 0.5, **check):
    """Estimate the toy person; at a border of 0.5 everybody reaches it."""
    frame, stage = toy_frame(500).depth, FacingCheck(body=TOY, border=border, **check)
    return replace(pipeline, facing_check=stage).estimate(frame, frame.depth_m > 0)


def hands_apart_m(pose: Pose) -> float:
    return float(TOY.across(pose.in_rows_of(TOY.joints)[0])[0])


@pytest.fixture
def mirrored(monkeypatch):
    """Joints of exchanged labels lie where those of the other side were: the toy's are found without its arms."""
    exchanged = FacingCheck.exchanged

    def with_mirrored_pose(check, stages, seen):
        found, pose = exchanged(check, stages, seen), seen.pose
        vars(found)["pose"] = replace(pose, joints_m=pose.joints_m[TOY.mirrored_joints()])
        return found

    monkeypatch.setattr(FacingCheck, "exchanged", with_mirrored_pose)


def test_sides_are_exchanged_where_the_network_contradicts(pipeline, mirrored):
    frame = toy_frame(500).depth
    as_labelled = pipeline.estimate(frame, frame.depth_m > 0)
    turned = estimate(pipeline, network=Sees(BACKWARDS), enough=2.0)
    assert hands_apart_m(as_labelled.pose) > 0.3
    assert hands_apart_m(turned.pose) < -0.3
    left = turned.parts == TOY.part_code("left_arm")
    assert (as_labelled.parts[left] == TOY.part_code("right_arm")).mean() > 0.9


def test_joints_are_renamed_where_exchanged_labels_do_not_help(pipeline):
    turned = estimate(pipeline, network=Sees(BACKWARDS), enough=2.0)
    frame = toy_frame(500).depth
    as_labelled = pipeline.estimate(frame, frame.depth_m > 0).pose
    for hand, other in (("left_hand", "right_hand"), ("right_hand", "left_hand")):
        assert turned.pose.joints[hand].xyz_m == as_labelled.joints[other].xyz_m
    sources = {(mirror_name(each.joint), each.xyz_m) for each in as_labelled.source_proposals}
    assert {(each.joint, each.xyz_m) for each in turned.pose.source_proposals} == sources


def test_what_gives_no_other_pose_is_kept(pipeline, monkeypatch):
    def without_pose(check, stages, seen):
        vars(seen := PoseInference(stages, seen.view, seen.parts))["pose"] = None
        return seen

    monkeypatch.setattr(FacingCheck, "exchanged", without_pose)
    frame = toy_frame(500).depth
    kept = estimate(pipeline, network=Sees(BACKWARDS), enough=2.0)
    np.testing.assert_array_equal(kept.parts, pipeline.estimate(frame, frame.depth_m > 0).parts)


def test_a_pose_that_faces_as_it_should_is_kept(pipeline):
    frame, network = toy_frame(500).depth, Sees(FORWARDS)
    kept = estimate(pipeline, network=network, enough=2.0)
    assert network.asked == 1
    assert kept.pose == pipeline.estimate(frame, frame.depth_m > 0).pose
    np.testing.assert_array_equal(kept.pixels.across, network.facing.across)


def test_nobody_is_asked_about_whose_pose_is_not_in_doubt(pipeline):
    network = Sees(FORWARDS)
    assert estimate(pipeline, network=network, enough=0.0).pixels.across is None
    assert network.asked == 0


@pytest.mark.parametrize(
    ("rows", "columns", "asked"),
    [
        (slice(1, 50), slice(30, 70), True),
        (slice(50, 99), slice(30, 70), True),
        (slice(30, 70), slice(1, 50), True),
        (slice(30, 70), slice(50, 99), True),
        (slice(2, 98), slice(2, 98), False),
    ],
)
def test_those_who_reach_the_border_are_asked_about(rows, columns, asked):
    depth_m = np.zeros((100, 100), np.float32)
    depth_m[rows, columns] = 1.0
    nobody = Pose((), np.empty((0, 3)), np.empty(0))
    facing = FacingCheck(Sees(FORWARDS), TOY).look(View(depth_m, depth_m > 0, Intrinsics(60, 60, 50, 50)), nobody)
    assert (facing is not None) == asked


def test_a_share_in_percent_is_refused():
    with pytest.raises(ValueError, match=r"facing_check\.enough: wanted a number from 0 to 1, got 75"):
        check_numbers({"facing_check": FacingCheck(Sees(FORWARDS), TOY, enough=75)})


def test_a_pose_without_sides_is_not_contradicted():
    head = Pose(("head",), np.zeros((1, 3), np.float32), np.ones(1, np.float32))
    check = FacingCheck(Sees(FORWARDS), TOY)
    assert not check.confirms(Facing(FORWARDS), head)
    assert not check.contradicts(Facing(FORWARDS), head)


def test_an_unsure_network_contradicts_nobody(pipeline, mirrored):
    frame = toy_frame(500).depth
    unsure = 0.55 * BACKWARDS + 0.45 * FORWARDS
    kept = estimate(pipeline, network=Sees(unsure.astype(np.float32)), enough=2.0)
    assert kept.pose == pipeline.estimate(frame, frame.depth_m > 0).pose


def test_the_unrotated_view_is_used_where_it_alone_faces_so(pipeline):
    frame = toy_frame(500).depth
    check = FacingCheck(Sees(FORWARDS), TOY, enough=2.0)
    candidates = replace(pipeline, facing_check=check).person_inference.candidates
    unrotated = candidates.judge(frame, frame.depth_m > 0, None).unrotated
    turned = unrotated._replace(view_pose=check.renamed(unrotated.view_pose))
    assert candidates._with_facing(unrotated, turned, Facing(FORWARDS)) is unrotated
    assert candidates._with_facing(turned, unrotated, Facing(FORWARDS)) is unrotated
