"""Speed of growing a tree on depth images, level by level and stage by stage, in turns with the code of another folder.

    python -m benchmarks.training_speed DATASET --beside FOLDER --threads 2

A response is one candidate feature at one pixel. Rates are millions of responses a second of CPU time, times the
threads: on a busy machine they differ less from run to run than rates of elapsed time. Each side grows its own tree;
the benchmark says whether the trees are the same. Levels are repeated, and the medians are printed.
"""

from __future__ import annotations

import argparse
import contextlib
import copy
import hashlib
import importlib
import json
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import fields
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]
STAGES = ("bins", "splits", "partition", "level")
SEED = (0, 0, 1)


def main() -> None:
    """Measure the levels asked for, and print one row for each."""
    args = _arguments()
    with tempfile.TemporaryDirectory() as scratch:
        pool = args.sampled or Path(scratch) / "pixels.npz"
        if not pool.is_file():
            _write_pixels(args, pool)
        n_pixels = len(np.load(pool)["label"])
        print(f"{n_pixels} pixels x {args.candidates} candidates, {args.threads} threads, medians of {args.repeats}")
        folders = [HERE, *([args.beside.resolve()] if args.beside else [])]
        sides = [_Side(folder, pool, args) for folder in folders]
        print(_heading(len(sides)), flush=True)
        for level in range(args.levels[1] + 1):
            times = [[] for _ in sides]
            for _ in range(args.repeats if level >= args.levels[0] else 0):
                for side, taken in zip(sides, times, strict=True):
                    taken.append(side.ask("measure"))
            if level >= args.levels[0]:
                print(_row(level, args, times), flush=True)
            states = [side.ask("grow") for side in sides]
            if states[0]["finished"]:
                break
        print("trees: " + ("the same" if len({state["digest"] for state in states}) == 1 else "DIFFERENT"))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path, help="folder written by posepipe synth, as of recipe train")
    parser.add_argument("--beside", type=Path, help="folder of other code, measured in turns")
    parser.add_argument(
        "--sampled", type=Path, metavar="FILE.npz", help="keep the sampled pixels here, for the next run"
    )
    parser.add_argument("--pixels", type=int, default=810_000)
    parser.add_argument("--candidates", type=int, default=500)
    parser.add_argument("--levels", type=int, nargs=2, default=(6, 18), metavar=("FIRST", "LAST"))
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2)
    return parser.parse_args()


def _write_pixels(args: argparse.Namespace, path: Path) -> None:
    """Sample frames until there are enough pixels, and write them for both sides."""
    from posepipe.datasets.dataset import open_datasets
    from posepipe.learn.depth.splitting.pixel_sampling import sample_pixels
    from posepipe.training.train_model import segment_as_in_use

    frames = open_datasets([args.dataset])
    tenth = sample_pixels(_frames(frames, len(frames) // 10), 300, (0, 0), segment_as_in_use)
    enough = min(len(frames), 1 + args.pixels * (len(frames) // 10) // len(tenth.label))
    samples = sample_pixels(_frames(frames, enough), 300, (0, 0), segment_as_in_use)
    arrays = {each.name: getattr(samples, each.name) for each in fields(samples)}
    for name in ("image", "pixel", "scale", "label"):
        arrays[name] = arrays[name][: args.pixels]
    np.savez(path, n_classes=frames.body.n_classes, **arrays)


def _frames(frames, count):
    for row in range(count):
        yield row, frames[row]


class _Side:
    """A process that grows a tree with the code of one folder."""

    def __init__(self, folder: Path, pool: Path, args: argparse.Namespace) -> None:
        environment = os.environ | {
            "PYTHONPATH": str(folder),
            "NUMBA_NUM_THREADS": str(args.threads),
            "OMP_WAIT_POLICY": "passive",  # waiting threads take no CPU time
        }
        command = [sys.executable, str(Path(__file__).resolve()), "--side", str(pool), str(args.candidates)]
        self._process = subprocess.Popen(
            command, env=environment, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        self.ask("measure")  # compiles

    def ask(self, what: str) -> dict:
        """Let the process measure the next level, or grow it; return what it says."""
        self._process.stdin.write(what + "\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def _heading(n_sides: int) -> str:
    titles = "  ".join(f"{stage:>10s}" for stage in STAGES)
    beside = "  ".join(f"{stage:>10s}" for stage in STAGES) if n_sides > 1 else ""
    return f"level    responses  {titles}" + (f"  | beside: {beside}  | ratio" if beside else "")


def _row(level: int, args: argparse.Namespace, times: list[list[dict]]) -> str:
    """Rates of the stages on each side, and how much faster the whole level is on the first."""
    responses = times[0][0]["responses"]
    rates = [
        [responses * args.threads / 1e6 / np.median([max(t[stage], 1e-9) for t in taken]) for stage in STAGES]
        for taken in times
    ]
    blocks = "  |         ".join("  ".join(f"{rate:10.1f}" for rate in of_side) for of_side in rates)
    ratio = f"  | {rates[0][-1] / rates[1][-1]:5.2f}" if len(rates) > 1 else ""
    return f"{level:5d} {responses / 1e6:10.1f} M  {blocks}{ratio}"


def _serve(pool: str, candidates: int) -> None:
    """Measure and grow levels as the first process asks."""
    from posepipe.learn.growing import GrowthRules, grow_level, start_growth

    BinnedSplits = _learner("binned_splits").BinnedSplits
    DepthResponses, PixelSamples = _learner("responses").DepthResponses, _learner("responses").PixelSamples
    data = np.load(pool)
    samples = PixelSamples(**{each.name: data[each.name] for each in fields(PixelSamples) if each.name in data})
    responses = DepthResponses(samples, _learner("responses").OffsetRange())
    finder = BinnedSplits(responses, samples.label, int(data["n_classes"]))
    rules, growth = GrowthRules(candidates=candidates), start_growth(len(samples.label))
    clock = {"bins": 0.0, "best_splits": 0.0}
    responses.fill_bins = _timed(responses.fill_bins, clock, "bins")
    finder.best_splits = _timed(finder.best_splits, clock, "best_splits")
    for line in sys.stdin:
        if line.strip() == "measure":
            sizes = growth.ends - growth.starts
            sizes = np.minimum(sizes[sizes >= rules.min_samples], rules.split_samples)
            clock.update(bins=0.0, best_splits=0.0)
            started = time.process_time()
            grow_level(copy.deepcopy(growth), finder, rules, SEED)
            level = time.process_time() - started
            found = clock["best_splits"]
            answer = {"bins": clock["bins"], "splits": found - clock["bins"], "partition": level - found}
            answer |= {"level": level, "responses": int(sizes.sum()) * candidates}
        else:
            grow_level(growth, finder, rules, SEED)
            state = hashlib.sha256(growth.order.tobytes() + b"".join(t.tobytes() for t in growth.threshold))
            answer = {"finished": growth.finished, "digest": state.hexdigest()}
        print(json.dumps(answer), flush=True)


def _learner(module: str):
    """Import a module of the depth forest; other code may have it in another folder."""
    for folder in ("depth.splitting", "depth"):
        with contextlib.suppress(ModuleNotFoundError):
            return importlib.import_module(f"posepipe.learn.{folder}.{module}")
    return importlib.import_module(f"posepipe.learn.{module}")


def _timed(call, clock, name):
    def timed(*arguments):
        started = time.process_time()
        try:
            return call(*arguments)
        finally:
            clock[name] += time.process_time() - started

    return timed


if __name__ == "__main__":
    if sys.argv[1:2] == ["--side"]:
        _serve(sys.argv[2], int(sys.argv[3]))
    else:
        main()
