"""A long stream through ``posepipe run``: memory and open files stay as they are."""

from __future__ import annotations

import json
import os
import signal
import struct
import sys
import threading
import time
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

from posepipe.sources import open_source
from tests.support.commands import WAIT_S, Command, rounds, start
from tests.support.paths import WALK

if sys.platform != "linux":
    pytest.skip("reads /proc", allow_module_level=True)

ROUND_S = 30.0
"""Duration of a round, after a first one in which buffers grow."""
MAX_GROWTH_MB = 24.0
INDEX_MB = 0.12e-3
"""Memory of the growing recording's index, of each frame."""


def feed(pipe: Path) -> None:
    """Send the frames of the shipped recording into a pipe, again and again, until its reader is gone."""
    with open_source(WALK) as source:
        frames = [np.rint(frame.depth_m * 1000).astype("<u2").tobytes() for frame in source]
        camera, (height, width) = source.intrinsics, source.shape
    header = {"width": width, "height": height, "depth_unit_m": 0.001}
    header.update(fx=camera.fx, fy=camera.fy, cx=camera.cx, cy=camera.cy)
    try:
        with open(pipe, "wb", buffering=0) as stream:
            stream.write(json.dumps(header).encode() + b"\n")
            for i, frame in enumerate(cycle(frames)):
                stream.write(struct.pack("<Q", (i + 1) * 33_333_333) + frame)
    except BrokenPipeError:
        pass


def memory_mb(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(next(line for line in status.splitlines() if line.startswith("VmRSS")).split()[1]) / 1024


def open_files(pid: int) -> int:
    return len(os.listdir(f"/proc/{pid}/fd"))


def lines(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in stream)


def wait_for_results(command: Command, file: Path) -> None:
    until = time.monotonic() + WAIT_S
    while not (file.exists() and lines(file) > 20):
        assert command.process.poll() is None, command.said()
        assert time.monotonic() < until
        time.sleep(0.1)


@pytest.mark.slow
def test_a_long_stream_takes_no_more_memory_and_no_more_files(tmp_path):
    pipe, file = tmp_path / "depth.pipe", tmp_path / "r.jsonl"
    os.mkfifo(pipe)
    options = ["--out", file, "--record", tmp_path / "r.mcap", "--stream", "udp://:9"]
    command = start("run", f"camera:pipe:{pipe}", *options)
    sender = threading.Thread(target=feed, args=(pipe,), daemon=True)
    sender.start()
    wait_for_results(command, file)
    time.sleep(ROUND_S)
    pid = command.process.pid
    before = memory_mb(pid), open_files(pid), lines(file)
    for _ in range(rounds(1)):
        time.sleep(ROUND_S)
        assert command.process.poll() is None, command.said()
        frames = lines(file) - before[2]
        assert memory_mb(pid) < before[0] + MAX_GROWTH_MB + INDEX_MB * frames
        assert open_files(pid) == before[1]
    assert frames > 100
    command.send(signal.SIGTERM, to_all=False)
    command.process.wait(timeout=WAIT_S)
    sender.join(timeout=WAIT_S)
