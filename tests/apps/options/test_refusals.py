"""Requests that cannot be meant: an error of one line, and no file is lost."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from apps.bench import RECORDING
from apps.cli import build_parser, main
from apps.options.source_options import open_as_asked
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sources.formats.png_folder import write_png_folder
from posepipe.sources.playback import PacedSource


@pytest.fixture
def frames(tmp_path):
    lens = Intrinsics(57, 57, 31.5, 23.5)
    write_png_folder(tmp_path / "frames", [DepthFrame(np.full((48, 64), 2.0, "f4"), lens, i / 10, i) for i in range(3)])
    return tmp_path / "frames"


def refused(capsys, *arguments) -> str:
    assert main([str(argument) for argument in arguments]) == 1
    (line,) = [row for row in capsys.readouterr().err.splitlines() if "error" in row]
    return line


def test_pictures_do_not_lie_among_the_frames(frames, tmp_path, capsys):
    before = {path.name: path.read_bytes() for path in frames.iterdir()}
    for folder in (frames, frames / "inside"):
        line = refused(capsys, "run", frames, "--pictures", folder, "--out", tmp_path / "r.jsonl")
        assert "would lie among the frames of the source" in line
    assert {path.name: path.read_bytes() for path in frames.iterdir()} == before


@pytest.mark.parametrize("command", [("run", "--out"), ("convert",), ("record",)])
def test_a_stretch_without_a_frame_replaces_nothing(frames, tmp_path, capsys, command):
    name, *option = command
    kept = tmp_path / ("kept.jsonl" if option else "kept.mcap")
    if option:
        kept.write_text("older results")
    line = refused(capsys, name, frames, "--start", 5, *option, kept)
    assert "no frame between 5 s and the end; the last is at 0.20 s" in line
    assert not option or kept.read_text() == "older results"


def test_results_refuse_the_options_of_sources(frames, tmp_path, capsys):
    results = tmp_path / "r.jsonl"
    assert main(["run", str(frames), "--out", str(results)]) == 0
    assert "are results; --start applies to depth frames only" in refused(
        capsys, "convert", results, tmp_path / "r.csv", "--start", 1
    )
    assert not (tmp_path / "r.csv").exists()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--start", 1], "person-fast is a model; --start applies to depth frames only, leave it out"),
        (["--round-to-mm"], "person-fast is a model; --round-to-mm applies to depth frames only, leave it out"),
        (["--model", "person"], "--model names the body of results, which become a table or motion; leave it out"),
    ],
)
def test_models_refuse_the_options_of_frames_and_results(tmp_path, capsys, options, says):
    assert says in refused(capsys, "convert", "person-fast", tmp_path / "m.npz", *options)
    assert not (tmp_path / "m.npz").exists()


def test_a_dash_is_no_name_for_standard_output(frames, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "write /dev/stdout" in refused(capsys, "run", frames, "--out", "-")
    assert not (tmp_path / "-").exists()


def test_info_tells_how_long_and_how_fast(frames, capsys):
    assert main(["info", str(frames)]) == 0
    assert "3 depth frames in 0.20 s, 10.0 a second" in capsys.readouterr().out


@pytest.mark.skipif(os.name == "nt", reason="Windows has no SIGTERM to catch")
def test_sigterm_closes_what_was_written(tmp_path):
    table = tmp_path / "r.csv"
    command = [sys.executable, "-m", "apps.cli", "run", str(RECORDING), "--out", str(table)]
    running = subprocess.Popen([*command, "--bvh", str(tmp_path / "r.bvh")], stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 120
    while not (table.exists() and table.read_text().count("\n") > 3):
        assert running.poll() is None, running.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    running.send_signal(signal.SIGTERM)
    _, said = running.communicate(timeout=60)
    assert running.returncode in (0, 130), said  # 0: it had ended before the signal came
    assert (tmp_path / "r.bvh").read_text().startswith("HIERARCHY")


def test_real_time_waits_for_each_frame_and_loses_none(frames, monkeypatch):
    waited = []
    monkeypatch.setattr(PacedSource.__init__, "__defaults__", (lambda: 0.0, waited.append))
    args = build_parser().parse_args(["run", str(frames), "--realtime", "--start", "0.05"])
    assert [frame.index for frame in open_as_asked(args)] == [1, 2]
    assert waited == pytest.approx([0.1])
