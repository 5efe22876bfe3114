"""Postures that captures seldom show: bodies keep their shape, and sit and lie as the name says."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import pose_body
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_kinds import KINDS
from synth.motion.poses.postures import THIGH_DEG, lay_down, rotate_randomly, sit_down


@pytest.fixture(scope="module")
def body():
    asset = load_body_asset()
    return asset, rest_body(asset, np.zeros(len(asset.components_m)))


@pytest.fixture(scope="module")
def poses():
    bank = embedded_pose_bank()
    return bank.rotations[bank.clips == "humanoid3d_walk"]


def joints_of(body, pose):
    asset, rest = body
    return pose_body(asset, rest, pose).joints_m


def distances(joints_m):
    return np.linalg.norm(joints_m[:, None] - joints_m[None], axis=-1)


def raised(joints_m, side):
    """Degrees by which a thigh is raised from hanging down."""
    along = joints_m[HUMAN.joint_index(f"{side}_knee")] - joints_m[HUMAN.joint_index(f"{side}_hip")]
    return np.degrees(np.arccos(-along[1] / np.linalg.norm(along)))


def upwards(joints_m):
    """Cosine between trunk and vertical."""
    up = joints_m[HUMAN.joint_index("neck")] - joints_m[HUMAN.joint_index("pelvis")]
    return up[1] / np.linalg.norm(up)


def test_a_rotated_body_keeps_its_shape_and_has_any_angle(body, poses):
    upright = joints_of(body, poses[0])
    rng = np.random.default_rng(8)
    ups = []
    for _ in range(200):
        tipped = joints_of(body, rotate_randomly(poses[0], rng))
        np.testing.assert_allclose(distances(tipped), distances(upright), atol=1e-4)
        ups.append(upwards(tipped))
    assert min(ups) < -0.8
    assert max(ups) > 0.8
    assert 0.2 < np.mean(np.abs(ups) < 0.5) < 0.5  # angles are even: a third lies within 30 degrees of level


def test_lying_people_keep_their_shape_on_back_belly_and_sides(body, poses):
    rng = np.random.default_rng(4)
    upright = joints_of(body, poses[0])
    faces = []
    for _ in range(200):
        lying = joints_of(body, lay_down(poses[0], rng))
        np.testing.assert_allclose(distances(lying), distances(upright), atol=1e-4)
        assert KINDS["lying"](lying[None])[0]
        assert abs(upwards(lying)) < np.sin(np.radians(40))
        across = lying[HUMAN.joint_index("left_shoulder")] - lying[HUMAN.joint_index("right_shoulder")]
        along = lying[HUMAN.joint_index("neck")] - lying[HUMAN.joint_index("pelvis")]
        face = np.cross(across, along)
        faces.append(face[1] / np.linalg.norm(face))
    assert np.mean(np.array(faces) > 0.7) == pytest.approx(0.25, abs=0.12)
    assert np.mean(np.array(faces) < -0.7) == pytest.approx(0.25, abs=0.12)


def test_seated_people_keep_their_bones_and_arms(body, poses):
    rng = np.random.default_rng(5)
    upright = joints_of(body, poses[0])
    kept = [HUMAN.joint_index(name) for name in ("torso", "neck", "head", "left_shoulder", "left_elbow", "left_hand")]
    thigh = [HUMAN.joint_index("left_hip"), HUMAN.joint_index("left_knee")]
    seated = crossed = 0
    for _ in range(100):
        sitting = joints_of(body, sit_down(poses[0], rng))
        for bones in (kept, thigh):
            np.testing.assert_allclose(distances(sitting[bones]), distances(upright[bones]), atol=1e-4)
        seated += KINDS["seated"](sitting[None])[0]
        for side in ("left", "right"):
            assert THIGH_DEG[0] - 15 < raised(sitting, side) < THIGH_DEG[1] + 20
        crossed += limbs_intersect(sitting)
        knees = sitting[[HUMAN.joint_index(f"{side}_knee") for side in ("left", "right")]]
        assert (knees[:, 2] > sitting[HUMAN.joint_index("pelvis"), 2] + 0.2).all()  # ahead of the body
        assert knees[0, 0] > knees[1, 0]
    assert seated > 85
    assert crossed < 35  # arms of a walk intersect raised thighs; `pose_sampler` draws again


def test_one_seed_gives_one_posture(poses):
    for posture in (rotate_randomly, lay_down, sit_down):
        one, same, other = (posture(poses[0], np.random.default_rng(seed)) for seed in (1, 1, 2))
        assert one.dtype == np.float32
        np.testing.assert_array_equal(one, same)
        assert np.abs(one - other).max() > 1e-3
