"""Joint angles: hand-made poses with known angles, and transformations that must not change them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN, mirror_name
from posepipe.kinematics.joint_angles import ANGLES, MIN_ELEVATION_DEG, angle_names, joint_angles

UP = (0.0, 1.0, 0.0)
#: x to the person's left, y up, z forward; limbs straight, arms hanging, toes at right angles to the legs
STANDING = {
    "pelvis": (0, 1, 0),
    "torso": (0, 1.2, 0),
    "neck": (0, 1.5, 0),
    "head": (0, 1.7, 0),
    "left_shoulder": (0.2, 1.45, 0),
    "left_elbow": (0.2, 1.15, 0),
    "left_wrist": (0.2, 0.9, 0),
    "left_hip": (0.1, 1, 0),
    "left_knee": (0.1, 0.55, 0),
    "left_ankle": (0.1, 0.1, 0),
    "left_foot": (0.1, 0.1, 0.15),
}
STANDING |= {mirror_name(joint): (-x, y, z) for joint, (x, y, z) in STANDING.items() if joint.startswith("left_")}


def angles_of(up=UP, **moved):
    return {name: float(value) for name, value in joint_angles(STANDING | moved, up).items()}


def test_all_angles_are_zero_for_a_straight_standing_person():
    angles = angles_of()
    assert set(angles) == set(ANGLES)
    for name, degrees in angles.items():
        if name.endswith("shoulder_plane"):
            assert np.isnan(degrees)  # an arm that hangs is in no plane
        else:
            assert degrees == pytest.approx(0, abs=1e-9), name


def test_sitting_has_knees_and_hips_at_right_angles():
    sitting = {}
    for side, x in (("left", 0.1), ("right", -0.1)):
        sitting |= {f"{side}_knee": (x, 1, 0.45), f"{side}_ankle": (x, 0.55, 0.45), f"{side}_foot": (x, 0.55, 0.6)}
    angles = angles_of(**sitting)
    for name in ("knee_flexion", "hip_flexion"):
        assert angles[f"left_{name}"] == angles[f"right_{name}"] == pytest.approx(90)
    for name in ("hip_abduction", "ankle_dorsiflexion"):
        assert angles[f"left_{name}"] == pytest.approx(0, abs=1e-9)


HAND_MADE = [
    ("left_knee_flexion", {"left_ankle": (0.1, 0.55, -0.45)}, 90),
    ("left_hip_flexion", {"left_knee": (0.1, 0.55, -0.45)}, -45),  # a leg behind is extended
    ("left_hip_flexion", {"left_knee": (0.1, 1.3, 0.3)}, 135),
    ("left_hip_abduction", {"left_knee": (0.55, 0.55, 0)}, 45),
    ("left_hip_abduction", {"left_knee": (-0.35, 0.55, 0)}, -45),  # across the other
    ("right_hip_abduction", {"right_knee": (-0.55, 0.55, 0)}, 45),
    ("right_hip_flexion", {"right_knee": (-0.55, 0.55, 0)}, 0),
    ("left_ankle_dorsiflexion", {"left_foot": (0.1, 0.25, 0.15)}, 45),  # toes up
    ("left_ankle_dorsiflexion", {"left_foot": (0.1, -0.05, 0)}, -90),  # on tiptoe
    ("left_elbow_flexion", {"left_wrist": (0.2, 1.15, 0.25)}, 90),
    ("left_elbow_flexion", {"left_wrist": (0.2, 1.45, 0)}, 180),
    ("left_shoulder_elevation", {"left_elbow": (0.5, 1.45, 0)}, 90),
    ("left_shoulder_plane", {"left_elbow": (0.5, 1.45, 0)}, 0),  # to the side
    ("right_shoulder_plane", {"right_elbow": (-0.5, 1.45, 0)}, 0),
    ("left_shoulder_elevation", {"left_elbow": (0.2, 1.75, 0)}, 180),
    ("left_shoulder_plane", {"left_elbow": (0.2, 1.45, 0.3)}, 90),  # forward
    ("left_shoulder_plane", {"left_elbow": (-0.1, 1.45, 0)}, 180),  # across the chest
    ("right_shoulder_plane", {"right_elbow": (-0.2, 1.45, -0.3)}, -90),  # backward
    ("neck_flexion", {"head": (0, 1.7, 0.2)}, 45),
    ("neck_flexion", {"head": (0, 1.5, -0.2)}, -90),
    ("trunk_twist", {"left_shoulder": (0, 1.45, -0.2), "right_shoulder": (0, 1.45, 0.2)}, 90),  # to the person's left
    ("trunk_twist", {"left_hip": (0, 1, -0.1), "right_hip": (0, 1, 0.1)}, -90),
    ("trunk_lean", {"neck": (0, 1, 0.5)}, 90),
    ("trunk_lean", {"neck": (0.5, 1.5, 0)}, 45),
]


@pytest.mark.parametrize(("name", "moved", "degrees"), HAND_MADE, ids=[f"{name}-{d}" for name, _, d in HAND_MADE])
def test_a_hand_made_pose_has_the_known_angle(name, moved, degrees):
    assert angles_of(**moved)[name] == pytest.approx(degrees, abs=1e-9)


def test_a_twist_is_the_same_in_a_trunk_that_leans():
    turn = Rotation.from_euler("x", 60, degrees=True)
    twisted = STANDING | {"left_shoulder": (0.14, 1.45, -0.14), "right_shoulder": (-0.14, 1.45, 0.14)}
    leaning = {joint: turn.apply(place) for joint, place in twisted.items()}
    assert joint_angles(leaning, UP)["trunk_twist"] == pytest.approx(45)
    assert joint_angles(leaning, UP)["trunk_lean"] == pytest.approx(60)


def test_a_raised_shoulder_and_hip_change_no_twist():
    twisted = {"left_shoulder": (0.14, 1.45, -0.14), "right_shoulder": (-0.14, 1.45, 0.14)}
    raised = twisted | {"left_shoulder": (0.14, 1.6, -0.14), "left_hip": (0.1, 1.05, 0)}
    assert angles_of(**raised)["trunk_twist"] == pytest.approx(angles_of(**twisted)["trunk_twist"]) == 45


def test_the_default_vertical_is_the_camera_s():
    turned = {joint: (x, -y, -z) for joint, (x, y, z) in STANDING.items()}  # camera axes
    assert joint_angles(turned)["trunk_lean"] == pytest.approx(0, abs=1e-9)
    assert joint_angles(turned, (0, 0, 1))["trunk_lean"] == pytest.approx(90)


def test_a_shoulder_plane_needs_a_minimum_elevation():
    for degrees, known in ((MIN_ELEVATION_DEG - 0.1, False), (MIN_ELEVATION_DEG + 0.1, True)):
        reach = np.radians(degrees)
        elbow = (0.2, 1.45 - 0.3 * np.cos(reach), 0.3 * np.sin(reach))
        assert np.isfinite(angles_of(left_elbow=elbow)["left_shoulder_plane"]) == known


def poses(seed):
    return np.random.default_rng(seed).normal(size=(5, len(HUMAN.joints), 3))


def named(xyz):
    return dict(zip(HUMAN.joints, np.moveaxis(xyz, -2, 0), strict=True))


def assert_same(got, wanted):
    for name, degrees in wanted.items():
        np.testing.assert_allclose((got[name] - degrees + 180) % 360 - 180, 0 * degrees, atol=1e-6, err_msg=name)


@settings(deadline=None, max_examples=30)
@given(
    seed=st.integers(0, 1 << 30),
    turn=st.tuples(*[st.floats(-180, 180)] * 3),
    shift=st.tuples(*[st.floats(-9, 9)] * 3),
    scale=st.floats(0.1, 10),
)
def test_turning_moving_and_scaling_change_no_angle(seed, turn, shift, scale):
    rotation, xyz = Rotation.from_euler("xyz", turn, degrees=True), poses(seed)
    moved = scale * rotation.apply(xyz.reshape(-1, 3)).reshape(xyz.shape) + shift
    assert_same(joint_angles(named(moved), rotation.apply(UP)), joint_angles(named(xyz), UP))


@settings(deadline=None, max_examples=30)
@given(seed=st.integers(0, 1 << 30))
def test_mirroring_exchanges_sides_and_reverses_twists(seed):
    xyz = poses(seed)
    mirrored = xyz[:, HUMAN.mirrored_joints()] * [-1, 1, 1]
    wanted = joint_angles(named(xyz), UP)
    got = joint_angles(named(mirrored), UP)
    wanted = {mirror_name(name): -d if name == "trunk_twist" else d for name, d in wanted.items()}
    assert_same(got, wanted)


def test_many_poses_at_once_are_the_poses_one_by_one():
    xyz = poses(3)
    together = joint_angles(named(xyz), UP)
    for row in range(len(xyz)):
        assert_same({name: d[row] for name, d in together.items()}, joint_angles(named(xyz[row]), UP))


def test_an_absent_joint_removes_only_the_angles_that_need_it():
    whole = angles_of()
    without = {joint: place for joint, place in STANDING.items() if joint != "left_knee"}
    lost = {
        name for name in ANGLES if name.startswith("left_") and ("hip" in name or "knee" in name or "ankle" in name)
    }
    assert set(whole) - set(joint_angles(without, UP)) == lost
    gone = angles_of(left_knee=(np.nan,) * 3)
    assert {name for name, degrees in gone.items() if np.isnan(degrees) and not np.isnan(whole[name])} == lost


def test_a_body_has_the_angles_of_its_joints():
    assert angle_names(HUMAN.joints) == tuple(ANGLES)
    assert angle_names(("paw", "left_hip", "left_knee", "left_ankle")) == ("left_knee_flexion",)
    assert angle_names(()) == ()


def test_coincident_and_huge_joints_have_no_angle_and_no_warning(recwarn):
    angles = angles_of(left_knee=STANDING["left_hip"], right_knee=(1e300, -1e300, 0))
    assert np.isnan(angles["left_knee_flexion"])
    assert np.isnan(angles["left_hip_flexion"])
    assert not recwarn.list
