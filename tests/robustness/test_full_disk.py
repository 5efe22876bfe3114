"""Commands whose disk fills up: one line, no traceback, and what was written before can be read.

A limit on the size of files makes a write fail as a full disk does, with another word.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from posepipe.recording import RecordingReader
from posepipe.sinks.files.results_reader import read_results
from tests.support.commands import Command, done
from tests.support.paths import WALK

if sys.platform != "linux":
    pytest.skip("limits the size of files", allow_module_level=True)
import resource

WORDS: dict[str, Callable[[Path, Path], list[object]]] = {
    "demo": lambda data, out: ["demo", "--out", out / "demo"],
    "run": lambda data, out: ["run", WALK, "--out", out / "r.jsonl", "--record", out / "r.mcap"],
    "run to a table": lambda data, out: ["run", WALK, "--out", out / "r.csv", "--bvh", out / "r.bvh"],
    "record": lambda data, out: ["record", WALK, out / "a.mcap"],
    "convert": lambda data, out: ["convert", WALK, out / "a.mcap"],
    "convert to a pack": lambda data, out: ["convert", WALK, out / "a.npz"],
    "convert to pictures": lambda data, out: ["convert", WALK, out / "frames"],
    "synth": lambda data, out: ["synth", out / "data", "--frames", 40, "--workers", 1],
    "synth of two workers": lambda data, out: ["synth", out / "data", "--frames", 600, "--workers", 2],
    "train": lambda data, out: ["train", data, "--out", out / "m.npz", "--trees", 1, "--max-depth", 4],
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("full") / "data"
    assert done("synth", folder, "--frames", 30, "--seed", 3).process.returncode == 0
    return folder


def on_small_disk(max_bytes: int, *words: object) -> Command:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (max_bytes, max_bytes))

    return done(*words, preexec_fn=limit)


def check_one_line(command: Command) -> None:
    said = command.said()
    assert command.process.returncode == 1, said
    assert "Traceback" not in said, said
    (line,) = [line for line in command.lines() if line.startswith("posepipe: error: ")]
    assert line.endswith((": File too large", "is the disk full or the folder read-only?")), said


def check_readable(out: Path) -> None:
    """Every recording that is there has whole frames, and nothing after them."""
    for file in out.rglob("*.mcap"):
        with RecordingReader(file) as reader:
            assert len(list(reader)) > 0
            assert reader.complete or " 0 bytes after" in reader.missing
    for file in out.rglob("*.jsonl"):
        read_results(file)
    assert not list(out.rglob("*partial"))


def test_a_recording_that_finds_no_room_keeps_whole_frames(tmp_path):
    check_one_line(on_small_disk(100_000, *WORDS["record"](tmp_path, tmp_path)))
    check_readable(tmp_path)
    assert (tmp_path / "a.mcap").exists()


def test_a_conversion_that_finds_no_room_leaves_nothing(tmp_path):
    check_one_line(on_small_disk(100_000, *WORDS["convert"](tmp_path, tmp_path)))
    assert not list(tmp_path.iterdir())


@pytest.mark.slow
@pytest.mark.parametrize("max_bytes", [1000, 30_000])
@pytest.mark.parametrize("name", WORDS)
def test_a_full_disk_is_one_line_and_loses_nothing(name, max_bytes, data, tmp_path, tmp_path_factory):
    done(*WORDS[name](data, tmp_path_factory.mktemp("roomy")))  # compiled kernels are kept, while there is room
    command = on_small_disk(max_bytes, *WORDS[name](data, tmp_path))
    if command.process.returncode != 0:  # else no file of it is so large
        check_one_line(command)
    check_readable(tmp_path)
