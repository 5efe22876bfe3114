"""Boosted trees: a sum of small regression trees on named numbers, the evidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.segmentation.boosted_trees.sum_of_leaves import LEAF, sum_of_leaves

MAX_TREES = 10_000
MAX_LEVELS = 256
"""Maximum number of levels below a root."""


@dataclass(frozen=True, slots=True, eq=False)
class BoostedTrees:
    """Trees as flat arrays, and the names of the numbers that they ask for.

    Children of a node are adjacent; evidence up to the threshold leads to the first.

    Raises
    ------
    ValueError
        For arrays that are no trees.
    """

    names: tuple[str, ...]  #: evidence that they were trained on
    number: np.ndarray  #: int32 (N,), evidence that a node asks for, LEAF at a leaf; of all trees
    threshold: np.ndarray  #: float32 (N,)
    child: np.ndarray  #: int32 (N,), first child
    value: np.ndarray  #: float32 (N,), what a leaf adds to the score
    roots: np.ndarray  #: int32 (T,)

    def __post_init__(self) -> None:
        inner = np.flatnonzero(self.number != LEAF)
        size = len(self.number)
        if not len(self.roots) or not ((self.roots >= 0) & (self.roots < size)).all():
            raise ValueError("boosted trees need roots that are among their nodes")
        if (self.number < LEAF).any() or self.number.max() >= len(self.names):
            raise ValueError(f"nodes of boosted trees ask for evidence outside 0..{len(self.names) - 1}")
        if ((self.child[inner] <= inner) | (self.child[inner] + 1 >= size)).any():
            raise ValueError("children of the nodes of boosted trees come after them, within the tree")
        if len(self.roots) > MAX_TREES or self._exceeds(MAX_LEVELS):
            raise ValueError(f"there may be at most {MAX_TREES} trees of {MAX_LEVELS} levels")

    def _exceeds(self, levels: int) -> bool:
        """Whether nodes are left after so many levels."""
        nodes = np.unique(self.roots)
        for _ in range(levels + 1):
            inner = nodes[self.number[nodes] != LEAF]
            first = self.child[inner]
            nodes = np.unique(np.concatenate([first, first + 1]))
        return bool(len(nodes))

    def places_among(self, measured: tuple[str, ...]) -> slice | np.ndarray:
        """Places of their own evidence among all that is measured, to index it by.

        Raises
        ------
        ValueError
            For evidence that this posepipe does not measure.
        """
        if measured[: len(self.names)] == self.names:
            return slice(len(self.names))
        known = {name: place for place, name in enumerate(measured)}
        if unknown := [name for name in self.names if name not in known]:
            raise ValueError(f"boosted trees need {unknown[0]!r}, which this posepipe does not measure; update it")
        return np.array([known[name] for name in self.names], np.int64)

    def score(self, evidence: np.ndarray) -> float:
        """Sum of the leaves that their own evidence, float32 (E,), reaches."""
        return sum_of_leaves(evidence, self.number, self.threshold, self.child, self.value, self.roots)
