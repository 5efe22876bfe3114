"""Memory and cost of growing a tree on more and more frames: estimated beside measured, one process for each size.

    python -m benchmarks.training_scale DATASET --frames 1000 10000 --memory 1G

A dataset of fewer frames is gone through again and again. Pixels differ each time, images do not. The cost is CPU time
a pixel, candidate and level, over all levels; the peak is that of the whole process.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import time
from pathlib import Path

from apps.options.value_types import memory_size

KILOBYTE = 1 if sys.platform == "darwin" else 1024  # of the system's peak memory


def main() -> None:
    """Grow one tree for each number of frames, and print a row for each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="folder written by posepipe synth")
    parser.add_argument("--frames", type=int, nargs="+", default=[1000, 10_000])
    parser.add_argument("--memory", type=memory_size, help="limit, as for posepipe train")
    parser.add_argument("--pixels", type=int, default=300)
    parser.add_argument("--candidates", type=int, default=500)
    parser.add_argument("--max-depth", type=int, default=20)
    parser.add_argument("--alone", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.alone:
        print(_row(args, args.frames[0]), flush=True)
        return
    print(
        "frames     pixels   levels   estimated GB   peak GB   on disk GB   ns a pixel, candidate and level", flush=True
    )
    environment = os.environ | {"OMP_WAIT_POLICY": "passive"}  # waiting threads take no CPU time
    for frames in args.frames:
        command = [sys.executable, "-m", "benchmarks.training_scale", *sys.argv[1:], "--alone", "--frames", str(frames)]
        subprocess.run(command, env=environment, check=True)


class _Repeated:
    """Frames of a dataset, again and again; the first ones are kept in memory, so that reading costs little."""

    def __init__(self, frames, count: int) -> None:
        self.frames = [frames[k] for k in range(min(len(frames), count, 200))]
        self.count = count

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, row: int):
        return self.frames[row % len(self.frames)]


def _row(args: argparse.Namespace, count: int) -> str:
    from posepipe.datasets.dataset import open_datasets
    from posepipe.learn.depth.forest_parameters import ForestParameters
    from posepipe.learn.depth.train_forest import train_tree
    from posepipe.learn.depth.training_memory import plan_memory
    from posepipe.learn.growing import GrowthRules

    dataset = open_datasets([args.dataset])
    frames = _Repeated(dataset, count)
    parameters = ForestParameters(1, args.pixels, GrowthRules(args.max_depth, args.candidates))
    plan = plan_memory(frames, 1, args.pixels, limit=args.memory)
    train_tree(_Repeated(dataset, 10), parameters, dataset.body, 0)  # compiles
    levels, started = [], time.process_time()

    def sampled() -> None:
        nonlocal started
        started = time.process_time()  # until the last frame is read

    train_tree(frames, parameters, dataset.body, 0, levels.append, None, sampled, memory=plan)
    seconds = time.process_time() - started
    pixels = levels[0].samples
    asked = sum(level.tried_samples for level in levels)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * KILOBYTE
    return (
        f"{count:6d} {pixels:10d} {len(levels):8d} {plan.memory / 1e9:14.2f} {peak / 1e9:9.2f} {plan.disk / 1e9:12.2f}"
        f" {1e9 * seconds / asked / args.candidates:12.2f}"
    )


if __name__ == "__main__":
    main()
