"""Our poses, written as other people would hold them and read back: the same poses again."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posepipe.body import HUMAN
from posepipe.errors import FormatError
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.skinning import POSED_BONES, pose_body
from synth.motion.mocap import read_poses
from synth.motion.mocap.bone_maps import read_bone_map
from synth.motion.mocap.mean_body import mean_body
from synth.motion.poses.clips import embedded_motion, embedded_pose_bank
from synth.motion.poses.pose_variation import without_heading
from tests.support.recordings.mocap_writers import (
    CMU,
    HANGING,
    MIXAMO,
    PARENTS,
    SPREAD_T_POSE,
    UNREAL,
    SourceSkeleton,
    asf_amc_text,
    bvh_text,
)

WALK = embedded_motion("humanoid3d_walk").rotations[::3]
DANCE = embedded_motion("humanoid3d_dance_a").rotations[::3]
BANK = embedded_pose_bank().rotations[:60]
Z_UP = Rotation.from_matrix([[0, 0, 1], [1, 0, 0], [0, 1, 0]])  # facing +x
X_UP = Rotation.from_matrix([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
AXES = st.sampled_from(Rotation.create_group("O").as_quat().tolist())
DIGITS_DEG = 0.1  #: files keep six decimals, poses float32; a degree is what is asked for


def angles_deg(poses, others):
    """How far bones are turned against each other: (T, 20)."""
    return np.degrees(2 * np.arccos(np.abs((poses * others).sum(-1)).clip(0, 1)))


def distances_m(poses, others):
    """Joints of the mean body: (T, 20)."""
    return np.linalg.norm(mean_body().joints_of(poses) - mean_body().joints_of(others), axis=-1)


def written(folder, text, name="clip.bvh"):
    path = folder / name
    path.write_text(text)
    return path


def back(folder, text):
    return read_poses(written(folder, text))[0]


SOURCES = {
    "mixamo": (SourceSkeleton({bone: f"mixamorig:{name}" for bone, name in MIXAMO.items()}), {}),
    "motionbuilder, z up, legs spread": (SourceSkeleton(MIXAMO, SPREAD_T_POSE, Z_UP, 1.0), {"order": "YZX"}),
    "x up, arms hanging, inches": (SourceSkeleton(MIXAMO, HANGING, X_UP, 39.37), {"order": "XYZ"}),
    "unreal, our own rest pose": (
        SourceSkeleton(UNREAL, {}, Rotation.from_euler("y", 130, degrees=True)),
        {"order": "YXZ"},
    ),
    "six channels a joint": (SourceSkeleton(MIXAMO), {"positions": tuple(PARENTS), "order": "XZY"}),
}


@pytest.mark.parametrize(("source", "layout"), SOURCES.values(), ids=SOURCES)
@pytest.mark.parametrize("poses", [WALK, DANCE, BANK], ids=["walk", "dance", "bank"])
def test_bvh_gives_the_same_poses_back(tmp_path, source, layout, poses):
    assert angles_deg(back(tmp_path, bvh_text(source, poses, **layout)), without_heading(poses)).max() < DIGITS_DEG


@pytest.mark.parametrize("dof", ["rx ry rz", "rz rx ry"])
@pytest.mark.parametrize("axes", [Rotation.identity(), Z_UP], ids=["y up", "z up"])
def test_acclaim_gives_the_same_poses_back(tmp_path, dof, axes):
    rng = np.random.default_rng(1)
    axes_of = {bone: tuple(rng.integers(-180, 180, 3)) for bone in PARENTS}
    skeleton, motion = asf_amc_text(SourceSkeleton(CMU, SPREAD_T_POSE, axes, 17.7), DANCE, axes_of, dof)
    written(tmp_path, skeleton, "07.asf")
    poses, clip = read_poses(written(tmp_path, motion, "07_01.amc"))
    assert clip == "07_01"
    assert angles_deg(poses, without_heading(DANCE)).max() < DIGITS_DEG


@settings(max_examples=15)
@given(AXES, st.floats(-180, 180), st.permutations("XYZ"), st.floats(0.01, 1000))
def test_axes_heading_order_and_unit_do_not_matter(tmp_path_factory, axes, heading_deg, order, unit):
    turned = Rotation.from_quat(axes) * Rotation.from_euler("y", heading_deg, degrees=True)
    text = bvh_text(SourceSkeleton(MIXAMO, axes=turned, unit=unit), WALK[:5], "".join(order))
    poses = back(tmp_path_factory.mktemp("bvh"), text)
    assert angles_deg(poses, without_heading(WALK[:5])).max() < 10 * DIGITS_DEG  # a short offset has few digits


def test_an_impossible_rest_pose_is_replaced_by_an_upright_frame(tmp_path):
    """As in LAFAN1: each bone in its own axes. What is lost is twist; joints stay within a centimetre or so."""
    own_axes = {bone: Rotation.random(random_state=seed) for seed, bone in enumerate(PARENTS)}
    poses = back(tmp_path, bvh_text(SourceSkeleton(MIXAMO, axes=Z_UP), WALK, own_axes=own_axes))
    assert distances_m(poses, without_heading(WALK)).max() < 0.015


def test_another_rest_pose_twists_a_limb_and_moves_no_joint(tmp_path):
    """Arms that were turned about their own length at rest: the file cannot tell."""
    source = SourceSkeleton(MIXAMO, {"upperarm": (0, 0, 1), "lowerarm": (0, 0, 1), "hand": (0, 0, 1)})
    poses = back(tmp_path, bvh_text(source, WALK))
    assert angles_deg(poses, without_heading(WALK)).max() < 60
    assert distances_m(poses, without_heading(WALK)).max() < 0.01


def test_missing_collar_bones_rise_with_the_arms(tmp_path):
    source = SourceSkeleton(MIXAMO, left_out=("clavicle_l", "clavicle_r"))
    poses = back(tmp_path, bvh_text(source, DANCE))
    assert distances_m(poses, without_heading(DANCE)).max() < 0.01  # ours were made by the same rule


@pytest.mark.parametrize("left_out", [("spine_02",), ("spine_01", "spine_02"), ("neck_01",)])
def test_spines_and_necks_of_other_lengths_end_alike(tmp_path, left_out):
    poses = back(tmp_path, bvh_text(SourceSkeleton(MIXAMO, left_out=left_out), DANCE))
    ends = [POSED_BONES.index(bone) for bone in ("pelvis", "spine_03", "head", "hand_l", "foot_r")]
    assert angles_deg(poses, without_heading(DANCE))[:, ends].max() < DIGITS_DEG
    assert distances_m(poses, without_heading(DANCE)).max() < 0.04


def test_a_hand_may_be_the_end_of_a_chain(tmp_path):
    source = SourceSkeleton(MIXAMO, left_out=("hand_l", "hand_r", "middle_01_l", "middle_01_r", "ball_l", "ball_r"))
    text = bvh_text(source, WALK)
    starts = mean_body().heads_m
    for side in ("l", "r"):
        forearm = 100 * np.linalg.norm(starts[f"hand_{side}"] - starts[f"lowerarm_{side}"]) * (1 if side == "l" else -1)
        head, tail = text.split(f"JOINT {source.names[f'lowerarm_{side}']}")
        text = (
            head
            + f"JOINT {source.names[f'lowerarm_{side}']}"
            + tail.replace("OFFSET 0 0 0", f"OFFSET {forearm} 0 0", 1)
        )
    poses = back(tmp_path, text)
    hands = [POSED_BONES.index(f"hand_{side}") for side in "lr"]
    others = [row for row in range(len(POSED_BONES)) if row not in hands]
    assert angles_deg(poses, without_heading(WALK))[:, others].max() < DIGITS_DEG
    assert distances_m(poses, without_heading(WALK)).max() < 0.01


def test_poses_come_without_heading(tmp_path):
    pelvis = back(tmp_path, bvh_text(SourceSkeleton(MIXAMO), DANCE))[:, 0]
    np.testing.assert_allclose(pelvis[:, 1], 0, atol=1e-6)


def lying(poses):
    """The same people, rotated onto their backs as a whole."""
    turned = Rotation.from_euler("x", -90, degrees=True) * Rotation.from_quat(poses.reshape(-1, 4))
    return turned.as_quat().reshape(poses.shape)


def test_up_is_that_of_the_rest_pose_with_a_warning_if_all_lie(tmp_path):
    text = bvh_text(SourceSkeleton(MIXAMO), lying(WALK))
    with pytest.warns(UserWarning, match=r'clip\.bvh: read as a person who lies along -z.* up = "-z"'):
        poses = back(tmp_path, text)
    assert angles_deg(poses, without_heading(lying(WALK))).max() < 1
    own = tmp_path / "own.toml"
    own.write_text('up = "-z"\n' + (read_bone_map_text("motionbuilder")))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        standing, _ = read_poses(tmp_path / "clip.bvh", [read_bone_map(own)])
    assert angles_deg(standing, without_heading(WALK)).max() < DIGITS_DEG


def read_bone_map_text(name):
    from synth.motion.mocap.bone_maps import BONE_MAPS_DIR

    return (BONE_MAPS_DIR / f"{name}.toml").read_text()


def test_swapped_sides_are_found_out_by_the_toes(tmp_path):
    swapped = MIXAMO | {b: MIXAMO[b[:-1] + ("r" if b[-1] == "l" else "l")] for b in MIXAMO if b[-2:] in ("_l", "_r")}
    with pytest.raises(FormatError, match="toes point backwards"):
        back(tmp_path, bvh_text(SourceSkeleton(swapped), WALK))


def test_bones_without_length_are_refused(tmp_path):
    text = bvh_text(SourceSkeleton(MIXAMO), WALK)
    start = text.index("OFFSET", text.index("JOINT LeftForeArm"))
    with pytest.raises(FormatError, match="between LeftArm and LeftForeArm"):
        back(tmp_path, text[:start] + "OFFSET 0 0 0" + text[text.index("\n", start) :])


def test_somebody_must_stand_upright_somewhere(tmp_path):
    own_axes = {bone: Rotation.random(random_state=seed) for seed, bone in enumerate(PARENTS)}
    crouched = WALK.copy()
    for bone in ("thigh_l", "thigh_r"):
        row = POSED_BONES.index(bone)
        turned = Rotation.from_euler("x", -90, degrees=True) * Rotation.from_quat(crouched[:, row])
        crouched[:, row] = turned.as_quat()
    with pytest.raises(FormatError, match="stands upright, at rest or in some frame"):
        back(tmp_path, bvh_text(SourceSkeleton(MIXAMO), crouched, own_axes=own_axes))


def test_joints_of_many_poses_are_those_of_each():
    asset = load_body_asset()
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    expected = np.stack([pose_body(asset, rest, pose).joints_m for pose in BANK[:20]])
    joints_m = mean_body().joints_of(BANK[:20])
    assert joints_m.shape == (20, len(HUMAN.joints), 3)
    np.testing.assert_allclose(joints_m, expected, atol=1e-5)
