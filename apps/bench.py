"""``posepipe bench``: how long each stage takes on this machine."""

from __future__ import annotations

import argparse

from apps.arguments import positive

HELP = "time every stage of the pipeline, on the shipped recording or one of your own"
EXAMPLES = (
    "posepipe bench",
    "posepipe bench --threads 1",
    "posepipe bench my_recording.mcap --model my_model.npz --frames 300",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("source", nargs="?", metavar="SOURCE", help="recording (default: the shipped one, 320x240)")
    parser.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    parser.add_argument("--frames", type=positive, default=120, metavar="N", help="most frames timed (default: 120)")
    parser.add_argument("--threads", type=positive, metavar="T", help="threads of the kernels (default: all cores)")
    parser.add_argument("--foreground", choices=["auto", "none"], default="auto", help="as for run (default: auto)")


def run(args: argparse.Namespace) -> None:
    from itertools import islice

    import numba
    import numpy as np

    from apps.demo import RECORDING
    from apps.progress import ProgressBar
    from posepipe.errors import PosepipeError
    from posepipe.pipeline import Pipeline
    from posepipe.profiling import WHOLE, time_stages
    from posepipe.sources import open_source

    most = numba.get_num_threads()  # nobody has asked for fewer yet
    if args.threads and args.threads > most:
        raise PosepipeError(f"--threads: this machine has {most}, got {args.threads}")
    numba.set_num_threads(args.threads or most)
    pipeline = Pipeline.load(args.model, foreground=args.foreground)
    with open_source(args.source or RECORDING) as source:
        frames = list(islice(source, args.frames))
    with ProgressBar(len(frames), "bench", "frames") as bar:
        times = time_stages(pipeline, frames, bar.update)
    height, width = frames[0].depth_m.shape if frames else (0, 0)
    pixels = np.median([np.count_nonzero(pipeline.foreground.update(frame)) for frame in frames])
    threads = numba.get_num_threads()
    print(f"{len(frames)} frames of {width}x{height}, {pixels:.0f} candidate pixels (median), {threads} threads")
    whole = np.median(times[WHOLE])
    in_stages = sum(seconds for stage, seconds in times.items() if stage != WHOLE)
    times = {stage: times[stage] for stage in times if stage != WHOLE} | {
        "between": times[WHOLE] - in_stages,  # weighing points, labels, and the flow itself
        WHOLE: times[WHOLE],
    }
    print(f"{'stage':12s}{'median ms':>12s}{'between quartiles':>20s}{'of the step':>14s}")
    for stage, seconds in times.items():
        low, middle, high = np.quantile(1000 * seconds, [0.25, 0.5, 0.75])
        print(f"{stage:12s}{middle:12.2f}{high - low:20.2f}{middle / 1000 / whole:14.0%}")
    print(f"{1 / whole:.0f} frames a second")
