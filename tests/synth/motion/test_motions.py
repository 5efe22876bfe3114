"""Motions of sequences: which are played, and as what; captures of every rate as long as they took."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posepipe.errors import FormatError, PosepipeError
from synth.body.skinning import POSED_BONES
from synth.motion.motions import CapturedMotion, Motions, at_frame_rate, read_captured_motions
from synth.motion.poses.clips import (
    MOTIONS_FILE,
    POSE_BANK_FILE,
    Motion,
    embedded_motion,
    is_held_out,
    read_motions,
    write_motions,
)
from synth.recipe import PoseRecipe
from tests.support.recordings.mocap_writers import CMU, UNREAL, SourceSkeleton, asf_amc_text, bvh_text

WALK = embedded_motion("humanoid3d_walk")
ALL = PoseRecipe(poses="all")


def captured(*clips: str) -> list[CapturedMotion]:
    return [CapturedMotion(clip, "walk" in clip, WALK) for clip in clips]


def test_a_kind_that_nobody_captured_is_the_embedded_one():
    embedded = Motions.embedded()
    dances = Motions.select(captured("dance", "ballet"), ALL)
    assert len(dances.acts) == 2
    assert dances.walks == embedded.walks
    walks = Motions.select(captured("walking"), ALL)
    assert walks.walks == (WALK,)
    assert walks.acts == embedded.acts


def test_motions_are_chosen_as_poses_are():
    clips = [f"walk {k}" for k in range(20)]
    held_out = [clip for clip in clips if is_held_out(clip)]
    assert len(Motions.select(captured(*clips), PoseRecipe(poses="validation")).walks) == len(held_out) > 0
    assert len(Motions.select(captured(*clips), PoseRecipe(poses="train")).walks) == 20 - len(held_out)
    assert len(Motions.select(captured(*clips), PoseRecipe(poses="all", only_clips=("walk 3", "walk 4"))).walks) == 2
    assert len(Motions.select(captured(*clips), PoseRecipe(poses="all", leave_out_clips=("walk 3",))).walks) == 19
    trained = next(clip for clip in clips if clip not in held_out)
    with pytest.raises(PosepipeError, match=r'"validation", leaves none of 1 motions, walk \d+ first; poses = "all"'):
        Motions.select(captured(trained), PoseRecipe(poses="validation"))


def test_clips_that_nobody_captured_are_warned_of():
    with pytest.warns(UserWarning, match=r"leave_out_clips has walk 3\.bvh, and no clip is named so"):
        Motions.select(captured("walk 3"), PoseRecipe(poses="all", leave_out_clips=("walk 3.bvh",)))


def test_the_digest_tells_motions_apart():
    other = Motion(WALK.rotations[1:], WALK.root_m[1:], WALK.fps)
    faster = Motion(WALK.rotations, WALK.root_m, 60)
    digests = {Motions(*kinds).digest() for kinds in (((WALK,), ()), ((), (WALK,)), ((other,), ()), ((faster,), ()))}
    assert len(digests) == 4
    assert Motions((WALK,), ()).digest() == Motions((WALK,), ()).digest()


def test_a_capture_is_played_at_thirty_frames_a_second(tmp_path):
    """A tenth of a second apart, the poses that were written; in between, what lies between them."""
    poses = WALK.rotations[:20:3]
    (tmp_path / "walking").mkdir()
    path = tmp_path / "walking" / "07_01.bvh"
    path.write_text(bvh_text(SourceSkeleton(UNREAL), poses))
    (found,) = read_captured_motions(path)
    assert (found.clip, found.walks, found.motion.fps) == ("07_01", True, 30)
    thighs = found.motion.rotations[:, POSED_BONES.index("thigh_l")]
    wanted = WALK.rotations[:19, POSED_BONES.index("thigh_l")]
    bends = [Rotation.from_quat(t).apply([0, 1, 0]) for t in (thighs, wanted)]
    np.testing.assert_allclose(bends[0][::3, 1], bends[1][::3, 1], atol=2e-3)  # except for the heading
    np.testing.assert_allclose(bends[0][:, 1], bends[1][:, 1], atol=0.02)


def test_an_amc_file_and_a_pack_are_read_side_by_side(tmp_path):
    skeleton, motion = asf_amc_text(SourceSkeleton(CMU), WALK.rotations[:9], each=4)
    (tmp_path / "jump.asf").write_text(skeleton)
    (tmp_path / "jump.amc").write_text(motion)
    write_motions({"slow_WALK": WALK, "wave": WALK}, tmp_path / "clips.npz")
    found = read_captured_motions(tmp_path)
    assert [(each.clip, each.walks) for each in found] == [("slow_WALK", True), ("wave", False), ("jump", False)]
    assert [len(each.motion.rotations) for each in found] == [75, 75, 9]


def test_single_poses_are_no_motion():
    with pytest.raises(FormatError, match="single poses; sequences need motions"):
        read_captured_motions(POSE_BANK_FILE)
    assert {each.clip for each in read_captured_motions(MOTIONS_FILE)} == {"humanoid3d_walk", "humanoid3d_dance_a"}


@pytest.mark.parametrize("content", [b"", b"PK\3\4", b"HIERARCHY", np.random.default_rng(0).bytes(999)])
@pytest.mark.parametrize("suffix", ["npz", "bvh", "amc"])
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, suffix):
    path = tmp_path / f"broken.{suffix}"
    path.write_bytes(content)
    with pytest.raises(PosepipeError, match="broken"):
        read_captured_motions(path)


def test_a_broken_file_in_a_folder_is_left_out_unless_all_are(tmp_path):
    (tmp_path / "broken.bvh").write_text("HIERARCHY")
    with (
        pytest.warns(UserWarning, match="left out: .*broken"),
        pytest.raises(FormatError, match="none of its files can be read"),
    ):
        read_captured_motions(tmp_path)
    (tmp_path / "sound.bvh").write_text(bvh_text(SourceSkeleton(UNREAL), WALK.rotations[:9:3]))
    with pytest.warns(UserWarning, match="left out: .*broken"):
        assert [each.clip for each in read_captured_motions(tmp_path)] == ["sound"]


def test_a_pack_at_the_rate_of_sequences_is_read_as_it_is(tmp_path):
    """Frozen sets and their datasets are known by the digest."""
    write_motions({"a walk": WALK}, tmp_path / "pack.npz")
    (packed,) = read_motions(tmp_path / "pack.npz").values()
    assert packed.fps == 30.0
    (read,) = read_captured_motions(tmp_path / "pack.npz")
    assert Motions((read.motion,), ()).digest() == Motions((packed,), ()).digest()


def test_a_pack_without_a_motion_or_a_frame_is_told(tmp_path):
    path = tmp_path / "empty.npz"
    np.savez(path, names=np.array([], str), bones=np.array(POSED_BONES))
    with pytest.raises(FormatError, match="at least one motion"):
        read_captured_motions(path)
    np.savez(path, names=np.array(["a"]), bones=np.array(POSED_BONES), clip00=np.zeros((0, 20, 4), np.float16))
    with pytest.raises(FormatError, match="clip00: a motion without a frame"):
        read_captured_motions(path)


def test_each_bone_turns_evenly_on_the_shorter_way():
    angles = np.radians([0, 30, 20])
    poses = np.zeros((3, 20, 4))
    poses[..., 2], poses[..., 3] = np.sin(angles / 2)[:, None], np.cos(angles / 2)[:, None]
    poses[1] *= -1  # the same rotation
    between = at_frame_rate(poses, 10)
    turns = np.degrees(Rotation.from_quat(between[:, 7]).as_rotvec()[:, 2])
    np.testing.assert_allclose(turns, [0, 10, 20, 30, 80 / 3, 70 / 3, 20], atol=1e-4)
    np.testing.assert_array_equal(at_frame_rate(poses[:1], np.inf), poses[:1].astype(np.float32))


def test_no_joint_bends_the_wrong_way_between_far_poses():
    """Thigh and calf turn by 200 degrees and the knee by 40: the calf must not go round on the other side."""
    poses = np.tile([0.0, 0, 0, 1], (2, 20, 1))
    calf = POSED_BONES.index("calf_l")
    thigh = POSED_BONES.index("thigh_l")
    for bone, degrees in ((thigh, -160), (calf, -200)):
        poses[1, bone] = Rotation.from_euler("x", degrees, degrees=True).as_quat()
    turned = [Rotation.from_quat(at_frame_rate(poses, 1)[:, bone]) for bone in (thigh, calf)]
    bends = np.degrees((turned[0].inv() * turned[1]).as_rotvec()[:, 0])
    np.testing.assert_allclose(bends, np.linspace(0, -40, 31), atol=0.01)


def swinging(degrees: np.ndarray) -> np.ndarray:
    """Standing with one forearm turned so far: (T, 20, 4)."""
    poses = np.tile([0.0, 0, 0, 1], (len(degrees), 20, 1))
    for bone in ("lowerarm_l", "hand_l"):
        poses[:, POSED_BONES.index(bone)] = Rotation.from_euler("y", degrees[:, None], degrees=True).as_quat()
    return poses


def forearm_deg(motion: Motion) -> np.ndarray:
    """How far it has turned since the first frame."""
    turned = Rotation.from_quat(motion.rotations[:, POSED_BONES.index("lowerarm_l")])
    return np.degrees((turned * turned[0].inv()).as_rotvec()[:, 1])


@pytest.mark.parametrize(("suffix", "rounding_deg"), [("bvh", 0.05), ("npz", 0.1)])  # packs are of float16
@pytest.mark.parametrize("fps", [6, 10, 24, 25, 29.97, 30, 50, 60, 100, 120, 240])
def test_a_capture_of_any_rate_takes_as_long_as_it_took(tmp_path, fps, suffix, rounding_deg):
    seconds = np.arange(round(2 * fps) + 1) / fps
    poses = swinging(-30 * seconds)
    if suffix == "bvh":
        (tmp_path / "wave.bvh").write_text(bvh_text(SourceSkeleton(UNREAL), poses, fps=fps))
    else:
        write_motions({"wave": Motion(poses, np.zeros((len(poses), 3)), fps)}, tmp_path / "wave.npz")
    (found,) = read_captured_motions(tmp_path / f"wave.{suffix}")
    assert found.motion.fps == 30
    assert len(found.motion.rotations) in (60, 61)
    turned_deg = forearm_deg(found.motion)
    np.testing.assert_allclose(turned_deg, -np.arange(len(turned_deg)), atol=rounding_deg)


@pytest.mark.parametrize("suffix", ["bvh", "amc"])
def test_what_happens_within_a_tenth_of_a_second_is_seen(tmp_path, suffix):
    degrees = -20 * np.sin(2 * np.pi * 10 * np.arange(31) / 30)
    if suffix == "bvh":
        (tmp_path / "wave.bvh").write_text(
            bvh_text(SourceSkeleton(UNREAL), np.repeat(swinging(degrees), 4, axis=0), fps=120)
        )
    else:
        skeleton, motion = asf_amc_text(SourceSkeleton(CMU), swinging(degrees), each=4)
        (tmp_path / "wave.asf").write_text(skeleton)
        (tmp_path / "wave.amc").write_text(motion)
    (found,) = read_captured_motions(tmp_path)
    np.testing.assert_allclose(forearm_deg(found.motion), degrees, atol=0.02)


@pytest.mark.parametrize(("frame_time", "problem"), [("5", "a pose every 5 s"), ("1e12", r"a pose every 1e\+12 s")])
def test_a_capture_of_too_low_a_rate_is_refused(tmp_path, frame_time, problem):
    text = bvh_text(SourceSkeleton(UNREAL), WALK.rotations[:9])
    (tmp_path / "slow.bvh").write_text(text.replace("Frame Time: 0.100000", f"Frame Time: {frame_time}"))
    with pytest.raises(FormatError, match=rf"slow\.bvh: {problem}; sequences need at least one a second"):
        read_captured_motions(tmp_path / "slow.bvh")
    write_motions({"slow": Motion(WALK.rotations, WALK.root_m, 1 / float(frame_time))}, tmp_path / "slow.npz")
    with pytest.raises(FormatError, match=rf"slow\.npz: {problem}; sequences need at least one a second"):
        read_captured_motions(tmp_path / "slow.npz")


@pytest.mark.parametrize("frame_time", ["1e-9", "5e-324"])
def test_a_capture_without_duration_is_its_first_pose(tmp_path, frame_time):
    text = bvh_text(SourceSkeleton(UNREAL), WALK.rotations[:9])
    (tmp_path / "short.bvh").write_text(text.replace("Frame Time: 0.100000", f"Frame Time: {frame_time}"))
    (found,) = read_captured_motions(tmp_path / "short.bvh")
    assert found.motion.rotations.shape == (1, 20, 4)
