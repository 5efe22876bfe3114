"""``posepipe bench``: time every stage of the pipeline on this machine."""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.input_files import refuse_to_replace
from apps.options.pipeline_options import add_fit_options, fit_of
from apps.options.value_types import json_file, positive
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    import numpy as np

    from posepipe.frames import DepthFrame
    from posepipe.pipeline import Pipeline

RECORDING = Path(__file__).parent / "data" / "cut_out.mcap"
"""A rendered person, cut out, who walks, with Kinect v1 noise and the truth."""
HELP = "time every stage of the pipeline, on a shipped recording or your own"
EXAMPLES = (
    "posepipe bench",
    "posepipe bench --threads 1",
    "posepipe bench my_recording.mcap --model my_model.npz --frames 300",
    "posepipe bench --threads 1 --json bench.json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    shipped = "one person cut out, 60 frames, 320x240"
    parser.add_argument("source", nargs="?", metavar="SOURCE", help=f"recording (default: {shipped})")
    parser.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    parser.add_argument(
        "--frames", type=positive, default=120, metavar="N", help="time at most N frames (default: 120)"
    )
    parser.add_argument("--threads", type=positive, metavar="T", help="threads of the kernels (default: all cores)")
    parser.add_argument("--foreground", choices=["auto", "none"], default="auto", help="as for run (default: auto)")
    parser.add_argument("--json", type=json_file, metavar="FILE.json", help="write the figures as JSON, too")
    add_fit_options(parser)


def run(args: argparse.Namespace) -> None:
    """Time the frames of the source, and print one row a stage."""
    from itertools import islice

    from apps.terminal.compilation import kernels_compiled
    from apps.terminal.progress import ProgressBar
    from posepipe.io.files import check_writable, replace_file
    from posepipe.pipeline import Pipeline
    from posepipe.profiling import time_stages
    from posepipe.sources import open_source

    if args.json:
        refuse_to_replace(args, [("--json", args.json)])
        check_writable(args.json)
    threads = _set_threads(args.threads)
    with open_source(args.source or RECORDING) as source:
        frames = list(islice(source, args.frames))
    with kernels_compiled():
        started = time.perf_counter()
        pipeline = Pipeline.load(args.model, foreground=args.foreground, fit=fit_of(args))
        loading_s = time.perf_counter() - started
    show(f"model read in {loading_s:.2f} s")
    with ProgressBar(len(frames), "bench", "frames") as bar:
        times = time_stages(pipeline, frames, bar.update)
    height, width = frames[0].depth_m.shape
    work = {
        "frames": len(frames),
        "width": width,
        "height": height,
        "candidate pixels": _candidate_pixels(pipeline, frames),
        "threads": threads,
    }
    pixels = f"{work['candidate pixels']:.0f} candidate pixels (median)"
    show(f"{counted(len(frames), 'frame')} of {width}x{height}, {pixels}, {counted(threads, 'thread')}")
    stages = _stage_figures(times)
    show("\n".join(_table(stages)))
    if args.json:
        figures = {**work, "model": args.model, "loading s": loading_s, "stages": stages}
        replace_file(args.json, json.dumps(figures, indent=1).encode() + b"\n")


def _set_threads(wanted: int | None) -> int:
    """Limit the threads of the kernels, and return how many there are now."""
    import numba

    from posepipe.errors import PosepipeError

    available = numba.get_num_threads()
    if wanted and wanted > available:
        raise PosepipeError(f"--threads: this machine has {available}, got {wanted}")
    numba.set_num_threads(wanted or available)
    return wanted or available


def _candidate_pixels(pipeline: Pipeline, frames: Sequence[DepthFrame]) -> float:
    """Return the median number of pixels that the pipeline takes for candidates."""
    import numpy as np

    return float(np.median([np.count_nonzero(pipeline.foreground.update(frame).numbers) for frame in frames]))


def _stage_figures(times: Mapping[str, np.ndarray]) -> dict[str, dict[str, float]]:
    """Return median, spread between the quartiles, and share of the median step of every stage's seconds."""
    import numpy as np

    from posepipe.profiling import WHOLE

    rows = {stage: seconds for stage, seconds in times.items() if stage != WHOLE}
    between = times[WHOLE] - sum(rows.values())  # the flow itself, and labels
    rows |= {"between": between, WHOLE: times[WHOLE]}
    figures = {}
    for stage, seconds in rows.items():
        low, middle, high = np.quantile(1000 * seconds, [0.25, 0.5, 0.75])
        share = middle / 1000 / np.median(times[WHOLE])
        figures[stage] = {"median ms": float(middle), "between quartiles": float(high - low), "share": float(share)}
    return figures


def _table(stages: Mapping[str, Mapping[str, float]]) -> list[str]:
    """Return a line for every stage, and the rate of the whole step."""
    from posepipe.profiling import WHOLE

    lines = [f"{'stage':18s}{'median ms':>12s}{'between quartiles':>20s}{'of the step':>14s}"]
    lines += [
        f"{stage:18s}{row['median ms']:12.2f}{row['between quartiles']:20.2f}{row['share']:14.0%}"
        for stage, row in stages.items()
    ]
    return [*lines, f"{1000 / stages[WHOLE]['median ms']:.0f} frames a second"]
