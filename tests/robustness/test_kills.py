"""Kills at random moments, as by a power cut: what is there can be read, and is made again to the same bytes."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from posepipe.datasets.dataset import MANIFEST_NAME, Dataset
from posepipe.errors import FormatError
from posepipe.recording import RecordingReader
from posepipe.sinks.files.results_reader import read_results
from posepipe.sources import open_source
from tests.support.commands import Command, done, rounds, start
from tests.support.paths import WALK

if sys.platform != "linux":
    pytest.skip("reads /proc", allow_module_level=True)


def kill(command: Command, delay_s: float, to_all: bool) -> None:
    """Kill a command, or all its processes; others end by themselves when it is gone."""
    command.wait_until_it_watches()
    time.sleep(delay_s)
    command.send(signal.SIGKILL, to_all)
    command.process.wait()
    assert not command.wait_until_all_have_ended(3.0), "workers outlive their parent"


def killed(seed: str, longest_s: float, usual: int, *words: object) -> Iterator[Command]:
    """Start and kill a command at moments that the seed decides."""
    rng = random.Random(seed)
    for _ in range(rounds(usual)):
        command = start(*words)
        kill(command, rng.uniform(0, longest_s), to_all=rng.random() < 0.5)
        yield command


def contents(folder: Path, pattern: str) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.glob(pattern))}


@pytest.fixture(scope="module")
def depth_m():
    with open_source(WALK) as source:
        return [frame.depth_m for frame in source]


def check_recording(file: Path, depth_m: list[np.ndarray]) -> None:
    """A killed recording is not there, or holds the first frames."""
    if not file.exists():
        return
    with RecordingReader(file) as reader:
        assert 0 < len(reader) <= len(depth_m)
        for frame, wanted in zip(reader, depth_m, strict=False):
            np.testing.assert_array_equal(frame.depth_m, wanted)


def test_workers_end_when_their_parent_is_killed(tmp_path):
    command = start("synth", tmp_path / "data", "--frames", 2000, "--workers", 2)
    until = time.monotonic() + 120
    while len(command.family()) < 3:
        assert time.monotonic() < until
        time.sleep(0.02)
    kill(command, 0.3, to_all=False)


@pytest.mark.slow
def test_a_killed_synth_is_resumed_to_the_same_bytes(tmp_path):
    words = ["--frames", 700, "--seed", 4, "--workers", 2]
    assert done("synth", tmp_path / "whole", *words).process.returncode == 0
    for _ in killed("synth", 12, 6, "synth", tmp_path / "killed", *words):
        if (tmp_path / "killed" / MANIFEST_NAME).exists() and list(tmp_path.glob("killed/*.mcap")):
            with Dataset.open(tmp_path / "killed") as dataset:
                assert len(dataset) % 250 in (0, 200)
    again = done("synth", tmp_path / "killed", *words)
    assert again.process.returncode == 0, again.said()
    assert contents(tmp_path / "killed", "*") == contents(tmp_path / "whole", "*")


WRITERS: dict[str, Callable[[Path], list[object]]] = {
    "convert": lambda file: ["convert", WALK, file],
    "record": lambda file: ["record", WALK, file, "--overwrite"],
    "run": lambda file: ["run", WALK, "--out", file.with_suffix(".jsonl"), "--record", file],
}


@pytest.mark.slow
@pytest.mark.parametrize(("name", "longest_s"), [("convert", 3), ("record", 3), ("run", 8)])
def test_a_killed_recording_is_readable_or_not_there(tmp_path, depth_m, name, longest_s):
    words = WRITERS[name]
    assert done(*words(tmp_path / "whole.mcap")).process.returncode == 0
    file = tmp_path / "killed.mcap"
    for _ in killed(name, longest_s, 8, *words(file)):
        check_recording(file, depth_m)
        file.unlink(missing_ok=True)
    again = done(*words(file))
    assert again.process.returncode == 0, again.said()
    if name == "record":
        check_recording(file, depth_m)  # it holds the command, with the file's name
    else:
        assert file.read_bytes() == (tmp_path / "whole.mcap").read_bytes()
    assert not list(tmp_path.glob("*partial"))


@pytest.mark.slow
def test_results_of_a_killed_run_are_those_of_a_whole_one(tmp_path):
    assert done("run", WALK, "--out", tmp_path / "whole.jsonl").process.returncode == 0
    whole = (tmp_path / "whole.jsonl").read_bytes()
    file = tmp_path / "killed.jsonl"
    for _ in killed("results", 8, 8, "run", WALK, "--out", file):
        if file.exists():
            assert whole.startswith(file.read_bytes())
            if b"\n" in file.read_bytes():
                read_results(file)
            else:
                with pytest.raises(FormatError):
                    read_results(file)


@pytest.mark.slow
def test_a_killed_training_is_resumed_to_the_same_model(tmp_path):
    assert done("synth", tmp_path / "data", "--frames", 60, "--seed", 8).process.returncode == 0
    words = ["train", tmp_path / "data", "--trees", 2, "--max-depth", 6, "--candidates", 40, "--out"]
    whole, broken = tmp_path / "whole" / "m.npz", tmp_path / "killed" / "m.npz"
    for file in (whole, broken):
        file.parent.mkdir()
    assert done(*words, whole, "--resume").process.returncode == 0
    for _ in killed("train", 20, 5, *words, broken, "--resume"):
        pass
    again = done(*words, broken, "--resume")
    assert again.process.returncode == 0, again.said()
    assert broken.read_bytes() == whole.read_bytes()
