"""From files and folders to one pose bank: what is kept, what is warned of, what the command does with it."""

import warnings

import numpy as np
import pytest

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.errors import FormatError, PosepipeError
from synth.body.limb_collision import limbs_intersect
from synth.body.skinning import POSED_BONES
from synth.motion.mocap import mocap_files, read_mocap
from synth.motion.mocap.bone_maps import BONE_MAPS_DIR
from synth.motion.mocap.distinct_poses import MIN_SEPARATION_M, DistinctPoses
from synth.motion.mocap.mean_body import mean_body
from synth.motion.poses.clips import PoseBank, embedded_motion, embedded_pose_bank, write_pose_bank
from tests.reference.synth.motion.pose_variation import pose_distances
from tests.support.recordings.mocap_writers import CMU, MIXAMO, SourceSkeleton, asf_amc_text, bvh_text

WALK = embedded_motion("humanoid3d_walk").rotations[::3]
DANCE = embedded_motion("humanoid3d_dance_a").rotations[::3]
CROSSED = np.float32([0, 0, -np.sin(np.radians(15)), np.cos(np.radians(15))])
"""Of a left leg that passes to the right, by 30 degrees."""


@pytest.fixture(scope="module")
def texts():
    return {"walk": bvh_text(SourceSkeleton(MIXAMO), WALK), "acclaim": asf_amc_text(SourceSkeleton(CMU), DANCE)}


@pytest.fixture
def database(tmp_path, texts):
    """A folder of all kinds: 01/walk.bvh, 07/07.asf, 07/07_01.amc, bank.npz; and files that are not read."""
    root = tmp_path / "database"
    for folder in (root / "01", root / "07"):
        folder.mkdir(parents=True)
    (root / "01" / "walk.BVH").write_text(texts["walk"])
    (root / "01" / "._walk.bvh").write_bytes(b"\x00\x05\x16\x07")
    (root / "01" / "readme.txt").write_text("thanks")
    (root / "07" / "07.asf").write_text(texts["acclaim"][0])
    (root / "07" / "07_01.amc").write_text(texts["acclaim"][1])
    bank = embedded_pose_bank()
    write_pose_bank(PoseBank(bank.rotations[:9], bank.bones, bank.clips[:9]), root / "bank.npz")
    return root


def nearest_m(rotations):
    distances = pose_distances(mean_body().joints_of(rotations))
    np.fill_diagonal(distances, np.inf)
    return distances.min()


def test_added_poses_keep_near_ones_out():
    points = np.zeros((3, len(HUMAN.joints), 3), np.float32)
    points[:, 7, 0] = 0, 0.04, 0.06
    poses = DistinctPoses(0.05)
    poses.add(points[[0, 0]])
    assert poses.choose(points).tolist() == [False, False, True]


def test_more_poses_than_there_was_room_for():
    points = np.zeros((3000, len(HUMAN.joints), 3), np.float32)
    points[:, 3, 1] = np.arange(3000)
    poses = DistinctPoses()
    assert poses.choose(points[:1500]).all()
    assert poses.choose(points[1400:]).sum() == 1500


def test_a_folder_of_all_kinds_becomes_one_bank(database):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bank = read_mocap(database)
    assert set(bank.clips) == {"walk", "07_01", *embedded_pose_bank().clips[:9]}
    assert bank.rotations.dtype == np.float32
    assert nearest_m(bank.rotations) >= MIN_SEPARATION_M - 1e-6
    assert not limbs_intersect(mean_body().joints_of(bank.rotations)).any()
    assert read_mocap(database).digest() == bank.digest()


def test_clips_are_held_out_by_their_file_names(database):
    bank = read_mocap(database / "01" / "walk.BVH")
    parts = {part: set(bank.split(part).clips) for part in ("train", "validation")}
    assert sorted(map(len, parts.values())) == [0, 1]


def test_a_pose_bank_is_taken_whole_and_first(database):
    whole = read_mocap(database / "bank.npz")
    bank = read_mocap(database / "01", database / "bank.npz")
    np.testing.assert_array_equal(bank.rotations[: len(whole.rotations)], whole.rotations)
    twice = read_mocap(database / "bank.npz", database / "bank.npz")
    assert len(twice.rotations) == 2 * len(whole.rotations)


def test_the_same_clip_twice_adds_nothing(database, tmp_path, texts):
    (tmp_path / "again.bvh").write_text(texts["walk"])
    once = read_mocap(database / "01" / "walk.BVH")
    assert read_mocap(database / "01" / "walk.BVH", tmp_path / "again.bvh").digest() == once.digest()


def test_broken_files_of_a_folder_are_warned_of_and_left_out(database, texts):
    (database / "07" / "cut.bvh").write_text(texts["walk"][:-300])
    (database / "07" / "junk.npz").write_bytes(b"junk")
    counted = []
    with pytest.warns(UserWarning, match="left out") as caught:
        bank = read_mocap(database, advance=lambda: counted.append(1))
    said = sorted(str(warning.message).split("/")[-1] for warning in caught)
    assert [message[:8] for message in said] == ["cut.bvh,", "junk.npz"]
    assert len(counted) == len(mocap_files([database])) == 5
    assert {"walk", "07_01"} <= set(bank.clips)


def test_a_folder_with_nothing_to_read_is_an_error(database, tmp_path, texts):
    (tmp_path / "nothing").mkdir()
    (tmp_path / "nothing" / "notes.txt").touch()
    with pytest.raises(FormatError, match="without motion capture; wanted BVH files, AMC files"):
        read_mocap(database, tmp_path / "nothing")
    broken = tmp_path / "broken"
    broken.mkdir()
    for name in ("a.bvh", "b.bvh"):
        (broken / name).write_text(texts["walk"][:500])
    with (
        pytest.warns(UserWarning, match=r"left out: .*\.bvh, line"),
        pytest.raises(FormatError, match=r"broken: none of its 2 files can be read; the first: .*a\.bvh, line"),
    ):
        read_mocap(database, broken)


def test_files_given_by_name_must_exist_and_be_readable(database, texts):
    with pytest.raises(PosepipeError, match=r"lost\.bvh: no such file or folder"):
        read_mocap(database / "lost.bvh")
    with pytest.raises(FormatError, match=r"07\.asf: not motion capture by its name; wanted BVH"):
        read_mocap(database / "07" / "07.asf")
    (database / "cut.bvh").write_text(texts["walk"][:-300])
    with pytest.raises(FormatError, match=r"cut\.bvh, line \d+: .*is the file cut"):
        read_mocap(database / "cut.bvh")


def test_poses_in_which_limbs_pass_through_the_body_are_dropped(tmp_path):
    crossed = WALK.copy()
    for bone in ("thigh", "calf", "foot"):
        crossed[::2, POSED_BONES.index(f"{bone}_l")] = CROSSED
        crossed[::2, POSED_BONES.index(f"{bone}_r")] = CROSSED * [1, 1, -1, 1]
    assert limbs_intersect(mean_body().joints_of(crossed))[::2].all()
    (tmp_path / "crossed.bvh").write_text(bvh_text(SourceSkeleton(MIXAMO), crossed))
    (tmp_path / "walked.bvh").write_text(bvh_text(SourceSkeleton(MIXAMO), WALK[1::2]))
    kept = read_mocap(tmp_path / "crossed.bvh").rotations
    np.testing.assert_array_equal(kept, read_mocap(tmp_path / "walked.bvh").rotations)
    (tmp_path / "crossed.bvh").write_text(bvh_text(SourceSkeleton(MIXAMO), crossed[::2]))
    with pytest.raises(FormatError, match="in all 13 sampled frames a limb passes through"):
        read_mocap(tmp_path / "crossed.bvh")


def test_a_map_of_one_s_own_reads_names_of_one_s_own(tmp_path, texts):
    text = texts["walk"].replace("Left", "Sinister")
    (tmp_path / "walk.bvh").write_text(text)
    with pytest.raises(FormatError, match=r"no bone map covers its skeleton.*SinisterArm"):
        read_mocap(tmp_path / "walk.bvh")
    own = (BONE_MAPS_DIR / "motionbuilder.toml").read_text().replace("Left", "Sinister")
    (tmp_path / "own.toml").write_text(own)
    assert len(read_mocap(tmp_path / "walk.bvh", bone_map=tmp_path / "own.toml").rotations) > 10


def run(*arguments):
    return main([str(argument) for argument in arguments])


def test_the_command_renders_captures_and_names_left_out_files(database, tmp_path, texts, capsys):
    (database / "07" / "cut.bvh").write_text(texts["walk"][:-300])
    recipe = tmp_path / "recipe.toml"
    recipe.write_text('poses = "all"\nonly_clips = ["walk", "07_01"]\nframes = 2\n')
    assert run("synth", tmp_path / "out", "--recipe", recipe, "--workers", 1, "--mocap", database) == 0
    said = capsys.readouterr()
    warned = [line for line in said.err.splitlines() if line.startswith("posepipe: warning: left out: ")]
    assert len(warned) == 1
    assert "cut.bvh, line" in warned[0]
    assert "2 labelled frames" in said.out


def test_the_command_says_in_one_line_what_no_map_covers(tmp_path, texts, capsys):
    (tmp_path / "walk.bvh").write_text(texts["walk"].replace("Left", "Sinister"))
    assert run("synth", tmp_path / "out", "--frames", 2, "--mocap", tmp_path / "walk.bvh") == 1
    errors = [line for line in capsys.readouterr().err.splitlines() if "error" in line]
    assert len(errors) == 1
    assert "--bone-map" in errors[0]
    assert run("synth", tmp_path / "out", "--frames", 2, "--bone-map", tmp_path / "own.toml") == 1
    assert "--mocap" in capsys.readouterr().err
