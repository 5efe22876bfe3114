"""What a run keeps until its end is written after Ctrl-C, however long that takes."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from apps.terminal.interrupts import FINISHING, INTERRUPTED, STOPPED

if os.name == "nt":
    pytest.skip("sends itself a signal", allow_module_level=True)

PROGRAM = """
import os, signal, sys, threading, time
from pathlib import Path
from apps.terminal import interrupts
from apps.running.completed_sinks import CompletedSinks

interrupts.MAX_UNWINDING_S = 0.3
interrupt = lambda: os.kill(os.getpid(), signal.SIGINT)

class SlowFile:
    def __enter__(self):
        return self

    def __exit__(self, *error):
        if "again" in sys.argv:
            threading.Timer(0.7, interrupt).start()
        time.sleep(2)
        Path("walk.bvh").write_text("whole")

with interrupts.watch_for_interrupt():
    try:
        with CompletedSinks([SlowFile()]):
            interrupt()
            time.sleep(30)
    finally:
        time.sleep(30)
"""


@pytest.mark.parametrize("again", [False, True])
def test_files_are_complete_before_a_stopped_run_ends(tmp_path, again):
    words = [sys.executable, "-c", PROGRAM, *["again"] * again]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == INTERRUPTED, done.stderr
    assert done.stderr.splitlines() == [FINISHING, STOPPED]
    assert (tmp_path / "walk.bvh").exists() != again
