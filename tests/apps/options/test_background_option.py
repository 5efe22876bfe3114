"""``--background``: a recording of the empty scene, read as the SOURCE is, and checked against it."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from apps.cli import build_parser, main
from apps.options.background_option import MAX_FRAMES, _spread, read_background, warn_of_people
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.segmentation.room_geometry.still_background import StillBackground
from posepipe.sources import open_source
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.support.commands import error_of
from tests.support.empty_rooms import room_depth, save_room
from tests.support.paths import DEMO
from tests.support.shipped_model import shipped_model

FOCAL = 285.6
SMALL = Intrinsics(30.0, 30.0, 15.5, 11.5)


@pytest.fixture
def empty(tmp_path):
    return save_room(tmp_path / "empty.npz")


def asked(*typed):
    return build_parser().parse_args(["run", "walk.mcap", *map(str, typed)])


@pytest.mark.parametrize("options", [[], ["--no-tracking"]])
def test_run_takes_an_empty_recording(empty, tmp_path, capsys, options):
    out = tmp_path / "results.jsonl"
    assert main(["run", str(empty), "--background", str(empty), "--out", str(out), *options]) == 0
    assert "1 frame, 0 with people in view" in capsys.readouterr().out


def test_a_background_is_turned_like_the_source(empty):
    background, _ = read_background(asked("--background", empty, "--mirror", "--rotate", "90"))
    room = np.rint(room_depth(FOCAL) * 1000) / 1000
    known = np.rot90(room[:, ::-1], -1)
    np.testing.assert_allclose(background.depth_m[known > 0], known[known > 0], atol=1e-6)


def test_people_who_stand_in_a_background_are_warned_of(empty, tmp_path):
    with open_source(DEMO) as demo:
        write_npz_pack(tmp_path / "stands.npz", [demo[16]])
    with pytest.warns(UserWarning, match=r"something 2\.\d m away looks like a person"):
        warn_of_people(*read_background(asked("--background", tmp_path / "stands.npz")), shipped_model())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_people(*read_background(asked("--background", empty)), shipped_model())


def test_who_became_background_is_sought_in_frames_too():
    with open_source(DEMO) as demo:
        stands = demo[16]
    learned = StillBackground(stands.depth_m, stands.intrinsics, "learned")
    hides = replace(learned, depth_m=np.where(stands.depth_m > 3.5, stands.depth_m, 0).astype(np.float32))
    with pytest.warns(UserWarning, match="looks like a person"):
        warn_of_people(learned, [stands], shipped_model())
    with pytest.warns(UserWarning, match=r"something 2\.\d m away looks"):  # named once
        warn_of_people(learned, [stands, stands], shipped_model())
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_of_people(hides, [stands], shipped_model())  # who passed by is no part of it


@pytest.mark.parametrize("count", [MAX_FRAMES + 1, 2 * MAX_FRAMES - 1, 2 * MAX_FRAMES, 5 * MAX_FRAMES + 7])
def test_frames_come_from_all_of_a_recording(tmp_path, count):
    frames = [DepthFrame(np.full((24, 32), 3, np.float32), SMALL, k / 30, k) for k in range(count)]
    write_npz_pack(tmp_path / "long.npz", frames)
    with open_source(tmp_path / "long.npz") as source:
        rows = [frame.index for frame in _spread(source)]
    assert len(rows) == MAX_FRAMES
    assert rows[0] == 0
    assert count - rows[-1] <= -(-count // MAX_FRAMES)
    assert {b - a for a, b in pairwise(rows)} <= {count // MAX_FRAMES, -(-count // MAX_FRAMES)}


def test_long_recordings_are_read_evenly(tmp_path):
    count = 2 * MAX_FRAMES
    depth = [np.full((24, 32), 1 + 2 * (number // MAX_FRAMES), np.float32) for number in range(count)]
    depth[1::2] = [np.full((24, 32), 4, np.float32)] * MAX_FRAMES  # every second frame is not read
    write_npz_pack(tmp_path / "long.npz", [DepthFrame(each, SMALL, k / 30, k) for k, each in enumerate(depth)])
    background, _ = read_background(asked("--background", tmp_path / "long.npz"))
    assert (background.depth_m == 3).all()  # what the first half shows has passed by


@pytest.mark.parametrize("command", ["run", "view"])
def test_no_background_without_a_scene(empty, capsys, command):
    line = error_of(capsys, command, empty, "--background", empty, "--foreground", "none")
    assert line.endswith("--background separates people from a scene; leave out --foreground none")


def test_a_live_camera_is_no_recording(empty, capsys):
    line = error_of(capsys, "run", empty, "--background", "camera:realsense")
    assert "--background camera:realsense: wanted a recording of the scene without people, got a live camera" in line


def test_another_camera_is_refused_before_results_are_written(empty, tmp_path, capsys):
    other, out = save_room(tmp_path / "other.npz", [300.0]), tmp_path / "results.jsonl"
    out.write_text("older")
    line = error_of(capsys, "run", empty, "--background", other, "--out", out)
    assert f"--background {other}: wanted a background of the same camera, 320x240 with fx 285.6" in line
    assert out.read_text() == "older"


def test_a_missing_recording_ends_in_one_line(empty, tmp_path, capsys):
    assert "no such file or folder" in error_of(capsys, "run", empty, "--background", tmp_path / "absent.npz")
