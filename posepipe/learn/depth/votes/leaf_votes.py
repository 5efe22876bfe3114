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
    """Offsets from a pixel to the joints, by leaf. Leaves share the votes of a *vote node*.

    The votes of a node are adjacent, ordered by joint, those of one joint heaviest first.
    """

    node_of_leaf: np.ndarray  #: int32 (L,), row of the vote node of each leaf
    n_votes: np.ndarray  #: int32 (V,), number of votes of each vote node
    joint: np.ndarray  #: uint8 (E,), or uint16 for more joints than that holds, of every vote
    offset: np.ndarray  #: int8 (E, 3), joint - pixel, camera axes, in units of OFFSET_STEP_M
    weight: np.ndarray  #: uint8 (E,), 1 and up, in units of 1 / FULL_WEIGHT
    n_joints: int  #: of the body

    @classmethod
    def from_dense(cls, node_of_leaf: np.ndarray, offsets: np.ndarray, weights: np.ndarray) -> LeafVotes:
        """Votes from arrays with an equal number of places for every joint of every vote node.

        Parameters
        ----------
        node_of_leaf : int32 (L,)
        offsets : int8 (V, J, K, 3), in units of OFFSET_STEP_M
        weights : uint8 (V, J, K), in units of 1 / FULL_WEIGHT; 0 = no vote

        Raises
        ------
        ValueError
            When dtypes or shapes differ from these.
        """
        for name, array, dtype in (("offsets", offsets, np.int8), ("weights", weights, np.uint8)):
            _check_dtype(name, array, dtype)
        if weights.ndim != 3 or offsets.shape != (*weights.shape, 3):
            raise ValueError(
                f"votes need weights (V, J, K) and offsets (V, J, K, 3), got shapes {weights.shape} and {offsets.shape}"
            )
        votes = np.flatnonzero(weights)
        _, n_joints, n_modes = weights.shape
        joint = votes // max(n_modes, 1) % max(n_joints, 1)
        return cls(
            node_of_leaf,
            np.count_nonzero(weights, axis=(1, 2)).astype(np.int32),
            joint.astype(joint_dtype(n_joints)),
            offsets.reshape(-1, 3)[votes],
            weights.ravel()[votes],
            n_joints,
        )

    def check(self, n_leaves: int, n_joints: int) -> None:
        """Check that the arrays match the tree and the body; kernels rely on it.

        Raises
        ------
        ValueError
            When they do not; the message states the violated rule.
        """
        wanted = {
            "node_of_leaf": (np.int32, (n_leaves,)),
            "n_votes": (np.int32, self.n_votes.shape[:1]),
            "joint": (joint_dtype(n_joints), self.weight.shape[:1]),
            "offset": (np.int8, (*self.weight.shape[:1], 3)),
            "weight": (np.uint8, self.weight.shape[:1]),
        }
        if self.n_joints != n_joints:
            raise ValueError(f"a body of {n_joints} joints needs votes for {n_joints} joints, got {self.n_joints}")
        if self.node_of_leaf.shape != (n_leaves,):
            raise ValueError(f"{n_leaves} leaves need a vote node each, got shape {self.node_of_leaf.shape}")
        for name, (dtype, shape) in wanted.items():
            array = getattr(self, name)
            _check_dtype(name, array, dtype)
            if array.shape != shape:
                raise ValueError(f"votes need {name} of shape {shape}, got {array.shape}")
        if (self.n_votes < 0).any() or self.n_votes.sum(dtype=np.int64) != len(self.weight):
            raise ValueError(f"the numbers of votes of the nodes must add up to {len(self.weight)} votes")
        if (self.joint >= n_joints).any() or not self.weight.all():
            raise ValueError(f"a vote needs a weight above 0 and a joint of 0..{n_joints - 1}")
        if (self.node_of_leaf < 0).any() or (self.node_of_leaf >= len(self.n_votes)).any():
            raise ValueError(f"a leaf names a vote node outside the {len(self.n_votes)} rows of votes")


def joint_dtype(n_joints: int) -> type[np.unsignedinteger]:
    """Type of the joint of a vote, for a body of so many joints."""
    return np.uint8 if n_joints <= 256 else np.uint16


def _check_dtype(name: str, array: np.ndarray, dtype: type[np.generic]) -> None:
    if array.dtype != dtype:
        raise ValueError(f"votes need {name} of {np.dtype(dtype)}, got {array.dtype}")
