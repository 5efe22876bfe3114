"""``posepipe train``: grow a forest on labelled datasets and learn its votes and joint parameters."""

from __future__ import annotations

import argparse
from pathlib import Path

from apps.options.cluster_option import add_cluster_option
from apps.options.input_files import refuse_to_replace
from apps.options.value_types import bits, length, memory_size, model_file, not_negative, positive
from apps.terminal.plain_text import show
from apps.training.stage_options import NotedOption, refuse_idle_options
from apps.training.train_stages import CHECKPOINTS, TRAININGS, checkpoint_folder
from posepipe.errors import counted

HELP = "train a forest on labelled datasets; writes the model and its card"
EXAMPLES = (
    "posepipe train data/train --out my_model.npz",
    "posepipe train data/train --out my_model.npz --trees 1 --max-depth 15 --candidates 200",
    "posepipe train data/train --out my_model.npz --memory 8G      # more frames than memory holds",
    "posepipe train data/train --joints data/joints --out my_model.npz --resume   # after Ctrl-C or a crash",
    "posepipe train data/train --out my_model.npz --cluster tls://head:8786   # trees on many machines",
    "posepipe train data/joints --forest my_model.npz --out my_model.npz          # new joint parameters",
    "posepipe train data/joints --forest my_model.npz --votes data/train --out my_model.npz   # and its votes",
    "posepipe train data/again --forest my_model.npz --only second-pass --out my_model.npz   # joints found twice",
    "posepipe train data/rooms --forest my_model.npz --only segmentation --out my_model.npz   # people in rooms",
    "posepipe train data/rooms --forest my_model.npz --only background --out my_model.npz     # weight of class 0",
    "posepipe train data/rooms --forest my_model.npz --only filter --out my_model.npz         # what is no person",
    "posepipe train data/again --forest my_model.npz --only views --out my_model.npz         # people who lie",
    "posepipe train data/others --forest my_model.npz --only regions --out my_model.npz      # people partly hidden",
    "posepipe train data/near --forest my_model.npz --only facing --out my_model.npz         # front or back",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options of the command."""
    parser.register("action", None, NotedOption)
    _add_stage_options(parser)
    _add_joint_options(parser)
    _add_tree_options(parser)
    parser.add_argument(
        "--workers",
        type=positive,
        metavar="N",
        help="number of processes that read frames for trees and person filter (default: one for each core)",
    )
    parser.add_argument("--resume", action="store_true", help="continue an interrupted run from its checkpoints")
    add_cluster_option(parser, "grow the trees")


def _add_stage_options(parser: argparse.ArgumentParser) -> None:
    """What is trained on what, and where it is written."""
    parser.add_argument("datasets", nargs="+", type=Path, metavar="DATASET", help="folders written by posepipe synth")
    parser.add_argument(
        "--out",
        type=model_file,
        required=True,
        metavar="MODEL.npz",
        help="model file to write; its card, MODEL.md, is written beside it and keeps its prose",
    )
    parser.add_argument(
        "--forest", type=Path, metavar="MODEL.npz", help="keep this model's trees, and train one other stage (--only)"
    )
    parser.add_argument(
        "--only",
        choices=["joints", "second-pass", "segmentation", "background", "filter", "views", "regions", "facing"],
        help="train this stage of the model in --forest alone, and keep the others: joints (default), without a second"
        " pass that was fitted to the earlier ones; second-pass, which labels pixels anew, given the joints, and finds"
        " them once more, by other frames than those of joints; segmentation, which finds people in whole frames;"
        " background, the weight of class 0 (not a person); filter, which judges what was found; views, which choose"
        " among rotated images of people who lie; regions, which judge parts of what was found, after the filter and"
        " by other frames; or facing, a network that sees which way people face. Segmentation, background, filter and"
        " regions want frames with rooms,"
        " in this order",
    )


def _add_joint_options(parser: argparse.ArgumentParser) -> None:
    """Frames and method of the joint parameters and of the votes."""
    group = parser.add_argument_group("joint parameters and votes")
    group.add_argument(
        "--joints",
        type=Path,
        metavar="DATASET",
        help="frames for the joint parameters (default: the last tenth); not with --forest, where DATASET holds them",
    )
    group.add_argument(
        "--joint-frames", type=positive, default=20000, metavar="N", help="use at most N of these (default: 20000)"
    )
    group.add_argument(
        "--joints-from",
        choices=["parts", "votes", "both"],
        help="find joints from modes of the body's surface (parts), of the leaves' votes, or of both (default: parts;"
        " both with --votes or --vote-frames)",
    )
    group.add_argument(
        "--votes", type=Path, metavar="DATASET", help="frames for the votes (default: those of the trees)"
    )
    group.add_argument(
        "--vote-frames",
        type=positive,
        default=15000,
        metavar="N",
        help="use at most N of these, evenly spaced (default: 15000)",
    )


def _add_tree_options(parser: argparse.ArgumentParser) -> None:
    """How the trees are grown."""
    group = parser.add_argument_group("trees")
    group.add_argument(
        "--trees",
        type=positive,
        default=3,
        metavar="T",
        help="number of trees, each trained on its own frames (default: 3)",
    )
    group.add_argument(
        "--share-frames",
        action="store_true",
        help="train every tree on all frames, each on other pixels of them, which takes the memory of all frames and"
        " leaves none for the out-of-bag accuracy",
    )
    group.add_argument(
        "--max-depth", type=positive, default=20, metavar="D", help="maximum depth of a tree (default: 20)"
    )
    group.add_argument(
        "--pixels", type=positive, default=300, metavar="N", help="training pixels per person (default: 300)"
    )
    group.add_argument(
        "--candidates", type=positive, default=100, metavar="N", help="candidate features per level (default: 100)"
    )
    group.add_argument(
        "--probe-range",
        type=length,
        default=0.8,
        metavar="M",
        help="maximum length of a probe, metres (default: 0.8)",
    )
    group.add_argument(
        "--min-gain", type=bits, default=0.005, metavar="BITS", help="minimum gain of a split (default: 0.005)"
    )
    group.add_argument(
        "--min-samples",
        type=positive,
        default=30,
        metavar="N",
        help="minimum pixels of a node that is split (default: 30)",
    )
    group.add_argument(
        "--class-weight",
        choices=["none", "balanced"],
        default="none",
        help="weight of the pixels of a part: balanced = every part of a tree's pixels weighs the same, as in"
        " scikit-learn; none = every pixel does (default: none)",
    )
    group.add_argument(
        "--seed", type=not_negative, default=0, metavar="S", help="seed of all random draws (default: 0)"
    )
    group.add_argument(
        "--memory",
        type=memory_size,
        metavar="SIZE",
        help="limit of memory while trees grow, as 8G or 500M: images that do not fit are read from disk, which changes"
        " no tree (default: none)",
    )
    group.add_argument(
        "--no-mirror",
        action="store_true",
        help="do not use the mirror image of the trees (default: use it, if the body has left and right; with --forest,"
        " if its model does)",
    )


def run(args: argparse.Namespace) -> None:
    """Train a model, or one stage of it, and write it with its card."""
    from posepipe.io.files import reserved
    from posepipe.learn.depth.checkpoints import remove_checkpoints, remove_if_idle
    from posepipe.models.card import write_card

    stage = _stage_to_train(args)
    refuse_to_replace(args, [("--out", args.out)], but="model")
    with reserved(args.out):  # an error at the end, or another training of this name, would lose hours of work
        try:
            model = TRAININGS[stage](args)
        finally:
            if stage in CHECKPOINTS:
                remove_if_idle(checkpoint_folder(args), CHECKPOINTS[stage])
        model.with_metadata(name=args.out.stem).save(args.out)
        write_card(args.out)
        if stage in CHECKPOINTS:
            remove_checkpoints(checkpoint_folder(args), CHECKPOINTS[stage])
    trees = model.forest.trees
    size = f"{counted(len(trees), 'tree')}, {counted(sum(tree.n_nodes for tree in trees), 'node')}"
    show(f"{size} -> {args.out}, its card -> {args.out.with_suffix('.md')}")


def _stage_to_train(args: argparse.Namespace) -> str:
    """What is trained: all stages, or one of the model in --forest."""
    from posepipe.errors import PosepipeError

    if args.only and not args.forest:
        raise PosepipeError(f"--only {args.only} trains one stage of a model that exists; name it with --forest")
    if args.forest and args.cluster:
        raise PosepipeError("--cluster grows trees, and --forest keeps those of its model; leave out one of the two")
    if args.memory and args.cluster:
        raise PosepipeError("--memory limits this process, with --cluster the workers hold the pixels; leave it out")
    if args.workers and args.cluster:
        raise PosepipeError("--workers counts processes of this machine; with --cluster, say local:N")
    stage = args.only or ("joints" if args.forest else "all")
    refuse_idle_options(args, stage)
    return stage
