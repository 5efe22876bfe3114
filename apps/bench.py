"""``posepipe bench``: time every stage of the pipeline on this machine."""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from apps.options.pipeline_options import add_fit_options, body_model_of
from apps.options.value_types import positive
from apps.terminal.plain_text import show

if TYPE_CHECKING:
    import numpy as np

    from posepipe.frames import DepthFrame
    from posepipe.pipeline import Pipeline

HELP = "time every stage of the pipeline, on the shipped recording or your own"
EXAMPLES = (
    "posepipe bench",
    "posepipe bench --threads 1",
    "posepipe bench my_recording.mcap --model my_model.npz --frames 300",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("source", nargs="?", metavar="SOURCE", help="recording (default: the shipped one, 320x240)")
    parser.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    parser.add_argument(
        "--frames", type=positive, default=120, metavar="N", help="time at most N frames (default: 120)"
    )
    parser.add_argument("--threads", type=positive, metavar="T", help="threads of the kernels (default: all cores)")
    parser.add_argument("--foreground", choices=["auto", "none"], default="auto", help="as for run (default: auto)")
    add_fit_options(parser)


def run(args: argparse.Namespace) -> None:
    """Time the frames of the source, and print one row a stage."""
    from itertools import islice

    from apps.demo import RECORDING
    from apps.terminal.compilation import kernels_compiled
    from apps.terminal.progress import ProgressBar
    from posepipe.pipeline import Pipeline
    from posepipe.profiling import time_stages
    from posepipe.sources import open_source

    threads = _set_threads(args.threads)
    with open_source(args.source or RECORDING) as source:
        frames = list(islice(source, args.frames))
    with kernels_compiled():
        started = time.perf_counter()
        pipeline = Pipeline.load(args.model, foreground=args.foreground, body_model=body_model_of(args))
        show(f"model read in {time.perf_counter() - started:.2f} s")
    with ProgressBar(len(frames), "bench", "frames") as bar:
        times = time_stages(pipeline, frames, bar.update)
    show(f"{_frames_line(pipeline, frames)}, {threads} threads")
    show("\n".join(_table(times)))


def _set_threads(wanted: int | None) -> int:
    """Limit the threads of the kernels, and return how many there are now."""
    import numba

    from posepipe.errors import PosepipeError

    available = numba.get_num_threads()
    if wanted and wanted > available:
        raise PosepipeError(f"--threads: this machine has {available}, got {wanted}")
    numba.set_num_threads(wanted or available)
    return wanted or available


def _frames_line(pipeline: Pipeline, frames: Sequence[DepthFrame]) -> str:
    """Say how many frames were timed, and how many of their pixels the pipeline classified."""
    import numpy as np

    height, width = frames[0].depth_m.shape if frames else (0, 0)
    pixels = np.median([np.count_nonzero(pipeline.foreground.update(frame).labels) for frame in frames])
    return f"{len(frames)} frames of {width}x{height}, {pixels:.0f} candidate pixels (median)"


def _table(times: Mapping[str, np.ndarray]) -> list[str]:
    """Return lines with the median and the spread of every stage's seconds."""
    import numpy as np

    from posepipe.profiling import WHOLE

    whole = np.median(times[WHOLE])
    in_stages = sum(seconds for stage, seconds in times.items() if stage != WHOLE)
    rows = {stage: seconds for stage, seconds in times.items() if stage != WHOLE}
    rows |= {"between": times[WHOLE] - in_stages, WHOLE: times[WHOLE]}  # between: the flow itself, and labels
    lines = [f"{'stage':18s}{'median ms':>12s}{'between quartiles':>20s}{'of the step':>14s}"]
    for stage, seconds in rows.items():
        low, middle, high = np.quantile(1000 * seconds, [0.25, 0.5, 0.75])
        lines.append(f"{stage:18s}{middle:12.2f}{high - low:20.2f}{middle / 1000 / whole:14.0%}")
    return [*lines, f"{1 / whole:.0f} frames a second"]
