"""What ``posepipe run`` writes: all of it is named at the end, and nothing replaces an older file without a frame."""

from __future__ import annotations

import os
import shutil
from errno import ENOSPC
from pathlib import Path
from typing import IO, Any

import numpy as np
import pytest

from apps.cli import main
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sinks import read_results
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import write_png_folder
from posepipe.sources.images.depth_png import write_depth_png
from tests.support.commands import error_of
from tests.support.recordings.depth_senders import header_line, stream_bytes

LENS = Intrinsics(57, 57, 31.5, 23.5)
on_posix = pytest.mark.skipif(os.name == "nt", reason="pipes are not read on Windows")


@pytest.fixture
def pack(tmp_path):
    """Three frames without a person."""
    frames = [DepthFrame(np.zeros((48, 64), np.float32), LENS, i / 30, i) for i in range(3)]
    write_npz_pack(tmp_path / "pack.npz", frames)
    return tmp_path / "pack.npz"


def test_everything_that_was_written_is_named(pack, tmp_path, capsys):
    asked = {"--out": "r.jsonl", "--record": "r.mcap", "--video": "r.mp4", "--pictures": "pictures", "--bvh": "r.bvh"}
    places = {option: tmp_path / "new" / name for option, name in asked.items()}
    options = [str(word) for pair in places.items() for word in pair]
    assert main(["run", str(pack), *options, "--stream", "udp://:9", "--stream", "osc://:9000"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        f"3 frames, 0 with people in view -> {places['--out']}",
        f"depth and people -> {places['--record']}",
        f"video -> {places['--video']}",
        f"pictures -> {places['--pictures']}",
        "stream -> udp://127.0.0.1:9",
        "stream -> osc://127.0.0.1:9000",
        f"no person to write to {places['--bvh']}",
    ]
    assert all(place.exists() for option, place in places.items() if option != "--bvh")


def test_a_failed_run_names_only_files_that_exist(pack, tmp_path, capsys, monkeypatch):
    opened = Path.open

    def on_full_disk(path: Path, *how: Any, **more: Any) -> IO[Any]:
        if ".png" in path.suffixes:
            raise OSError(ENOSPC, os.strerror(ENOSPC))
        return opened(path, *how, **more)

    monkeypatch.setattr(Path, "open", on_full_disk)
    options = ["--out", tmp_path / "r.jsonl", "--video", tmp_path / "v.mp4", "--pictures", tmp_path / "pictures"]
    assert main(["run", str(pack), *map(str, options)]) == 1
    captured = capsys.readouterr()
    assert f"000000.png: {os.strerror(ENOSPC)}" in captured.err
    assert "video" not in captured.out.replace(str(tmp_path), "")


@on_posix
def test_results_on_standard_output_are_alone_there(pack, capfd):
    assert main(["run", str(pack), "--out", "/dev/stdout"]) == 0
    printed, said = capfd.readouterr()
    assert [line[:10] for line in printed.splitlines()] == ['{"format":'] + ['{"frame": '] * 3
    assert "3 frames, 0 with people in view -> /dev/stdout" in said


@on_posix
@pytest.mark.parametrize(
    ("sent", "options", "problem"),
    [
        (header_line(), [], "ended before its first frame came"),
        (stream_bytes(3), ["--start", "50"], "no frame came; what was written before is kept"),
    ],
)
def test_a_camera_that_gives_no_frame_leaves_older_results_alone(tmp_path, capsys, sent, options, problem):
    (tmp_path / "sent.bin").write_bytes(sent)
    older = {}
    for option, name in (("--out", "r.jsonl"), ("--record", "r.mcap"), ("--video", "r.mp4"), ("--bvh", "r.bvh")):
        (tmp_path / name).write_text(f"older {name}")
        older |= {option: tmp_path / name}
    source = f"camera:pipe:{tmp_path / 'sent.bin'}"
    places = [word for pair in older.items() for word in pair]
    line = error_of(capsys, "run", source, "--overwrite", *options, *places)
    assert line == f"posepipe: error: {source}: {problem}"
    assert all(path.read_text() == f"older {path.name}" for path in older.values())


@on_posix
def test_a_camera_that_gives_no_frame_begins_no_results(tmp_path, capsys):
    (tmp_path / "sent.bin").write_bytes(header_line())
    error_of(capsys, "run", f"camera:pipe:{tmp_path / 'sent.bin'}", "--out", tmp_path / "r.csv")
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize(
    ("option", "name"), [("--out", ""), ("--out", "r.jsonl"), ("--record", "r.mcap"), ("--video", "r.mp4")]
)
def test_a_folder_is_no_file_to_write(pack, tmp_path, capsys, option, name):
    (tmp_path / name).mkdir(exist_ok=True)
    line = error_of(capsys, "run", pack, option, tmp_path / name)
    assert f"{option} {tmp_path / name} is a folder; give the name of a file to write" in line


@pytest.mark.parametrize(
    ("option", "name"), [("--out", "r.jsonl"), ("--bvh", "new/r.bvh"), ("--pictures", ""), ("--pictures", "p")]
)
def test_a_file_is_no_folder_to_write_into(pack, tmp_path, capsys, option, name):
    (tmp_path / "file").write_text("")
    line = error_of(capsys, "run", pack, option, tmp_path / "file" / name)
    assert f"{tmp_path / 'file'} is a file, not a folder" in line


def test_a_full_disk_ends_a_video_with_one_line(pack, tmp_path, capsys, monkeypatch):
    usage = shutil.disk_usage(tmp_path)._replace(free=0)
    monkeypatch.setattr("posepipe.sinks.images.video.RATE_FRAMES", 2)
    monkeypatch.setattr("posepipe.sinks.images.video.shutil.disk_usage", lambda folder: usage)
    line = error_of(capsys, "run", pack, "--out", tmp_path / "r.jsonl", "--video", tmp_path / "v.mp4")
    assert f"{tmp_path / 'v.mp4'}: No space left on device" in line
    assert len(read_results(tmp_path / "r.jsonl").frames) == 3


def test_an_image_of_another_size_leaves_the_results_before(tmp_path, capsys):
    frames = tmp_path / "frames"
    write_png_folder(frames, [DepthFrame(np.zeros((48, 64), np.uint16), LENS, i / 30, i) for i in range(3)])
    (frames / "depth.txt").unlink()
    write_depth_png(frames / "000002.png", np.zeros((24, 32), np.uint16))
    line = error_of(capsys, "run", frames, "--out", tmp_path / "r.jsonl")
    assert f"{frames / '000002.png'}: 32x24 pixels, but {frames / 'camera.json'} is for 64x48" in line
    assert line.endswith("take images of another size out of the folder")
    assert len(read_results(tmp_path / "r.jsonl").frames) == 2


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_results_as_source_are_named_as_what_they_are(pack, tmp_path, capsys, monkeypatch, mark):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "results.jsonl").write_bytes(
        mark + b'{"format": "posepipe-results", "version": 2}\n'
    )  # the default output
    for words in ("run results.jsonl", "run pack.npz results.jsonl", "record results.jsonl r.mcap"):
        line = error_of(capsys, *words.split())
        assert "results.jsonl: the file holds results of a run and no depth; give the recording that they are" in line


@pytest.mark.parametrize(("frames", "told"), [(40, True), (5, False)])
def test_a_run_that_finds_nobody_says_what_to_try(tmp_path, capsys, frames, told):
    lens = np.array([140.0, 140.0, 79.5, 59.5])
    np.savez(tmp_path / "wall.npz", depth_mm=np.full((frames, 120, 160), 2000, np.uint16), K=lens)
    words = ["run", str(tmp_path / "wall.npz"), "--out", str(tmp_path / "r.jsonl"), "--model", "person-fast"]
    assert main(words) == 0
    assert ("nobody was found; if there is somebody: is the picture upright" in capsys.readouterr().out) == told
