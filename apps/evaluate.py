"""``posepipe evaluate``: part accuracy and joint accuracy on labelled datasets."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

HELP = "measure part and joint accuracy of models on labelled datasets"
EXAMPLES = (
    "posepipe synth data/validation --recipe validation && posepipe evaluate data/validation",
    "posepipe evaluate data/validation --model person --model my_model.npz --json figures.json",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("datasets", nargs="+", type=Path, metavar="DATASET")
    parser.add_argument("--model", action="append", metavar="M", help="shipped model or file; may be given again")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every figure")
    parser.add_argument("--frames", type=int, metavar="N", help="only the first N frames")


def run(args: argparse.Namespace) -> None:
    from apps.progress import progress_bar
    from posepipe.dataset import open_datasets
    from posepipe.evaluation import evaluate
    from posepipe.learn.depth_forest import DepthForest
    from posepipe.models import model_path

    frames = open_datasets(args.datasets)[: args.frames]
    reports = {}
    for model in args.model or ["person"]:
        forest = DepthForest.load(model_path(model))
        with progress_bar(len(frames), str(model), "frames") as bar:
            reports[str(model)] = evaluate(forest, frames, bar.update)
        print(f"\n{model} on {len(frames)} frames\n{reports[str(model)].text()}")
    if args.json:
        args.json.write_text(json.dumps({m: r.to_dict() for m, r in reports.items()}, indent=1) + "\n")
        print(f"figures -> {args.json}")
