"""Milliseconds of a step, by how idle threads wait: on cores that are free, and beside one busy program.

    python -m benchmarks.busy_cores

The work is that of ``posepipe bench --foreground none``. Threads of GNU's OpenMP spin while they wait for work: for
300,000 rounds by its own default, for fewer by posepipe's, and not at all where they are told to be passive.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

WAITING: dict[str, dict[str, str]] = {
    "OpenMP's default": {"GOMP_SPINCOUNT": "300000"},
    "posepipe's default": {},
    "passive": {"OMP_WAIT_POLICY": "passive"},
}
RUNS = 5


def main() -> None:
    """Print a table: a row for each way to wait, the fastest and the slowest of RUNS runs."""
    argparse.ArgumentParser(description=str(__doc__).splitlines()[0]).parse_args()
    print(f"{'threads wait':20s}{'free cores, ms':>18s}{'beside a busy program, ms':>28s}")
    for name, waiting in WAITING.items():
        free = _step_ms(waiting)
        with _busy_program():
            busy = _step_ms(waiting)
        print(f"{name:20s}{free:>18s}{busy:>28s}")


def _step_ms(waiting: dict[str, str]) -> str:
    """Median time of a step, milliseconds: of the fastest run and of the slowest."""
    of_waiting = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in of_waiting}
    with tempfile.TemporaryDirectory() as folder:
        figures = Path(folder) / "bench.json"
        command = [sys.executable, "-m", "apps.cli", "bench", "--foreground", "none", "--json", str(figures)]
        medians_ms = []
        for _ in range(RUNS):
            subprocess.run(command, env=environment | waiting, check=True, capture_output=True)
            medians_ms.append(json.loads(figures.read_text())["stages"]["whole step"]["median ms"])
    return f"{min(medians_ms):.1f} to {max(medians_ms):.1f}"


@contextmanager
def _busy_program() -> Iterator[None]:
    """Another program that needs one core all the time."""
    program = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        program.kill()
        program.wait()


if __name__ == "__main__":
    main()
