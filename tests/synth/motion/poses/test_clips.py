"""Pose banks and motions: what the embedded ones promise, and what a damaged file says."""

import io
import zipfile

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.errors import FormatError
from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import rest_body
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import POSED_BONES, pose_body
from synth.motion.poses.clips import (
    Motion,
    PoseBank,
    embedded_motion,
    embedded_pose_bank,
    is_pose_bank,
    read_motions,
    read_pose_bank,
    write_motions,
    write_pose_bank,
)
from tests.reference.synth.motion.pose_variation import pose_distances

FLOAT16 = 1e-3  #: half a unit in the last place near 1 is 2.4e-4; a component may move twice that by renormalising
UNIT = 1e-6


@pytest.fixture(scope="module")
def embedded_joints_m():
    asset = load_body_asset()
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    return np.stack([pose_body(asset, rest, pose).joints_m for pose in embedded_pose_bank().rotations])


def _joint(joints_m, name):
    return joints_m[..., HUMAN.joint_index(name), :]


def _bank(n=6, seed=0, clip="clip"):
    turns = np.random.default_rng(seed).normal(size=(n, len(POSED_BONES), 4))
    turns /= np.linalg.norm(turns, axis=-1, keepdims=True)
    return PoseBank(turns.astype(np.float32), POSED_BONES, np.array([f"{clip}{i % 3}" for i in range(n)]))


def _arrays(**changes):
    bank = _bank()
    arrays = {"quat_xyzw_global": bank.rotations, "bones": np.array(bank.bones), "clip": bank.clips} | changes
    return {name: array for name, array in arrays.items() if array is not None}


def test_embedded_bank_holds_every_clip_as_unit_quaternions():
    bank = embedded_pose_bank()
    assert len(bank.rotations) > 800
    assert len(set(bank.clips)) == 15
    assert bank.rotations.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(bank.rotations, axis=-1), 1, atol=UNIT)


def test_no_two_embedded_poses_are_nearer_than_five_centimetres(embedded_joints_m):
    nearest = pose_distances(embedded_joints_m)
    np.fill_diagonal(nearest, np.inf)
    assert nearest.min() >= 0.05


def test_in_no_embedded_pose_do_limbs_pass_through_the_body(embedded_joints_m):
    assert not limbs_intersect(embedded_joints_m).any()


def test_embedded_poses_have_no_heading():
    pelvis = embedded_pose_bank().rotations[:, POSED_BONES.index("pelvis")]
    twist = np.arctan2(pelvis[:, 1], pelvis[:, 3])
    upright = np.hypot(pelvis[:, 1], pelvis[:, 3]) > 0.1  # upside down, the twist is nothing but rounding
    np.testing.assert_allclose(np.sin(twist[upright]), 0, atol=0.01)


def test_knees_bend_backwards_and_elbows_forwards_in_walking(embedded_joints_m):
    walking_m = embedded_joints_m[embedded_pose_bank().clips == "humanoid3d_walk"]
    for side in ("left", "right"):
        hip, knee, ankle = (_joint(walking_m, f"{side}_{joint}") for joint in ("hip", "knee", "ankle"))
        assert ((2 * knee - hip - ankle)[:, 2] > 0).all()  # the knee is before the line from hip to ankle
        shoulder, elbow, wrist = (_joint(walking_m, f"{side}_{joint}") for joint in ("shoulder", "elbow", "wrist"))
        assert ((2 * elbow - shoulder - wrist)[:, 2] < 0).all()


def test_left_is_the_persons_left(embedded_joints_m):
    walking = embedded_pose_bank().clips == "humanoid3d_walk"
    for joint in ("shoulder", "hip", "knee", "hand"):
        across = _joint(embedded_joints_m, f"left_{joint}") - _joint(embedded_joints_m, f"right_{joint}")
        assert (across[walking, 0] > 0.1).all()


def test_validation_holds_out_whole_clips_and_nothing_is_lost():
    bank = embedded_pose_bank()
    train, validation = bank.split("train"), bank.split("validation")
    assert set(train.clips).isdisjoint(validation.clips)
    assert 3 <= len(set(validation.clips)) <= 4
    assert len(train.rotations) + len(validation.rotations) == len(bank.rotations)
    for part in (train, validation):
        for clip in set(part.clips):
            np.testing.assert_array_equal(part.rotations[part.clips == clip], bank.rotations[bank.clips == clip])


def test_a_clip_stays_on_its_side_in_every_bank():
    bank = _bank(30, clip="someone's recording ")
    both = PoseBank.concatenate([embedded_pose_bank(), bank])
    held_out = set(both.split("validation").clips)
    assert held_out == set(embedded_pose_bank().split("validation").clips) | set(bank.split("validation").clips)


def test_about_one_clip_in_five_is_held_out():
    names = np.array([f"recording {i}" for i in range(500)])
    rotations = np.tile(np.float32([0, 0, 0, 1]), (500, len(POSED_BONES), 1))
    assert 70 <= len(PoseBank(rotations, POSED_BONES, names).split("validation").clips) <= 130


def test_split_refuses_other_parts():
    with pytest.raises(ValueError, match="'test'"):
        embedded_pose_bank().split("test")


def test_concatenate_keeps_the_order_and_refuses_nothing():
    a, b = _bank(seed=1), _bank(seed=2, clip="other")
    both = PoseBank.concatenate([a, b])
    np.testing.assert_array_equal(both.rotations, np.concatenate([a.rotations, b.rotations]))
    assert list(both.clips) == [*a.clips, *b.clips]
    with pytest.raises(ValueError, match="at least one"):
        PoseBank.concatenate([])


def test_a_digest_names_the_content():
    assert _bank().digest() == _bank().digest()
    assert len({_bank().digest(), _bank(seed=1).digest(), _bank(clip="other").digest()}) == 3


def test_a_bank_survives_its_file(tmp_path):
    bank = _bank()
    write_pose_bank(bank, tmp_path / "bank.npz")
    again = read_pose_bank(tmp_path / "bank.npz")
    np.testing.assert_allclose(again.rotations, bank.rotations, atol=FLOAT16)
    assert list(again.clips) == list(bank.clips)
    assert again.bones == bank.bones


def test_a_bank_refuses_arrays_that_do_not_belong_together():
    bank = _bank()
    with pytest.raises(ValueError, match="rotations"):
        PoseBank(bank.rotations[:2], POSED_BONES, bank.clips)
    with pytest.raises(ValueError, match="bones"):
        PoseBank(bank.rotations, POSED_BONES[::-1], bank.clips)


def _spoilt(value):
    rotations = _bank().rotations.copy()
    rotations[3, 2] = value
    return rotations


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"clip": None}, "lacks clip"),
        ({"bones": np.array(POSED_BONES[::-1])}, "wanted the bones"),
        ({"quat_xyzw_global": _bank().rotations[:, :5]}, "quat_xyzw_global"),
        ({"quat_xyzw_global": _bank().rotations[:4]}, "one pose a clip"),
        ({"quat_xyzw_global": np.ones((6, 20, 4), np.int64)}, "wanted floats"),
        ({"quat_xyzw_global": _spoilt(np.nan)}, "pose 3, spine_02"),
        ({"quat_xyzw_global": _spoilt(0)}, "pose 3, spine_02"),
        ({"clip": np.arange(6)}, "one name a pose"),
        ({"clip": np.array([{}] * 6, dtype=object)}, "not poses"),
    ],
)
def test_a_malformed_bank_says_what_is_wrong(tmp_path, changes, says):
    path = tmp_path / "bank.npz"
    np.savez(path, **_arrays(**changes), allow_pickle=True)
    with pytest.raises(FormatError, match=says) as caught:
        read_pose_bank(path)
    assert str(path) in str(caught.value)


def _damaged_files():
    whole = io.BytesIO()
    np.savez_compressed(whole, **_arrays())
    array = io.BytesIO()
    np.save(array, np.zeros(3))
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("quat_xyzw_global.npy", b"no array")
    content = bytearray(whole.getvalue())
    content[200:300] = bytes(100)
    return {
        "empty": b"",
        "text": b"HIERARCHY\nROOT Hips\n",
        "cut": whole.getvalue()[:1000],
        "scratched": bytes(content),
        "array": array.getvalue(),
        "archive": archive.getvalue(),
    }


@pytest.mark.parametrize("damage", sorted(_damaged_files()))
def test_a_damaged_file_is_a_format_error(tmp_path, damage):
    path = tmp_path / "bank.npz"
    path.write_bytes(_damaged_files()[damage])
    with pytest.raises(FormatError, match="bank"):
        read_pose_bank(path)


def test_a_damaged_directory_is_of_no_pose_bank(tmp_path):
    path = tmp_path / "bank.npz"
    np.savez(path, **_arrays())
    assert is_pose_bank(path)
    path.write_bytes(path.read_bytes().replace(b"PK\x01\x02", b"...."))
    assert not is_pose_bank(path)


def test_a_missing_file_is_a_format_error(tmp_path):
    with pytest.raises(FormatError, match="no such file"):
        read_pose_bank(tmp_path / "absent.npz")


@pytest.mark.parametrize("name", ["humanoid3d_walk", "humanoid3d_dance_a"])
def test_embedded_motions_move_smoothly_on_the_floor(name):
    motion = embedded_motion(name)
    assert motion.fps == 30
    assert 60 <= len(motion.rotations) == len(motion.root_m) <= 100
    dots = np.abs((motion.rotations[1:] * motion.rotations[:-1]).sum(-1)).clip(0, 1)
    assert np.degrees(2 * np.arccos(dots)).max() < 45  # dancing arms reach 37 degrees a frame
    assert np.abs(np.diff(motion.root_m, axis=0)).max() < 0.06
    asset = load_body_asset()
    rest = rest_body(asset, np.zeros(len(asset.components_m)))
    posed = [pose_body(asset, rest, pose) for pose in motion.rotations[::4]]
    lowest_m = [p.vertices_m[:, 1].min() + y for p, y in zip(posed, motion.root_m[::4, 1], strict=True)]
    assert min(lowest_m) > -0.001
    assert max(lowest_m) < 0.06


def test_the_walk_goes_forwards():
    travelled_m = np.ptp(embedded_motion("humanoid3d_walk").root_m, axis=0)
    assert travelled_m[2] > 2
    assert travelled_m[0] < 0.3


def test_an_unknown_motion_names_those_there_are():
    with pytest.raises(ValueError, match="humanoid3d_walk"):
        embedded_motion("moonwalk")


def _motion(fps=25.0):
    return Motion(_bank(4).rotations, np.arange(12, dtype=np.float32).reshape(4, 3), fps)


def test_motions_survive_their_file(tmp_path):
    motions = {"one": _motion(), "two": Motion(_bank(3, seed=5).rotations, np.zeros((3, 3), np.float32), 25.0)}
    write_motions(motions, tmp_path / "motions.npz")
    again = read_motions(tmp_path / "motions.npz")
    assert list(again) == ["one", "two"]
    for name, motion in motions.items():
        np.testing.assert_allclose(again[name].rotations, motion.rotations, atol=FLOAT16)
        np.testing.assert_array_equal(again[name].root_m, motion.root_m)
        assert again[name].fps == 25


def test_a_motion_without_a_root_stays_in_place(tmp_path):
    path = tmp_path / "motions.npz"
    np.savez(path, names=np.array(["one"]), bones=np.array(POSED_BONES), clip00=_bank(4).rotations)
    motion = read_motions(path)["one"]
    assert motion.fps == 30
    assert not motion.root_m.any()


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"names": np.array(["one", "two"])}, "clip01 is missing"),
        ({"bones": np.array(POSED_BONES[:3])}, "wanted the bones"),
        ({"fps": np.float32(0)}, "fps"),
        ({"root00": np.full((4, 3), np.inf)}, "root00"),
        ({"clip00": np.zeros((4, 20, 4), np.float16)}, "clip00: pose 0"),
    ],
)
def test_malformed_motions_say_what_is_wrong(tmp_path, changes, says):
    path = tmp_path / "motions.npz"
    arrays = {"names": np.array(["one"]), "bones": np.array(POSED_BONES), "clip00": _bank(4).rotations} | changes
    np.savez(path, **arrays)
    with pytest.raises(FormatError, match=says):
        read_motions(path)


def test_motions_of_different_rates_are_refused(tmp_path):
    with pytest.raises(ValueError, match="rate"):
        write_motions({"one": _motion(25), "two": _motion(30)}, tmp_path / "motions.npz")
