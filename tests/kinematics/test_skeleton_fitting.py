"""Rigid bones through joints: exact for rigid joints, as near as the lengths allow for others."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN, BodyDefinition
from posepipe.kinematics.skeleton_fitting import T_POSE, FittedSkeleton, fit_skeleton
from tests.support.found_people import standing_m

UNKNOWN = np.full((20, 20), np.nan)
Y_UP = np.array([1.0, -1.0, -1.0])


def body(parents):
    """Joints by name with their parents; no parts to speak of."""
    return BodyDefinition("stick", ("all",), tuple(parents), {}, parents)


def measured_rows(skeleton, joints=HUMAN.joints):
    return [joints.index(name) for name in skeleton.joints]


def moving_people(seed, times=6):
    """A rigid T-pose whose every joint turns: float64 (T, 20, 3), y up."""
    rng = np.random.default_rng(seed)
    rest = fit_skeleton(HUMAN, standing_m()[None] * Y_UP, UNKNOWN)
    turns = Rotation.from_quat(rng.normal(size=(times * 20, 4))).as_matrix().reshape(times, 20, 3, 3)
    moved = FittedSkeleton(rest.joints, rest.parents, rest.offsets_m, rng.normal(size=(times, 3)), turns)
    joints_m = np.empty((times, 20, 3))
    joints_m[:, measured_rows(rest)] = moved.positions_m()
    return joints_m


@settings(deadline=None, max_examples=20)
@given(seed=st.integers(0, 1 << 30))
def test_rigid_people_are_reproduced_exactly(seed):
    joints_m = moving_people(seed)
    skeleton = fit_skeleton(HUMAN, joints_m, UNKNOWN)
    np.testing.assert_allclose(skeleton.positions_m(), joints_m[:, measured_rows(skeleton)], atol=1e-6)


def test_local_rotations_lead_to_the_same_positions():
    skeleton = fit_skeleton(HUMAN, moving_people(1) + np.random.default_rng(2).normal(0, 0.05, (6, 20, 3)), UNKNOWN)
    local = skeleton.local_rotations()
    for turns in (skeleton.rotations, local):
        identity = np.broadcast_to(np.eye(3), turns.shape)
        np.testing.assert_allclose(turns @ turns.swapaxes(-1, -2), identity, atol=1e-9)
        np.testing.assert_allclose(np.linalg.det(turns), 1, atol=1e-9)
    places, turned = [skeleton.root_m], [local[:, 0]]
    for joint, parent in list(enumerate(skeleton.parents))[1:]:
        places.append(places[parent] + turned[parent] @ skeleton.offsets_m[joint])
        turned.append(turned[parent] @ local[:, joint])
    np.testing.assert_allclose(np.stack(places, axis=1), skeleton.positions_m(), atol=1e-9)


def test_measured_rotations_decide_the_twist_of_bones():
    rng = np.random.default_rng(4)
    rest = fit_skeleton(HUMAN, standing_m()[None] * Y_UP, UNKNOWN)
    turns = Rotation.random(6 * 20, rng=4).as_matrix().reshape(6, 20, 3, 3)
    moved = FittedSkeleton(rest.joints, rest.parents, rest.offsets_m, rng.normal(size=(6, 3)), turns)
    rows, own_rest = measured_rows(rest), Rotation.random(20, rng=5).as_matrix()
    joints_m, measured = np.empty((6, 20, 3)), np.empty((6, 20, 3, 3))
    joints_m[:, rows], measured[:, rows] = moved.positions_m(), turns @ own_rest
    found = fit_skeleton(HUMAN, joints_m, UNKNOWN, measured)
    np.testing.assert_allclose(found.positions_m(), joints_m[:, rows], atol=1e-6)
    for joint in range(20):
        if rest.parents.count(joint) < 2:  # another rest pose is a constant turn
            constant = turns[:, joint].transpose(0, 2, 1) @ found.rotations[:, joint]
            np.testing.assert_allclose(constant, constant[:1].repeat(6, axis=0), atol=1e-4)


def test_bones_keep_their_length_whatever_was_measured():
    joints_m = moving_people(3) + np.random.default_rng(4).normal(0, 0.05, (6, 20, 3))
    skeleton = fit_skeleton(HUMAN, joints_m, UNKNOWN)
    places = skeleton.positions_m()
    for joint, parent in list(enumerate(skeleton.parents))[1:]:
        lengths = np.linalg.norm(places[:, joint] - places[:, parent], axis=-1)
        bone = [HUMAN.joint_index(skeleton.joints[row]) for row in (joint, parent)]
        wanted = np.median(np.linalg.norm(joints_m[:, bone[0]] - joints_m[:, bone[1]], axis=-1))
        np.testing.assert_allclose(lengths, wanted, atol=1e-9)


def test_lengths_that_are_given_are_taken():
    lengths = UNKNOWN.copy()
    knee, ankle = HUMAN.joint_index("left_knee"), HUMAN.joint_index("left_ankle")
    lengths[ankle, knee] = 0.5
    skeleton = fit_skeleton(HUMAN, moving_people(5), lengths)
    assert np.linalg.norm(skeleton.offsets_m[skeleton.joints.index("left_ankle")]) == pytest.approx(0.5)


def test_a_general_optimiser_gets_little_nearer():
    """Against a general optimiser, on a chain whose end was measured where the bones do not reach."""
    stick = body({"a": None, "b": "a", "c": "b", "d": "c"})
    measured = np.array([[[0, 0, 0], [0.3, 0.02, 0], [0.3, 0.35, 0.1], [0.9, 0.3, 0.0]]], float)
    lengths = np.full((4, 4), np.nan)
    for joint in (1, 2, 3):
        lengths[joint, joint - 1] = 0.3
    got = fit_skeleton(stick, measured, lengths).positions_m()

    def places(values):
        steps = values[3:].reshape(3, 3)
        steps = 0.3 * steps / np.linalg.norm(steps, axis=1, keepdims=True)
        return np.cumsum(np.concatenate([values[None, :3], steps]), axis=0)

    def error(values):
        return float(((places(values) - measured[0]) ** 2).sum())

    start = np.concatenate([[0, 0, 0], np.diff(measured[0], axis=0).ravel()])
    best = minimize(error, start).fun
    assert best <= ((got - measured) ** 2).sum() <= 1.1 * best


def test_a_person_at_rest_is_a_t_pose():
    skeleton = fit_skeleton(HUMAN, standing_m()[None] * Y_UP, UNKNOWN)
    offsets = dict(zip(skeleton.joints, skeleton.offsets_m, strict=True))
    for joint in ("left_elbow", "left_wrist", "right_hand", "left_knee", "right_ankle", "torso", "neck"):
        direction = offsets[joint] / np.linalg.norm(offsets[joint])
        np.testing.assert_allclose(direction, np.array(T_POSE[joint]) / np.linalg.norm(T_POSE[joint]), atol=1e-6)
    assert offsets["left_hip"] @ [1, 0, 0] == pytest.approx(0.1)
    assert offsets["left_shoulder"][1] == pytest.approx(-0.05, abs=0.01)  # lower than the neck, as measured


def test_joints_rotate_no_more_than_the_pose_requires():
    """A straight limb that points as at rest is not turned; one bone's twist is that of the joint before."""
    skeleton = fit_skeleton(HUMAN, standing_m()[None] * Y_UP, UNKNOWN)
    local = skeleton.local_rotations()[0]
    angle = {j: np.degrees(Rotation.from_matrix(t).magnitude()) for j, t in zip(skeleton.joints, local, strict=True)}
    assert angle["left_shoulder"] == pytest.approx(80, abs=5)  # from the T-pose down to the side
    assert angle["left_elbow"] < 10
    assert all(angle[leaf] == pytest.approx(0, abs=1e-6) for leaf in ("head", "left_hand", "right_foot"))


LOST = [("left_wrist", "left_hand"), ("left_elbow", "left_wrist", "left_hand"), ("head", "right_foot")]


@pytest.mark.parametrize("lost", LOST)
def test_absent_joints_do_not_move_the_others(lost):
    joints_m = moving_people(9, times=12)
    absent = np.zeros((12, 20), bool)
    absent[3:10, [HUMAN.joint_index(joint) for joint in lost]] = True
    filled_m = np.where(absent[..., None], 5.0, joints_m)
    skeleton = fit_skeleton(HUMAN, filled_m, UNKNOWN, absent=absent)
    rows = measured_rows(skeleton)
    errors_m = np.linalg.norm(skeleton.positions_m() - joints_m[:, rows], axis=-1)
    assert errors_m[~absent[:, rows]].max() < 1e-4


def walking_people(times=12):
    """A rigid T-pose that walks 2 m and turns: float64 (T, 20, 3), y up."""
    rest_m = standing_m() * Y_UP
    turns = Rotation.from_rotvec(np.linspace(0, 1, times)[:, None] * [[0, 1.5, 0]])
    return np.stack([turn.apply(rest_m) for turn in turns]) + np.linspace(0, 2, times)[:, None, None] * [1, 0, 0]


def held(joints_m, absent):
    """Joints that stay where they were last seen while they are absent."""
    filled_m = joints_m.copy()
    for time in range(1, len(joints_m)):
        filled_m[time, absent[time]] = filled_m[time - 1, absent[time]]
    return filled_m


def test_absent_joints_keep_their_last_local_rotation():
    joints_m = moving_people(10, times=12)
    hand, wrist = HUMAN.joint_index("left_hand"), HUMAN.joint_index("left_wrist")
    absent = np.zeros((12, 20), bool)
    absent[:2, hand] = absent[5:9, [wrist, hand]] = True
    skeleton = fit_skeleton(HUMAN, held(joints_m, absent), UNKNOWN, absent=absent)
    local = skeleton.local_rotations()
    at = skeleton.joints.index
    for joint in ("left_elbow", "left_wrist"):
        np.testing.assert_allclose(local[5:9, at(joint)], local[4:5, at(joint)].repeat(4, axis=0), atol=1e-6)
        assert np.abs(local[9, at(joint)] - local[4, at(joint)]).max() > 0.1
    np.testing.assert_allclose(local[:2, at("left_wrist")], local[2:3, at("left_wrist")].repeat(2, axis=0), atol=1e-6)


def test_a_body_without_root_and_legs_walks_on():
    legs = [f"{side}_{joint}" for side in ("left", "right") for joint in ("hip", "knee", "ankle", "foot")]
    joints_m, absent = walking_people(), np.zeros((12, 20), bool)
    absent[3:10, [HUMAN.joint_index(joint) for joint in ("pelvis", *legs)]] = True
    skeleton = fit_skeleton(HUMAN, held(joints_m, absent), UNKNOWN, absent=absent)
    rows = measured_rows(skeleton)
    errors_m = np.linalg.norm(skeleton.positions_m() - joints_m[:, rows], axis=-1)
    assert errors_m[~absent[:, rows]].max() < 1e-3
    assert errors_m.max() < 0.2  # the person turns over the legs


def test_without_any_joint_a_skeleton_stays_as_it_was():
    joints_m, absent = walking_people(), np.zeros((12, 20), bool)
    absent[3:, HUMAN.joint_index("left_hand")] = absent[6:10] = True
    places_m = fit_skeleton(HUMAN, held(joints_m, absent), UNKNOWN, absent=absent).positions_m()
    np.testing.assert_array_equal(places_m[6:10], places_m[5:6].repeat(4, axis=0))


def test_angles_of_branches_are_those_of_measured_bones():
    joints_m, absent = walking_people(), np.zeros((12, 20), bool)
    absent[4:, HUMAN.joint_index("left_shoulder")] = True
    offsets_m = fit_skeleton(HUMAN, held(joints_m, absent), UNKNOWN, absent=absent).offsets_m
    np.testing.assert_allclose(offsets_m, fit_skeleton(HUMAN, joints_m, UNKNOWN).offsets_m, atol=1e-4)


def test_children_of_an_unseen_joint_attach_to_its_ancestor():
    joints_m = moving_people(6)
    joints_m[:, HUMAN.joint_index("left_knee")] = np.nan
    skeleton = fit_skeleton(HUMAN, joints_m, UNKNOWN)
    assert "left_knee" not in skeleton.joints
    assert skeleton.joints[skeleton.parents[skeleton.joints.index("left_ankle")]] == "left_hip"


def test_without_its_root_a_body_begins_at_the_next_joint():
    joints_m = moving_people(7)
    joints_m[:, HUMAN.joint_index("pelvis")] = np.nan
    skeleton = fit_skeleton(HUMAN, joints_m, UNKNOWN)
    assert skeleton.joints[0] == "torso"
    assert len(skeleton.joints) == 19
    assert skeleton.parents.count(-1) == 1
    assert all(parent < joint for joint, parent in enumerate(skeleton.parents))


def test_any_body_has_a_skeleton():
    hand = body({"wrist": None, "thumb": "wrist", "index": "wrist", "tip": "index"})
    joints_m = np.random.default_rng(8).normal(size=(4, 4, 3))
    skeleton = fit_skeleton(hand, joints_m, np.full((4, 4), np.nan))
    assert skeleton.joints == ("wrist", "thumb", "index", "tip")
    first = joints_m[0, 3] - joints_m[0, 2]
    np.testing.assert_allclose(
        skeleton.offsets_m[3] / np.linalg.norm(skeleton.offsets_m[3]), first / np.linalg.norm(first)
    )


def test_coincident_joints_give_a_finite_skeleton(recwarn):
    skeleton = fit_skeleton(HUMAN, np.zeros((3, 20, 3)), UNKNOWN)
    assert np.isfinite(skeleton.rotations).all()
    np.testing.assert_array_equal(skeleton.positions_m(), 0)
    assert not recwarn.list


def test_missing_joints_and_cyclic_parents_are_errors():
    with pytest.raises(ValueError, match="at least one joint"):
        fit_skeleton(HUMAN, np.full((3, 20, 3), np.nan), UNKNOWN)
    for parents in ({"a": "b", "b": "a"}, {"r": None, "a": "b", "b": "a"}):
        joints_m = np.zeros((1, len(parents), 3))
        with pytest.raises(ValueError, match="cycle"):
            fit_skeleton(body(parents), joints_m, np.full((3, 3), np.nan))
        joints_m[:, -1] = np.nan
        with pytest.raises(ValueError, match="cycle"):
            fit_skeleton(body({**parents, "b": "b"}), joints_m, np.full((3, 3), np.nan))
