"""Runs cases in a child process, and reports a crash or a hang of it as the failure of the case that caused it."""

from __future__ import annotations

import json
import queue
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

from tests.robustness.worker import FIRST_READ_SECONDS, MAX_SECONDS
from tests.support.paths import ROOT

SAVED = ROOT / ".fuzz"
"""Mutated files of failures, a folder a case; git ignores it."""
_GRACE_SECONDS = 20.0  # a process that cannot end itself is killed after this
_FRAME = re.compile(r'File ".*?((?:posepipe|synth|apps)/[\w/]+\.py)", line (\d+)')


@dataclass(frozen=True)
class Failure:
    """A case that neither succeeded nor ended with an error of one line."""

    job: dict[str, Any]
    problem: str
    trace: str
    saved: Path  #: folder of the mutated file

    @property
    def place(self) -> str:
        """Deepest line of ours in the traceback; failures of one place have one cause, mostly."""
        return place_of(self.trace)

    def __str__(self) -> str:
        which = f"seed {self.job['seed']}" if "seed" in self.job else Path(self.job["case"]).name
        return f"{self.job['target']}, {which}: {self.problem} (at {self.place}; saved in {self.saved})"


class Watchdog:
    """A child process for cases; a context manager. After a crash or a hang the next case gets a new one.

    Parameters
    ----------
    saved : folder for the mutated files of failures
    worker : module that the child runs
    """

    def __init__(self, saved: Path = SAVED, worker: str = "tests.robustness.worker") -> None:
        self._saved = saved
        self._worker = worker
        self._folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        self._child: subprocess.Popen[str] | None = None
        self._answers: queue.Queue[str | None] = queue.Queue()
        self._tried: set[str] = set()

    def run(self, job: dict[str, Any]) -> Failure | None:
        """Run one case, ``{"target": NAME, "seed": N}`` or ``{"target": NAME, "case": FOLDER}``."""
        if self._child is None:
            self._start()
        assert self._child is not None
        assert self._child.stdin is not None
        self._child.stdin.write(json.dumps(job) + "\n")
        self._child.stdin.flush()
        limit = _GRACE_SECONDS + MAX_SECONDS + (0 if job["target"] in self._tried else FIRST_READ_SECONDS)
        answer = self._answer(limit)
        if answer is None:
            problem, trace = self._stop(), self._errors()
            return self._failure(job, problem, trace)
        self._tried.add(job["target"])
        found = json.loads(answer)
        return self._failure(job, found["problem"], found["trace"]) if found["problem"] else None

    def _start(self) -> None:
        self._tried = set()
        self._answers = queue.Queue()
        command = [sys.executable, "-m", self._worker, str(self._folder)]
        with (self._folder / "stderr").open("w") as errors:
            self._child = subprocess.Popen(
                command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=errors, text=True
            )
        threading.Thread(target=_pump, args=(self._child.stdout, self._answers), daemon=True).start()
        if self._answer(FIRST_READ_SECONDS) is None:
            raise RuntimeError(f"the child did not start: {self._errors()}")

    def _answer(self, limit_s: float) -> str | None:
        try:
            return self._answers.get(timeout=limit_s)
        except queue.Empty:
            return None

    def _stop(self) -> str:
        """End the child and describe how it ended."""
        assert self._child is not None
        try:
            status: int | None = self._child.wait(2)
        except subprocess.TimeoutExpired:
            status = None
            self._child.kill()
            self._child.wait()
        self._child = None
        errors = self._errors()
        if status is None or "Timeout (" in errors:
            return f"took more than {MAX_SECONDS:g} s"
        return f"the interpreter ended with status {status}"

    def _errors(self) -> str:
        return (self._folder / "stderr").read_text(encoding="utf-8", errors="replace")[-8000:]

    def _failure(self, job: dict[str, Any], problem: str, trace: str) -> Failure:
        which = str(job["seed"]) if "seed" in job else Path(job["case"]).name
        saved = self._saved / job["target"] / which
        shutil.rmtree(saved, ignore_errors=True)
        if (self._folder / "mutant").is_dir():
            shutil.copytree(self._folder / "mutant", saved)
        return Failure(job, problem, trace, saved)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        if self._child is not None:
            self._child.kill()
            self._child.wait()
        shutil.rmtree(self._folder, ignore_errors=True)


def place_of(trace: str) -> str:
    """Deepest line of ours in a traceback, of Python or of `faulthandler`."""
    frames = _FRAME.findall(trace)
    frames = frames[:1] if "most recent call first" in trace else frames[-1:]
    return ":".join(frames[0]) if frames else "?"


def _pump(stream: Any, answers: queue.Queue[str | None]) -> None:
    """Pass lines on, then None."""
    for line in stream:
        answers.put(line)
    answers.put(None)
