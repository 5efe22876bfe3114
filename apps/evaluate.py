"""``posepipe evaluate``: part accuracy and joint accuracy on labelled datasets."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from apps.arguments import positive

if TYPE_CHECKING:
    from posepipe.dataset import FrameSequence
    from posepipe.evaluation import Report
    from posepipe.learn.depth_forest import DepthForest

HELP = "measure part and joint accuracy of models on labelled datasets, or on recordings with true joints"
EXAMPLES = (
    "posepipe synth data/validation --recipe validation && posepipe evaluate data/validation",
    "posepipe evaluate data/validation --model person --model my_model.npz --json figures.json",
    "posepipe evaluate data/validation --model my_model.npz --card    # figures into the model and its card",
    "posepipe evaluate data/rooms --whole-frames                      # who is found in rooms, and what is no person",
    "posepipe evaluate recording.npz                                  # an NPZ pack with joints_m (docs/formats.md)",
    "posepipe evaluate ITOP_side_test_depth_map.h5                    # ITOP's measure, in whole frames",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "datasets",
        nargs="+",
        type=Path,
        metavar="DATASET",
        help="datasets or labelled recordings; or NPZ packs with true joints; or ITOP's NAME_depth_map.h5",
    )
    parser.add_argument("--model", action="append", metavar="M", help="shipped model or file; may be given again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure")
    parser.add_argument("--report", type=Path, metavar="DIR", help="write tables, figures and the confusion of parts")
    parser.add_argument(
        "--card", action="store_true", help="put the figures of each model into its file and the card beside it"
    )
    parser.add_argument(
        "--ceilings",
        action="store_true",
        help="also score perfect part labels (the ceiling) and shuffled (chance)",
    )
    parser.add_argument(
        "--whole-frames",
        action=argparse.BooleanOptionalAction,
        help="find the people in the whole frame, as run does, and count who is missed (default for ITOP); or cut them"
        " out by the truth (default for all else)",
    )
    parser.add_argument("--frames", type=positive, metavar="N", help="only the first N frames")


def run(args: argparse.Namespace) -> None:
    from apps.progress import ProgressBar
    from posepipe.evaluation import TrueParts, compare, evaluate
    from posepipe.itop_scores import ItopReport, itop_view
    from posepipe.labelled_pack import open_labelled
    from posepipe.learn.depth_forest import DepthForest
    from posepipe.model_header import answer_hash
    from posepipe.models import model_path
    from posepipe.sources.itop import is_itop

    paths = {model: model_path(model) for model in args.model or ["person"]}
    hashes = {path: answer_hash(path) for path in paths.values()} if args.card else {}
    forests = {model: DepthForest.load(path) for model, path in paths.items()}
    frames = open_labelled(args.datasets, next(iter(forests.values())).body)[: args.frames]
    _check(forests, frames, args.ceilings)
    print(f"{len(frames)} frames, content {frames.identity}")
    itop = is_itop(args.datasets[0])  # its measure asks for every joint of every frame
    whole = itop if args.whole_frames is None else args.whole_frames
    reports: dict[str, Report] = {}

    def score(name: str, forest: DepthForest, instead: TrueParts | None = None) -> None:
        with ProgressBar(len(frames), name, "frames") as bar:
            report = evaluate(forest, frames, bar.update, instead, whole, in_view_joints=0 if itop else None)
        reports[name] = ItopReport.of(report, itop_view(args.datasets)) if itop else report
        print(f"\n{name}\n{reports[name].text()}")

    for model, forest in forests.items():
        score(model, forest)
        if args.ceilings:
            score(f"{model}, perfect parts", forest, TrueParts(forest.body))
            score(f"{model}, shuffled parts", forest, TrueParts(forest.body, shuffled=True))
    if len(reports) > 1:
        print(f"\n{compare(reports)}")
    names = ", ".join(path.absolute().name for path in args.datasets)
    way = "whole frames" if whole else "frames"
    title = f"{names}: {len(frames)} {way}, content {frames.identity}"
    _write_reports(args, title, reports)
    if args.card:
        _fill_cards(paths, hashes, title, reports)


def _check(forests: Mapping[str, DepthForest], frames: FrameSequence, ceilings: bool) -> None:
    from posepipe.errors import PosepipeError

    for model, forest in forests.items():
        if forest.body != frames.body:
            raise PosepipeError(
                f"model {model} knows the body {forest.body.name!r}, the frames show {frames.body.name!r}"
            )
    if ceilings and not frames.has_parts:
        raise PosepipeError(
            "--ceilings needs pixels labelled with body parts, and these frames have none; leave it out"
        )


def _write_reports(args: argparse.Namespace, title: str, reports: Mapping[str, Report]) -> None:
    from posepipe.report import write_figures, write_report

    if args.json:
        write_figures(args.json, title, reports)
        print(f"figures -> {args.json}")
    if args.report:
        write_report(args.report, title, reports)
        print(f"report -> {args.report}")


def _fill_cards(
    paths: Mapping[str, Path], hashes: Mapping[Path, str], title: str, reports: Mapping[str, Report]
) -> None:
    from posepipe.model_card import write_card
    from posepipe.model_header import add_figures

    for model, path in paths.items():
        add_figures(path, title, reports[model].summary(), hashes[path])
        print(f"figures of {model} -> {path}, its card -> {write_card(path)}")
