"""Poses made from poses: what each change leaves alone, and which collide."""

import numpy as np
import pytest

from posepipe.body import HUMAN
from synth.body import limb_collision
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import POSED_BONES, pose_body
from synth.motion.pose_sampler import standing_pose
from synth.motion.poses.clips import embedded_pose_bank
from synth.motion.poses.pose_variation import (
    JITTER_BOUND,
    furthest_points,
    jitter,
    mirror_poses,
    pose_between,
    recombine,
)
from tests.reference.synth.body import limb_collision as collision_reference
from tests.reference.synth.motion import pose_variation as reference

FLOAT32 = 2e-6  #: products of two unit quaternions in float32
ARMS = [i for i, bone in enumerate(POSED_BONES) if bone.startswith(("clavicle", "upperarm", "lowerarm", "hand"))]
OTHERS = [i for i in range(len(POSED_BONES)) if i not in ARMS]
CHEST = POSED_BONES.index("spine_03")


@pytest.fixture(scope="module")
def poses():
    return embedded_pose_bank().rotations[:200]


@pytest.fixture(scope="module")
def body():
    asset = load_body_asset()
    return asset, rest_body(asset, np.zeros(len(asset.components_m)))


def _same_turns(a, b, atol):
    np.testing.assert_allclose(np.abs((a * b).sum(-1)), 1, atol=atol)  # q and -q are one rotation


def test_corners_come_before_what_lies_between_them():
    along = np.array([0, 0.1, 0.5, 0.9, 1.0])
    points = np.zeros((5, 1, 3))
    points[:, 0, 0] = along
    order = furthest_points(points, 5, 0, seed=3)
    far_end = 0 if along[order[0]] > 0.5 else 4
    assert order[1] == far_end
    assert sorted(order) == [0, 1, 2, 3, 4]


def test_a_prefix_is_the_answer_for_a_smaller_count():
    points = np.random.default_rng(4).normal(size=(60, 20, 3))
    np.testing.assert_array_equal(furthest_points(points, 40, 0, 1)[:15], furthest_points(points, 15, 0, 1))


def test_equal_poses_are_chosen_once():
    points = np.repeat(np.random.default_rng(5).normal(size=(4, 20, 3)), 3, axis=0)
    assert len(furthest_points(points, 12, 0.0, seed=0)) == 4


def test_furthest_points_of_nobody_is_nobody():
    assert len(furthest_points(np.zeros((0, 20, 3)), 5, 0.05, seed=0)) == 0
    with pytest.raises(ValueError, match="finite"):
        furthest_points(np.full((3, 20, 3), np.nan), 5, 0.05, seed=0)


def test_mirror_twice_is_identity(poses):
    np.testing.assert_array_equal(mirror_poses(mirror_poses(poses, POSED_BONES), POSED_BONES), poses)


def test_a_mirrored_body_is_the_bodys_mirror_image(poses, body):
    asset, rest = body
    for pose in poses[::20]:
        joints_m = pose_body(asset, rest, pose).joints_m
        mirrored_m = pose_body(asset, rest, mirror_poses(pose, POSED_BONES)).joints_m
        # the mean body is itself a millimetre or so from symmetric
        np.testing.assert_allclose(mirrored_m[HUMAN.mirrored_joints()] * [-1, 1, 1], joints_m, atol=0.004)
        left, right = HUMAN.joint_index("left_hand"), HUMAN.joint_index("right_hand")
        np.testing.assert_allclose(mirrored_m[left] * [-1, 1, 1], joints_m[right], atol=0.004)


def test_recombined_poses_keep_their_legs_and_trunk(poses):
    mixed = recombine(poses, np.random.default_rng(6))
    np.testing.assert_array_equal(mixed[:, OTHERS], poses[:, OTHERS])


def test_recombined_arms_keep_their_rotation_to_the_chest(poses):
    pair = poses[[3, 40]]
    mixed = recombine(pair, np.random.default_rng(7))
    for taker, giver in ((0, 1), (1, 0)):
        for bone in ARMS:
            held = reference.multiply(reference.conjugate(mixed[taker, CHEST]), mixed[taker, bone])
            was_held = reference.multiply(reference.conjugate(pair[giver, CHEST]), pair[giver, bone])
            _same_turns(held, was_held, FLOAT32)


def test_nobody_keeps_his_own_arms(poses):
    mixed = recombine(poses, np.random.default_rng(8))
    moved = np.abs((mixed[:, ARMS] * poses[:, ARMS]).sum(-1)) < 1 - 1e-4
    assert moved.any(axis=1).all()
    with pytest.raises(ValueError, match="two poses"):
        recombine(poses[:1], np.random.default_rng(8))


def test_jitter_is_bounded_and_as_large_as_asked(poses):
    sigma = 0.05
    moved = jitter(poses, np.random.default_rng(9), sigma)
    np.testing.assert_allclose(np.linalg.norm(moved, axis=-1), 1, atol=FLOAT32)
    turned = []
    for before, after in zip(poses, moved, strict=True):
        for child, parent in (("lowerarm_l", "upperarm_l"), ("calf_r", "thigh_r"), ("thigh_l", "pelvis")):
            c, p = POSED_BONES.index(child), POSED_BONES.index(parent)
            old = reference.multiply(reference.conjugate(before[p].astype(float)), before[c].astype(float))
            new = reference.multiply(reference.conjugate(after[p].astype(float)), after[c].astype(float))
            change = reference.multiply(reference.conjugate(old), new)
            turned.append(2 * np.arctan2(np.linalg.norm(change[:3]), abs(change[3])))
    assert max(turned) <= JITTER_BOUND * sigma + 1e-5
    # mean length of three normals is 1.6 sigma; the bound cuts a little of it
    assert 1.4 * sigma < np.mean(turned) < 1.6 * sigma


def test_the_way_between_two_poses_ends_at_them(poses, body):
    standing = standing_pose(body[0])
    _same_turns(pose_between(poses[5], standing, 0.0), poses[5], FLOAT32)
    _same_turns(pose_between(poses[5], standing, 1.0), standing, FLOAT32)
    _same_turns(pose_between(poses[5], poses[5], 0.4), poses[5], FLOAT32)


def test_no_knee_bends_backwards_from_upside_down_to_standing(body):
    """Thigh and calf must rotate the same way: otherwise the knee in a handstand bends backwards."""
    bank, standing = embedded_pose_bank(), standing_pose(body[0])
    upside_down = np.flatnonzero(np.abs(bank.rotations[:, 0, 3]) < 0.5)
    assert len(upside_down) > 20
    for row in upside_down:
        for share in (0.2, 0.5, 0.8):
            pose = pose_between(bank.rotations[row], standing, share).astype(float)
            for side in "lr":
                thigh, calf = (pose[POSED_BONES.index(f"{bone}_{side}")] for bone in ("thigh", "calf"))
                turn = reference.multiply(reference.conjugate(thigh), calf)
                bend = np.degrees(2 * np.arctan2(turn[0], turn[3]))
                assert -25 < (bend + 180) % 360 - 180 < 155, f"pose {row}"


def test_jitter_keeps_the_shape_of_one_pose_and_of_none(poses):
    assert jitter(poses[0], np.random.default_rng(10), 0.05).shape == poses[0].shape
    _same_turns(jitter(poses, np.random.default_rng(10), 0.0), poses, FLOAT32)


def test_what_hangs_on_a_joint_follows_its_jitter(poses):
    moved = jitter(poses, np.random.default_rng(11), 0.1)
    hands = [POSED_BONES.index("hand_l"), POSED_BONES.index("hand_r")]
    clavicles = [POSED_BONES.index("clavicle_l"), POSED_BONES.index("clavicle_r")]

    def turn(bones):
        return 2 * np.arccos(np.abs((moved[:, bones] * poses[:, bones]).sum(-1)).clip(0, 1)).mean()

    assert turn(hands) > turn(clavicles)


@pytest.mark.parametrize("ends", [(0, 0, 2, 3), (0, 1, 2, 2), (0, 0, 2, 2), (0, 1, 0, 1)])
def test_segment_distance_to_a_point_or_to_itself(ends):
    points = np.random.default_rng(12).uniform(-1, 1, (4, 3))
    got = np.sqrt(limb_collision._distance2(points, *ends))
    np.testing.assert_allclose(got, collision_reference.segment_distance(*points[list(ends)]), atol=1e-3)


def _standing_m(body):
    asset, rest = body
    return pose_body(asset, rest, np.tile([0.0, 0, 0, 1], (20, 1))).joints_m.copy()


def test_a_rest_pose_does_not_intersect(body):
    assert limbs_intersect(_standing_m(body)) is False


@pytest.mark.parametrize(
    "move",
    [
        {"left_wrist": "pelvis", "left_hand": "torso"},
        {"right_hand": "head"},
        {"left_knee": "right_knee"},
        {"right_wrist": "left_elbow"},
    ],
)
def test_limbs_inside_the_body_intersect(body, move):
    joints_m = _standing_m(body)
    for joint, target in move.items():
        joints_m[HUMAN.joint_index(joint)] = joints_m[HUMAN.joint_index(target)]
    assert limbs_intersect(joints_m) is True


def test_intersection_is_independent_of_axes_and_batches(poses, body):
    asset, rest = body
    noisy = jitter(poses, np.random.default_rng(13), 0.3)
    joints_m = np.stack([pose_body(asset, rest, pose).joints_m for pose in noisy])
    many = limbs_intersect(joints_m)
    assert 0 < many.sum() < len(many)
    assert list(many) == [limbs_intersect(j) for j in joints_m]
    np.testing.assert_array_equal(limbs_intersect(joints_m * [1, -1, -1] + [3, 1, 2]), many)


def test_intersection_refuses_other_skeletons():
    with pytest.raises(ValueError, match="joints_m"):
        limbs_intersect(np.zeros((15, 3)))
