"""``posepipe view``: a page that plays any source or results; with ``--sheet`` one picture, the frames left alone."""

import os
import signal
import socket
import subprocess
import sys
from codecs import BOM_UTF8
from contextlib import contextmanager
from dataclasses import replace

import cv2
import numpy as np
import pytest
from mcap.reader import make_reader

from apps.bench import RECORDING
from apps.cli import main
from apps.view import _rows
from posepipe.camera import Intrinsics
from posepipe.datasets.dataset import RecordingEntry, recording_name, write_manifest
from posepipe.recording import RecordingWriter
from posepipe.sinks.images.contact_sheet import TILE_PX
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import write_png_folder
from tests.support.paths import ROOT
from tests.support.recordings import ros_writers as ros
from tests.support.recordings.depth_senders import stream_bytes
from tests.support.toy_person import INTRINSICS, SHAPE, TOY, toy_frames

FRAMES = 7
PATIENCE_S = 30


def write_recording(path, labelled=True):
    with RecordingWriter(path, INTRINSICS, *SHAPE, body=TOY if labelled else None) as writer:
        for frame in toy_frames(FRAMES):
            writer.write(frame if labelled else frame.depth)
    return path


def write_dataset(folder):
    folder.mkdir()
    path = write_recording(folder / recording_name(0))
    write_manifest(folder, TOY, {"sensor": {"name": "mine"}}, [RecordingEntry.describe(path)])
    return folder


def sources(tmp_path):
    depth = [frame.depth for frame in toy_frames(FRAMES)]
    write_npz_pack(tmp_path / "pack.npz", depth)
    write_png_folder(tmp_path / "pngs", depth)
    return {
        "dataset": write_dataset(tmp_path / "data"),
        "labelled recording": write_recording(tmp_path / "labelled.mcap"),
        "recording": write_recording(tmp_path / "plain.mcap", labelled=False),
        "pack": tmp_path / "pack.npz",
        "pngs": tmp_path / "pngs",
    }


@pytest.mark.parametrize("kind", ["dataset", "labelled recording", "recording", "pack", "pngs"])
def test_every_source_has_a_sheet_coloured_where_labelled(kind, tmp_path, capsys):
    source, sheet = sources(tmp_path)[kind], tmp_path / "sheets" / "sheet.png"
    assert main(["view", str(source), "--sheet", str(sheet), "--frames", "5"]) == 0
    assert f"5 of {FRAMES} frames" in capsys.readouterr().out
    picture = cv2.imread(str(sheet))
    assert picture.shape[0] > 2 * TILE_PX
    colourful = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)[..., 1] > 150
    assert colourful.any() == (kind in ("dataset", "labelled recording"))


def test_frames_are_evenly_spread_or_every_kth():
    assert list(_rows(1000, 5, None)) == [0, 249, 499, 749, 999]
    assert list(_rows(3, 100, None)) == [0, 1, 2]
    assert list(_rows(9, 1, None)) == [0]
    assert list(_rows(1000, 3, 10)) == [0, 10, 20]
    assert list(_rows(25, 100, 10)) == [0, 10, 20]


def error_of(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("posepipe: error: ")
    return line


def test_a_sheet_never_lies_among_the_frames(tmp_path, capsys):
    """In a folder of PNGs it would be one more frame."""
    folders = sources(tmp_path)
    for kind in ("dataset", "pngs"):
        before = {path: path.read_bytes() for path in folders[kind].iterdir()}
        for name in ("000000.png", "sheet.png", "more/sheet.png"):
            assert "among the frames" in error_of(capsys, "view", folders[kind], "--sheet", folders[kind] / name)
        assert {path: path.read_bytes() for path in folders[kind].iterdir()} == before
    (tmp_path / "link.png").symlink_to(folders["pngs"] / "000000.png")
    assert "among the frames" in error_of(capsys, "view", folders["pngs"], "--sheet", tmp_path / "link.png")


def test_what_cannot_be_shown_is_one_line(tmp_path, capsys):
    sheet = tmp_path / "sheet.png"
    assert "no such file" in error_of(capsys, "view", tmp_path / "nothing", "--sheet", sheet)
    results = tmp_path / "results.jsonl"
    results.write_text('{"format": "posepipe-results"}\n')
    assert "are results, and --sheet shows depth" in error_of(capsys, "view", results, "--sheet", sheet)
    empty = tmp_path / "empty"
    empty.mkdir()
    write_manifest(empty, TOY, {}, [])
    assert "no frames yet" in error_of(capsys, "view", empty, "--sheet", sheet)
    data = write_dataset(tmp_path / "data")
    assert "room for 1000" in error_of(capsys, "view", data, "--sheet", sheet, "--frames", 1001)
    assert not sheet.exists()


@pytest.mark.parametrize("name", ["several.bag", "several.mcap"])
def test_a_sheet_shows_the_stream_that_topic_names(tmp_path, capsys, name):
    whole, other = np.full(ros.SHAPE, 1000, np.uint16), "/other/depth/image_raw"
    half = whole * (np.arange(ros.SHAPE[1]) < 8).astype(np.uint16)
    messages = [ros.image(whole), ros.camera_info(), ros.image(half, topic=other)]
    messages += [ros.camera_info(topic="/other/depth/camera_info")]
    source = (ros.write_bag if name.endswith(".bag") else ros.write_mcap)(tmp_path / name, messages)
    assert "choose one with --topic" in error_of(capsys, "view", source, "--sheet", tmp_path / "s.png")
    sheets = [tmp_path / "whole.png", tmp_path / "half.png"]
    for topic, sheet in zip((ros.DEPTH, other), sheets, strict=True):
        assert main(["view", str(source), "--sheet", str(sheet), "--whole", "--topic", topic]) == 0
    shown, cut = (cv2.imread(str(sheet)).astype(int) for sheet in sheets)
    assert cut.sum() < 0.8 * shown.sum()


@pytest.mark.parametrize("name", ["frames.mcap", "pack.npz"])
def test_a_sheet_of_depth_is_played_as_asked(name, tmp_path, capsys):
    write_npz_pack(tmp_path / "pack.npz", [replace(toy_frames(1)[0].depth, timestamp_s=i / 30) for i in range(FRAMES)])
    assert main(["convert", str(tmp_path / "pack.npz"), str(tmp_path / "frames.mcap")]) == 0
    source = tmp_path / name
    one = ["view", str(source), "--whole", "--frames", "1", "--sheet"]
    assert main([*one, str(tmp_path / "plain.png")]) == 0
    plain = cv2.imread(str(tmp_path / "plain.png"))[-TILE_PX:, :TILE_PX]
    for options, turned in ((["--rotate", "180"], plain[::-1, ::-1]), (["--mirror"], plain[:, ::-1])):
        assert main([*one, str(tmp_path / "turned.png"), *options]) == 0
        got = cv2.imread(str(tmp_path / "turned.png"))[-TILE_PX:, :TILE_PX]
        assert np.abs(got.astype(int) - turned).mean() < np.abs(got.astype(int) - plain).mean()
    capsys.readouterr()
    stretch = ["--start", "0.03", "--end", "0.14", "--frame-step", "2"]
    assert main(["view", str(source), "--sheet", str(tmp_path / "some.png"), *stretch]) == 0
    assert capsys.readouterr().out.startswith("2 of 4 frames -> ")


@pytest.mark.parametrize("option", [("--start", 1), ("--end", 1), ("--mirror",), ("--rotate", 90)])
def test_a_sheet_shows_labels_as_they_are(tmp_path, capsys, option):
    folders = sources(tmp_path)
    for kind in ("dataset", "labelled recording"):
        line = error_of(capsys, "view", folders[kind], "--sheet", tmp_path / "s.png", *option)
        assert f"shows labelled frames as they are; leave out {option[0]}" in line


def test_a_sheet_is_a_png():
    with pytest.raises(SystemExit) as stop:
        main(["view", "data", "--sheet", "sheet.jpg"])
    assert stop.value.code == 2


def test_a_calibration_of_one_s_own_is_taken(tmp_path):
    from posepipe.camera.camera_file import CameraFile, write_camera_file

    write_camera_file(tmp_path / "camera.json", CameraFile(*SHAPE[::-1], Intrinsics(80, 80, 31.5, 23.5), 0.001, 30))
    source = write_recording(tmp_path / "a.mcap")
    arguments = ["view", str(source), "--sheet", str(tmp_path / "s.png"), "--camera", str(tmp_path / "camera.json")]
    assert main(arguments) == 0
    assert cv2.imread(str(tmp_path / "s.png")) is not None


def test_a_cut_recording_shows_what_is_there_and_says_so(tmp_path, capsys, caplog):
    whole = write_recording(tmp_path / "a.mcap")
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole.read_bytes()[:-3000])
    assert main(["view", str(cut), "--sheet", str(tmp_path / "s.png")]) == 0
    assert (capsys.readouterr().err + caplog.text).count("was not closed") == 1


@pytest.mark.parametrize("labelled", [False, True])
def test_a_damaged_frame_is_left_out_of_a_sheet(labelled, tmp_path, capsys, caplog):
    path = write_recording(tmp_path / "a.mcap", labelled)
    with path.open("rb") as stream:
        first = make_reader(stream).get_summary().chunk_indexes[0].chunk_start_offset
    content = bytearray(path.read_bytes())
    content[first + 80] ^= 0xFF
    path.write_bytes(content)
    assert main(["view", str(path), "--sheet", str(tmp_path / "s.png")]) == 0
    said = capsys.readouterr()
    assert f"{FRAMES - 1} of {FRAMES} frames" in said.out
    assert "frame 0 is left out" in said.err + caplog.text
    assert main(["view", str(path), "--sheet", str(tmp_path / "none.png"), "--frames", "1"]) == 1
    assert "are damaged" in capsys.readouterr().err
    assert not (tmp_path / "none.png").exists()


def test_a_sheet_of_a_camera_is_refused_before_it_is_opened(tmp_path, capsys):
    dump, sheet = tmp_path / "frames.bin", tmp_path / "s.png"
    dump.write_bytes(stream_bytes(2))
    for camera in (f"camera:pipe:{dump}", "camera:socket:0"):
        assert "shows files and folders; first: posepipe record" in error_of(capsys, "view", camera, "--sheet", sheet)
    assert not sheet.exists()


@pytest.fixture
def viser():
    return pytest.importorskip("viser", reason="needs the extra 'view'", exc_type=ImportError)


@contextmanager
def command(*arguments):
    """A command in a process of its own, which Ctrl-C reaches; a line of its output at a time."""
    typed = [sys.executable, "-m", "apps.cli", *map(str, arguments)]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    process = subprocess.Popen(typed, cwd=ROOT, **pipes)
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def ctrl_c(process):
    """Exit code, and what was said on standard error."""
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=PATIENCE_S)
    return process.returncode, errors


@pytest.mark.skipif(os.name == "nt", reason="a process of its own cannot be sent Ctrl-C there")
def test_a_recording_waits_for_a_browser_until_ctrl_c(viser):
    with command("view", RECORDING, "--end", "0.1") as process:
        assert process.stdout.readline().startswith("the page is at http://127.0.0.1:")
        assert "once a browser opens the page" in process.stdout.readline()
        assert process.poll() is None
        assert ctrl_c(process) == (130, "posepipe: stopped; what was finished is kept\n")


@pytest.mark.skipif(os.name == "nt", reason="a process of its own cannot be sent Ctrl-C there")
def test_what_run_shows_stays_too_when_all_is_written(viser, tmp_path):
    out = tmp_path / "r.jsonl"
    with command("run", RECORDING, "--end", "0.1", "--view", "--out", out) as process:
        assert process.stdout.readline().startswith("the page is at http://127.0.0.1:")
        assert process.stdout.readline().startswith("4 frames")
        assert "stays until Ctrl-C" in process.stdout.readline()
        assert len(out.read_text().splitlines()) == 5
        assert ctrl_c(process)[0] == 130


@pytest.mark.parametrize("kind", ["dataset", "recording", "pack", "pngs"])
def test_every_source_is_played_to_its_end(viser, kind, tmp_path, capsys):
    assert main(["view", str(sources(tmp_path)[kind]), "--close-at-end", "--frame-step", "3"]) == 0
    assert capsys.readouterr().out.splitlines()[0].startswith("the page is at http://127.0.0.1:")


def written_results(folder):
    out = folder / "r.jsonl"
    assert main(["run", str(RECORDING), "--end", "0.1", "--out", str(out)]) == 0
    return out


def test_results_are_played_without_depth(viser, tmp_path, capsys):
    out = written_results(tmp_path)
    assert main(["view", str(out), "--close-at-end"]) == 0
    out.write_bytes(out.read_bytes()[:-20])
    assert main(["view", str(out), "--close-at-end"]) == 0
    assert "last line was cut" in capsys.readouterr().err
    out.write_bytes(BOM_UTF8 + out.read_bytes())  # as editors of Windows save it
    assert main(["view", str(out), "--close-at-end"]) == 0


@pytest.mark.parametrize("option", [("--start", 1), ("--frame-step", 2), ("--mirror",), ("--camera", "kinect-v1")])
def test_results_are_played_as_they_are(viser, tmp_path, capsys, option):
    (tmp_path / "r.jsonl").write_text("{}")
    line = error_of(capsys, "view", tmp_path / "r.jsonl", "--close-at-end", *option)
    assert f"are results; {option[0]} applies to depth frames only" in line


@pytest.mark.parametrize("option", [("--min-confidence", 0.5), ("--model", "ceiling"), ("--smooth",), ("--fit", "off")])
def test_nobody_is_found_in_results_or_for_a_sheet(viser, tmp_path, capsys, option):
    (tmp_path / "r.jsonl").write_text("{}")
    line = error_of(capsys, "view", tmp_path / "r.jsonl", "--close-at-end", *option)
    assert f"are results; {option[0]} says how people are found" in line
    line = error_of(capsys, "view", RECORDING, "--sheet", tmp_path / "a.png", *option)
    assert f"without the people found; leave out {option[0]}" in line


def test_results_that_cannot_be_played_are_one_line(viser, tmp_path, capsys):
    out = written_results(tmp_path)
    capsys.readouterr()
    lines = out.read_text().splitlines(keepends=True)
    for content, problem in (
        (lines[0], "no frames to show"),
        ("{", "no header of format"),
        (lines[0] + "{}\n", "no frame of results"),
        ('{"fx": 500}', "no header of format"),
    ):
        out.write_text(content)
        assert problem in error_of(capsys, "view", out, "--close-at-end").splitlines()[-1]


def test_sources_that_cannot_be_played_are_one_line(tmp_path, capsys):
    assert "no such file" in error_of(capsys, "view", tmp_path / "nothing")
    assert "readable: " in error_of(capsys, "view", tmp_path)
    (tmp_path / "noise").write_bytes(np.random.default_rng(0).bytes(999))
    assert "of no known kind" in error_of(capsys, "view", tmp_path / "noise")
    (tmp_path / "empty").touch()
    assert "empty" in error_of(capsys, "view", tmp_path / "empty")


def test_a_port_in_use_or_out_of_range_is_said(viser, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        assert f"--port {port}" in error_of(capsys, "view", RECORDING, "--port", port)
    with pytest.raises(SystemExit) as stop:
        main(["view", str(RECORDING), "--port", "70000"])
    assert stop.value.code == 2


def test_a_missing_viewer_is_named(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "viser", None)
    assert "pip install 'posepipe[view]'" in error_of(capsys, "view", RECORDING)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["view", RECORDING, "--smooth", "--no-tracking"], "leave out --no-tracking"),
        (["view", RECORDING, "--frames", "5"], "add --sheet"),
        (["view", RECORDING, "--whole"], "add --sheet"),
        (["view", RECORDING, "--sheet", "s.png", "--colour", "auto"], "leave out --colour and --realtime"),
        (["view", RECORDING, "--sheet", "s.png", "--realtime"], "leave out --colour and --realtime"),
        (["run", RECORDING, "--port", "9000"], "add --view"),
        (["run", RECORDING, "--close-at-end"], "add --view"),
    ],
)
def test_options_that_contradict_each_other_are_one_line(arguments, problem, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert problem in error_of(capsys, *arguments)
    assert list(tmp_path.iterdir()) == []
