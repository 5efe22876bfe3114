"""What a run keeps until its end is written after Ctrl-C, however long that takes."""

from __future__ import annotations

import os
import signal
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
interrupt = lambda: os.kill(os.getpid(), signal.Signals[sys.argv[1]])

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
    words = [sys.executable, "-c", PROGRAM, "SIGINT", *["again"] * again]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == INTERRUPTED, done.stderr
    assert done.stderr.splitlines() == [FINISHING, STOPPED]
    assert (tmp_path / "walk.bvh").exists() != again


@pytest.fixture
def hangup_stops():
    """Programs begun by a test stop when their terminal is closed, also where the tests themselves run under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hangup_stops")
def test_files_are_complete_when_the_terminal_is_closed(tmp_path):
    ours, theirs = os.openpty()
    words = [sys.executable, "-c", PROGRAM, "SIGHUP"]
    with subprocess.Popen(words, cwd=tmp_path, stdin=theirs, stdout=theirs, stderr=theirs) as running:
        os.close(theirs)
        os.close(ours)
        assert running.wait(timeout=60) == INTERRUPTED
    assert (tmp_path / "walk.bvh").exists()


@pytest.mark.usefixtures("hangup_stops")
def test_nohup_keeps_a_command_from_being_stopped():
    program = (
        "import signal; from posepipe.processes.interrupts import STOP_SIGNALS; print(signal.SIGHUP in STOP_SIGNALS)"
    )
    for before, stops in ([], "True"), (["nohup"], "False"):
        done = subprocess.run([*before, sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
        assert done.stdout.strip() == stops
