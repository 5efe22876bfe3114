"""Training of a depth forest: labelled frames to trees, level by level."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import counted
from posepipe.frames import LabelledFrame
from posepipe.io.scratch_array import ScratchArray
from posepipe.learn.class_weights import weights_of
from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import as_stored
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.splitting.binned_splits import BATCH_SAMPLES, BinnedSplits
from posepipe.learn.depth.splitting.pixel_sampling import Segmentation, true_people
from posepipe.learn.depth.splitting.responses import DepthResponses, PixelSamples
from posepipe.learn.depth.training_memory import MemoryPlan
from posepipe.learn.depth.tree_frames import TreeFrames
from posepipe.learn.growing import Growth, GrowthRules, SplitFinder, finish, grow_level, start_growth
from posepipe.learn.replay import replay
from posepipe.learn.tree import Tree

PARTITION_RESPONSES = 8
"""Responses of candidate features that take as long as sending a sample to its child, as measured."""


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """State of training after one level of a tree, for progress reports."""

    tree: int
    level: int
    nodes: int  #: of the tree so far
    leaves: int
    open_samples: int  #: samples of nodes that are split further
    samples: int
    tried_samples: int  #: on which this level tried its candidates: of a large node, some
    mean_gain: float  #: bits, mean over the splits of this level
    seconds: float  #: duration of this level
    done: float  #: share of the whole training, 0 to 1, estimated from the samples and candidate features of its levels
    done_by_level: float  #: share of this level


class TreeGrower(Protocol):
    """Holds the samples of one tree, here or elsewhere, and grows its levels on them.

    Every grower of the same `TreeFrames` grows the same tree, bit for bit.
    """

    def __len__(self) -> int:
        """Return the number of samples."""

    def start(self, growth: Growth | None) -> Growth:
        """Put all samples into the root; or send them down the levels of a growth that is resumed."""

    def grow_level(self, growth: Growth, rules: GrowthRules, seed: tuple[int, ...]) -> float:
        """Split every open node or make it a leaf; see `posepipe.learn.growing.grow_level`."""


MakeGrower = Callable[[TreeFrames, Callable[[], object]], TreeGrower]
"""Reads the frames of a tree, calls the second argument after every frame, and holds the samples."""


class SharedSamples:
    """Reads frames that all trees share once, and holds the samples of all trees; its `grower` is a `MakeGrower`.

    Parameters
    ----------
    memory : of `plan_memory`
    scratch : folder for the images that it keeps on disk
    workers : number of processes that read frames; 1 = this one
    """

    def __init__(self, memory: MemoryPlan | None = None, scratch: Path | None = None, workers: int = 1) -> None:
        self._memory, self._scratch, self._workers = memory, scratch, workers
        self._samples: PixelSamples | None = None

    def grower(self, frames: TreeFrames, on_frame: Callable[[], object]) -> LocalGrower:
        """Hold the samples of one tree."""
        if self._samples is None:
            image_file = ScratchArray(self._scratch) if self._memory and self._memory.disk else None
            self._samples = frames.draw_shared(on_frame, image_file, workers=self._workers)
        batch_samples = self._memory.batch_samples if self._memory else BATCH_SAMPLES
        return LocalGrower.of(frames.share_of(self._samples), frames, batch_samples)


@dataclass(frozen=True, slots=True, eq=False)
class LocalGrower:
    """`TreeGrower` with all samples in this process."""

    finder: SplitFinder

    @classmethod
    def read(
        cls,
        frames: TreeFrames,
        on_frame: Callable[[], object],
        memory: MemoryPlan | None = None,
        scratch: Path | None = None,
        workers: int = 1,
    ) -> LocalGrower:
        """Read the frames of a tree; images that the plan keeps on disk lie in the folder ``scratch``."""
        image_file = ScratchArray(scratch) if memory and memory.disk else None
        samples = frames.draw_samples(on_frame, image_file, workers=workers)
        return cls.of(samples, frames, memory.batch_samples if memory else BATCH_SAMPLES)

    @classmethod
    def of(cls, samples: PixelSamples, frames: TreeFrames, batch_samples: int = BATCH_SAMPLES) -> LocalGrower:
        """Hold samples that were drawn from the frames of a tree."""
        responses = DepthResponses(samples, frames.parameters.offsets)
        weights = weights_of(frames.parameters.class_weight, np.bincount(samples.label, minlength=frames.n_classes))
        return cls(BinnedSplits(responses, samples.label, frames.n_classes, batch_samples, weights))

    def __len__(self) -> int:
        return len(self.finder)

    def start(self, growth: Growth | None) -> Growth:
        """Put all samples into the root, or go on with a growth."""
        if growth is None:
            return start_growth(len(self))
        if len(growth.order) == 0:  # its samples were elsewhere
            replay(growth, self.finder)
        return growth

    def grow_level(self, growth: Growth, rules: GrowthRules, seed: tuple[int, ...]) -> float:
        """Split every open node or make it a leaf."""
        return grow_level(growth, self.finder, rules, seed)


def train_forest(
    dataset: Sequence[LabelledFrame],
    parameters: ForestParameters,
    body: BodyDefinition | None = None,
    on_level: Callable[[TrainingProgress], None] = lambda progress: None,
    checkpoints: Checkpoints | None = None,
    on_frame: Callable[[], object] = lambda: None,
    segmentation: Segmentation = true_people,
    memory: MemoryPlan | None = None,
    make_grower: MakeGrower | None = None,
) -> DepthForest:
    """Train a forest. Tree t of T is grown on the frames t, t + T, t + 2T ...

    Parameters
    ----------
    dataset : labelled frames; a `Dataset` reads them on demand
    parameters : ForestParameters
    body : of the labels; None = that of the dataset
    on_level : called after every level
    checkpoints : stores every level on disk, and resumes an interrupted run
    on_frame : called after every frame that is read
    segmentation : segments of a frame that are classified separately
    memory : of `plan_memory`; None = no limit. Trees are the same
    make_grower : lets other processes read the frames of a tree and hold its samples; None = this process does

    Returns
    -------
    DepthForest

    Raises
    ------
    ValueError
        When there are fewer frames than trees, or no person in them; without a body, for frames in a list.

    Examples
    --------
    A body of two parts, an upper half nearer than a lower half:

    >>> import numpy as np
    >>> from posepipe import DepthFrame, ForestParameters, Intrinsics, LabelledFrame, train_forest
    >>> from posepipe.body import BodyDefinition
    >>> from posepipe.learn.growing import GrowthRules
    >>> body = BodyDefinition("toy", ("top", "bottom"), ("middle",), {})
    >>> depth_m, parts = np.full((24, 16), 2.0, np.float32), np.full((24, 16), 1, np.uint8)
    >>> depth_m[12:], parts[12:] = 2.3, 2
    >>> depth = DepthFrame(depth_m, Intrinsics(fx=40.0, fy=40.0, cx=7.5, cy=11.5))
    >>> joints_m, visible = np.array([[[0, 0, 2.2]]], np.float32), np.ones((1, 1), bool)
    >>> frame = LabelledFrame(depth, parts, (parts > 0).astype(np.uint8), joints_m, visible)
    >>> parameters = ForestParameters(trees=1, growth=GrowthRules(max_depth=4, candidates=50), symmetric=False)
    >>> forest = train_forest([frame], parameters, body)
    >>> found = forest.predict(depth_m, depth_m > 0, depth.intrinsics)
    >>> labels = found.probabilities.argmax(axis=1).reshape(24, 16)
    >>> bool((labels == parts).mean() > 0.9)
    True
    """
    if len(dataset) < parameters.trees and not parameters.share_frames:
        raise ValueError(
            f"every tree needs separate frames: {counted(parameters.trees, 'tree')}, {counted(len(dataset), 'frame')}"
        )
    body = body or getattr(dataset, "body", None)  # a Dataset or FrameSequence has one
    if body is None:
        raise ValueError(f"frames in a {type(dataset).__name__} do not say whose labels they have: give their body")
    if parameters.share_frames and make_grower is None:
        make_grower = SharedSamples(memory, checkpoints.folder if checkpoints else None).grower
    grown = [
        train_tree(dataset, parameters, body, tree, on_level, checkpoints, on_frame, segmentation, memory, make_grower)
        for tree in range(parameters.trees)
    ]
    trees, tables = [as_stored(t) for t, _ in grown], [o for _, o in grown]
    return DepthForest(trees, tables, body, parameters.symmetric and body.has_sides)


def train_tree(
    dataset: Sequence[LabelledFrame],
    parameters: ForestParameters,
    body: BodyDefinition,
    tree: int,
    on_level: Callable[[TrainingProgress], None] = lambda progress: None,
    checkpoints: Checkpoints | None = None,
    on_frame: Callable[[], object] = lambda: None,
    segmentation: Segmentation = true_people,
    memory: MemoryPlan | None = None,
    make_grower: MakeGrower | None = None,
) -> tuple[Tree, np.ndarray]:
    """Grow one tree of a forest; other parameters are those of `train_forest`.

    Parameters
    ----------
    tree : int, number of the tree, from 0

    Returns
    -------
    tree : Tree
    offsets : float32 (F, 2, 2), metres, its feature table
    """
    growth = checkpoints.load(tree) if checkpoints else None
    if growth is not None and growth.finished:
        return finish(growth)
    frames = TreeFrames.of_tree(tree, dataset, parameters, body.n_classes, segmentation)
    if make_grower is None:
        grower: TreeGrower = LocalGrower.read(frames, on_frame, memory, checkpoints.folder if checkpoints else None)
    else:
        grower = make_grower(frames, on_frame)
    growth = grower.start(growth)
    while not growth.finished:
        started = time.monotonic()
        tried = int(np.minimum(growth.ends - growth.starts, parameters.growth.split_samples).sum())
        gain = grower.grow_level(growth, parameters.growth, (parameters.seed, tree, 1))
        if checkpoints:
            checkpoints.save(tree, growth)
        before, after = (
            (tree + _share_done(done, len(grower), parameters.growth)) / parameters.trees
            for done in (growth.level - 1, growth.level)
        )
        on_level(
            TrainingProgress(
                tree=tree,
                level=growth.level - 1,
                nodes=growth.n_nodes,
                leaves=growth.n_leaves,
                open_samples=int((growth.ends - growth.starts).sum()),
                samples=len(grower),
                tried_samples=tried,
                mean_gain=gain,
                seconds=time.monotonic() - started,
                done=after,
                done_by_level=after - before,
            )
        )
    return finish(growth)


def _share_done(levels: int, samples: int, rules: GrowthRules) -> float:
    """Share of a tree's work done after some levels: the last one has leaves alone, which cost nothing."""
    tried = [min(2**level * rules.split_samples, samples) for level in range(rules.max_depth)]
    work = [rules.candidates * count + PARTITION_RESPONSES * samples for count in tried]
    return sum(work[:levels]) / sum(work) if work else 1.0
