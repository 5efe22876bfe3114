"""``posepipe calibrate``: what it writes serves ``run``, and what it refuses says why."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from apps.cli import build_parser, main
from apps.options.each_source import each_source
from posepipe.camera import Extrinsics, Intrinsics, Plane
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.camera.extrinsics_file import read_extrinsics
from posepipe.datasets.dataset import Dataset
from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame
from posepipe.multiview.calibration import CalibratedCamera
from posepipe.multiview.rigid_alignment import RigidMotion
from posepipe.multiview.walk_calibration import WalkCalibration
from posepipe.sinks import read_results
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.support.commands import error_of
from tests.support.rendered_people import recipe_of, render_people

#: somebody walks across the view: scenario 2 of every three
WALKING = recipe_of(frames=3 * 75, sequence_frames=75, seed=9, poses="validation", noise=False, room_share=1.0)


@pytest.fixture
def empty(tmp_path):
    """A recording of nothing."""
    frames = [DepthFrame(np.zeros((48, 64), np.float32), Intrinsics(57, 57, 31.5, 23.5), i / 30, i) for i in range(3)]
    write_npz_pack(tmp_path / "empty.npz", frames)
    return tmp_path / "empty.npz"


@pytest.fixture
def again(empty):
    """The same, of another camera."""
    copy = empty.with_name("again.npz")
    copy.write_bytes(empty.read_bytes())
    return copy


def test_one_camera_is_none_to_calibrate(empty, capsys):
    assert "wanted the SOURCEs of at least two cameras" in error_of(capsys, "calibrate", empty)


def test_a_camera_given_twice_is_one_camera(empty, tmp_path, capsys):
    link = tmp_path / "link.npz"
    link.symlink_to(empty)
    for same in (empty, link):
        assert "is given twice; wanted the SOURCE" in error_of(capsys, "calibrate", empty, same)


def test_a_file_is_no_folder_to_write_to(empty, again, capsys):
    assert "give the name of a folder" in error_of(capsys, "calibrate", empty, again, "--out", empty)


def test_a_camera_without_a_floor_needs_its_pose(empty, again, tmp_path, capsys):
    words = ["calibrate", empty, again, "--out", tmp_path / "poses"]
    assert "camera 1 sees no floor" in error_of(capsys, *words)
    pose = tmp_path / "pose.json"
    pose.write_text(json.dumps({"T_world_camera": [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 1.5], [0, 0, 0, 1]]}))
    assert "cameras 1 and 2: somebody is in both views at 0 moments" in error_of(capsys, *words, "--extrinsics", pose)
    assert not (tmp_path / "poses").exists()


def test_poses_are_printed_before_they_are_written(empty, again, tmp_path, capsys, monkeypatch):
    def full_disk(path, *pose):
        raise PosepipeError(f"{path}: No space left on device")

    cameras = [CalibratedCamera(Extrinsics(np.eye(3), np.array([0, 0, height_m])), None) for height_m in (1.5, 2.5)]
    monkeypatch.setattr("posepipe.multiview.calibration.CameraCalibration.find", lambda *given: cameras)
    monkeypatch.setattr("posepipe.camera.extrinsics_file.write_extrinsics", full_disk)
    assert main(["calibrate", str(empty), str(again), "--out", str(tmp_path / "poses")]) == 1
    first, second = capsys.readouterr().out.splitlines()
    assert "camera 1: 1.50 m above the floor" in first
    assert "camera 2: 2.50 m above the floor" in second


@pytest.mark.parametrize("origin_m", [(0, 0, 0), (4, -3, 0)])
@pytest.mark.parametrize("heading_deg", [0, 90])
def test_a_camera_is_beside_the_first_in_any_world(heading_deg, origin_m, empty, again, tmp_path, capsys, monkeypatch):
    level = Extrinsics.above_floor(Plane((0.0, -1.0, 0.0), 1.5))
    turn = Rotation.from_euler("z", heading_deg, degrees=True).as_matrix()
    first = Extrinsics(turn @ level.rotation, turn @ level.translation_m + origin_m)
    walk = WalkCalibration(RigidMotion(np.eye(3), np.array([2.0, 0.0, 1.0])), 0.0, 50, 50, 0.03, 2.0)
    second = Extrinsics(first.rotation, first.world_points(walk.motion.translation_m))
    found = [CalibratedCamera(first), CalibratedCamera(second, walk)]
    monkeypatch.setattr("posepipe.multiview.calibration.CameraCalibration.find", lambda *given: found)
    assert main(["calibrate", str(empty), str(again), "--out", str(tmp_path / "poses")]) == 0
    line = capsys.readouterr().out.splitlines()[1]
    assert "camera 2: 1.50 m above the floor, +2.00 m to the right of camera 1 and +1.00 m ahead" in line


def test_the_line_for_run_reads_sources_as_calibrate_did(empty, again, tmp_path, capsys, monkeypatch):
    poses = [CalibratedCamera(Extrinsics(np.eye(3), np.array([0, 0, height_m]))) for height_m in (1.5, 2.5)]
    monkeypatch.setattr("posepipe.multiview.calibration.CameraCalibration.find", lambda *given: poses)
    write_camera_file(tmp_path / "lens.json", CameraFile(64, 48, Intrinsics(60, 60, 31, 23), 0.001, 30.0))
    reading = ["--camera", str(tmp_path / "lens.json"), "--rotate", "0", "--rotate", "180", "--mirror"]
    others = ["--model", "person-fast", "--start", "0.01", "--out", str(tmp_path)]
    assert main(["calibrate", str(empty), str(again), *reading, *others]) == 0
    words = shlex.split(capsys.readouterr().out.splitlines()[-1])
    args = build_parser().parse_args(words[1:])
    assert [one.rotate for one in each_source(args)] == [0, 180]
    assert [one.camera for one in each_source(args)] == [str(tmp_path / "lens.json")] * 2
    assert [one.extrinsics for one in each_source(args)] == [tmp_path / f"camera-{number}.json" for number in (1, 2)]
    assert (args.source, args.further, args.mirror, args.model) == (str(empty), [str(again)], True, "person-fast")


@pytest.mark.slow
def test_a_rendered_walk_gives_poses_that_run_takes(tmp_path, capsys):
    for name, orbit_deg in (("a", 0.0), ("b", 60.0)):
        render_people(tmp_path / name, replace(WALKING, camera=replace(WALKING.camera, orbit_deg=orbit_deg)))
    walks = [tmp_path / name / "frames-00002.mcap" for name in ("a", "b")]
    assert main(["calibrate", *map(str, walks), "--out", str(tmp_path / "poses")]) == 0
    *_, command = capsys.readouterr().out.splitlines()
    for name, number in (("a", 1), ("b", 2)):
        with Dataset.open(tmp_path / name) as dataset:
            true = dataset.sequences[2].extrinsics
        found = read_extrinsics(tmp_path / "poses" / f"camera-{number}.json")
        assert np.linalg.norm(found.translation_m - true.translation_m) < 0.1
        assert np.abs(found.rotation - true.rotation).max() < 0.05
    assert main([*shlex.split(command)[1:], "--out", str(tmp_path / "r.jsonl")]) == 0
    both = [
        seen_by for row in read_results(tmp_path / "r.jsonl").frames for seen_by in row.seen_by if seen_by == (1, 2)
    ]
    assert len(both) > 30
