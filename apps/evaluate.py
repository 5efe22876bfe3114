"""``posepipe evaluate``: part accuracy and joint accuracy on labelled datasets."""

from __future__ import annotations

import argparse
from pathlib import Path

from apps.arguments import positive

HELP = "measure part and joint accuracy of models on labelled datasets"
EXAMPLES = (
    "posepipe synth data/validation --recipe validation && posepipe evaluate data/validation",
    "posepipe evaluate data/validation --model person --model my_model.npz --json figures.json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("datasets", nargs="+", type=Path, metavar="DATASET")
    parser.add_argument("--model", action="append", metavar="M", help="shipped model or file; may be given again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure")
    parser.add_argument("--report", type=Path, metavar="DIR", help="write tables, figures and the confusion of parts")
    parser.add_argument("--card", type=Path, metavar="FILE.md", help="put the first model's figures into its card")
    parser.add_argument(
        "--ceilings",
        action="store_true",
        help="also score perfect part labels (the ceiling) and shuffled (chance)",
    )
    parser.add_argument("--frames", type=positive, metavar="N", help="only the first N frames")


def run(args: argparse.Namespace) -> None:
    from apps.progress import ProgressBar
    from posepipe.dataset import open_datasets
    from posepipe.errors import PosepipeError
    from posepipe.evaluation import TrueParts, compare, evaluate
    from posepipe.learn.depth_forest import DepthForest
    from posepipe.models import model_path
    from posepipe.report import fill_card, write_figures, write_report

    frames = open_datasets(args.datasets)[: args.frames]
    print(f"{len(frames)} frames, content {frames.identity}")
    reports = {}

    def score(name: str, forest: DepthForest, instead: TrueParts | None = None) -> None:
        with ProgressBar(len(frames), name, "frames") as bar:
            reports[name] = evaluate(forest, frames, bar.update, instead)
        print(f"\n{name}\n{reports[name].text()}")

    for model in args.model or ["person"]:
        forest = DepthForest.load(model_path(model))
        if forest.body != frames.body:
            raise PosepipeError(
                f"model {model} knows the body {forest.body.name!r}, the frames show {frames.body.name!r}"
            )
        score(model, forest)
        if args.ceilings:
            score(f"{model}, perfect parts", forest, TrueParts(forest.body))
            score(f"{model}, shuffled parts", forest, TrueParts(forest.body, shuffled=True))
    if len(reports) > 1:
        print(f"\n{compare(reports)}")
    title = f"{', '.join(path.name for path in args.datasets)}: {len(frames)} frames, content {frames.identity}"
    if args.json:
        write_figures(args.json, title, reports)
        print(f"figures -> {args.json}")
    if args.report:
        write_report(args.report, title, reports)
        print(f"report -> {args.report}")
    if args.card:
        fill_card(args.card, title, next(iter(reports.values())))
        print(f"card -> {args.card}")
