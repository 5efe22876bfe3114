"""Commands: in this process, and in processes of their own that are stopped, killed and looked after."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from apps.cli import main

WAIT_S = 120.0
"""Time in which anything that is waited for has happened, even on a busy machine."""


def rounds(usual: int) -> int:
    """Number of rounds of a slow test: POSEPIPE_ROUNDS if it is set."""
    return int(os.environ.get("POSEPIPE_ROUNDS", usual))


def error_of(capsys, *words: object) -> str:
    """Run ``posepipe WORDS``, which must fail, in this process; its one line of error."""
    assert main([str(word) for word in words]) == 1
    (line,) = [row for row in capsys.readouterr().err.splitlines() if "posepipe: error: " in row]
    return line


def free_port() -> int:
    """A port of this machine that nothing listens at."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        return server.getsockname()[1]


_BAR = re.compile(r"%\||\d+ \w+ \[")


@dataclass
class Command:
    """A running ``posepipe`` command, the first of a session of its own."""

    process: subprocess.Popen
    _errors: IO[str]

    def watches_signals(self) -> bool:
        """Whether it has reached our code, which handles SIGTERM."""
        try:
            status = Path(f"/proc/{self.process.pid}/status").read_text()
        except OSError:
            return False
        caught = int(next(line for line in status.splitlines() if line.startswith("SigCgt")).split()[1], 16)
        return bool(caught >> (signal.SIGTERM - 1) & 1)

    def wait_until_it_watches(self) -> None:
        until = time.monotonic() + WAIT_S
        while not self.watches_signals() and self.process.poll() is None:
            assert time.monotonic() < until, "the command does not start"
            time.sleep(0.002)

    def send(self, number: int, to_all: bool) -> None:
        """Signal the command, and its children if ``to_all``, as a terminal does."""
        with suppress(ProcessLookupError):  # it has ended
            (os.killpg if to_all else os.kill)(self.process.pid, number)

    def family(self) -> list[int]:
        """Processes of its session that run."""
        return [pid for pid in map(int, filter(str.isdigit, os.listdir("/proc"))) if _session(pid) == self.process.pid]

    def wait_until_all_have_ended(self, seconds: float) -> list[int]:
        """Processes that still run when the time is over; they are killed."""
        until = time.monotonic() + seconds
        while (left := self.family()) and time.monotonic() < until:
            time.sleep(0.02)
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        return left

    def said(self) -> str:
        """What it wrote on standard error."""
        self._errors.seek(0)
        return self._errors.read()

    def lines(self) -> list[str]:
        """What it wrote on standard error besides progress bars."""
        lines = self.said().replace("\r", "\n").splitlines()
        return [line for line in lines if line.strip() and not _BAR.search(line)]


def start(*words: object, **process: object) -> Command:
    """Start ``posepipe WORDS``; further arguments are those of `subprocess.Popen`."""
    errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - open as long as the command
    command = [sys.executable, "-m", "posepipe", *map(str, words)]
    return Command(
        subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=errors, start_new_session=True, **process), errors
    )


def done(*words: object, **process: object) -> Command:
    """Run ``posepipe WORDS`` to its end."""
    command = start(*words, **process)
    command.process.wait(timeout=10 * WAIT_S)
    return command


def _session(pid: int) -> int:
    try:
        state, _, _, session = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[:4]
    except OSError:
        return 0
    return 0 if state == "Z" else int(session)
