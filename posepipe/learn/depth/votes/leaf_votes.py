"""Leaf votes: offsets from the pixels of a leaf to the joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

OFFSET_STEP_M = 0.005
"""Unit of a stored offset."""
MAX_VOTE_M = 127 * OFFSET_STEP_M
"""Maximum offset that an int8 of that unit holds."""
FULL_WEIGHT = 255
"""Stored weight of a vote of weight 1."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafVotes:
    """Offsets from a pixel to the joints, by leaf. Leaves share the votes of a *vote node*."""

    node_of_leaf: np.ndarray  #: int32 (L,), row of the vote node of each leaf
    offsets: np.ndarray  #: int8 (V, J, K, 3), joint - pixel, camera axes, in units of OFFSET_STEP_M
    weights: np.ndarray  #: uint8 (V, J, K), in units of 1 / FULL_WEIGHT, heaviest first; 0 = no vote

    def check(self, n_leaves: int, n_joints: int) -> None:
        """Check that the arrays match the tree and the body; kernels rely on it.

        Raises
        ------
        ValueError
            When they do not; the message states the violated rule.
        """
        for name, dtype in (("node_of_leaf", np.int32), ("offsets", np.int8), ("weights", np.uint8)):
            if getattr(self, name).dtype != dtype:
                raise ValueError(f"votes need {name} of {np.dtype(dtype)}, got {getattr(self, name).dtype}")
        shape = self.weights.shape
        if len(shape) != 3 or shape[1] != n_joints or self.offsets.shape != (*shape, 3):
            raise ValueError(
                f"votes for {n_joints} joints need weights (V, {n_joints}, K) and offsets (V, {n_joints}, K, 3),"
                f" got {shape} and {self.offsets.shape}"
            )
        if self.node_of_leaf.shape != (n_leaves,):
            raise ValueError(f"{n_leaves} leaves need a vote node each, got shape {self.node_of_leaf.shape}")
        if (self.node_of_leaf < 0).any() or (self.node_of_leaf >= shape[0]).any():
            raise ValueError(f"a leaf names a vote node outside the {shape[0]} rows of votes")
