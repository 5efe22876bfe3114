"""A worker with readers that fail in every way that the watchdog reports; `test_watchdog` runs it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from tests.robustness import worker
from tests.robustness.targets.target import Target

MEGABYTE = 1 << 20


def _write(folder: Path) -> None:
    (folder / "file").write_bytes(b"good")


def _unless_good(misbehave):
    """Read the good file, whose content is good, in peace."""
    return lambda folder: misbehave() if (folder / "file").read_bytes() != b"good" else None


def _fill_memory() -> None:
    len(b"x" * (300 * MEGABYTE))


def _raise(error: Exception) -> None:
    raise error


BAD = {
    "hang": lambda: time.sleep(60),
    "crash": os.abort,
    "memory": _fill_memory,
    "traceback": lambda: _raise(KeyError("x")),
    "two-lines": lambda: _raise(ValueError("one\ntwo")),
    "one-line": lambda: _raise(ValueError("one")),
}

if __name__ == "__main__":
    worker.MAX_SECONDS, worker.MAX_MEMORY_MB = 3.0, 100
    worker.main({name: Target(name, _write, _unless_good(bad), ()) for name, bad in BAD.items()})
