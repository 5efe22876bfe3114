"""Depth forest: randomised decision trees on depth differences that label pixels with body parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.frames import check_depth_and_mask, window_of
from posepipe.learn.depth.classify import find_leaves, mean_posterior
from posepipe.learn.depth.packed_forest import PackedForest, pack_forest
from posepipe.learn.depth.probes.clamped_probes import find_clamped_leaves
from posepipe.learn.depth.probes.probe_rules import METRIC, ProbeRules
from posepipe.learn.depth.splitting.depth_features import bordered_depth
from posepipe.learn.tree import Tree
from posepipe.parts import EVERY_PIXEL, PartProbabilities, Stride
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.stage import Stateless


@dataclass(frozen=True, slots=True, eq=False)
class DepthForest(Stateless):
    """Randomised decision trees on depth differences; a `PartClassifier` without votes.

    A ``symmetric`` forest walks every tree a second time as its own mirror image (`classify`).

    Raises
    ------
    ValueError
        When trees, feature tables and body do not match.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe import Intrinsics, PoseModel
    >>> forest = PoseModel.load("person").forest
    >>> len(forest.trees), forest.body.name, forest.symmetric
    (3, 'human', True)
    >>> depth_m = np.full((60, 40), 2.5, np.float32)
    >>> parts = forest.predict(depth_m, depth_m > 0, Intrinsics(fx=70.0, fy=70.0, cx=19.5, cy=29.5))
    >>> parts.probabilities.shape == (60 * 40, forest.body.n_classes)
    True
    """

    trees: tuple[Tree, ...]
    offsets: tuple[np.ndarray, ...]  #: float32 (F, 2, 2), metres, the feature table of each tree; or see `probes`
    body: BodyDefinition
    symmetric: bool = False
    probes: ProbeRules = METRIC  #: rules of the program that trained it; they say what unit the offsets have
    packed: PackedForest = field(init=False, repr=False)  #: memory layout for the kernels

    def __init__(
        self,
        trees: Sequence[Tree],
        offsets: Sequence[np.ndarray],
        body: BodyDefinition,
        symmetric: bool = False,
        probes: ProbeRules = METRIC,
    ) -> None:
        _check_trees(trees, offsets, body)
        if symmetric and not body.has_sides:
            raise ValueError(f"body {body.name!r} has no left and right parts: its forest cannot be symmetric")
        if symmetric and probes != METRIC:
            raise ValueError("only a forest with the probe rules of posepipe can be symmetric")
        packed = pack_forest(trees, offsets, body.mirrored_classes() if symmetric else None)
        fields = {
            "trees": _sharing_leaves(trees, packed),
            "offsets": tuple(offsets),
            "body": body,
            "symmetric": symmetric,
            "probes": probes,
        }
        for name, value in {**fields, "packed": packed}.items():
            object.__setattr__(self, name, value)

    def with_symmetry(self, symmetric: bool) -> DepthForest:
        """Return a forest of the same trees, symmetric or not; raises ValueError for a body without sides."""
        if symmetric == self.symmetric:
            return self
        return DepthForest(self.trees, self.offsets, self.body, symmetric, self.probes)

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> PartProbabilities:
        """Classify the pixels of one person.

        Parameters
        ----------
        depth_m : float32 (H, W), metres, 0 = no reading
        mask : bool (H, W), the person
        intrinsics : Intrinsics
        stride : row step and column step of the grid of pixels that are classified

        Returns
        -------
        PartProbabilities, at pixels with a reading only
        """
        pixels, leaves = self.reach_leaves(depth_m, mask, intrinsics, stride)
        return PartProbabilities(pixels, mean_posterior(leaves, self.packed), stride)

    def reach_leaves(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> tuple[np.ndarray, np.ndarray]:
        """Send the pixels of one person down the trees; parameters are those of `predict`.

        Returns
        -------
        pixels : int32 (N, 2), row and column, in image order
        leaves : int32 (N, W), row of the leaf reached in each tree; mirrored walks follow the others

        Raises
        ------
        ValueError
            When depth and mask have different shapes, or depth is of whole numbers, such as millimetres.
        """
        check_depth_and_mask(depth_m, mask)
        mask = np.asarray(mask, bool)
        if self.probes != METRIC:  # a window of the image has another border
            pixels = pixels_of(mask & (depth_m > 0), stride)
            return pixels, self.find_leaves(depth_m, mask, pixels, intrinsics)
        rows, cols = window_of(mask)  # pixels outside the window are background
        corner = np.array([rows.start - rows.start % stride[0], cols.start - cols.start % stride[1]], np.int32)
        window = slice(corner[0], rows.stop), slice(corner[1], cols.stop)
        depth_m, mask = np.ascontiguousarray(depth_m[window]), np.ascontiguousarray(mask[window])
        pixels = pixels_of(mask & (depth_m > 0), stride)
        return pixels + corner, self.find_leaves(depth_m, mask, pixels, intrinsics)

    def posterior_of_trees(self, leaves: np.ndarray, trees: Sequence[int]) -> np.ndarray:
        """Average the posteriors of some trees only.

        Parameters
        ----------
        leaves : int32 (N, W), from `reach_leaves`, of all trees
        trees : their numbers, from 0

        Returns
        -------
        float32 (N, C); rows sum to 1
        """
        walks = [first + tree for first in range(0, leaves.shape[1], len(self.trees)) for tree in trees]
        chosen = list(trees)
        some = replace(self.packed, roots=self.packed.roots[chosen], first_leaf=self.packed.first_leaf[chosen])
        return mean_posterior(np.ascontiguousarray(leaves[:, walks]), some)

    def find_leaves(
        self, depth_m: np.ndarray, mask: np.ndarray, pixels: np.ndarray, intrinsics: Intrinsics
    ) -> np.ndarray:
        """Send pixels, int32 (N, 2), inside the mask and with a reading, down the trees by the rules of the probes.

        Returns
        -------
        int32 (N, W), row of the leaf reached in each tree; mirrored walks follow the others
        """
        fx, fy, packed = intrinsics.fx, intrinsics.fy, self.packed
        if self.probes.focal_px is None:
            return find_leaves(bordered_depth(depth_m, mask), pixels, fx, fy, packed)
        reference = self.probes.focal_px
        return find_clamped_leaves(
            depth_m, mask, pixels, (fx, fy), reference, packed.records, packed.links, packed.roots
        )


def _sharing_leaves(trees: Sequence[Tree], packed: PackedForest) -> tuple[Tree, ...]:
    """Trees whose leaves, where these are bytes, are those of the packed forest, and take no memory of their own."""
    shares = np.split(packed.leaf_shares, packed.first_leaf[1:])
    return tuple(
        replace(tree, leaf_statistics=own) if tree.leaf_statistics.dtype == own.dtype == np.uint8 else tree
        for tree, own in zip(trees, shares, strict=True)
    )


def _check_trees(trees: Sequence[Tree], offsets: Sequence[np.ndarray], body: BodyDefinition) -> None:
    if not trees or len(trees) != len(offsets):
        raise ValueError(f"a forest needs one feature table per tree, got {len(trees)} trees, {len(offsets)} tables")
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
