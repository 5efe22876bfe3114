"""Options that say how people are found: the same in `run` and `view`."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.value_types import positive

if TYPE_CHECKING:
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
        "--extrinsics",
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
    group.add_argument("--no-tracking", action="store_true", help="treat every frame alone; ids count from 1 in each")
    group.add_argument("--smooth", action="store_true", help="smooth the joints of each track")


def pipeline_maker(args: argparse.Namespace, model: PoseModel) -> Callable[[], Pipeline]:
    """Return a function that makes the pipeline of the arguments; with tracking it has a smoother to switch on.

    Raises
    ------
    PosepipeError
        If options contradict each other, or the extrinsics cannot be read.
    """
    from posepipe.camera.extrinsics_file import read_extrinsics
    from posepipe.errors import PosepipeError
    from posepipe.pipeline import Pipeline
    from posepipe.tracking.one_euro import OneEuroSmoother

    if args.smooth and args.no_tracking:
        raise PosepipeError("--smooth follows each person over time and needs tracking; leave out --no-tracking")

    extrinsics = None if args.extrinsics is None else read_extrinsics(args.extrinsics)

    def make() -> Pipeline:
        pipeline = Pipeline.from_model(model, not args.no_tracking, args.foreground)
        pipeline.max_people, pipeline.extrinsics = args.max_people, extrinsics
        pipeline.smoother = None if args.no_tracking else OneEuroSmoother()
        return pipeline

    return make
