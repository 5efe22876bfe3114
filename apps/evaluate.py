"""``posepipe evaluate``: part accuracy and joint accuracy on labelled datasets, or how well people are tracked."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from apps.evaluation.run_suite import add_suite_options, run_suite, suite_options
from apps.evaluation.score_on_workers import ScoredData, TrackOptions, score_joints, score_sequences, score_tracks
from apps.evaluation.score_people import add_people_options, asks_for_people, people_options, score_people
from apps.evaluation.score_views import add_view_options, score_views
from apps.options.cluster_option import add_cluster_option, opened_cluster
from apps.options.input_files import refuse_to_replace
from apps.options.pipeline_options import add_fit_options, fit_of, told_fit
from apps.options.value_types import json_file, positive, seconds
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.body_model.body_model import BodyModel
    from posepipe.cluster.cluster import Cluster
    from posepipe.datasets.dataset import FrameSequence
    from posepipe.evaluation.evaluate_tracks import TrackReport
    from posepipe.evaluation.pose_report import PoseReport
    from posepipe.models.pose_model import PoseModel

HELP = "measure models on labelled datasets, or on recordings with true joints: parts, joints, tracking"
EXAMPLES = (
    "posepipe synth data/validation --recipe validation && posepipe evaluate data/validation",
    "posepipe evaluate data/validation --model person --model my_model.npz --json figures.json",
    "posepipe evaluate data/validation --model my_model.npz --card    # figures into the model and its card",
    "posepipe evaluate data/rooms --whole-frames                      # who is found in rooms, and what is no person",
    "posepipe evaluate recording.npz                                  # an NPZ pack with joints_m",
    "posepipe evaluate ITOP_side_test_depth_map.h5                    # ITOP's measure, in whole frames",
    "posepipe evaluate office.npz --labels people.jsonl --report report  # people found, missed and false, by boxes",
    "posepipe evaluate office.npz --empty                             # nobody is there: who is found all the same?",
    "posepipe evaluate data/sequences --tracks --smooth               # id switches and jitter",
    "posepipe evaluate data/first data/second --views                 # two cameras before the same scenes, and joined",
    "posepipe evaluate --suite data/suite --mocap cmu_poses.npz --motions cmu_clips.npz --fill README.md",
    "posepipe evaluate walk.mcap --tracks --whole-frames --frame-step 3  # a labelled recording, every third frame",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument(
        "datasets",
        nargs="*",
        type=Path,
        metavar="DATASET",
        help="datasets or labelled recordings; or NPZ packs with true joints; or ITOP's NAME_depth_map.h5",
    )
    parser.add_argument("--model", action="append", metavar="M", help="shipped model or file; may be given again")
    parser.add_argument("--json", type=json_file, metavar="FILE.json", help="write all figures as JSON")
    parser.add_argument(
        "--report",
        type=Path,
        metavar="DIR",
        help="write figures, charts and pictures of the best and worst people as one page, report.html",
    )
    parser.add_argument(
        "--card",
        action="store_true",
        help="store the figures in each model file and its card; with --suite, in the card alone",
    )
    parser.add_argument(
        "--oracle",
        action="store_true",
        help="also score with oracle part labels (upper bound) and with shuffled ones (chance)",
    )
    parser.add_argument(
        "--whole-frames",
        action=argparse.BooleanOptionalAction,
        help="find people in whole frames, as run does, and count missed people (default for ITOP); or cut people out"
        " by the true labels (default for all else)",
    )
    parser.add_argument("--frames", type=positive, metavar="N", help="use only the first N frames")
    parser.add_argument(
        "--camera",
        metavar="PRESET|FILE",
        help="calibration instead of their own: of NPZ packs with true joints, or of all sources of people by boxes",
    )
    add_cluster_option(parser, "score the frames of DATASETs")
    add_fit_options(parser)
    add_people_options(parser)
    add_suite_options(parser)
    add_view_options(parser)
    tracking = parser.add_argument_group("tracking")
    tracking.add_argument(
        "--tracks",
        action="store_true",
        help="measure tracking instead, beside a tracker that takes the nearest pose: id switches, MOTA, IDF1, jitter."
        " Needs sequences: datasets of a recipe such as `sequences`, labelled recordings, or NPZ packs with `name`",
    )
    tracking.add_argument(
        "--smooth", action="store_true", help="also measure smoothed joints, and the cost of smoothing"
    )
    tracking.add_argument("--frame-step", type=positive, metavar="K", help="use only every K-th frame")
    tracking.add_argument("--gap", type=seconds, metavar="S", help="leave out the middle S seconds of every sequence")


def run(args: argparse.Namespace) -> None:
    """Score every model, and print, write or file the figures."""
    from posepipe.errors import PosepipeError

    if args.suite is not None and (args.fit == "off" or args.body_model is not None):
        raise PosepipeError("--fit and --body-model do not go with --suite, which scores with the fit and without")
    if args.views and (args.suite is not None or asks_for_people(args)):
        raise PosepipeError("--views compares cameras; leave it out, or leave out --suite, --labels, --empty")
    if args.cluster and (args.suite is not None or asks_for_people(args)):
        raise PosepipeError("--cluster scores DATASETs; leave it out, or leave out --suite, --labels, --empty")
    _check_places(args)
    if args.suite is not None:
        run_suite(args)
    elif asks_for_people(args):
        score_people(args)
    else:
        _refuse_others(args)
        (score_views if args.views else _score_datasets)(args)


def _refuse_others(args: argparse.Namespace) -> None:
    """Refuse options of people by boxes and of the suite, where neither is scored."""
    from posepipe.errors import PosepipeError

    if given := people_options(args):
        raise PosepipeError(
            f"{given[0]} applies to people by boxes; add --labels FILE.jsonl or --empty, or leave it out"
        )
    if given := suite_options(args):
        raise PosepipeError(f"{given[0]} applies to the suite; add --suite DIR, or leave it out")


def _check_places(args: argparse.Namespace) -> None:
    """Refuse places that cannot be written, and files that are read, before hours of scoring."""
    from posepipe.io.files import check_writable
    from posepipe.models.registry import model_path

    outputs = [(option, path) for option, path in (("--json", args.json), ("--figure", args.figure)) if path]
    outputs += [("--report", args.report / name) for name in ("report.html", "figures.json") if args.report]
    refuse_to_replace(args, outputs)
    cards = [model_path(name).with_suffix(".md") for name in args.model or ["person"]] if args.card else []
    for place in [*(path for _, path in outputs), *args.fill, *cards]:
        check_writable(place)


def _score_datasets(args: argparse.Namespace) -> None:
    from apps.terminal.compilation import kernels_compiled
    from posepipe.evaluation.labelled.labelled_pack import open_labelled
    from posepipe.models.header import answer_hash
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_path

    _check_options(args)
    _check_files(args.datasets)
    fit = fit_of(args)
    paths = {model: model_path(model) for model in args.model or ["person"]}
    hashes = {path: answer_hash(path) for path in paths.values()} if args.card else {}
    models = {name: PoseModel.load(path) for name, path in paths.items()}
    frames = open_labelled(args.datasets, next(iter(models.values())).body, args.camera)[: args.frames]
    _check(models, frames, args.oracle)
    with kernels_compiled():
        show(f"{counted(len(frames), 'frame')}, content {frames.identity}")
    with opened_cluster(args) as cluster:
        if args.tracks:
            _score_tracks(args, models, frames, fit, cluster)
            return
        reports, title = _score_joints(args, models, frames, fit, cluster)
    _write_reports(args, title, reports)
    if args.card:
        _fill_cards(paths, hashes, title, reports)


def _check_options(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError

    of_joints = {"--report": args.report, "--card": args.card, "--oracle": args.oracle}
    of_tracks = {"--smooth": args.smooth, "--frame-step": args.frame_step, "--gap": args.gap}
    if not args.datasets:
        raise PosepipeError("wanted DATASETs to score, or --suite DIR, got neither")
    idle = [option for option, value in (of_joints if args.tracks else of_tracks).items() if value]
    if idle:
        raise PosepipeError(
            f"{idle[0]} applies to parts and joints, which --tracks does not measure; leave out one of the two"
            if args.tracks
            else f"{idle[0]} applies to tracking; add --tracks, or leave it out"
        )


def _check_files(datasets: Sequence[Path]) -> None:
    """Refuse empty files and results, and warn of recordings that are scored on what is left of them."""
    from posepipe.datasets.dataset import is_recording
    from posepipe.errors import FormatError
    from posepipe.recording import RecordingReader
    from posepipe.sinks.files.results_reader import is_results

    for path in datasets:
        if path.is_file() and path.stat().st_size == 0:
            raise FormatError(path, "the file is empty; wanted a labelled recording, or an NPZ pack with true joints")
        if is_results(path):
            raise FormatError(
                path,
                "the file holds results of a run; evaluate finds people itself, and wants frames with their truth: a"
                " dataset, a labelled recording, or an NPZ pack with true joints. posepipe info describes results",
            )
        if is_recording(path):
            with RecordingReader(path) as reader:
                if reader.missing:
                    listed = _listed_frames(path)
                    lost = f"; {listed - reader.frame_count} of {listed} frames are lost" if listed else ""
                    warnings.warn(f"{reader.missing}{lost}; figures are of what is left", stacklevel=2)


def _listed_frames(recording: Path) -> int | None:
    """How many the dataset that it lies in says it has; None where it is part of none."""
    from posepipe.datasets.dataset import Dataset
    from posepipe.errors import FormatError

    try:
        with Dataset.open(recording.parent) as dataset:
            return {entry.file: entry.frames for entry in dataset.recordings}.get(recording.name)
    except FormatError:
        return None


def _score_joints(
    args: argparse.Namespace,
    models: Mapping[str, PoseModel],
    frames: FrameSequence,
    fit: bool | BodyModel,
    cluster: Cluster | None,
) -> tuple[dict[str, PoseReport], str]:
    """Reports by model, printed, and what they are of."""
    from apps.terminal.progress import ProgressBar
    from posepipe.evaluation.evaluate_poses import evaluate
    from posepipe.evaluation.itop import ItopReport, itop_view
    from posepipe.evaluation.oracle_parts import OracleParts
    from posepipe.evaluation.pose_report import compare_reports
    from posepipe.sources.formats.itop.itop import is_itop

    itop = is_itop(args.datasets[0])  # its measure asks for every joint of every frame
    whole = itop if args.whole_frames is None else args.whole_frames
    reports: dict[str, PoseReport] = {}

    def score(name: str, model: PoseModel, oracle: OracleParts | None = None) -> None:
        with ProgressBar(len(frames), name, "frames") as bar:
            in_view_joints = 0 if itop else None
            if cluster is None or oracle is not None:  # shuffled labels are drawn frame by frame
                report = evaluate(model, frames, bar.update, oracle, whole, in_view_joints, fit)
            else:
                data = ScoredData.of(args, name)
                report = score_joints(cluster, data, len(frames), whole, in_view_joints, fit, bar.update)
        reports[name] = ItopReport.of(report, itop_view(args.datasets)) if itop else report
        show(f"\n{name}\n{reports[name].text()}")

    for name, model in models.items():
        score(name, model)
        if args.oracle:
            score(f"{name}, oracle parts", model, OracleParts(model.classifier()))
            score(f"{name}, shuffled parts", model, OracleParts(model.classifier(), shuffled=True))
    if len(reports) > 1:
        show(f"\n{compare_reports(reports)}")
    return reports, _title(args, frames, whole)


def _title(args: argparse.Namespace, frames: FrameSequence, whole: bool) -> str:
    names = ", ".join(path.absolute().name for path in args.datasets)
    kind = "whole frames" if whole else "frames"
    return f"{names}: {len(frames)} {kind}, content {frames.identity}{told_fit(args)}"


def _score_tracks(
    args: argparse.Namespace,
    models: Mapping[str, PoseModel],
    frames: FrameSequence,
    fit: bool | BodyModel,
    cluster: Cluster | None,
) -> None:
    from apps.terminal.progress import ProgressBar
    from posepipe.errors import PosepipeError
    from posepipe.evaluation.figures import write_figures

    sequences = frames.sequences()
    if not sequences:
        raise PosepipeError(
            f"{args.datasets[0]}: its frames do not follow one another, and --tracks wants sequences: a dataset of"
            " `posepipe synth --recipe sequences`, a labelled recording, or an NPZ pack with `name`"
        )
    every, whole = args.frame_step or 1, bool(args.whole_frames)
    total = sum(len(each[::every]) for _, each in sequences)
    reports: dict[str, TrackReport] = {}
    options = TrackOptions(whole, args.smooth, every, args.gap or 0.0, fit)
    for name, model in models.items():
        with ProgressBar(total, name, "frames") as bar:
            if cluster is None:
                reports[name] = score_sequences(model, frames, options, bar.update)
            else:
                data = ScoredData.of(args, name)
                reports[name] = score_tracks(cluster, data, len(sequences), options, bar.update)
        show(f"\n{name}\n{reports[name].text()}")
    if args.json:
        played = (f", every {every}. frame" if every > 1 else "") + (f", a gap of {args.gap:g} s" if args.gap else "")
        write_figures(args.json, _title(args, frames, whole) + played, reports)
        show(f"figures -> {args.json}")


def _check(models: Mapping[str, PoseModel], frames: FrameSequence, oracle: bool) -> None:
    from posepipe.errors import PosepipeError

    for name, model in models.items():
        if model.body != frames.body:
            raise PosepipeError(
                f"model {name} knows the body {model.body.name!r}, the frames show {frames.body.name!r}"
            )
    if oracle and not frames.has_parts:
        raise PosepipeError("--oracle needs pixels labelled with body parts, and these frames have none; leave it out")


def _write_reports(args: argparse.Namespace, title: str, reports: Mapping[str, PoseReport]) -> None:
    from posepipe.evaluation.figures import write_figures

    if args.json:
        write_figures(args.json, title, reports)
        show(f"figures -> {args.json}")
    if args.report:
        from posepipe.evaluation.html_report.page import write_report

        write_report(args.report, title, reports)
        show(f"report -> {args.report / 'report.html'}")


def _fill_cards(
    paths: Mapping[str, Path], hashes: Mapping[Path, str], title: str, reports: Mapping[str, PoseReport]
) -> None:
    from posepipe.models.card import write_card
    from posepipe.models.header import add_figures

    for model, path in paths.items():
        add_figures(path, title, reports[model].summary(), hashes[path])
        show(f"figures of {model} -> {path}, its card -> {write_card(path)}")
