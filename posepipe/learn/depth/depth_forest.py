"""The depth forest: a `PartClassifier` of randomised trees on depth differences, and its training."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.errors import FormatError
from posepipe.frames import LabelledFrame, window_of
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.offset_votes import LeafVotes, pack_votes
from posepipe.learn.depth import forest_file
from posepipe.learn.depth.binned_splits import BATCH_SAMPLES, BinnedSplits
from posepipe.learn.depth.checkpoints import Checkpoints
from posepipe.learn.depth.classify import PackedForest, find_leaves, mean_posterior, pack_forest
from posepipe.learn.depth.depth_features import bordered_depth
from posepipe.learn.depth.pixel_sampling import Segmentation, sample_pixels, true_people
from posepipe.learn.depth.responses import DepthResponses, OffsetRange
from posepipe.learn.growing import GrowthRules, finish, grow_level, start_growth
from posepipe.learn.tree import Tree
from posepipe.parts import EVERY_PIXEL, PartProbabilities, Stride
from posepipe.segmentation.pixel_grid import pixels_of

MEMORY_PROBES = 32
"""Frames looked at to foresee the memory of a training."""


@dataclass(frozen=True, slots=True)
class ForestParameters:
    """How a forest is trained; the defaults are those of the shipped model."""

    trees: int = 3
    pixels_per_person: int = 300
    growth: GrowthRules = field(default_factory=GrowthRules)
    offsets: OffsetRange = field(default_factory=OffsetRange)
    symmetric: bool = True  #: walk every tree as its mirror image too, where the body has sides
    seed: int = 0

    def __post_init__(self) -> None:
        if self.trees < 1 or self.pixels_per_person < 1:
            raise ValueError(
                "a forest needs at least 1 tree and 1 pixel a person,"
                f" got {self.trees} trees and {self.pixels_per_person} pixels"
            )


@dataclass(frozen=True, slots=True)
class TrainingProgress:
    """Where training stands after a level of a tree, for reports."""

    tree: int
    level: int
    nodes: int  #: of the tree so far
    leaves: int
    open_samples: int  #: samples that still go on to the next level
    samples: int
    mean_gain: float  #: bits, over the splits of this level
    seconds: float  #: that this level took
    done: float  #: share of the whole training, from 0 to 1, as estimated from the samples looked at
    done_by_level: float  #: what this level added to it


class DepthForest:
    """Randomised decision trees on depth differences; labels pixels with body parts.

    A ``symmetric`` forest walks every tree a second time as its own mirror image (`classify`).

    Raises
    ------
    ValueError
        When trees, feature tables and body do not fit together.
    """

    def __init__(
        self,
        trees: Sequence[Tree],
        offsets: Sequence[np.ndarray],
        body: BodyDefinition,
        joint_parameters: JointParameters | None = None,
        header: dict[str, Any] | None = None,
        votes: Sequence[LeafVotes] = (),
        symmetric: bool = False,
    ) -> None:
        if not trees or len(trees) != len(offsets):
            raise ValueError(f"a forest needs one feature table a tree, got {len(trees)} trees, {len(offsets)} tables")
        for tree, table in zip(trees, offsets, strict=True):
            if table.ndim != 3 or table.shape[1:] != (2, 2) or not np.isfinite(table).all():
                raise ValueError(f"offsets must be finite, float32 (F, 2, 2), got shape {table.shape}")
            tree.check(len(table))
            if (tree.n_children[~tree.is_leaf] != 2).any():
                raise ValueError("a node of a depth forest has two children")
            if tree.leaf_statistics.shape[1] != body.n_classes:
                raise ValueError(
                    f"leaves hold {tree.leaf_statistics.shape[1]} classes, the body {body.name!r} has {body.n_classes}"
                )
        self.trees = tuple(trees)
        self.offsets = tuple(offsets)
        self.body = body
        self.joint_parameters = joint_parameters or JointParameters.default(body)
        self.header = header or {}
        self.votes: tuple[LeafVotes, ...] = ()
        self.set_symmetric(symmetric)
        self.set_votes(votes)

    def set_symmetric(self, symmetric: bool) -> None:
        """Walk every tree as its mirror image too, or no longer; ValueError for a body without sides."""
        if symmetric and not self.body.has_sides:
            raise ValueError(f"body {self.body.name!r} has no left and right parts: its forest cannot be symmetric")
        self.symmetric = symmetric
        classes = self.body.mirrored_classes() if symmetric else None
        self.packed: PackedForest = pack_forest(self.trees, self.offsets, classes)
        self._pack_votes()

    def set_votes(self, votes: Sequence[LeafVotes]) -> None:
        """Give the leaves their votes, one `LeafVotes` a tree or none; ValueError for what does not fit."""
        if len(votes) not in (0, len(self.trees)):
            raise ValueError(f"a forest of {len(self.trees)} trees needs votes for each or none, got {len(votes)}")
        for tree, own in zip(self.trees, votes, strict=False):
            own.check(tree.n_leaves, len(self.body.joints))
        self.votes = tuple(votes)
        self._pack_votes()

    def _pack_votes(self) -> None:
        mirrored = self.body.mirrored_joints() if self.symmetric else None
        self.packed_votes = pack_votes(self.votes, mirrored) if self.votes else None

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> PartProbabilities:
        """Classify the pixels of one person.

        Parameters
        ----------
        depth_m : float32 (H, W), metres, 0 = no reading
        mask : bool (H, W), the person
        intrinsics : Intrinsics
        stride : rows and columns, of which only every so many are classified

        Returns
        -------
        PartProbabilities, at pixels with a reading only
        """
        if depth_m.shape != mask.shape:
            raise ValueError(f"depth and mask must have one shape, got {depth_m.shape} and {mask.shape}")
        mask = np.asarray(mask, bool)
        rows, cols = window_of(mask)  # what lies outside reads as background either way
        corner = np.array([rows.start - rows.start % stride[0], cols.start - cols.start % stride[1]], np.int32)
        window = slice(corner[0], rows.stop), slice(corner[1], cols.stop)
        depth_m, mask = np.ascontiguousarray(depth_m[window]), np.ascontiguousarray(mask[window])
        pixels = pixels_of(mask & (depth_m > 0), stride)
        leaves = find_leaves(bordered_depth(depth_m, mask), pixels, intrinsics.fx, intrinsics.fy, self.packed)
        return PartProbabilities(pixels + corner, mean_posterior(leaves, self.packed), stride, leaves)

    def save(self, path: str | Path) -> None:
        """Write the model file; see docs/reference/formats.md."""
        forest_file.write_forest(
            path,
            self.trees,
            self.offsets,
            self.body,
            self.joint_parameters,
            self.header,
            self.votes,
            self.symmetric,
        )

    @classmethod
    def load(cls, path: str | Path) -> DepthForest:
        """Read a model file. Raises FormatError when it is not one or does not hold together."""
        stored = forest_file.read_forest(path)
        try:
            return cls(*stored)
        except ValueError as error:
            raise FormatError(path, f"a posepipe model that does not hold together: {error}") from None


def train_forest(
    dataset: Sequence[LabelledFrame],
    parameters: ForestParameters,
    body: BodyDefinition | None = None,
    on_level: Callable[[TrainingProgress], None] = lambda progress: None,
    checkpoints: Checkpoints | None = None,
    on_frame: Callable[[], object] = lambda: None,
    segmentation: Segmentation = true_people,
) -> DepthForest:
    """Train a forest, each tree on its own frames: tree t of T sees frames t, t + T, t + 2T ...

    Parameters
    ----------
    dataset : labelled frames; a `Dataset` reads them as they are asked for
    parameters : ForestParameters
    body : of the labels; None = the dataset's own
    on_level : called after every level
    checkpoints : keeps every level on disk, and is where a run that was broken off goes on
    on_frame : called after every frame that is read
    segmentation : what the forest will be shown as one piece, in use as in training

    Returns
    -------
    DepthForest with untrained joint parameters

    Raises
    ------
    ValueError
        When there are fewer frames than trees, or nobody in them.
    """
    if len(dataset) < parameters.trees:
        raise ValueError(f"every tree needs frames of its own: {parameters.trees} trees, {len(dataset)} frames")
    body = body or dataset.body  # type: ignore[attr-defined]  # a Dataset or FrameSequence has one
    grown = [
        train_tree(dataset, parameters, body, tree, on_level, checkpoints, on_frame, segmentation)
        for tree in range(parameters.trees)
    ]
    header = {"training": asdict(parameters), "training_frames": len(dataset)}
    trees, tables = [forest_file.as_kept(t) for t, _ in grown], [o for _, o in grown]
    return DepthForest(trees, tables, body, header=header, symmetric=parameters.symmetric and body.has_sides)


def train_tree(
    dataset: Sequence[LabelledFrame],
    parameters: ForestParameters,
    body: BodyDefinition,
    tree: int,
    on_level: Callable[[TrainingProgress], None] = lambda progress: None,
    checkpoints: Checkpoints | None = None,
    on_frame: Callable[[], object] = lambda: None,
    segmentation: Segmentation = true_people,
) -> tuple[Tree, np.ndarray]:
    """Grow tree number ``tree`` of a forest. Returns it and its feature table, float32 (F, 2, 2) metres."""
    growth = checkpoints.load(tree) if checkpoints else None
    if growth is not None and growth.finished:
        return finish(growth)
    own = range(tree, len(dataset), parameters.trees)
    seed = (parameters.seed, tree)
    samples = sample_pixels(_each(dataset, own, on_frame), parameters.pixels_per_person, seed, segmentation)
    finder = BinnedSplits(DepthResponses(samples, parameters.offsets), samples.label, body.n_classes)
    growth = growth or start_growth(len(finder))
    while not growth.finished:
        started = time.monotonic()
        gain = grow_level(growth, finder, parameters.growth, (*seed, 1))
        if checkpoints:
            checkpoints.save(tree, growth)
        before, after = (
            (tree + _share_done(done, len(finder), parameters.growth)) / parameters.trees
            for done in (growth.level - 1, growth.level)
        )
        on_level(
            TrainingProgress(
                tree=tree,
                level=growth.level - 1,
                nodes=growth.n_nodes,
                leaves=growth.n_leaves,
                open_samples=len(growth.order),
                samples=len(finder),
                mean_gain=gain,
                seconds=time.monotonic() - started,
                done=after,
                done_by_level=after - before,
            )
        )
    return finish(growth)


def memory_needed(
    dataset: Sequence[LabelledFrame], parameters: ForestParameters, segmentation: Segmentation = true_people
) -> int:
    """Bytes that training will hold at its peak, from a few frames: images, pixels and one batch of bins."""
    rows = range(0, len(dataset), max(1, len(dataset) // MEMORY_PROBES))
    looked_at = _each(dataset, rows, lambda: None)
    probe = sample_pixels(looked_at, parameters.pixels_per_person, (parameters.seed,), segmentation)
    arrays = (probe.images, probe.image, probe.pixel, probe.scale, probe.label)
    partition = 40 * len(probe.label)  # the order, its sort and the sides, while a level is parted
    frames = -(-len(dataset) // parameters.trees)
    # twice the arrays: they are gathered frame by frame, then laid end to end
    bytes_a_frame = (2 * sum(a.nbytes for a in arrays) + partition) / len(rows)
    return int(frames * bytes_a_frame + BATCH_SAMPLES * parameters.growth.candidates)


def _each(
    dataset: Sequence[LabelledFrame], rows: Iterable[int], on_frame: Callable[[], object]
) -> Iterator[tuple[int, LabelledFrame]]:
    for row in rows:
        yield row, dataset[row]
        on_frame()


def _share_done(levels: int, samples: int, rules: GrowthRules) -> float:
    """Share of a tree's work after so many levels: each looks at all samples, the first at ``split_samples`` a node."""
    work = [min(2**level * rules.split_samples, samples) for level in range(rules.max_depth + 1)]
    return sum(work[:levels]) / sum(work)
