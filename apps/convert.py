"""``posepipe convert``: a recording, or results, into another format."""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import TYPE_CHECKING

from apps.progress import ProgressBar
from apps.source_arguments import add_source_arguments, open_as_asked, refuse_source_options

if TYPE_CHECKING:
    from posepipe.body import BodyDefinition
    from posepipe.sinks.files.bvh import BvhSink
    from posepipe.sinks.files.csv_file import CsvSink
    from posepipe.sinks.files.json_lines import Results

HELP = "turn a recording into another format, or results into a table or motion capture"
EXAMPLES = (
    "posepipe convert walk.bag walk.mcap                            # depth, times and lens as they are",
    "posepipe convert walk.mkv frames --start 10 --end 20           # a folder of PNGs",
    "posepipe convert frames/ pack.npz --rotate 90 --mirror",
    "posepipe convert results.jsonl results.csv",
    "posepipe convert results.jsonl walk.bvh                        # also of a run that was killed",
    "posepipe convert results.jsonl dog.bvh --model dog.npz         # bones of another body than a person's",
)
OF_RESULTS = (".csv", ".bvh")
"""What is made of results; the other formats are of depth frames."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_source_arguments(parser, "SOURCE|RESULTS", "depth frames, or the results.jsonl of `posepipe run`")
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="what to make: of depth frames .mcap, .npz or a folder of PNGs; of results .csv or .bvh",
    )
    parser.add_argument(
        "--round-to-mm", action="store_true", help="round depth that is finer, where the format holds whole millimetres"
    )
    parser.add_argument("--model", metavar="M", help="for .bvh, of other bodies than people: whose bones")


def run(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError
    from posepipe.sinks.files.json_lines import is_results

    source = Path(args.source)
    if args.file.resolve() == source.resolve():
        raise PosepipeError(f"{args.file} would replace what it is made from; give another name")
    if source.suffix == ".jsonl" or is_results(source):
        refuse_source_options(args, args.source)
        convert_results(source, args.file, args.model)
    elif args.file.suffix.lower() in OF_RESULTS:
        raise PosepipeError(f"{args.file} is made of results; first: posepipe run {source} --out results.jsonl")
    else:
        convert_source(args)


def convert_source(args: argparse.Namespace) -> None:
    """Play a source as asked into a file of another format."""
    from posepipe.sources.conversion import convert_frames

    source = open_as_asked(args)
    with ProgressBar(source.frame_count, "convert", "frames") as bar:
        count = convert_frames(source, args.file, args.round_to_mm, bar.update)
    print(f"{count} frames -> {args.file}")


def convert_results(source: Path, file: Path, model: str | None) -> None:
    """Read a results file and write it as the suffix of ``file`` asks."""
    from posepipe.errors import PosepipeError
    from posepipe.sinks.files.json_lines import read_results

    if file.suffix.lower() not in OF_RESULTS:
        raise PosepipeError(f"{file}: wanted a name that ends in {' or '.join(OF_RESULTS)}")
    results = read_results(source)
    if results.missing:
        warnings.warn(results.missing, stacklevel=2)
    sink = _make_sink(results, file, model)
    with ProgressBar(len(results.frames), "convert", "frames") as bar, sink:
        for row in results.frames:
            sink.write_row(row)
            bar.update()
    print(f"{len(results.frames)} frames, {sum(bool(row.people) for row in results.frames)} with somebody in view")
    for line in _written(sink):
        print(line)


def _make_sink(results: Results, file: Path, model: str | None) -> BvhSink | CsvSink:
    from posepipe.sinks.files.bvh import BvhSink
    from posepipe.sinks.files.csv_file import CsvSink

    if file.suffix.lower() == ".csv":
        return CsvSink(file, results.joints)
    return BvhSink(file, _body(results, model))


def _body(results: Results, model: str | None) -> BodyDefinition:
    """Whose joints these are: a model's, or a person's."""
    from posepipe.body import HUMAN
    from posepipe.errors import PosepipeError
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.models.registry import model_path

    body = HUMAN if model is None else DepthForest.load(model_path(model)).body
    if strangers := set(results.joints) - set(body.joints):
        advice = "give --model with the model that found them" if model is None else "give the model that found them"
        raise PosepipeError(f"the results have joint {min(strangers)!r}, which a {body.name} does not have; {advice}")
    return body


def _written(sink: BvhSink | CsvSink) -> list[str]:
    from posepipe.sinks.files.bvh import BvhSink

    if isinstance(sink, BvhSink):
        return [str(each) for each in sink.written] or [f"nobody to write to {sink.path}"]
    return [f"-> {sink.path}"]
