"""``posepipe convert``: a recording, results or a model into another format."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.input_files import refuse_to_replace
from apps.options.source_options import add_source_options, open_as_asked, refuse_source_options
from apps.options.value_types import MOTION_SUFFIXES, positive, share_between
from apps.terminal.plain_text import show
from apps.terminal.progress import ProgressBar
from posepipe.errors import counted

if TYPE_CHECKING:
    import numpy as np

    from posepipe.body import BodyDefinition
    from posepipe.models.pose_model import PoseModel
    from posepipe.sinks.files.csv_file import CsvSink
    from posepipe.sinks.files.json_lines import ResultsHeader
    from posepipe.sinks.motion.motion_sink import MotionSink

HELP = "convert a recording to another format, results to a table or motion capture, or a model to a smaller one"
EXAMPLES = (
    "posepipe convert walk.bag walk.mcap                            # same depth, times and calibration",
    "posepipe convert walk.mkv frames --start 10 --end 20           # a folder of PNGs",
    "posepipe convert frames/ pack.npz --rotate 90 --mirror",
    "posepipe convert results.jsonl results.csv",
    "posepipe convert results.jsonl walk.bvh                        # also from an interrupted run",
    "posepipe convert results.jsonl walk.trc                        # markers for OpenSim, or walk.c3d, walk.glb",
    "posepipe convert results.jsonl dog.bvh --model dog.npz         # of a model with another body",
    "posepipe convert old.npz new.npz                               # a model, as this version saves it: smaller",
    "posepipe convert person half.npz --prune 0.5                   # with half of the leaves",
    "posepipe convert person half.npz --prune 0.5 --prune-by data/other   # by errors on frames it was not trained on",
    "posepipe convert person fast.npz --trees 1                     # with its first tree alone: smaller and faster",
    "posepipe convert person once.npz --first-pass                  # without its second pass: faster",
    "posepipe convert mine.npz strict.npz --person-probability 0.7  # takes less furniture for people, and finds fewer",
    "posepipe convert mine.npz small.npz --leaf-steps 17            # with coarser leaves: a smaller file",
    "posepipe convert person trees.json                             # its trees for other programs, or trees.h for C",
    "posepipe convert pcl_trees/ pcl.npz                            # the Point Cloud Library's tree files",
)
RESULT_SUFFIXES = (".csv", *MOTION_SUFFIXES)
"""Formats made from results; all others are made from depth frames."""
MODEL_SUFFIXES = (".npz",)
"""Formats of models."""
TREE_SUFFIXES = (".json", ".h")
"""Formats made from the trees of a model, for other programs."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_source_options(parser, "SOURCE|RESULTS|MODEL|TREES", "depth frames, results.jsonl, a model, or tree files")
    parser.add_argument(
        "file",
        type=Path,
        metavar="FILE",
        help="file to write: from depth frames .mcap, .npz or a folder of PNGs; from results .csv, .bvh, .c3d, .trc or"
        " .glb; from a model or tree files .npz; from a model .json or .h, its trees alone",
    )
    parser.add_argument(
        "--round-to-mm", action="store_true", help="round finer depth if the format stores whole millimetres only"
    )
    parser.add_argument("--model", metavar="M", help="model that found the results, if its body is not a person's")
    parser.add_argument(
        "--trees",
        type=positive,
        metavar="N",
        help="keep the first trees of a model; then fit its joints anew by posepipe train --only joints, and its"
        " second pass",
    )
    parser.add_argument(
        "--first-pass",
        action="store_const",
        const=True,
        help="leave out the second pass of a model: it is faster, and less accurate",
    )
    parser.add_argument(
        "--person-probability",
        type=share_between,
        metavar="P",
        help="let a model take candidates for people from this probability on, such as 0.6: the higher, the less"
        " furniture and the fewer people",
    )
    parser.add_argument(
        "--leaf-steps",
        type=positive,
        metavar="N",
        help="round the posteriors of leaves to multiples of 1/N; with 17 the file is a quarter smaller or more, and "
        "the model hardly less accurate",
    )
    parser.add_argument(
        "--prune",
        type=share_between,
        metavar="SHARE",
        help="keep at most this share of the leaves of a model, such as 0.5",
    )
    parser.add_argument(
        "--prune-by",
        nargs="+",
        metavar="DATASET",
        help="prune a model by its errors on these labelled frames, which it was not trained on; without --prune, keep "
        "the leaves of minimum error",
    )


def run(args: argparse.Namespace) -> None:
    """Convert the source: depth frames, results, a model, or trees of another program."""
    from posepipe.errors import PosepipeError
    from posepipe.io.files import check_writable
    from posepipe.learn.interchange.pcl_tree_file import pcl_tree_files
    from posepipe.models.model_file import is_model_file
    from posepipe.models.registry import model_names
    from posepipe.sinks.files.results_reader import is_results
    from posepipe.sources.cameras import is_camera_name

    source = Path(args.source)
    is_model = is_model_file(source) if source.is_file() else args.source in model_names() and not source.exists()
    of_models = {
        "--trees": args.trees,
        "--first-pass": args.first_pass,
        "--person-probability": args.person_probability,
        "--leaf-steps": args.leaf_steps,
        "--prune": args.prune,
        "--prune-by": args.prune_by,
    }
    asked = next((option for option, value in of_models.items() if value is not None), "")
    if asked and not is_model:
        raise PosepipeError(f"{asked} is for models, and {source} is none; leave it out")
    if args.file.resolve() == source.resolve():
        raise PosepipeError(f"{args.file} would replace its own source; give another name")
    refuse_to_replace(args, [("", args.file)])
    is_frames_file = args.file.suffix.lower() not in RESULT_SUFFIXES
    if args.model is not None and (is_model or is_frames_file):
        raise PosepipeError("--model names the body of results, which become a table or motion; leave it out")
    if is_model:
        refuse_source_options(args, args.source, "is a model")
        check_writable(args.file)
        convert_model(args)
    elif trees := pcl_tree_files(source):
        refuse_source_options(args, args.source, "are trees")
        import_trees(trees, args.file)
    elif source.suffix == ".jsonl" or is_results(source):
        refuse_source_options(args, args.source)
        convert_results(source, args.file, args.model)
    elif source.is_file() and source.suffix.lower() in RESULT_SUFFIXES:
        raise PosepipeError(f"{source}: wanted the results of a run as JSON lines, results.jsonl; give those")
    elif args.file.suffix.lower() in RESULT_SUFFIXES:
        if not source.exists() and not is_camera_name(args.source):
            raise PosepipeError(f"{source}: no such file or folder")
        raise PosepipeError(f"{args.file} is made from results; first: posepipe run {source} --out results.jsonl")
    else:
        convert_source(args)


def convert_source(args: argparse.Namespace) -> None:
    """Write the frames of a source, as the arguments play it, to a file of another format."""
    from posepipe.errors import PosepipeError
    from posepipe.sources.conversion import convert_frames

    if args.colour is not None and args.file.suffix.lower() != ".mcap":
        raise PosepipeError(f"{args.file}: only .mcap recordings keep colour; name one, or leave out --colour")
    source = open_as_asked(args)
    with ProgressBar(source.frame_count, "convert", "frames") as bar:
        count = convert_frames(source, args.file, args.round_to_mm, bar.update)
    show(f"{counted(count, 'frame')} -> {args.file}")


def convert_model(args: argparse.Namespace) -> None:
    """Write a model as this version saves it, with the trees and leaves that are asked for."""
    from posepipe.errors import PosepipeError
    from posepipe.models.change_model import accept_people_from, coarsen_leaves, keep_first_pass, keep_trees
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.prune_model import prune_model

    _check_model_name(args.file, (*MODEL_SUFFIXES, *TREE_SUFFIXES))
    converted = PoseModel.load(args.source)
    if args.trees is not None:
        converted = keep_trees(converted, args.trees)
    if args.first_pass:
        if converted.second_pass is None:
            raise PosepipeError(f"{args.source} has no second pass; leave out --first-pass")
        converted = keep_first_pass(converted)
    if args.person_probability is not None:
        converted = accept_people_from(converted, args.person_probability)
    if args.prune is not None or args.prune_by:
        reached = _count_pixels(converted, args.prune_by) if args.prune_by else None
        converted = prune_model(converted, args.prune, reached)
    if args.leaf_steps is not None:
        converted = coarsen_leaves(converted, args.leaf_steps)
    if args.file.suffix.lower() in TREE_SUFFIXES:
        export_trees(converted, args.file)
    else:
        _save_model(converted, args.file)


def _count_pixels(model: PoseModel, datasets: Sequence[str]) -> list[np.ndarray]:
    from posepipe.datasets.dataset import open_datasets
    from posepipe.training.leaf_counts import MAX_FRAMES, count_pixels

    frames = open_datasets(datasets)
    if frames.body != model.body:
        raise ValueError(f"{datasets[0]} shows bodies {frames.body.name!r}, the model is of {model.body.name!r}")
    with ProgressBar(min(len(frames), MAX_FRAMES), "count", "frames") as bar:
        return count_pixels(model.forest, frames, bar.update)


def export_trees(model: PoseModel, file: Path) -> None:
    """Write the trees of a model for other programs; the suffix names the format."""
    from posepipe.learn.interchange.c_header import write_c_header
    from posepipe.learn.interchange.flat_trees import flat_depth_forest
    from posepipe.learn.interchange.json_trees import write_json_trees

    trees = flat_depth_forest(model.forest)
    write = write_json_trees if file.suffix.lower() == ".json" else write_c_header
    write(file, trees)
    n_trees = counted(len(trees.roots), "tree")
    show(f"{n_trees}, {len(trees.feature):,} nodes, {file.stat().st_size / 1e6:.1f} MB -> {file}")


def import_trees(trees: Sequence[Path], file: Path) -> None:
    """Write a model made of tree files of the Point Cloud Library; joints follow from the prior of the shipped one."""
    from posepipe.models.pcl_model import import_pcl_model
    from posepipe.models.pose_model import PoseModel

    _check_model_name(file, MODEL_SUFFIXES)
    _save_model(import_pcl_model(trees, PoseModel.load("person").joint_parameters), file)


def _check_model_name(file: Path, suffixes: Sequence[str]) -> None:
    from posepipe.errors import PosepipeError

    if file.suffix.lower() not in suffixes:
        raise PosepipeError(f"{file}: wanted a name that ends in {' or '.join(suffixes)}")


def _save_model(model: PoseModel, file: Path) -> None:
    from posepipe.io.files import name_text

    model = model.with_metadata(name=name_text(file.stem))
    model.save(file)
    leaves = sum(tree.n_leaves for tree in model.forest.trees)
    show(f"{counted(len(model.forest.trees), 'tree')}, {leaves:,} leaves, {file.stat().st_size / 1e6:.1f} MB -> {file}")


def convert_results(source: Path, file: Path, model: str | None) -> None:
    """Write results to a file whose suffix names the format."""
    from posepipe.errors import PosepipeError
    from posepipe.sinks.files.results_reader import ResultsReader

    if file.suffix.lower() not in RESULT_SUFFIXES:
        raise PosepipeError(f"{file}: wanted a name that ends in {' or '.join(RESULT_SUFFIXES)}")
    with ResultsReader(source) as results:
        sink = _make_sink(results.header, file, model)
        # all of it is read once before anything is written: it may be damaged
        people = [len(row.people) for row in results]
    if not results.header.tracked and max(people, default=0) > 1 and file.suffix.lower() in MOTION_SUFFIXES:
        raise PosepipeError(f"{source} is of a run with --no-tracking, whose ids are of one frame; run without it")
    if results.missing:
        warnings.warn(results.missing, stacklevel=2)
    with ResultsReader(source) as results, ProgressBar(len(people), "convert", "frames") as bar, sink:
        for row in islice(results, len(people)):  # of a run that goes on, no later ones
            sink.write_row(row)
            bar.update()
    show(f"{counted(len(people), 'frame')}, {sum(map(bool, people))} with people in view")
    for line in _written(sink):
        show(line)


def _make_sink(header: ResultsHeader, file: Path, model: str | None) -> CsvSink | MotionSink:
    from posepipe.sinks.files.csv_file import CsvSink
    from posepipe.sinks.motion.motion_formats import open_motion_sink

    if file.suffix.lower() == ".csv":
        return CsvSink(file, header.joints, header.fitted, whole=True)
    return open_motion_sink(file, _body(header, model), whole=True)


def _body(header: ResultsHeader, model: str | None) -> BodyDefinition:
    """Return the body of a model, or a person's, that has all joints of the results."""
    from posepipe.body import HUMAN
    from posepipe.errors import PosepipeError
    from posepipe.models.pose_model import PoseModel

    body = HUMAN if model is None else PoseModel.load(model).body
    if unknown := set(header.joints) - set(body.joints):
        advice = "give --model with the model that found them" if model is None else "give the model that found them"
        raise PosepipeError(f"the results have joint {min(unknown)!r}, which a {body.name} does not have; {advice}")
    return body


def _written(sink: CsvSink | MotionSink) -> list[str]:
    from posepipe.sinks.files.csv_file import CsvSink

    if isinstance(sink, CsvSink):
        return [f"-> {sink.path}"]
    return [str(each) for each in sink.written] or [f"no person to write to {sink.path}"]
