"""``posepipe synth``: render a labelled dataset."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from apps.options.cluster_option import add_cluster_option, opened_cluster
from apps.options.value_types import degrees, not_negative, positive
from apps.terminal.plain_text import show
from posepipe.errors import counted

if TYPE_CHECKING:
    from synth.furniture.model_bank import FurnitureBank
    from synth.motion.motions import Motions
    from synth.motion.poses.clips import PoseBank
    from synth.recipe import Recipe

Captured = TypeVar("Captured")

HELP = "render labelled depth frames of synthetic people"
EXAMPLES = (
    "posepipe synth data/train --frames 20000 --seed 1       # embedded poses, Kinect v1 noise",
    "posepipe synth data/train --frames 20000 --mocap CMU    # plus all BVH and ASF/AMC files of a folder",
    "posepipe synth data/train --frames 20000 --mocap dance.bvh poses.npz --bone-map studio.toml",
    "posepipe synth data/validation --recipe validation      # the frozen validation set",
    "posepipe synth data/top --recipe top --sensor kinect-v2 # a camera at the ceiling",
    "posepipe synth data/mine --sensor my_camera.toml        # a camera of your own (docs/reference/formats.md)",
    "posepipe synth data/rooms --recipe furnished-rooms --furniture my_furniture.npz",
    "posepipe synth data/my-room --backgrounds empty.mcap    # people composited into your own empty room",
    "posepipe synth data/dogs --body docs/examples/quadruped.toml",
    "posepipe synth /shared/train --frames 1000000 --cluster tls://head:8786   # rendered by many machines",
    "posepipe synth data/sequences --recipe sequences         # moving people, for posepipe evaluate --tracks",
    "posepipe synth data/second --recipe two-cameras --orbit 90  # the same scenes, from another side",
)
SENSORS = ("ideal", "kinect-v1", "kinect-v1-320", "kinect-v2", "azure-nfov", "d435")
"""Names of `synth.sensors.sensor_presets.PRESETS`, repeated here so that --help needs no NumPy."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the dataset; an interrupted run is resumed")
    parser.add_argument(
        "--recipe",
        metavar="R",
        help="recipe: a name or a TOML file (default: train, or backgrounds with --backgrounds)",
    )
    parser.add_argument("--frames", type=positive, metavar="N", help="number of frames (default: the recipe's)")
    parser.add_argument(
        "--seed", type=not_negative, metavar="S", help="seed of the random numbers (default: the recipe's)"
    )
    parser.add_argument(
        "--sensor",
        metavar="NAME|FILE.toml",
        help=f"sensor: {', '.join(SENSORS)}, or a TOML file (default: the recipe's)",
    )
    parser.add_argument(
        "--orbit",
        type=degrees,
        metavar="DEG",
        help="sequences: move the camera so far around what it looks at, to its right; the scenes stay the same",
    )
    parser.add_argument(
        "--mocap",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help="motion capture: BVH files, AMC files with their ASF beside them, .npz files, or folders of these. Single "
        "frames use its poses beside the embedded ones; .npz files are pose banks. Sequences use its motions instead "
        "of the embedded ones; .npz files are packs of motions. Clips with `walk` in their name, or in that of their "
        "folder, are played along a path, the others in one place",
    )
    parser.add_argument(
        "--bone-map",
        type=Path,
        metavar="FILE.toml",
        help="names of the joints in --mocap, if no map of posepipe fits (docs/reference/formats.md)",
    )
    parser.add_argument(
        "--backgrounds",
        nargs="+",
        type=Path,
        default=[],
        metavar="PATH",
        help="recordings, folders or packs of empty rooms, into which people are composited; any source that posepipe "
        "reads (posepipe run --help). Sources are drawn evenly; at most 500 frames are used, evenly spaced",
    )
    parser.add_argument(
        "--body", type=Path, metavar="FILE.toml", help="a creature instead of people (docs/guides/creatures.md)"
    )
    parser.add_argument(
        "--furniture",
        type=Path,
        metavar="PATH",
        help="models of furniture for recipes with real rooms: a bank (.npz), a catalogue of Sweet Home 3D (.sh3f), or "
        "a folder of catalogues; instead of those that come with posepipe (docs/reference/formats.md)",
    )
    parser.add_argument(
        "--workers", type=positive, metavar="N", help="number of processes (default: one for each core)"
    )
    add_cluster_option(parser, "render the recordings")


def run(args: argparse.Namespace) -> None:
    """Render the dataset."""
    from apps.terminal.progress import ProgressBar
    from posepipe.compilation import is_compiled, say_compiling
    from synth.backgrounds.background_bank import read_backgrounds
    from synth.body.creatures import read_creature
    from synth.dataset_writer import write_dataset
    from synth.motion.poses.clips import embedded_pose_bank
    from synth.recipe import BackgroundRecipe, PoseRecipe, read_recipe
    from synth.render.rasterizer import rasterize
    from synth.renderer import make_renderer
    from synth.scene.subjects import Creatures, People, Subjects
    from synth.sensors.sensor_file import find_sensor

    if args.cluster and args.workers:
        raise ValueError("--workers counts processes of this machine; with --cluster, say local:N")
    changes = {name: value for name in ("frames", "seed") if (value := getattr(args, name)) is not None}
    if args.sensor is not None:
        changes["sensor"] = find_sensor(args.sensor)
    named = args.recipe or ("backgrounds" if args.backgrounds else "train")
    recipe = read_recipe(named, **changes)
    if args.orbit is not None:
        recipe = replace(recipe, camera=replace(recipe.camera, orbit_deg=args.orbit))
    backgrounds = read_backgrounds(args.backgrounds) if args.backgrounds else None
    if backgrounds is None and recipe.background != BackgroundRecipe():
        raise ValueError(f"recipe {named} composites people into real empty rooms; give --backgrounds PATH")
    subjects: Subjects
    motions: Motions | None = None
    if args.body is not None:
        if args.mocap or args.bone_map:
            option = "--mocap" if args.mocap else "--bone-map"
            raise ValueError(f"{option}: captures are of people; leave it out with --body")
        subjects = Creatures(read_creature(args.body))
    elif recipe.sequence_frames:
        motions = _motions(args, recipe)
        everything = PoseRecipe(poses="all")  # motions hold the poses
        subjects = People(everything, recipe.clothing, embedded_pose_bank(), recipe.proportion)
    else:
        subjects = People(recipe.pose, recipe.clothing, _poses(args), recipe.proportion)
    if not is_compiled(rasterize):  # by the workers, which nobody hears
        say_compiling()
    renderer = make_renderer(recipe, subjects, motions, _furniture(args, named, recipe), backgrounds)
    with opened_cluster(args) as cluster, ProgressBar(recipe.frames, "synth", "frames") as bar:
        write_dataset(args.out, renderer, args.workers, bar.update, cluster)
    show(f"{counted(recipe.frames, 'labelled frame')} -> {args.out}")


def _furniture(args: argparse.Namespace, named: str, recipe: Recipe) -> FurnitureBank | None:
    """Bank of --furniture, built from catalogues where it is none; None without the option."""
    from apps.terminal.progress import ProgressBar
    from synth.furniture.catalogues.build_bank import build_bank, count_models
    from synth.furniture.model_bank import read_bank
    from synth.scene.seats.furnishings import uses_models

    if args.furniture is None:
        return None
    if not uses_models(recipe.scene):
        raise ValueError(
            f"--furniture: recipe {named} has no real furniture; give one with model_share above 0, such as"
            " furnished-rooms"
        )
    if args.furniture.suffix == ".npz":
        return read_bank(args.furniture)
    with ProgressBar(count_models([args.furniture]), "furniture", "models") as bar:
        bank = build_bank([args.furniture], on_model=lambda name: bar.update(1))
    show(f"{counted(len(bank.models), 'model')} of {counted(len(bank.by_kind), 'kind')} from --furniture")
    return bank


def _poses(args: argparse.Namespace) -> PoseBank:
    """The embedded poses, and those of --mocap."""
    from synth.motion.mocap import read_mocap
    from synth.motion.poses.clips import PoseBank, embedded_pose_bank

    captured = _read_captured(args, read_mocap)
    if captured is None:
        return embedded_pose_bank()
    show(f"{counted(len(captured.rotations), 'pose')} of {counted(len(set(captured.clips)), 'clip')} from --mocap")
    return PoseBank.concatenate([embedded_pose_bank(), captured])


def _motions(args: argparse.Namespace, recipe: Recipe) -> Motions | None:
    """Motions of --mocap that the recipe selects; None = the embedded ones."""
    from synth.motion.motions import Motions, read_captured_motions

    captured = _read_captured(args, read_captured_motions)
    if captured is None:
        return None
    motions = Motions.select(captured, recipe.pose)
    walks, acts = counted(len(motions.walks), "walk"), counted(len(motions.acts), "act")
    show(f"{counted(len(captured), 'motion')} from --mocap; plays {walks}, {acts}")
    return motions


def _read_captured(args: argparse.Namespace, read: Callable[..., Captured]) -> Captured | None:
    """Read --mocap with its --bone-map; None without --mocap."""
    from apps.terminal.progress import ProgressBar
    from synth.motion.mocap import mocap_files

    if args.bone_map is not None and not args.mocap:
        raise ValueError("--bone-map names the joints of --mocap; give --mocap as well")
    if not args.mocap:
        return None
    problems: list[warnings.WarningMessage] | None = None
    try:
        with (
            warnings.catch_warnings(record=True) as problems,  # lines printed below a progress bar would mix with it
            ProgressBar(len(mocap_files(args.mocap)), "mocap", "files") as bar,
        ):
            return read(*args.mocap, bone_map=args.bone_map, advance=bar.update)
    finally:
        for problem in problems or ():
            warnings.warn(problem.message, stacklevel=1)
