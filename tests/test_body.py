"""Body definitions: mirroring twice is the identity, and invalid definitions are refused."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.body import HUMAN, BodyDefinition, mirror_name
from posepipe.joints.joint_parameters import JointParameters
from posepipe.landmarks import METHODS, landmark_classes, landmark_names, landmarks_of
from tests.support.toy_person import TOY

BODIES = pytest.mark.parametrize("body", [HUMAN, TOY], ids=lambda body: body.name)


def test_a_human_has_the_31_parts_and_20_joints_of_the_contract():
    parts = """left_upper_head right_upper_head left_lower_head right_lower_head neck left_shoulder right_shoulder
    left_upper_arm right_upper_arm left_lower_arm right_lower_arm left_elbow right_elbow left_wrist right_wrist
    left_hand right_hand left_upper_torso right_upper_torso left_lower_torso right_lower_torso left_upper_leg
    right_upper_leg left_lower_leg right_lower_leg left_knee right_knee left_ankle right_ankle left_foot right_foot"""
    joints = ["head", "neck", "torso", "pelvis"] + [
        f"{side}_{joint}"
        for joint in ["shoulder", "elbow", "wrist", "hand", "hip", "knee", "ankle", "foot"]
        for side in ("left", "right")
    ]
    assert HUMAN.parts == tuple(parts.split())
    assert HUMAN.joints == tuple(joints)
    assert HUMAN.n_classes == 32


def test_the_code_of_a_part_is_its_position_from_1():
    assert [TOY.part_code(part) for part in TOY.parts] == [1, 2, 3, 4, 5]


@BODIES
def test_mirroring_twice_changes_nothing(body):
    for mirror in (body.mirrored_joints(), body.mirrored_classes()):
        np.testing.assert_array_equal(mirror[mirror], np.arange(len(mirror)))


def test_mirroring_exchanges_left_and_right_and_keeps_the_middle():
    assert TOY.mirrored_classes().tolist() == [0, 1, 2, 4, 3, 5]
    assert TOY.mirrored_joints().tolist() == [0, 1, 3, 2]


@given(st.text(max_size=12), st.sampled_from(["", "left_", "right_"]))
def test_the_mirror_of_a_mirrored_name_is_the_name(name, side):
    assert mirror_name(mirror_name(side + name)) == side + name


@BODIES
def test_a_mirrored_body_has_the_same_skeleton(body):
    mirror = body.mirrored_joints()
    assert {(mirror[a], mirror[b]) for a, b in body.bones()} == set(body.bones())
    np.testing.assert_array_equal(body.joint_classes()[mirror][:, body.mirrored_classes()], body.joint_classes())


@BODIES
def test_a_body_is_read_back_from_json(body):
    assert BodyDefinition.from_dict(json.loads(json.dumps(body.to_dict()))) == body


@BODIES
def test_every_joint_leads_to_the_root(body):
    for joint in body.joints:
        steps = 0
        while joint is not None:
            joint, steps = body.parents[joint], steps + 1
            assert steps <= len(body.joints)


def test_joint_classes_are_those_of_its_parts():
    table = TOY.joint_classes()
    assert table.shape == (4, 6)
    assert np.argwhere(table).tolist() == [[0, 1], [2, 3], [3, 4]]


@pytest.mark.parametrize(
    "wrong",
    [
        {"parts": ()},
        {"parts": tuple(f"part_{k}" for k in range(256))},
        {"joint_parts": {"tail": ("head",)}},
        {"joint_parts": {"head": ("tail",)}},
        {"parents": {"tail": "torso"}},
        {"parents": {"head": "tail"}},
    ],
)
def test_names_that_the_body_does_not_have_are_refused(wrong):
    with pytest.raises(ValueError):
        replace(TOY, **wrong)


@pytest.mark.parametrize("wrong", [{"parts": (*TOY.parts, "head")}, {"joints": (*TOY.joints, "head")}])
def test_a_name_given_twice_is_refused(wrong):
    with pytest.raises(ValueError):
        replace(TOY, **wrong)


def test_an_unknown_name_is_an_error_with_the_known_ones():
    with pytest.raises(ValueError, match="left_arm"):
        TOY.part_code("tail")
    with pytest.raises(ValueError, match="left_hand"):
        TOY.joint_index("tail")


@pytest.mark.parametrize("gone", ["name", "parts", "joints", "joint_parts", "parents"])
def test_data_of_an_invalid_body_is_refused(gone):
    data = {name: value for name, value in TOY.to_dict().items() if name != gone}
    with pytest.raises((ValueError, KeyError)):
        BodyDefinition.from_dict(data)


def test_landmarks_are_joints_with_parts_then_other_parts():
    assert landmark_names(TOY) == ("head", "left_hand", "right_hand", "trunk", "legs")
    assert np.argwhere(landmark_classes(TOY)).tolist() == [[0, 1], [1, 3], [2, 4], [3, 2], [4, 5]]


@BODIES
def test_every_part_belongs_to_one_landmark_and_class_0_to_none(body):
    np.testing.assert_array_equal(landmark_classes(body).sum(0), [0] + [1] * len(body.parts))


@BODIES
def test_landmarks_of_both_methods_are_surfaces_then_votes(body):
    assert landmarks_of(body) == landmarks_of(body, "parts")
    assert landmarks_of(body, "both") == landmarks_of(body, "parts") + landmarks_of(body, "votes")
    assert [name for name, _ in landmarks_of(body, "votes")] == list(body.joints)
    assert {voted for _, voted in landmarks_of(body, "votes")} == {True}


@BODIES
@pytest.mark.parametrize("method", METHODS)
def test_untrained_joint_parameters_have_the_shapes_of_the_body(body, method):
    parameters = JointParameters.default(body, method)
    landmarks, joints = len(landmarks_of(body, method)), len(body.joints)
    assert parameters.method == method
    assert parameters.bandwidth_m.shape == parameters.min_probability.shape == parameters.push_back_m.shape
    assert parameters.bandwidth_m.shape == (landmarks,)
    assert parameters.confidence.shape == (landmarks, 2)
    assert parameters.mean_m.shape == (3, landmarks + joints)
    assert parameters.covariance_m2.shape == (3, landmarks + joints, landmarks + joints)
    assert all(
        getattr(parameters, name).dtype == np.float32
        for name in JointParameters.__dataclass_fields__
        if name not in ("method", "refinement")
    )
    assert parameters.refinement is None


def test_across_is_the_mean_from_right_to_left_of_known_pairs():
    joints_m = np.full((len(HUMAN.joints), 3), np.nan)
    for name, place in (
        ("left_hip", (1, 0, 3)),
        ("right_hip", (0, 0, 3)),
        ("left_knee", (1, 2, 5)),
        ("head", (9, 9, 9)),
    ):
        joints_m[HUMAN.joint_index(name)] = place
    assert np.isnan(HUMAN.across(joints_m[: len(HUMAN.joints)] * np.nan)).all()
    np.testing.assert_array_equal(HUMAN.across(joints_m), [1, 0, 0])
    joints_m[HUMAN.joint_index("right_knee")] = 4, 2, 1
    np.testing.assert_array_equal(HUMAN.across(joints_m), [-1, 0, 2])
