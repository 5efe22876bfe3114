"""``posepipe synth``: render a labelled dataset."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from apps.arguments import not_negative, positive

if TYPE_CHECKING:
    from synth.motion.motions import Motions
    from synth.motion.poses.clips import PoseBank
    from synth.recipe import Recipe

Captured = TypeVar("Captured")

HELP = "render labelled depth frames of synthetic people"
EXAMPLES = (
    "posepipe synth data/train --frames 20000 --seed 1       # embedded poses, Kinect v1 noise",
    "posepipe synth data/train --frames 20000 --mocap CMU    # and all BVH and ASF/AMC files of a folder",
    "posepipe synth data/train --frames 20000 --mocap dance.bvh poses.npz --bone-map studio.toml",
    "posepipe synth data/validation --recipe validation      # the fixed validation set",
    "posepipe synth data/top --recipe top --sensor kinect-v2 # a camera at the ceiling",
    "posepipe synth data/mine --sensor my_camera.toml        # a camera of your own (docs/reference/formats.md)",
    "posepipe synth data/dogs --body docs/examples/quadruped.toml",
    "posepipe synth data/sequences --recipe sequences         # people who move: for posepipe evaluate --tracks",
)
SENSORS = ("ideal", "kinect-v1", "kinect-v1-320", "kinect-v2", "azure-nfov", "d435")
"""The names of `synth.sensors.presets.PRESETS`, written out so that help needs no NumPy."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the dataset; goes on where it stopped")
    parser.add_argument("--recipe", default="train", metavar="R", help="named recipe or TOML file (default: train)")
    parser.add_argument("--frames", type=positive, metavar="N", help="number of frames, instead of the recipe's")
    parser.add_argument("--seed", type=not_negative, metavar="S", help="seed, instead of the recipe's")
    parser.add_argument(
        "--sensor",
        metavar="NAME|FILE.toml",
        help=f"sensor, instead of the recipe's: {', '.join(SENSORS)}, or a TOML file",
    )
    parser.add_argument(
        "--mocap",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help="captured poses besides the embedded ones: BVH files, AMC files with their ASF beside them, pose banks "
        "(.npz), or folders of these. For recipes of sequences: motions instead of the embedded ones, of BVH, AMC or "
        "packs of motions (.npz); clips with `walk` in their name or their folder's carry people along, the others "
        "are done on the spot",
    )
    parser.add_argument(
        "--bone-map",
        type=Path,
        metavar="FILE.toml",
        help="names of the joints in --mocap, where no map that comes with posepipe fits (docs/reference/formats.md)",
    )
    parser.add_argument(
        "--body", type=Path, metavar="FILE.toml", help="a creature of your own instead of people (docs/examples)"
    )
    parser.add_argument("--workers", type=positive, metavar="N", help="processes (default: one a core)")


def run(args: argparse.Namespace) -> None:
    from apps.progress import ProgressBar
    from synth.body.creatures import read_creature
    from synth.dataset_writer import generate
    from synth.motion.poses.clips import embedded_pose_bank
    from synth.recipe import read_recipe
    from synth.scene.subjects import Cast, Creatures, People
    from synth.sensors.sensor_file import find_sensor

    changes = {name: value for name in ("frames", "seed") if (value := getattr(args, name)) is not None}
    if args.sensor is not None:
        changes["sensor"] = find_sensor(args.sensor)
    recipe = replace(read_recipe(args.recipe), **changes)
    cast: Cast
    motions: Motions | None = None
    if args.body is not None:
        if args.mocap:
            raise ValueError("--mocap: captured poses are those of people; leave it out with --body")
        cast = Creatures(read_creature(args.body))
    elif recipe.sequence_frames:
        motions = _motions(args, recipe)
        cast = People(replace(recipe, poses="all", only_clips=(), leave_out_clips=()), embedded_pose_bank())
    else:
        cast = People(recipe, _poses(args))
    with ProgressBar(recipe.frames, "synth", "frames") as bar:
        generate(args.out, recipe, cast, args.workers, bar.update, motions)
    print(f"{recipe.frames} labelled frames -> {args.out}")


def _poses(args: argparse.Namespace) -> PoseBank:
    """The embedded poses, and those that were asked for."""
    from synth.motion.mocap import read_mocap
    from synth.motion.poses.clips import PoseBank, embedded_pose_bank

    captured = _read_captured(args, read_mocap)
    if captured is None:
        return embedded_pose_bank()
    print(f"{len(captured.rotations)} poses of {len(set(captured.clips))} clips from --mocap")
    return PoseBank.concatenate([embedded_pose_bank(), captured])


def _motions(args: argparse.Namespace, recipe: Recipe) -> Motions | None:
    """Those that were asked for, as the recipe chooses them; None = the embedded ones."""
    from synth.motion.motions import Motions, read_captured_motions

    captured = _read_captured(args, read_captured_motions)
    if captured is None:
        return None
    motions = Motions.chosen(captured, recipe)
    print(f"{len(captured)} motions from --mocap; played are {len(motions.walks)} walks, {len(motions.acts)} acts")
    return motions


def _read_captured(args: argparse.Namespace, read: Callable[..., Captured]) -> Captured | None:
    """What ``read`` makes of --mocap and --bone-map; None without --mocap."""
    from apps.progress import ProgressBar
    from synth.motion.mocap import mocap_files

    if args.bone_map is not None and not args.mocap:
        raise ValueError("--bone-map names the joints of --mocap, and there is no --mocap")
    if not args.mocap:
        return None
    problems: list[warnings.WarningMessage] | None = None
    try:
        with (
            warnings.catch_warnings(record=True) as problems,  # lines printed under a bar would run into it
            ProgressBar(len(mocap_files(args.mocap)), "mocap", "files") as bar,
        ):
            return read(*args.mocap, bone_map=args.bone_map, advance=bar.update)
    finally:
        for problem in problems or ():
            warnings.warn(problem.message, stacklevel=1)
