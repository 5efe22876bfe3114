"""What ``posepipe train`` trains: all stages of a model, or one of them."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Self

from apps.options.cluster_option import opened_cluster
from apps.terminal.plain_text import show
from apps.training.stage_options import joint_source
from posepipe.errors import counted

if TYPE_CHECKING:
    from posepipe.datasets.frame_sequence import FrameSequence
    from posepipe.learn.depth.forest_parameters import ForestParameters
    from posepipe.learn.depth.train_forest import MakeGrower, TrainingProgress
    from posepipe.learn.depth.training_memory import MemoryPlan
    from posepipe.models.pose_model import PoseModel


def checkpoint_folder(args: argparse.Namespace) -> Path:
    """Return the folder that keeps every level of an interrupted training."""
    return args.out.with_suffix(".training")


def forest_parameters(args: argparse.Namespace) -> ForestParameters:
    """Return the parameters of the trees from the options of the command."""
    from posepipe.learn.depth.forest_parameters import ForestParameters
    from posepipe.learn.depth.splitting.responses import OffsetRange
    from posepipe.learn.growing import GrowthRules

    growth = GrowthRules(
        max_depth=args.max_depth, candidates=args.candidates, min_gain=args.min_gain, min_samples=args.min_samples
    )
    return ForestParameters(
        trees=args.trees,
        pixels_per_person=args.pixels,
        growth=growth,
        offsets=OffsetRange(longest_m=args.probe_range),
        symmetric=not args.no_mirror,
        seed=args.seed,
        class_weight=None if args.class_weight == "none" else args.class_weight,
        share_frames=args.share_frames,
    )


def _train_all(args: argparse.Namespace) -> PoseModel:
    """Train trees, votes and joint parameters."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.errors import PosepipeError
    from posepipe.learn.depth.training_memory import installed_memory, plan_memory
    from posepipe.learn.shards.sharded_growth import ShardedGrower
    from posepipe.models.card import describe_out_of_bag
    from posepipe.training.train_model import segment_as_in_use, train_model

    parameters = forest_parameters(args)
    frames = open_datasets(args.datasets)
    if args.joints:
        joint_frames = open_datasets([args.joints])
    else:
        if len(frames) < 2:
            raise PosepipeError(
                f"{args.datasets[0]}: wanted 2 frames or more, because the last tenth is for the joint parameters; got"
                f" {len(frames)}; give more, or --joints DATASET"
            )
        tenth = max(1, len(frames) // 10)
        frames, joint_frames = frames[: len(frames) - tenth], frames[len(frames) - tenth :]
    joint_frames = joint_frames[: args.joint_frames]
    vote_frames = _vote_frames(args, frames)
    # shared frames are held whole, with the pixels of all trees; otherwise those of one tree after the other
    runs, at_once = (1, parameters.trees) if parameters.share_frames else (parameters.trees, 1)
    memory = plan_memory(frames, runs, at_once * parameters.pixels_per_person, segment_as_in_use, args.memory)
    where = f" on the workers of {args.cluster}" if args.cluster else ""
    on_disk = f", and {memory.disk / 1e9:.1f} GB of disk beside the model" if memory.disk else ""
    in_memory = f"about {memory.memory / 1e9:.1f} GB of memory"
    show(f"{counted(len(frames), 'frame')}; the trees will need {in_memory}{where}{on_disk}")
    installed = installed_memory()
    if not args.cluster and installed is not None and memory.memory > installed:
        show(
            f"this machine has {installed / 1e9:.1f} GB, and may end the training when it runs out;"
            f" --memory {installed / 2e6:.0f}M reads images from disk"
        )
    with (
        opened_cluster(args) as cluster,
        _JointBars(joint_frames, vote_frames) as bars,
        ProgressBar(len(frames), "reading", "frames") as bar,
    ):
        callbacks = replace(bars.callbacks, on_level=LevelReport(bar.write), on_frame=bar.update)
        model = train_model(
            frames,
            joint_frames,
            parameters,
            checkpoint_folder(args),
            resume=args.resume,
            callbacks=callbacks,
            command=args.typed,
            method=joint_source(args),
            vote_frames=vote_frames,
            memory=memory,
            make_grower=_local_grower(args, memory) if cluster is None else partial(ShardedGrower.read, cluster),
        )
    if "out_of_bag" in model.metadata:
        show(describe_out_of_bag(model.metadata["out_of_bag"]))
    bars.show_gains()
    return model


def _local_grower(args: argparse.Namespace, memory: MemoryPlan) -> MakeGrower:
    """Trees grow in this process; several read their frames."""
    from posepipe.learn.depth.train_forest import LocalGrower, SharedSamples

    scratch, workers = checkpoint_folder(args), _workers(args)
    if args.share_frames:
        return SharedSamples(memory, scratch, workers).grower
    return partial(LocalGrower.read, memory=memory, scratch=scratch, workers=workers)


def _workers(args: argparse.Namespace) -> int:
    """Processes that read frames: as asked for, or one for each core."""
    return args.workers or os.cpu_count() or 1


def _refit_joints(args: argparse.Namespace) -> PoseModel:
    """Fit the joint parameters of the model in --forest, and its votes with --votes."""
    from posepipe.datasets.dataset import open_datasets
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.train_model import refit_joints

    joint_frames = open_datasets(args.datasets)[: args.joint_frames]
    vote_frames = _vote_frames(args, None)
    model = PoseModel.load(args.forest)
    if args.no_mirror and model.forest.symmetric:
        forest = model.forest.with_symmetry(False)
        model = replace(model, forest=forest).with_metadata(out_of_bag=None)  # that of the mirror image, too
    with _JointBars(joint_frames, vote_frames) as bars:
        model = refit_joints(model, joint_frames, bars.callbacks, args.typed, joint_source(args), vote_frames)
    bars.show_gains()
    return model


def _train_second_pass(args: argparse.Namespace) -> PoseModel:
    """Fit the second pass of the model in --forest; all else of it stays."""
    from posepipe.datasets.dataset import open_datasets
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.fit_second_pass import refit_second_pass

    frames = open_datasets(args.datasets)[: args.joint_frames]
    with _JointBars(frames, None) as bars:
        model = refit_second_pass(PoseModel.load(args.forest), frames, bars.callbacks, args.typed)
    bars.show_gains()
    return model


def _train_segmentation(args: argparse.Namespace) -> PoseModel:
    """Train the segmentation of the model in --forest; all else of it stays."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.fit_segmentation import frames_read, refit_segmentation

    frames = open_datasets(args.datasets)
    model = PoseModel.load(args.forest)
    with ProgressBar(len(frames_read(frames)), "reading", "frames") as bar:
        return refit_segmentation(model, frames, args.typed, LevelReport(bar.write), bar.update)


def _weigh_background(args: argparse.Namespace) -> PoseModel:
    """Weigh class 0 of the model in --forest; all else of it stays."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.fit_background_weight import refit_background_weight

    frames = open_datasets(args.datasets)
    with ProgressBar(None, "candidates", "frames") as bar:
        model = refit_background_weight(PoseModel.load(args.forest), frames, args.typed, bar.update)
    about, weight = model.metadata["background"], model.metadata["background_weight"]
    show(
        f"class 0 was {about['mean_probability']:.3f} probable and is {about['share']:.3f} frequent in"
        f" {counted(about['candidates'], 'candidate')} of people; its weight is now {weight:.3f}"
    )
    return model


def _train_filter(args: argparse.Namespace) -> PoseModel:
    """Train the person filter of the model in --forest; all else of it stays."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.learn.depth.checkpoints import Checkpoints
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import model_identity, model_path
    from posepipe.training.boosted.fit_person_classifier import refit_person_classifier

    frames = open_datasets(args.datasets)
    data = f"{model_identity(model_path(args.forest))} {frames.identity}"
    checkpoints = Checkpoints(checkpoint_folder(args), {"only": "filter"}, data, args.resume, CHECKPOINTS["filter"])
    with ProgressBar(len(frames), "candidates", "frames") as bar:
        return refit_person_classifier(
            PoseModel.load(args.forest), frames, args.typed, bar.update, _workers(args), checkpoints
        )


def _train_regions(args: argparse.Namespace) -> PoseModel:
    """Train the region filter of the model in --forest; all else of it stays."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.boosted.fit_region_classifier import refit_region_classifier

    frames = open_datasets(args.datasets)
    with ProgressBar(len(frames), "regions", "frames") as bar:
        return refit_region_classifier(PoseModel.load(args.forest), frames, args.typed, bar.update, _workers(args))


def _train_views(args: argparse.Namespace) -> PoseModel:
    """Train the choice of views of the model in --forest; all else of it stays."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.boosted.fit_view_choice import refit_view_choice

    frames = open_datasets(args.datasets)
    with ProgressBar(len(frames), "views", "frames") as bar:
        return refit_view_choice(PoseModel.load(args.forest), frames, args.typed, bar.update, _workers(args))


def _train_facing(args: argparse.Namespace) -> PoseModel:
    """Train the facing network of the model in --forest; all else of it stays."""
    from apps.terminal.progress import ProgressBar
    from posepipe.datasets.dataset import open_datasets
    from posepipe.models.pose_model import PoseModel
    from posepipe.training.fit_facing import EPOCHS, refit_facing

    frames = open_datasets(args.datasets)
    with ProgressBar(len(frames), "pictures", "frames") as bar, ProgressBar(EPOCHS, "network", "epochs") as epochs:
        return refit_facing(PoseModel.load(args.forest), frames, args.typed, bar.update, epochs.update)


def _vote_frames(args: argparse.Namespace, of_trees: FrameSequence | None) -> FrameSequence | None:
    """Frames for the votes: those of --votes, or those of the trees; None = the model's votes stay."""
    from posepipe.datasets.dataset import open_datasets

    frames = open_datasets([args.votes]) if args.votes else of_trees
    if joint_source(args) == "parts" or frames is None:
        return None
    return frames.at_most(args.vote_frames)


class _JointBars:
    """Progress bars of all that follows the trees, and the gain of the grid search."""

    def __init__(self, joint_frames: FrameSequence, vote_frames: FrameSequence | None) -> None:
        from apps.terminal.progress import ProgressBar
        from posepipe.training.joints.fit_refinement import EPOCHS
        from posepipe.training.train_model import TrainingCallbacks

        self._gains: list[tuple[float, float]] = []
        self._bars = ExitStack()
        scored = ProgressBar(None, "out of bag", "frames")
        votes = ProgressBar(len(vote_frames or ()), "votes", "frames")
        relabelled = ProgressBar(None, "relabelling", "people")
        joints = ProgressBar(len(joint_frames), "joint parameters", "frames")
        network = ProgressBar(EPOCHS, "refinement", "epochs")
        for bar in (scored, votes, relabelled, joints, network):
            self._bars.enter_context(bar)
        self.callbacks = TrainingCallbacks(
            on_scored_frame=scored.update,
            on_vote_frame=votes.update,
            on_relabelled=relabelled.update,
            on_joint_frame=joints.update,
            on_epoch=network.update,
            on_search=lambda before, after: self._gains.append((before, after)),
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._bars.close()

    def show_gains(self) -> None:
        """Print what the grid search gained."""
        for before, after in self._gains:
            show(f"joint parameters: {after:.3f} of the landmarks' heaviest modes within 10 cm, untrained {before:.3f}")


TRAININGS = {
    "all": _train_all,
    "joints": _refit_joints,
    "second-pass": _train_second_pass,
    "segmentation": _train_segmentation,
    "background": _weigh_background,
    "filter": _train_filter,
    "views": _train_views,
    "regions": _train_regions,
    "facing": _train_facing,
}
"""What `run` can train; all but the first are choices of --only."""


CHECKPOINTS = {"all": "tree", "filter": "fold"}
"""Kind of the checkpoints of a training; the other trainings keep none."""


FORESEEN = 0.02
"""Share of the work that must be done before the time left is told: the first levels wait for kernels to compile."""


class LevelReport:
    """Prints one line per level: nodes, gain and the time left."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._seconds = 0.0  # of growing: frames are read before, which says nothing of it
        self._done_before: float | None = None

    def __call__(self, progress: TrainingProgress) -> None:
        """Print what was trained so far, and the time left."""
        if self._done_before is None:  # of a run gone on with, what was done earlier took none of this time
            self._done_before = progress.done - progress.done_by_level
        here = progress.done - self._done_before
        self._seconds += progress.seconds
        left = ""
        if here >= FORESEEN:
            left = f"  about {self._seconds * (1 - progress.done) / here / 60:.0f} min left"
        self._write(
            f"tree {progress.tree + 1}  level {progress.level:2d}  {progress.nodes:7d} nodes"
            f"  {progress.leaves:7d} leaves  {progress.open_samples / progress.samples:6.1%} of"
            f" {progress.samples} pixels open  gain {progress.mean_gain:.3f} bits"
            f"  {progress.seconds:5.1f} s{left}"
        )
