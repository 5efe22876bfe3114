"""Seconds that a first run on a machine takes, and the kernels that it compiles; this tree beside others.

    python benchmarks/cold_start.py [TREE ...]

Each tree runs its own recording twice with a cache of its own, which is empty the first time. Processor seconds are
those of all processes together: they say less about the machine's other work than seconds on the clock do.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parents[1]
RECORDING = "apps/data/cut_out.mcap"


def main() -> None:
    """Print a table: a row for the first and for the second run of each tree."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("trees", nargs="*", type=Path, metavar="TREE", help="folder of another checkout")
    trees = [HERE, *parser.parse_args().trees]
    print(f"{'tree':24s}{'cache':>8s}{'kernels':>10s}{'seconds':>10s}{'processor s':>14s}")
    for tree in trees:
        with tempfile.TemporaryDirectory() as folder:
            for cache in ("cold", "warm"):
                seconds, processor_s = _timed_run(tree.resolve(), Path(folder))
                kernels = sum(1 for _ in Path(folder).rglob("*.nbc"))
                print(f"{tree.resolve().name[-23:]:24s}{cache:>8s}{kernels:10d}{seconds:10.1f}{processor_s:14.1f}")


def _timed_run(tree: Path, folder: Path) -> tuple[float, float]:
    """Seconds on the clock and of processors that one run of a tree takes, with a cache of kernels in a folder."""
    environment = {**os.environ, "PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": str(folder)}
    command = [sys.executable, "-m", "apps.cli", "run", RECORDING, "--out", str(folder / "results.jsonl")]
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run(command, cwd=tree, env=environment, check=True, capture_output=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    processor_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, processor_s


if __name__ == "__main__":
    main()
