"""Child process that reads mutated files, one at a time; `watchdog` starts it and survives its end.

It takes jobs as lines of JSON from standard input: ``{"target": NAME, "seed": N}``, or ``{"target": NAME, "case":
FOLDER}`` with the mutated file. It answers each with one line. Before it reads, the mutated file lies in ``mutant``
of its working folder. A case that takes too long ends the process with the traceback of every thread.
"""

from __future__ import annotations

import faulthandler
import json
import logging
import os
import shutil
import sys
import time
import traceback
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from posepipe.errors import PosepipeError
from tests.robustness.targets.target import Files, Target, write_files

try:
    import resource
except ImportError:  # Windows: memory is not watched
    resource = None  # type: ignore[assignment]

ACCEPTED = (PosepipeError, ValueError, OSError)
"""Errors that the command line shows as one line."""
MAX_SECONDS = 10.0
MAX_MEMORY_MB = 1000
"""Limits of a mutated file, beyond what a good one takes."""
FIRST_READ_SECONDS = 900.0
"""Limit of the first good file, which compiles kernels."""
_ADDRESS_SPACE_MB = 4000  # refused beyond this, so that a machine with little memory stays usable


class Bench:
    """Good files of the targets that were tried, and a folder to read mutated ones in."""

    def __init__(self, targets: Mapping[str, Target], folder: Path) -> None:
        self.targets, self.folder = targets, folder
        self._good: dict[str, Files] = {}
        self._before_mb = 0.0

    def answer(self, job: dict[str, Any]) -> dict[str, Any]:
        """Run one job and say how it ended."""
        target = self.targets[job["target"]]
        if target.name not in self._good:
            self._good[target.name] = self._write_good(target)
        good = self._good[target.name]
        mutant = _files_in(Path(job["case"])) if "case" in job else target.mutant(good, job["seed"])
        self._fresh("mutant", mutant)
        whole = self._fresh("whole", {**good, **mutant})
        began = time.monotonic()
        problem, trace = self._read(target, whole)
        used_mb = _peak_mb() - self._before_mb
        if not problem and used_mb > MAX_MEMORY_MB:
            problem = f"took {used_mb:.0f} MB"
        return {"problem": problem, "trace": trace, "seconds": time.monotonic() - began, "used_mb": used_mb}

    def _write_good(self, target: Target) -> Files:
        faulthandler.dump_traceback_later(FIRST_READ_SECONDS, exit=True)
        good = target.good_files(self._fresh("good", {}))
        target.read(self._fresh("whole", good))
        faulthandler.cancel_dump_traceback_later()
        _limit_address_space()
        self._before_mb = max(self._before_mb, _peak_mb())
        return good

    def _fresh(self, name: str, files: Files) -> Path:
        folder = self.folder / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        write_files(folder, files)
        return folder

    def _read(self, target: Target, whole: Path) -> tuple[str, str]:
        faulthandler.dump_traceback_later(MAX_SECONDS, exit=True)
        try:
            target.read(whole)
        except ACCEPTED as error:
            text = str(error)
            return ("" if text and "\n" not in text else f"not one line: {text!r:.200}"), traceback.format_exc()
        except Exception as error:
            return f"{type(error).__name__}: {error!s:.200}", traceback.format_exc()
        finally:
            faulthandler.cancel_dump_traceback_later()
        return "", ""


def _files_in(folder: Path) -> Files:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def _peak_mb() -> float:
    """Largest memory of this process so far."""
    if resource is None:
        return 0.0
    status = Path("/proc/self/status")
    if status.is_file():  # Linux: `getrusage` would count what the parent had when it started this process
        line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM:"))
        return int(line.split()[1]) / (1 << 10)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def _limit_address_space() -> None:
    status = Path("/proc/self/statm")
    if resource is None or not status.is_file():
        return
    now = int(status.read_text().split()[0]) * resource.getpagesize()
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (now + (_ADDRESS_SPACE_MB << 20), hard))


def main(targets: Mapping[str, Target]) -> None:
    """Answer jobs until standard input ends."""
    faulthandler.enable()
    logging.disable()
    warnings.simplefilter("ignore")
    warnings.simplefilter("error", RuntimeWarning)  # of NumPy: the command line would show a second line
    answers = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # libraries print what they like, but not among the answers
    bench = Bench(targets, Path(sys.argv[1]))
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(bench.answer(json.loads(line))), file=answers, flush=True)


if __name__ == "__main__":
    from tests.robustness.targets.registry import TARGETS

    main(TARGETS)
