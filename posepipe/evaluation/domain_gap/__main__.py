"""Domain gap: compares sources of cut-out people, such as rendered frames and those of a camera.

python -m posepipe.evaluation.domain_gap data/validation real_frames/ --figure domain-gap.png
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from itertools import islice

import cv2
import numpy as np

from posepipe.errors import PosepipeError
from posepipe.evaluation.domain_gap.depth_statistics import MAX_COVERED, measure_depth
from posepipe.evaluation.domain_gap.figure import draw_comparison
from posepipe.io.files import replace_file
from posepipe.sources import open_source


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m posepipe.evaluation.domain_gap",
        description="Compare sources of cut-out people: silhouettes, holes, noise.",
    )
    parser.add_argument("sources", nargs="+", metavar="SOURCE")
    parser.add_argument("--frames", type=int, default=300, metavar="N", help="measure the first N (default 300)")
    parser.add_argument("--figure", metavar="FILE.png", help="draw two sources side by side: a frame of each, curves")
    parser.add_argument(
        "--curves-only", action="append", default=[], metavar="SOURCE",
        help="show no frame of this source in the figure, where people must not be shown",
    )  # fmt: skip
    args = parser.parse_args(arguments)
    if args.frames < 1:
        parser.error(f"--frames: wanted 1 or more, got {args.frames}")
    if args.figure and (len(set(args.sources)) != 2 or not args.figure.lower().endswith(".png")):
        parser.error(f"--figure: wanted two sources and a name that ends on .png, got {args.figure}")
    if unknown := [name for name in args.curves_only if name not in args.sources]:
        parser.error(f"--curves-only: {unknown[0]} is none of the sources")
    try:
        _compare(args)
    except (PosepipeError, ValueError) as error:
        sys.exit(f"posepipe.evaluation.domain_gap: error: {error}")


def _compare(args: argparse.Namespace) -> None:
    measured = {}
    for name in args.sources:
        with open_source(name) as source:
            try:
                measured[name] = measure_depth(islice(source, args.frames))
            except ValueError as error:
                raise ValueError(f"{name}: {error}") from None
        covered = float(np.median(measured[name].covered))
        if covered > MAX_COVERED:
            raise ValueError(
                f"{name}: readings cover {covered:.0%} of the image (median), as of whole scenes; wanted people who are"
                " cut out, with 0 elsewhere"
            )
    print(_table({name: statistics.figures() for name, statistics in measured.items()}))
    if args.figure:
        image = draw_comparison(measured, without_frame=args.curves_only)
        replace_file(args.figure, cv2.imencode(".png", image)[1].tobytes())


def _table(figures: dict[str, dict[str, float]]) -> str:
    lines = [" " * 24 + "".join(f"{name[-20:]:>22s}" for name in figures)]
    for name in next(iter(figures.values())):
        lines.append(f"{name:24s}" + "".join(f"{each[name]:22.3f}" for each in figures.values()))
    return "\n".join(lines)


if __name__ == "__main__":
    main()
