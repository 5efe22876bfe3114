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
import os, signal, time
from pathlib import Path
from apps.terminal import interrupts
from posepipe.sinks.files.person_files import write_each

interrupts.MAX_UNWINDING_S = 0.2

def write(person, path):
    time.sleep(0.7)
    path.write_text("whole")

with interrupts.watch_for_interrupt():
    try:
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(30)
    finally:
        write_each(Path("walk.bvh"), [1, 2], write)
        time.sleep(30)
"""


def test_files_of_people_are_written_before_a_stopped_run_ends(tmp_path):
    done = subprocess.run([sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == INTERRUPTED, done.stderr
    assert [path.read_text() for path in sorted(tmp_path.glob("walk-*.bvh"))] == ["whole", "whole"]
    assert done.stderr.splitlines() == [FINISHING, STOPPED]
