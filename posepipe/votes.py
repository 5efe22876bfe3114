"""Kernel: a person's pixels to modes of joints, seen or hidden: each pixel casts the votes of its leaves.

A leaf knows how far from its pixels the joints lay in training, so a pixel of the forearm votes for wrist, elbow
and shoulder. Votes of one joint are weighted points, and mean shift finds where they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from posepipe.mean_shift import MAX_MODES, find_summits

OFFSET_STEP_M = 0.005
"""Unit of a stored offset."""
LONGEST_VOTE_M = 127 * OFFSET_STEP_M
"""What an int8 of that unit holds."""
FULL_WEIGHT = 255
"""Stored weight of a vote that weighs 1."""

MOST_PIXELS = 1000
"""More pixels of a person than this are thinned, evenly in image order."""
MOST_VOTES = 200
"""Votes for a joint, the heaviest, that mean shift looks at."""
MOST_CLIMBS = 8
"""For each joint: votes for it lie closer together than the pixels of a surface."""


@dataclass(frozen=True, slots=True, eq=False)
class LeafVotes:
    """Where the joints lie, seen from a pixel in each leaf of a tree. Leaves share the votes of a *vote node*."""

    node_of_leaf: np.ndarray  #: int32 (L,), row of the other two for each leaf of the tree
    offsets: np.ndarray  #: int8 (V, J, K, 3), joint - pixel, camera axes, in units of OFFSET_STEP_M
    weights: np.ndarray  #: uint8 (V, J, K), in units of 1 / FULL_WEIGHT, heaviest first; 0 = no vote

    def check(self, n_leaves: int, n_joints: int) -> None:
        """Refuse arrays that do not fit the tree and the body, or would send a kernel out of bounds.

        Raises
        ------
        ValueError
            Saying which rule the arrays break.
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


@dataclass(frozen=True, slots=True, eq=False)
class PackedVotes:
    """The votes of some trees laid out for the kernel: a node's votes, however few, side by side."""

    spans: np.ndarray  #: int32 (L, 2), of all trees' leaves: first row of ``votes``, and the row after the last
    first_leaf: np.ndarray  #: int32 (T,), row of ``spans`` where a tree's own leaves begin
    votes: np.ndarray  #: int16 (E, 5): joint, offset x, y, z in units of OFFSET_STEP_M, weight of FULL_WEIGHT
    n_joints: int
    mirrored_joints: np.ndarray  #: int64 (J,), the joint on the other side; empty = one walk a tree


def pack_votes(trees: Sequence[LeafVotes], mirrored_joints: np.ndarray | None = None) -> PackedVotes:
    """Lay the votes of one or more trees end to end; those of a symmetric forest know the joints' mirror images."""
    spans, votes = [], []
    n_votes = 0
    for tree in trees:
        node, joint, mode = np.nonzero(tree.weights)
        votes.append(np.column_stack([joint, tree.offsets[node, joint, mode], tree.weights[node, joint, mode]]))
        ends = n_votes + np.cumsum((tree.weights > 0).sum(axis=(1, 2)))
        starts = np.concatenate([[n_votes], ends[:-1]])
        spans.append(np.column_stack([starts, ends])[tree.node_of_leaf])
        n_votes += len(node)
    n_leaves = np.cumsum([0] + [len(span) for span in spans])
    return PackedVotes(
        spans=np.concatenate(spans).astype(np.int32),
        first_leaf=n_leaves[:-1].astype(np.int32),
        votes=np.concatenate(votes).astype(np.int16),
        n_joints=trees[0].weights.shape[1],
        mirrored_joints=np.array([] if mirrored_joints is None else mirrored_joints, np.int64),
    )


@njit(cache=True, parallel=True)
def _gather(area, leaves, n_pixels, spans, first_leaf, votes, mirrored_joints):
    """The votes of all walks of the voting pixels end to end, int16 (E, 5), and each one's pixel, int32 (E,).

    First all spans are looked up, then all votes: two rounds of cache misses that overlap, for none waits for another.
    """
    n_trees, n_walks = len(first_leaf), leaves.shape[1]
    reached = np.zeros((n_pixels, n_walks, 2), np.int32)
    ends = np.zeros(n_pixels, np.int64)
    for i in prange(n_pixels):  # a pixel owns its rows of both
        n = (2 * i + 1) * len(leaves) // (2 * n_pixels)
        if area[n] > 0:
            for t in range(n_walks):
                span = spans[first_leaf[t % n_trees] + leaves[n, t]]
                reached[i, t, 0], reached[i, t, 1] = span[0], span[1]
                ends[i] += span[1] - span[0]
    for i in range(1, n_pixels):
        ends[i] += ends[i - 1]
    most = ends[n_pixels - 1] if n_pixels else 0
    pixel, cast = np.empty(most, np.int32), np.empty((most, 5), np.int16)
    for i in prange(n_pixels):  # and the votes that end at its end
        n = (2 * i + 1) * len(leaves) // (2 * n_pixels)
        at = ends[i - 1] if i else 0
        for t in range(n_walks):
            for v in range(reached[i, t, 0], reached[i, t, 1]):
                joint, x = np.int64(votes[v, 0]), votes[v, 1]
                if t >= n_trees:  # a mirrored walk votes for the joint on the other side
                    joint, x = mirrored_joints[joint], -x
                pixel[at] = n
                cast[at, 0], cast[at, 1], cast[at, 2] = joint, x, votes[v, 2]
                cast[at, 3], cast[at, 4] = votes[v, 3], votes[v, 4]
                at += 1
    return pixel, cast


@njit(cache=True)
def _lightest(counts, most):
    """The least stored weight that the ``most`` heaviest votes go down to, and how many of that weight they hold."""
    room = most
    for weight in range(FULL_WEIGHT, 0, -1):
        if counts[weight] >= room:
            return weight, room
        room -= counts[weight]
    return 0, 0


@njit(cache=True)
def _keep_heaviest(points, area, n_pixels, pixel, cast, places, weights, n_votes):
    n_joints, most = weights.shape
    counts = np.zeros((n_joints, FULL_WEIGHT + 1), np.int32)  # votes of each joint and stored weight
    for v in range(len(cast)):
        counts[cast[v, 0], cast[v, 4]] += 1
    lightest = np.empty(n_joints, np.int32)
    room = np.empty(n_joints, np.int32)
    seen = np.zeros(n_joints, np.int64)  # votes of the lightest weight so far
    for joint in range(n_joints):
        lightest[joint], room[joint] = _lightest(counts[joint], most)
    step = np.float32(OFFSET_STEP_M)
    unit = np.float32(len(points)) / np.float32(max(n_pixels, 1)) / np.float32(FULL_WEIGHT)
    for v in range(len(cast)):
        joint, weight = cast[v, 0], cast[v, 4]
        if weight < lightest[joint]:
            continue
        if weight == lightest[joint]:  # of these, evenly spaced ones
            before = seen[joint] * room[joint] // counts[joint, weight]
            seen[joint] += 1
            if seen[joint] * room[joint] // counts[joint, weight] == before:
                continue
        n, k = pixel[v], n_votes[joint]
        places[joint, k, 0] = points[n, 0] + step * cast[v, 1]
        places[joint, k, 1] = points[n, 1] + step * cast[v, 2]
        places[joint, k, 2] = points[n, 2] + step * cast[v, 3]
        weights[joint, k] = np.float32(weight) * area[n] * unit
        n_votes[joint] += 1


def cast_votes(
    points_m: np.ndarray,
    area_m2: np.ndarray,
    leaves: np.ndarray,
    votes: PackedVotes,
    most_votes: int = MOST_VOTES,
    most_pixels: int = MOST_PIXELS,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The heaviest votes for every joint.

    Of many pixels, ``most_pixels`` evenly spaced ones vote, each for as many as it stands for. Of a joint's votes
    those on which training pixels agreed best are kept, whatever their pixels' area; of the votes of the least
    weight that still fits, evenly spaced ones.

    Parameters
    ----------
    points_m : float32 (N, 3), metres
    area_m2 : float32 (N,), square metres, times the probability to be a person where that is known; a vote weighs
        its own weight x this, and a pixel of 0 does not vote
    leaves : int32 (N, W), row of each tree's own leaves that a pixel reached, the mirrored walks after the others
    votes : PackedVotes, of the same trees
    most_votes : int, for each joint
    most_pixels : int

    Returns
    -------
    places : float32 (J, most_votes, 3), metres, in the order of their pixels
    weights : float32 (J, most_votes), square metres
    n_votes : int64 (J,), how many of them there are; the rest is 0

    References
    ----------
    Girshick et al., ICCV 2011, section 3.3. Naive twin: tests/reference/votes.py
    """
    places = np.zeros((votes.n_joints, most_votes, 3), np.float32)
    weights = np.zeros((votes.n_joints, most_votes), np.float32)
    n_votes = np.zeros(votes.n_joints, np.int64)
    n_pixels = min(len(points_m), most_pixels)
    pixel, cast = _gather(area_m2, leaves, n_pixels, votes.spans, votes.first_leaf, votes.votes, votes.mirrored_joints)
    _keep_heaviest(points_m, area_m2, n_pixels, pixel, cast, places, weights, n_votes)
    return places, weights, n_votes


@njit(cache=True, parallel=True)
def _find_vote_modes(places, weights, n_votes, bandwidth, modes, masses):
    for joint in prange(len(n_votes)):  # a joint owns its rows of modes and masses
        find_summits(
            places[joint], weights[joint], n_votes[joint], bandwidth[joint], MOST_CLIMBS, modes[joint], masses[joint]
        )


def find_vote_modes(
    places_m: np.ndarray, weights_m2: np.ndarray, n_votes: np.ndarray, bandwidth_m: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Modes of each joint's votes, heaviest first.

    At most MOST_CLIMBS climbs each, by the rules of `find_modes`.

    Parameters
    ----------
    places_m, weights_m2, n_votes : from `cast_votes`
    bandwidth_m : float32 (J,), sigma of the Gaussian

    Returns
    -------
    modes : float32 (J, MAX_MODES, 3), metres
    masses : float32 (J, MAX_MODES), square metres under the kernel at the mode, of the votes that were kept; 0 = no
        mode

    References
    ----------
    Comaniciu and Meer, PAMI 2002; Girshick et al., ICCV 2011. Naive twin: tests/reference/votes.py
    """
    modes = np.zeros((len(n_votes), MAX_MODES, 3), np.float32)
    masses = np.zeros((len(n_votes), MAX_MODES), np.float32)
    _find_vote_modes(places_m, weights_m2, n_votes, bandwidth_m, modes, masses)
    return modes, masses
