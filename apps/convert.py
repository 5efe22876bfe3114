"""``posepipe convert``: a recording, or results, into another format."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.source_options import add_source_options, open_as_asked, refuse_source_options
from apps.terminal.plain_text import show
from apps.terminal.progress import ProgressBar

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.sinks.files.bvh import BvhSink
    from posepipe.sinks.files.csv_file import CsvSink
    from posepipe.sinks.files.json_lines import Results

HELP = "convert a recording to another format, or results to a table or motion capture"
EXAMPLES = (
    "posepipe convert walk.bag walk.mcap                            # same depth, times and calibration",
    "posepipe convert walk.mkv frames --start 10 --end 20           # a folder of PNGs",
    "posepipe convert frames/ pack.npz --rotate 90 --mirror",
    "posepipe convert results.jsonl results.csv",
    "posepipe convert results.jsonl walk.bvh                        # also from an interrupted run",
    "posepipe convert results.jsonl dog.bvh --model dog.npz         # of a model with another body",
)
RESULT_SUFFIXES = (".csv", ".bvh")
"""Formats made from results; all others are made from depth frames."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_source_options(parser, "SOURCE|RESULTS", "depth frames, or the results.jsonl of `posepipe run`")
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="file to write: from depth frames .mcap, .npz or a folder of PNGs; from results .csv or .bvh",
    )
    parser.add_argument(
        "--round-to-mm", action="store_true", help="round finer depth if the format stores whole millimetres only"
    )
    parser.add_argument("--model", metavar="M", help="model that found the results, if its body is not a person's")


def run(args: argparse.Namespace) -> None:
    """Convert the source, depth frames or results."""
    from posepipe.errors import PosepipeError
    from posepipe.sinks.files.json_lines import is_results

    source = Path(args.source)
    if args.file.resolve() == source.resolve():
        raise PosepipeError(f"{args.file} would replace its own source; give another name")
    if source.suffix == ".jsonl" or is_results(source):
        refuse_source_options(args, args.source)
        convert_results(source, args.file, args.model)
    elif args.file.suffix.lower() in RESULT_SUFFIXES:
        raise PosepipeError(f"{args.file} is made from results; first: posepipe run {source} --out results.jsonl")
    else:
        convert_source(args)


def convert_source(args: argparse.Namespace) -> None:
    """Write the frames of a source, as the arguments play it, to a file of another format."""
    from posepipe.sources.conversion import convert_frames

    source = open_as_asked(args)
    with ProgressBar(source.frame_count, "convert", "frames") as bar:
        count = convert_frames(source, args.file, args.round_to_mm, bar.update)
    show(f"{count} frames -> {args.file}")


def convert_results(source: Path, file: Path, model: str | None) -> None:
    """Write results to a file whose suffix names the format."""
    from posepipe.errors import PosepipeError
    from posepipe.sinks.files.json_lines import read_results

    if file.suffix.lower() not in RESULT_SUFFIXES:
        raise PosepipeError(f"{file}: wanted a name that ends in {' or '.join(RESULT_SUFFIXES)}")
    results = read_results(source)
    if results.missing:
        warnings.warn(results.missing, stacklevel=2)
    sink = _make_sink(results, file, model)
    with ProgressBar(len(results.frames), "convert", "frames") as bar, sink:
        for row in results.frames:
            sink.write_row(row)
            bar.update()
    show(f"{len(results.frames)} frames, {sum(bool(row.people) for row in results.frames)} with people in view")
    for line in _written(sink):
        show(line)


def _make_sink(results: Results, file: Path, model: str | None) -> BvhSink | CsvSink:
    from posepipe.sinks.files.bvh import BvhSink
    from posepipe.sinks.files.csv_file import CsvSink

    if file.suffix.lower() == ".csv":
        return CsvSink(file, results.joints)
    return BvhSink(file, _body(results, model))


def _body(results: Results, model: str | None) -> BodyDefinition:
    """Return the body of a model, or a person's, that has all joints of the results."""
    from posepipe.body import HUMAN
    from posepipe.errors import PosepipeError
    from posepipe.models.pose_model import PoseModel

    body = HUMAN if model is None else PoseModel.load(model).body
    if unknown := set(results.joints) - set(body.joints):
        advice = "give --model with the model that found them" if model is None else "give the model that found them"
        raise PosepipeError(f"the results have joint {min(unknown)!r}, which a {body.name} does not have; {advice}")
    return body


def _written(sink: BvhSink | CsvSink) -> list[str]:
    from posepipe.sinks.files.bvh import BvhSink

    if isinstance(sink, BvhSink):
        return [str(each) for each in sink.written] or [f"no person to write to {sink.path}"]
    return [f"-> {sink.path}"]
