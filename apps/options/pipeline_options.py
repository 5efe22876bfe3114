"""Options that say how people are found: the same in `run` and `view`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.each_source import OfEachSource
from apps.options.value_types import positive, share

if TYPE_CHECKING:
    from posepipe.body_model.body_model import BodyModel
    from posepipe.models.pose_model import PoseModel
    from posepipe.pipeline import Pipeline


def add_pipeline_options(parser: argparse.ArgumentParser) -> None:
    """Add the model and the settings of the pipeline."""
    group = parser.add_argument_group("how people are found")
    group.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    group.add_argument(
        "--foreground",
        choices=["auto", "none"],
        default="auto",
        help="auto: separate people from floor, walls and furniture, unless they are cut out already; "
        "none: all pixels with a reading are one person (default: auto)",
    )
    group.add_argument(
        "--background",
        action=OfEachSource,
        metavar="EMPTY",
        help="recording of the scene without people, by the same still camera: any SOURCE but a camera; what it shows "
        "is no person (--camera, --topic, --mirror and --rotate apply to it, too)",
    )
    group.add_argument(
        "--extrinsics",
        action=OfEachSource,
        type=Path,
        metavar="FILE",
        help="pose of the camera, T_world_camera (default: estimated from the floor)",
    )
    group.add_argument(
        "--max-people",
        type=positive,
        metavar="N",
        help="keep the N highest-confidence people of a frame (default: all)",
    )
    group.add_argument(
        "--min-confidence",
        type=share,
        default=0.0,
        metavar="C",
        help="leave people out of the results whose joints have a mean confidence below C, 0 to 1 (default: 0)",
    )
    group.add_argument(
        "--thresholds",
        type=Path,
        metavar="FILE",
        help="thresholds of the stages, a TOML file as the live view saves it (docs/guides/live-view.md)",
    )
    group.add_argument("--no-tracking", action="store_true", help="treat every frame alone; ids count from 1 in each")
    group.add_argument("--smooth", action="store_true", help="smooth the joints of each track")
    add_fit_options(group)


def add_fit_options(parser: argparse.ArgumentParser | argparse._ArgumentGroup) -> None:
    """Add whether a body is fitted, and which."""
    parser.add_argument(
        "--fit",
        choices=["off", "on"],
        default="on",
        help="on: fit a body with constant bones to every person: joints keep its lengths, hidden ones are filled in, "
        "and results also hold orientations and uncertainty; off: joints stay where they were found (default: on)",
    )
    parser.add_argument(
        "--body-model",
        type=Path,
        metavar="FILE",
        help="body model that --fit uses (default: the shipped one of people)",
    )


def pipeline_options(args: argparse.Namespace) -> list[str]:
    """Return the options given that say how people are found, for commands that find nobody."""
    given = {
        "--model": args.model != "person",
        "--foreground": args.foreground != "auto",
        "--background": args.background is not None,
        "--extrinsics": args.extrinsics is not None,
        "--max-people": args.max_people,
        "--min-confidence": args.min_confidence,
        "--thresholds": args.thresholds is not None,
        "--no-tracking": args.no_tracking,
        "--smooth": args.smooth,
        "--fit": args.fit != "on",
        "--body-model": args.body_model is not None,
    }
    return [option for option, value in given.items() if value]


def fit_of(args: argparse.Namespace) -> bool | BodyModel:
    """Whether a body is fitted, as in `Pipeline.load`; or the body, of a file.

    Raises
    ------
    PosepipeError
        If the file cannot be read, or is given with ``--fit off``.
    """
    from posepipe.body_model.body_model import read_body_model
    from posepipe.errors import PosepipeError

    if args.body_model is None:
        return bool(args.fit == "on")
    if args.fit == "off":
        raise PosepipeError("--body-model is the body that is fitted; leave out --fit off, or the body model")
    return read_body_model(args.body_model)


def told_fit(args: argparse.Namespace) -> str:
    """Part of the title of figures that says how bodies were fitted; empty as `run` does unless told otherwise."""
    if args.body_model is not None:
        return f", fitted body of {args.body_model.name}"
    return ", no body fitted" if args.fit == "off" else ""


def pipeline_maker(args: argparse.Namespace, model: PoseModel) -> tuple[Callable[[], Pipeline], bool]:
    """Return a function that makes the pipeline of the arguments, and whether tracks are smoothed.

    With tracking the pipeline has a smoother, to switch off where tracks are not smoothed. Options win over the file
    of thresholds.

    Raises
    ------
    PosepipeError
        If options contradict each other, or the extrinsics, the thresholds or the background cannot be read.
    """
    from apps.options.background_option import read_background, warn_of_people
    from posepipe.camera.extrinsics_file import read_extrinsics
    from posepipe.errors import PosepipeError
    from posepipe.pipeline import Pipeline
    from posepipe.thresholds import ThresholdSettings, read_thresholds
    from posepipe.tracking.one_euro import OneEuroSmoother

    if args.smooth and args.no_tracking:
        raise PosepipeError("--smooth follows each person over time and needs tracking; leave out --no-tracking")

    if args.background is not None and args.foreground == "none":
        raise PosepipeError("--background separates people from a scene; leave out --foreground none")

    thresholds = ThresholdSettings() if args.thresholds is None else read_thresholds(args.thresholds)
    extrinsics = None if args.extrinsics is None else read_extrinsics(args.extrinsics)
    fit = fit_of(args)

    background = None
    if args.background is not None:
        background, frames = read_background(args)
        warn_of_people(background, frames, model)

    def make() -> Pipeline:
        pipeline = Pipeline.from_model(model, not args.no_tracking, args.foreground, background, fit)
        pipeline.smoother = None if args.no_tracking else OneEuroSmoother()
        thresholds.apply(pipeline)
        pipeline.max_people = args.max_people or thresholds.max_people
        pipeline.min_confidence, pipeline.extrinsics = args.min_confidence, extrinsics
        return pipeline

    return make, args.smooth or (thresholds.smooth and not args.no_tracking)
