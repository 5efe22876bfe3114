"""Sources that hold named pipes, devices, or names outside their folder: one line, no waiting, no memory."""

from __future__ import annotations

import logging
import os
import shutil
import signal
from pathlib import Path

import numpy as np
import pytest

from apps.cli import main
from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import find_camera
from posepipe.errors import PosepipeError
from posepipe.frames import DepthFrame
from posepipe.models.pose_model import PoseModel
from posepipe.models.registry import model_path
from posepipe.sources import open_source
from posepipe.sources.formats.png_folder import TIMES_NAME, write_png_folder
from synth.body.creatures import read_creature
from synth.motion.mocap import read_mocap
from synth.motion.mocap.bone_maps import read_bone_map
from synth.motion.poses.clips import read_pose_bank
from synth.recipe import read_recipe

pytestmark = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="named pipes are POSIX")
LENS = Intrinsics(57.0, 57.0, 31.5, 23.5)


@pytest.fixture(autouse=True)
def watchdog():
    """Fail instead of waiting for ever."""

    def fail(*_):
        raise AssertionError("waits for a named pipe")

    before = signal.signal(signal.SIGALRM, fail)
    signal.alarm(60)
    yield
    signal.alarm(0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def folder(tmp_path) -> Path:
    """Three PNGs, in a folder that is a TUM folder, too."""
    frames = [DepthFrame(np.full((48, 64), 2.0, "f4"), LENS, i / 10, i) for i in range(3)]
    write_png_folder(tmp_path / "frames", frames)
    return tmp_path / "frames"


def make_pipe(path: Path) -> None:
    os.mkfifo(path)


def make_device_link(path: Path) -> None:
    path.symlink_to("/dev/zero")


SPECIAL = pytest.mark.parametrize(
    ("make", "what"), [(make_pipe, "a named pipe"), (make_device_link, "a device")], ids=["pipe", "device"]
)


@pytest.mark.parametrize("make", [make_pipe, make_device_link, Path.mkdir])
def test_regular_files_alone_are_frames(folder, caplog, make):
    (folder / TIMES_NAME).unlink()
    make(folder / "000001a.png")
    with caplog.at_level(logging.WARNING), open_source(folder) as source:
        assert [frame.index for frame in source] == [0, 1, 2]
    (line,) = caplog.messages
    assert "1 of the *.png are no regular files and are left out, 000001a.png first" in line


def test_links_to_frames_are_frames(folder, tmp_path, caplog):
    (folder / TIMES_NAME).unlink()
    (folder / "000000.png").rename(tmp_path / "elsewhere.png")
    (folder / "000000.png").symlink_to(tmp_path / "elsewhere.png")
    with open_source(folder) as source:
        assert len(list(source)) == 3
    assert caplog.messages == []


@SPECIAL
def test_a_listed_special_file_is_one_line(folder, make, what):
    make(folder / "x.png")
    (folder / TIMES_NAME).write_text("0 000000.png\n1 x.png\n")
    with (
        open_source(folder) as source,
        pytest.raises(PosepipeError, match=rf"x\.png: wanted a regular file, got {what}"),
    ):
        list(source)


@SPECIAL
@pytest.mark.parametrize("name", ["depth.txt", "INDEX.txt", "bag_0.mcap", "bag_0.db3"])
def test_a_special_file_that_makes_the_format_is_refused(tmp_path, make, what, name):
    make(tmp_path / name)
    with pytest.raises(PosepipeError, match=rf"{name}: wanted a regular file, got {what}"):
        open_source(tmp_path)


@SPECIAL
def test_a_special_image_of_a_dump_is_refused(tmp_path, make, what):
    (tmp_path / "INDEX.txt").write_text("d-1.0-1.pgm\n")
    make(tmp_path / "d-1.0-1.pgm")
    with pytest.raises(PosepipeError, match=rf"d-1\.0-1\.pgm: wanted a regular file, got {what}"):
        open_source(tmp_path)


@SPECIAL
def test_a_special_file_is_no_source_and_no_model(tmp_path, make, what):
    path = tmp_path / "special.npz"
    make(path)
    with pytest.raises(PosepipeError, match=rf"special\.npz: wanted a file or a folder, got {what}"):
        open_source(path)
    for read in (PoseModel.load, model_path, read_pose_bank, find_camera, read_recipe):
        with pytest.raises(PosepipeError, match=rf"special\.npz: wanted a regular file, got {what}"):
            read(path)


@SPECIAL
@pytest.mark.parametrize(
    "read", [read_creature, read_bone_map, lambda path: read_mocap(path.rename(path.with_suffix(".bvh")))]
)
def test_synthesis_reads_no_special_file(tmp_path, make, what, read):
    make(tmp_path / "mine.toml")
    with pytest.raises(PosepipeError, match=rf"mine\..*: wanted a regular file, got {what}"):
        read(tmp_path / "mine.toml")


def test_results_are_not_read_from_a_named_pipe(tmp_path, capsys):
    os.mkfifo(tmp_path / "r.jsonl")
    assert main(["convert", str(tmp_path / "r.jsonl"), str(tmp_path / "r.csv")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "r.jsonl: wanted a regular file, got a named pipe" in line


@pytest.mark.parametrize(
    "name", ["../outside.png", "{root}/outside.png", "depth/../../outside.png", "a/..", "0\x00.png"]
)
def test_a_list_names_files_inside_its_folder_alone(folder, name):
    shutil.copy(folder / "000000.png", folder.parent / "outside.png")
    (folder / TIMES_NAME).write_text(f"0 000000.png\n1 {name.format(root=folder.parent)}\n")
    with pytest.raises(PosepipeError, match=r"depth\.txt: line 2: wanted a file inside the folder, got"):
        open_source(folder)
