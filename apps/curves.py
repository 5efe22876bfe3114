"""``posepipe curves``: part accuracy over depth, trees, frames, candidates and probe range of a forest."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.value_types import counts, lengths, memory_size, not_negative, positive
from apps.terminal.interrupts import stop_if_interrupted
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.evaluation.forest_curves.measure import CurvePoint, GrowingTime
    from posepipe.evaluation.forest_curves.plan import CurvePlan, ForestRun

CURVE_NAMES = ("depth", "trees", "frames", "candidates", "probe_range")
"""Those of posepipe.evaluation.forest_curves.plan, which takes longer to import."""
DEFAULT_FRAMES = 1000
"""Frames of the largest forest, if there are as many."""
HELP = "grow small forests, and draw their part accuracy over depth, trees, frames, candidates and probe range"
EXAMPLES = (
    "posepipe curves data/train data/validation --out curves",
    "posepipe curves data/train data/validation --out curves --resume        # after Ctrl-C or a crash",
    "posepipe curves data/train data/validation --out curves --frames 500,1000,2000,4000 --only frames",
    "posepipe curves data/train data/validation --out curves --only frames --frames 1000,10000,100000 --trees 1"
    " --max-depth 20 --candidates 500 --memory 8G",
    "posepipe curves data/train data/validation --out curves --probe-range 0.4,0.8,1.6 --max-depth 12",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "train", nargs="+", type=Path, metavar="TRAIN", help="folders of posepipe synth that forests are grown on"
    )
    parser.add_argument("validation", type=Path, metavar="VALIDATION", help="folder whose frames are scored")
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="folder for the picture, curves.svg, and curves.json"
    )
    parser.add_argument(
        "--only", action="append", choices=CURVE_NAMES, help="measure this curve; may be given again (default: all)"
    )
    parser.add_argument("--resume", action="store_true", help="keep what an interrupted run has measured")
    group = parser.add_argument_group("points of the curves; of each list, all other curves use the largest number")
    group.add_argument(
        "--frames",
        type=counts,
        metavar="N,N",
        help=f"training frames (default: {DEFAULT_FRAMES}, or all, and an eighth, a quarter and half of these)",
    )
    group.add_argument(
        "--candidates",
        type=counts,
        default=(12, 25, 50, 100, 200),
        metavar="N,N",
        help="candidate features per level (default: 12,25,50,100,200)",
    )
    group.add_argument(
        "--probe-range",
        type=lengths,
        default=(0.05, 0.1, 0.2, 0.4, 0.8),
        metavar="M,M",
        help="maximum length of a probe, metres (default: 0.05,0.1,0.2,0.4,0.8)",
    )
    group.add_argument("--max-depth", type=positive, default=18, metavar="D", help="depth of the trees (default: 18)")
    group.add_argument("--trees", type=positive, default=3, metavar="T", help="trees of a forest (default: 3)")
    group = parser.add_argument_group("all forests")
    group.add_argument(
        "--validation-frames",
        type=positive,
        default=200,
        metavar="N",
        help="score at most N frames, evenly spaced (default: 200)",
    )
    group.add_argument(
        "--pixels", type=positive, default=300, metavar="N", help="training pixels per person (default: 300)"
    )
    group.add_argument("--class-weight", choices=["none", "balanced"], default="none", help="as of posepipe train")
    group.add_argument("--memory", type=memory_size, metavar="SIZE", help="limit of memory, as of posepipe train")
    group.add_argument(
        "--seed", type=not_negative, default=0, metavar="S", help="seed of all random draws (default: 0)"
    )


def run(args: argparse.Namespace) -> None:
    """Measure the curves, print them, and write the picture."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.evaluation.forest_curves.drawing import draw_accuracy_curves, table
    from posepipe.evaluation.forest_curves.measure import RESULTS, CurveCallbacks, measure_curves
    from posepipe.io.files import replace_file

    frames = open_datasets(args.train)
    validation = open_datasets([args.validation]).at_most(args.validation_frames)
    plan = _plan(args, len(frames))
    curves = args.only or CURVE_NAMES
    n_runs = len(list(plan.runs(curves)))
    show(f"{counted(n_runs, 'forest')} of up to {counted(max(plan.frames), 'frame')}, scored on {len(validation)}")
    with ProgressBar(None, "curves", "levels") as bar:
        callbacks = CurveCallbacks(
            on_level=lambda progress: bar.update(),
            on_frame=stop_if_interrupted,
            on_run=lambda run, points, time: bar.write(_report(run, points, time)),
        )
        points = measure_curves(plan, frames, validation, args.out, curves, args.resume, callbacks, args.memory)
    picture = args.out / "curves.svg"
    replace_file(picture, draw_accuracy_curves(points).encode())
    show(f"picture -> {picture}, numbers -> {args.out / RESULTS}\n\n{table(points)}")


def _report(run: ForestRun, points: list[CurvePoint], time: GrowingTime | None) -> str:
    line = f"{run.name:20s} part accuracy {points[-1].part_accuracy:.3f}"
    if time is None:  # gone on with
        return line
    return f"{line}  {time.samples} pixels  {time.seconds:.0f} s  {time.responses_per_s / 1e6:.0f} M responses a second"


def _plan(args: argparse.Namespace, available: int) -> CurvePlan:
    from posepipe.evaluation.forest_curves.plan import CurvePlan
    from posepipe.learn.depth.forest_parameters import ForestParameters
    from posepipe.learn.growing import GrowthRules

    parameters = ForestParameters(
        trees=args.trees,
        pixels_per_person=args.pixels,
        growth=GrowthRules(max_depth=args.max_depth),
        seed=args.seed,
        class_weight=None if args.class_weight == "none" else args.class_weight,
    )
    most = min(DEFAULT_FRAMES, available)
    halves = {max(args.trees, most // part) for part in (8, 4, 2, 1)}
    return CurvePlan(parameters, args.frames or tuple(sorted(halves)), args.candidates, args.probe_range)
