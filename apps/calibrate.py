"""``posepipe calibrate``: the poses of several cameras, from a person who walks through their views."""

from __future__ import annotations

import argparse
import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from apps.options.each_source import each_source, words_of_source
from apps.options.input_files import refuse_to_replace
from apps.options.source_options import add_source_options, open_together
from apps.options.value_types import seconds_within_an_hour
from apps.terminal.plain_text import show

if TYPE_CHECKING:
    from posepipe.multiview.calibration import CalibratedCamera, CameraCalibration
    from posepipe.sources import FrameSource

HELP = "find the poses of several cameras from a person who walks through their views"
EXAMPLES = (
    "posepipe calibrate left.mcap right.mcap --out calibration",
    "posepipe calibrate camera:realsense:0 camera:realsense:1 --end 30      # walk about for half a minute",
    "posepipe calibrate left.mcap right.mcap --extrinsics left.json         # camera 1 sees no floor",
    "posepipe calibrate left/ right/ --max-offset 2                         # recordings that began by hand, no dates",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    add_source_options(parser, several=True)
    parser.add_argument("--model", default="person", metavar="M", help="shipped model or model file (default: person)")
    parser.add_argument(
        "--extrinsics", type=Path, metavar="FILE", help="pose of the first camera (default: estimated from its floor)"
    )
    parser.add_argument(
        "--max-offset",
        type=seconds_within_an_hour,
        default=0.0,
        metavar="S",
        help="search for an offset of up to S seconds between the clocks (default: 0, they agree; sources without dates"
        " begin together)",
    )
    parser.add_argument(
        "--out",
        type=Path,
        default=Path("calibration"),
        metavar="DIR",
        help="folder for camera-1.json, camera-2.json ..., for --extrinsics of `run` (default: calibration)",
    )


def run(args: argparse.Namespace) -> None:
    """Find the people of all sources, then the poses of the cameras, and write these."""
    from apps.terminal.compilation import kernels_compiled
    from posepipe.camera.extrinsics_file import read_extrinsics
    from posepipe.errors import PosepipeError
    from posepipe.io.files import check_writable
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_path
    from posepipe.multiview.calibration import CameraCalibration
    from posepipe.pipeline import Pipeline

    if not args.further:
        raise PosepipeError("wanted the SOURCEs of at least two cameras, got one")
    if args.out.is_file():
        raise PosepipeError(f"--out {args.out} is a file; give the name of a folder")
    each = each_source(args)
    if twice := _given_twice(each):
        raise PosepipeError(f"{twice} is given twice; wanted the SOURCE, or the --topic, of another camera")
    files = [args.out / f"camera-{number}.json" for number in range(1, len(each) + 1)]
    refuse_to_replace(args, [("--out", file) for file in files])
    for file in files:
        check_writable(file)
    world = None if args.extrinsics is None else read_extrinsics(args.extrinsics)
    sources = open_together(each, [0.0] * len(each))
    with kernels_compiled():
        model = PoseModel.load(model_path(args.model))
        calibration = CameraCalibration([Pipeline.from_model(model) for _ in sources], world)
    _play(sources, calibration)
    _write(files, each, calibration.find(args.max_offset))


def _given_twice(each: Sequence[argparse.Namespace]) -> str | None:
    """The first source that is the same camera as one before it."""
    places = [(os.path.realpath(one.source), one.topic) for one in each]
    return next((str(one.source) for row, one in enumerate(each) if places[row] in places[:row]), None)


def _play(sources: list[FrameSource], calibration: CameraCalibration) -> None:
    """Show all frames to the calibration."""
    from apps.terminal.progress import ProgressBar
    from posepipe.multiview.frame_sets import FrameSets

    with FrameSets(sources) as frame_sets, ProgressBar(frame_sets.frame_count, "calibrate", "frames") as bar:
        for frame_set in frame_sets:
            calibration.add(frame_set, frame_sets.shifts_s)
            bar.update()


def _write(files: Sequence[Path], each: Sequence[argparse.Namespace], cameras: Sequence[CalibratedCamera]) -> None:
    """Print how the pose of every camera was found, write it, and print how it is used."""
    from posepipe.camera.extrinsics_file import write_extrinsics

    for number, (file, camera) in enumerate(zip(files, cameras, strict=True), start=1):
        show(f"camera {number}: {_described(camera, cameras[0])} -> {file}")  # before a full disk may lose it
    words = ["posepipe", "run"]
    for file, one, camera in zip(files, each, cameras, strict=True):
        write_extrinsics(file, camera.extrinsics, 0.0 if camera.walk is None else camera.walk.time_offset_s)
        words += [*words_of_source(one), "--extrinsics", str(file)]
    args = each[0]
    words += ["--mirror"] * args.mirror + (["--model", args.model] if args.model != "person" else [])
    show(shlex.join(words))


def _described(camera: CalibratedCamera, first: CalibratedCamera) -> str:
    from posepipe.camera import Extrinsics, Plane

    position_m = camera.extrinsics.translation_m
    height_m = position_m[2]
    if camera.walk is None:
        return f"{height_m:.2f} m above the floor"
    walk = camera.walk
    floor = Plane(tuple(first.extrinsics.rotation[2].tolist()), float(first.extrinsics.translation_m[2]))
    beside_first = Extrinsics.above_floor(floor)  # a given world has axes of its own
    x, y, _ = beside_first.world_points(first.extrinsics.camera_points(position_m))
    offset = f", its clock {walk.time_offset_s:+.3f} s" if walk.time_offset_s else ""
    return (
        f"{height_m:.2f} m above the floor, {x:+.2f} m to the right of camera 1 and {y:+.2f} m ahead{offset}; joints"
        f" {100 * walk.residual_m:.1f} cm apart (median) at {walk.agreeing} of {walk.moments} moments of a walk of"
        f" {walk.walk_m:.1f} m"
    )
