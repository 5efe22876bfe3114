"""Ctrl-C and SIGTERM at any moment of any command: one line, exit code 130, within seconds, and nothing left behind."""

from __future__ import annotations

import random
import signal
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from apps.cli import COMMANDS
from apps.terminal.interrupts import INTERRUPTED, STOPPED
from tests.support.commands import WAIT_S, Command, done, free_port, rounds, start
from tests.support.paths import DEMO, WALK

if sys.platform != "linux":
    pytest.skip("reads /proc", allow_module_level=True)

MAX_END_S = 5.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


WORDS: dict[str, Callable[[Path, Path], list[object]]] = {
    "demo": lambda data, out: ["demo", "--out", out / "demo"],
    "run": lambda data, out: ["run", WALK, "--out", out / "r.csv", "--record", out / "r.mcap", "--bvh", out / "r.bvh"],
    "run a camera": lambda data, out: ["run", "camera:socket:0", "--out", out / "r.jsonl"],
    "record": lambda data, out: ["record", WALK, out / "a.mcap", "--realtime"],
    "record a camera": lambda data, out: ["record", "camera:socket:0", out / "a.mcap"],
    "calibrate": lambda data, out: ["calibrate", DEMO, DEMO, "--out", out / "calibration", "--realtime"],
    "convert": lambda data, out: ["convert", WALK, out / "frames"],
    "view": lambda data, out: ["view", WALK, "--port", free_port()],
    "info": lambda data, out: ["info", data],
    "explain": lambda data, out: ["explain", WALK, "--part", "left_hand", "--draw", out / "hand.svg"],
    "synth": lambda data, out: ["synth", out / "data", "--frames", 2000, "--workers", 2],
    "synth alone": lambda data, out: ["synth", out / "data", "--frames", 2000, "--workers", 1],
    "train": lambda data, out: ["train", data, "--out", out / "m.npz", "--trees", 1, "--max-depth", 8],
    "curves": lambda data, out: ["curves", data, data, "--out", out / "curves", "--max-depth", 6],
    "evaluate": lambda data, out: ["evaluate", data],
    "bench": lambda data, out: ["bench"],
}
LONGEST_S = 8.0
"""Latest moment of a signal, after the command handles it."""


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("signals") / "data"
    assert done("synth", folder, "--frames", 60, "--seed", 3).process.returncode == 0
    return folder


def stop(command: Command, rng: random.Random, delay_s: float) -> float:
    """Send a signal, perhaps twice, perhaps to all processes; returns the time until the command has ended."""
    command.wait_until_it_watches()
    time.sleep(delay_s)
    number, to_all = rng.choice(SIGNALS), rng.random() < 0.5
    sent = time.monotonic()
    command.send(number, to_all)
    if rng.random() < 0.5:
        time.sleep(rng.uniform(0, 0.2))
        command.send(rng.choice(SIGNALS), to_all)
    command.process.wait(timeout=WAIT_S)
    return time.monotonic() - sent


def check_stopped(command: Command, took_s: float) -> None:
    left = command.wait_until_all_have_ended(1.0)
    said = command.said()
    assert not left, f"processes were left: {said}"
    if command.process.returncode == 0:  # it had ended by itself
        return
    assert command.process.returncode == INTERRUPTED, said
    assert command.lines()[-1:] == [STOPPED], said
    assert said.count(STOPPED) == 1, said
    assert "Traceback" not in said, said
    assert "Exception ignored" not in said, said
    assert took_s < MAX_END_S, said


def test_every_command_is_stopped():
    assert {name.split()[0] for name in WORDS} == set(COMMANDS)


@pytest.mark.parametrize("delay_s", [0.0, 1.5])
def test_ctrl_c_of_workers_ends_in_one_line(tmp_path, delay_s):
    command = start(*WORDS["synth"](tmp_path, tmp_path))
    command.wait_until_it_watches()
    time.sleep(delay_s)
    sent = time.monotonic()
    command.send(signal.SIGINT, to_all=True)
    command.process.wait(timeout=WAIT_S)
    check_stopped(command, time.monotonic() - sent)
    assert command.process.returncode == INTERRUPTED


@pytest.mark.slow
@pytest.mark.parametrize("name", WORDS)
def test_a_signal_at_a_random_moment_stops_a_command(name, data, tmp_path):
    rng = random.Random(name)
    for i in range(rounds(6)):
        command = start(*WORDS[name](data, tmp_path / str(i)))
        check_stopped(command, stop(command, rng, rng.uniform(0, LONGEST_S)))


@pytest.mark.slow
@pytest.mark.parametrize("name", ["run", "train", "synth"])
def test_a_signal_while_kernels_compile_stops_a_command(name, data, tmp_path, monkeypatch):
    rng = random.Random(name)
    for i in range(rounds(4)):
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / f"kernels {i}"))
        command = start(*WORDS[name](data, tmp_path / str(i)))
        check_stopped(command, stop(command, rng, rng.uniform(1, 4 * LONGEST_S)))
