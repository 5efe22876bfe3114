"""Posed bodies: what no pose may break."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import paint_parts, rest_body, sample_body
from synth.body.skinning import POSED_BONES, pose_body, rotation_matrices
from tests.reference.synth.body import skinning as reference
from tests.support.rendered_people import people_of, recipe_of

IDENTITY = np.tile([0.0, 0.0, 0.0, 1.0], (len(POSED_BONES), 1))
MICROMETRE = 1e-6
FLOAT32_M = 5e-6  #: twenty float32 operations on coordinates up to 3 m


@pytest.fixture(scope="module")
def asset():
    return load_body_asset()


def _turn(axis, degrees):
    half = np.radians(degrees) / 2
    return np.append(np.sin(half) * np.asarray(axis, float) / np.linalg.norm(axis), np.cos(half))


def _after(second, first):
    """The quaternion of turning by ``first``, then by ``second``."""
    (x, y, z, w), (a, b, c, d) = second, first
    return np.array(
        [w * a + x * d + y * c - z * b, w * b - x * c + y * d + z * a, w * c + x * b - y * a + z * d,
         w * d - x * a - y * b - z * c]
    )  # fmt: skip


def _random_turns(rng):
    turns = rng.normal(size=(len(POSED_BONES), 4))
    return turns / np.linalg.norm(turns, axis=1, keepdims=True)


def _pose(**turns):
    pose = IDENTITY.copy()
    for bone, turn in turns.items():
        pose[POSED_BONES.index(bone)] = turn
    return pose


def _lifelike_poses():
    """A squat with folded arms, a step with a raised arm, and a bow."""
    thigh, shin = _turn((1, 0, 0), -60), _turn((1, 0, 0), 30)
    squat = _pose(thigh_l=thigh, thigh_r=thigh, calf_l=shin, calf_r=shin)
    for side, sign in (("l", 1), ("r", -1)):
        squat[POSED_BONES.index(f"lowerarm_{side}")] = _turn((0, 1, 0), -60 * sign)
        squat[POSED_BONES.index(f"hand_{side}")] = _turn((0, 1, 0), -60 * sign)
    raised = _turn((0, 0, 1), 80)
    step = _pose(thigh_l=_turn((1, 0, 0), -35), upperarm_l=raised, lowerarm_l=raised, hand_l=raised)
    bow = np.array([_turn((1, 0, 0), 0 if "thigh" in b or "calf" in b or "foot" in b else 40) for b in POSED_BONES])
    return {"squat": squat, "step": step, "bow": bow}


def test_identity_rotations_reproduce_the_rest_body(asset):
    rest = sample_body(asset, np.random.default_rng(0))
    posed = pose_body(asset, rest, IDENTITY)
    np.testing.assert_allclose(posed.vertices_m, rest.vertices_m, atol=MICROMETRE)
    heads = dict(zip(asset.bone_names, rest.bone_heads_m, strict=True))
    for joint, bone in {"left_elbow": "lowerarm_l", "right_knee": "calf_r", "left_foot": "ball_l"}.items():
        np.testing.assert_allclose(posed.joints_m[HUMAN.joint_index(joint)], heads[bone], atol=MICROMETRE)


def test_turning_every_bone_alike_turns_the_body_rigidly(asset):
    rng = np.random.default_rng(1)
    rest, turns = sample_body(asset, rng), _random_turns(rng)
    turn = _turn((1, 2, 3), 100)
    before, after = pose_body(asset, rest, turns), pose_body(asset, rest, [_after(turn, t) for t in turns])
    pivot = rest.bone_heads_m[asset.bone("pelvis")]
    for name in ("vertices_m", "joints_m"):
        expected = reference.rotate(turn, getattr(before, name).astype(float) - pivot) + pivot
        np.testing.assert_allclose(getattr(after, name), expected, atol=2 * FLOAT32_M)


def test_no_pose_changes_the_length_of_a_bone(asset):
    rng = np.random.default_rng(2)
    rest = sample_body(asset, rng)
    at_rest, posed = (pose_body(asset, rest, turns).joints_m for turns in (IDENTITY, _random_turns(rng)))
    for child, parent in (("elbow", "shoulder"), ("wrist", "elbow"), ("knee", "hip"), ("ankle", "knee")):
        ends = [HUMAN.joint_index(f"left_{joint}") for joint in (child, parent)]
        lengths = [np.linalg.norm(np.diff(joints[ends], axis=0)) for joints in (at_rest, posed)]
        assert lengths[0] == pytest.approx(lengths[1], abs=FLOAT32_M)


def test_a_bent_left_elbow_moves_the_left_hand_alone(asset):
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    bend = _turn((0, 1, 0), -70)
    moved_m = (
        pose_body(asset, rest, _pose(lowerarm_l=bend, hand_l=bend)).joints_m - pose_body(asset, rest, IDENTITY).joints_m
    )
    moved = {joint for joint, step in zip(HUMAN.joints, moved_m, strict=True) if np.linalg.norm(step) > 0.01}
    assert moved == {"left_wrist", "left_hand"}


@pytest.mark.parametrize("name", ["rest", "squat", "step", "bow"])
def test_joints_lie_inside_the_body_near_the_skin_of_their_parts(asset, name):
    rest = sample_body(asset, np.random.default_rng(4))
    posed = pose_body(asset, rest, {"rest": IDENTITY, **_lifelike_poses()}[name])
    corners = posed.vertices_m[asset.triangles].astype(float)
    for joint, point in zip(HUMAN.joints, posed.joints_m, strict=True):
        assert _winding_number(corners, point) > 0.5, f"{joint} is outside the body"
        if HUMAN.joint_parts.get(joint):
            codes = [HUMAN.part_code(part) for part in HUMAN.joint_parts[joint]]
            skin = corners[np.isin(paint_parts(asset), codes)].reshape(-1, 3)
            assert (skin.min(0) - 0.01 < point).all(), f"{joint} is beyond its parts"
            assert (point < skin.max(0) + 0.01).all(), f"{joint} is beyond its parts"


def _winding_number(corners, point):
    """How often a mesh encloses a point: the solid angle of its triangles over 4 pi (van Oosterom, Strackee 1983)."""
    a, b, c = np.moveaxis(corners - point, 1, 0)
    la, lb, lc = (np.linalg.norm(side, axis=1) for side in (a, b, c))
    above = np.einsum("ij,ij->i", a, np.cross(b, c))
    below = la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb
    return np.arctan2(above, below).sum() / (2 * np.pi)


def test_rotation_matrices_turn_as_quaternions_do():
    turns = _random_turns(np.random.default_rng(5))
    points = np.random.default_rng(6).normal(size=(len(turns), 3))
    by_matrix = np.einsum("nij,nj->ni", rotation_matrices(turns), points)
    by_quaternion = [reference.rotate(turn, point) for turn, point in zip(turns, points, strict=True)]
    np.testing.assert_allclose(by_matrix, by_quaternion, atol=1e-12)


@pytest.mark.parametrize("rotations", [np.zeros((20, 4)), np.full((20, 4), np.nan), np.zeros((19, 4))])
def test_wrong_rotations_are_refused(asset, rotations):
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    with pytest.raises(ValueError, match="rotations: wanted"):
        pose_body(asset, rest, rotations)


@pytest.mark.parametrize("count", [20, pytest.param(1000, marks=pytest.mark.slow)])
def test_joints_lie_inside_random_people_in_random_poses(count):
    """Linear blend skinning collapses the skin of a sharp bend; no pose bends a joint so far that it is outside."""
    people = people_of(recipe_of(clothes=False, poses="all"))
    outside = []
    for number in range(count):
        subject = people.draw(np.random.default_rng([42, number]))
        corners = subject.mesh.vertices_m[subject.mesh.triangles].astype(float)
        for joint, point in zip(HUMAN.joints, subject.joints_m, strict=True):
            if _winding_number(corners, point) < 0.5:
                outside.append((number, joint))
    assert outside == []
