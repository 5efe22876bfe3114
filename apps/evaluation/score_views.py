"""``posepipe evaluate DATASET DATASET... --views``: cameras that see the same scenes, alone and joined."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from apps.options.pipeline_options import fit_of, told_fit
from apps.terminal.plain_text import show

if TYPE_CHECKING:
    from posepipe.evaluation.evaluate_views import ViewsReport


def add_view_options(parser: argparse.ArgumentParser) -> None:
    """Add whether the datasets are views of the same scenes."""
    group = parser.add_argument_group("several cameras")
    group.add_argument(
        "--views",
        action="store_true",
        help="the DATASETs show the same scenes from one camera each: score each camera alone and all joined, in whole"
        " frames. Needs sequences of a recipe such as `two-cameras`",
    )


def score_views(args: argparse.Namespace) -> None:
    """Score every model, print the figures, and write them where the arguments say."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.evaluation.evaluate_views import evaluate_views
    from posepipe.evaluation.figures import write_figures
    from posepipe.models.pose_model import PoseModel

    _check(args)
    fit = fit_of(args)
    models = {name: PoseModel.load(name) for name in args.model or ["person"]}
    views = [open_datasets([path])[: args.frames] for path in args.datasets]
    moments = sum(len(frames) for _, frames in views[0].sequences())
    names = ", ".join(path.absolute().name for path in args.datasets)
    title = f"{names}: {moments} moments, content {' '.join(view.identity for view in views)}{told_fit(args)}"
    show(title)
    reports: dict[str, ViewsReport] = {}
    for name, model in models.items():
        with ProgressBar(moments, name, "moments") as bar:
            reports[name] = evaluate_views(model, views, bar.update, fit)
        show(f"\n{name}\n{reports[name].text()}")
    if args.json:
        write_figures(args.json, title, reports)
        show(f"figures -> {args.json}")


def _check(args: argparse.Namespace) -> None:
    from posepipe.errors import PosepipeError

    others = {
        "--tracks": args.tracks,
        "--report": args.report,
        "--card": args.card,
        "--oracle": args.oracle,
        "--cluster": args.cluster,
        "--smooth": args.smooth,
        "--frame-step": args.frame_step,
        "--gap": args.gap,
        "--camera": args.camera,
        "--no-whole-frames": args.whole_frames is False,
    }
    if given := [option for option, value in others.items() if value]:
        raise PosepipeError(f"{given[0]} is of single cameras; leave it out, or leave out --views")
    if len(args.datasets) < 2:
        raise PosepipeError(f"--views wants a DATASET for each of several cameras, got {len(args.datasets)}")
