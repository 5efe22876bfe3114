"""``posepipe synth``: render a labelled dataset."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from apps.arguments import not_negative, positive

HELP = "render labelled depth frames of synthetic people"
EXAMPLES = (
    "posepipe synth data/train --frames 20000 --seed 1       # embedded poses, Kinect v1 noise",
    "posepipe synth data/train --frames 20000 --mocap poses.npz",
    "posepipe synth data/validation --recipe validation      # the fixed validation set",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("out", type=Path, metavar="OUT", help="folder of the dataset; goes on where it stopped")
    parser.add_argument("--recipe", default="train", metavar="R", help="named recipe or TOML file (default: train)")
    parser.add_argument("--frames", type=positive, metavar="N", help="number of frames, instead of the recipe's")
    parser.add_argument("--seed", type=not_negative, metavar="S", help="seed, instead of the recipe's")
    parser.add_argument("--sensor", metavar="NAME", help="sensor preset, instead of the recipe's")
    parser.add_argument(
        "--mocap", nargs="+", type=Path, default=[], metavar="PATH", help="pose banks (.npz) besides the embedded one"
    )
    parser.add_argument("--workers", type=positive, metavar="N", help="processes (default: one a core)")


def run(args: argparse.Namespace) -> None:
    from apps.progress import ProgressBar
    from synth.clips import PoseBank, embedded_pose_bank, read_pose_bank
    from synth.generate import generate
    from synth.recipe import read_recipe

    changes = {name: value for name in ("frames", "seed", "sensor") if (value := getattr(args, name)) is not None}
    recipe = replace(read_recipe(args.recipe), **changes)
    bank = PoseBank.concatenate([embedded_pose_bank(), *(read_pose_bank(path) for path in args.mocap)])
    with ProgressBar(recipe.frames, "synth", "frames") as bar:
        generate(args.out, recipe, bank, args.workers, bar.update)
    print(f"{recipe.frames} labelled frames -> {args.out}")
