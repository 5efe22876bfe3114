"""The reader of our output may leave: ``posepipe ... | head`` ends quietly, and so do the examples."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from apps.bench import RECORDING
from apps.cli import CLOSED_PIPE
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.support.paths import EXAMPLES

if os.name == "nt":
    pytest.skip("Windows has no SIGPIPE", allow_module_level=True)


def unread(*command: str | Path) -> tuple[int, str]:
    """Run Python on something with an output that is not read: exit code and standard error."""
    reader, writer = os.pipe()
    os.close(reader)
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    words = [sys.executable, *map(str, command)]
    running = subprocess.Popen(words, stdout=writer, stderr=subprocess.PIPE, env=buffered, text=True)
    os.close(writer)
    _, said = running.communicate(timeout=120)
    return running.returncode, said


@pytest.mark.parametrize("arguments", [["run", "--help"], ["info", RECORDING]])
def test_a_command_that_prints_ends_quietly(arguments):
    assert unread("-m", "apps.cli", *arguments) == (CLOSED_PIPE, "")


def test_results_on_standard_output_end_quietly(tmp_path):
    lens = Intrinsics(57, 57, 31.5, 23.5)
    write_npz_pack(tmp_path / "pack.npz", [DepthFrame(np.zeros((48, 64), np.float32), lens)])
    code, said = unread("-m", "apps.cli", "run", tmp_path / "pack.npz", "--out", "/dev/stdout")
    assert code == CLOSED_PIPE
    assert "error" not in said.lower()


@pytest.mark.parametrize("name", ["fall_alarm", "hand_pointer", "squat_counter", "record_bvh"])
def test_an_example_ends_as_other_programs_do(name):
    assert unread(EXAMPLES / f"{name}.py", "--help") == (-signal.SIGPIPE, "")


def test_a_feeder_ends_quietly_when_posepipe_leaves_first():
    assert unread(EXAMPLES / "feed_depth.py", "-") == (0, "")
