"""Kernel: a person's pixels to modes of joints, seen or hidden: each pixel casts the votes of its leaves.

A leaf knows how far from its pixels the joints lay in training, so a pixel of the forearm votes for wrist, elbow
and shoulder. Votes of one joint are weighted points, and mean shift finds where they agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numba import njit, prange

from posepipe.joints.mean_shift import MAX_MODES, evens_first, find_density_modes, room_for

OFFSET_STEP_M = 0.005
"""Unit of a stored offset."""
MAX_VOTE_M = 127 * OFFSET_STEP_M
"""What an int8 of that unit holds."""
FULL_WEIGHT = 255
"""Stored weight of a vote that weighs 1."""
WEIGHTS = FULL_WEIGHT + 1

MAX_PIXELS = 1000
"""More pixels of a person than this are thinned, evenly in image order."""
MAX_VOTES = 200
"""Votes for a joint, the heaviest, that mean shift looks at."""
MAX_STARTS = 8
"""For each joint: votes for it lie closer together than the pixels of a surface."""
BLOCKS = 4
"""Of voters, each counted and placed by one thread at a time: few, for each has counts of its own to be cleared."""


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

    spans: np.ndarray  #: int32 (L, 2), of all trees' leaves: its first vote, and the vote after its last
    first_leaf: np.ndarray  #: int32 (T,), row of ``spans`` where a tree's own leaves begin
    codes: np.ndarray  #: uint16 or uint32 (E,), of every vote: joint x WEIGHTS + stored weight
    offsets: np.ndarray  #: int8 (E, 3), in units of OFFSET_STEP_M
    mirrored_joints: np.ndarray  #: int64 (J,), for walks beyond one a tree: the joint on the other side

    @property
    def n_joints(self) -> int:
        return len(self.mirrored_joints)


def pack_votes(trees: Sequence[LeafVotes], mirrored_joints: np.ndarray | None = None) -> PackedVotes:
    """Lay the votes of one or more trees end to end; those of a symmetric forest know the joints' mirror images."""
    spans, codes, offsets = [], [], []
    n_votes, n_joints = 0, trees[0].weights.shape[1]
    for tree in trees:
        node, joint, mode = np.nonzero(tree.weights)
        codes.append(joint * WEIGHTS + tree.weights[node, joint, mode])
        offsets.append(tree.offsets[node, joint, mode])
        ends = n_votes + np.cumsum((tree.weights > 0).sum(axis=(1, 2)))
        starts = np.concatenate([[n_votes], ends[:-1]])
        spans.append(np.column_stack([starts, ends])[tree.node_of_leaf])
        n_votes += len(node)
    n_leaves = np.cumsum([0] + [len(span) for span in spans])
    return PackedVotes(
        spans=np.concatenate(spans).astype(np.int32),
        first_leaf=n_leaves[:-1].astype(np.int32),
        codes=np.concatenate(codes).astype(np.uint16 if n_joints * WEIGHTS <= 2**16 else np.uint32),
        offsets=np.concatenate(offsets),
        mirrored_joints=np.array(range(n_joints) if mirrored_joints is None else mirrored_joints, np.int64),
    )


@njit(cache=True, inline="always")
def _voter(i, n_pixels, n):
    """Row of the voter number ``i`` among ``n`` pixels, of which ``n_pixels`` vote."""
    return (2 * i + 1) * n // (2 * n_pixels)


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
def _share_out(counts, mirrored_joints, most):
    """Which votes each block keeps, of those that it counted, int32 (B, 2, J x WEIGHTS), straight and mirrored walks'.

    Returns
    -------
    room, alike : int64 (J,), how many votes of the least weight that is kept, and of how many
    kept : uint8 (2, J x WEIGHTS), of every code: 1 = all, 2 = some, 0 = none
    seen, first : int64 (B + 1, J), before each block: votes of the least weight, and votes kept
    """
    n_blocks, n_joints = len(counts), len(mirrored_joints)
    room, alike = np.zeros(n_joints, np.int64), np.zeros(n_joints, np.int64)
    kept = np.zeros((2, n_joints * WEIGHTS), np.uint8)
    seen, first = np.zeros((n_blocks + 1, n_joints), np.int64), np.zeros((n_blocks + 1, n_joints), np.int64)
    own = np.zeros((n_blocks, WEIGHTS), np.int64)
    for joint in range(n_joints):
        straight, mirrored = joint * WEIGHTS, mirrored_joints[joint] * WEIGHTS
        for block in range(n_blocks):
            for weight in range(WEIGHTS):
                own[block, weight] = counts[block, 0, straight + weight] + counts[block, 1, mirrored + weight]
        lightest, room[joint] = _lightest(own.sum(axis=0), most)
        alike[joint] = max(own[:, lightest].sum(), 1)
        kept[0, straight + lightest : straight + WEIGHTS] = 1
        kept[0, straight + lightest] = 2
        kept[1, mirrored : mirrored + WEIGHTS] = kept[0, straight : straight + WEIGHTS]
        heavier = 0
        for block in range(n_blocks):
            heavier += own[block, lightest + 1 :].sum()
            seen[block + 1, joint] = seen[block, joint] + own[block, lightest]
            first[block + 1, joint] = heavier + seen[block + 1, joint] * room[joint] // alike[joint]
    return room, alike, kept, seen, first


@njit(cache=True, parallel=True)
def _cast(points, area, leaves, n_pixels, spans, first_leaf, codes, offsets, mirrored_joints, places, weights):
    """Count the votes of each weight, then place those that are heavy enough, which are few."""
    n_trees, n_walks = len(first_leaf), leaves.shape[1]
    reached, read = np.empty((n_pixels, n_walks, 2), np.int32), np.zeros(n_pixels, np.int32)
    counts = np.zeros((BLOCKS, 2, len(mirrored_joints) * WEIGHTS), np.int32)
    for block in prange(BLOCKS):  # a block owns its voters' rows and its counts
        voters = range(block * n_pixels // BLOCKS, (block + 1) * n_pixels // BLOCKS)
        # all spans are read before any vote, and a vote of each before they are counted: cache misses overlap where
        # none waits for another
        for i in voters:
            n = _voter(i, n_pixels, len(leaves))
            for t in range(n_walks):
                span = spans[first_leaf[t % n_trees] + leaves[n, t]]
                reached[i, t, 0], reached[i, t, 1] = span[0], span[1] if area[n] > 0 else span[0]
        for i in voters:
            for t in range(n_walks):
                if reached[i, t, 0] < reached[i, t, 1]:
                    read[i] += codes[reached[i, t, 0]] + offsets[reached[i, t, 0], 0]
        for i in voters:
            for t in range(n_walks):
                walk = np.int64(t >= n_trees)
                for v in range(reached[i, t, 0], reached[i, t, 1]):
                    counts[block, walk, codes[v]] += 1
    room, alike, kept, seen, first = _share_out(counts, mirrored_joints, weights.shape[1])
    step = np.float32(OFFSET_STEP_M)
    unit = np.float32(len(points)) / np.float32(max(n_pixels, 1)) / np.float32(FULL_WEIGHT)
    for block in prange(BLOCKS):  # and the places between its first and the next block's
        like, at = seen[block].copy(), first[block].copy()
        for i in range(block * n_pixels // BLOCKS, (block + 1) * n_pixels // BLOCKS):
            for t in range(n_walks):
                walk = np.int64(t >= n_trees)
                for v in range(reached[i, t, 0], reached[i, t, 1]):
                    if not kept[walk, codes[v]]:
                        continue
                    joint, weight = np.int64(codes[v] // WEIGHTS), np.float32(codes[v] % WEIGHTS)
                    if walk:  # a mirrored walk votes for the joint on the other side
                        joint = mirrored_joints[joint]
                    if kept[walk, codes[v]] == 2:  # of these, evenly spaced ones
                        before = like[joint] * room[joint] // alike[joint]
                        like[joint] += 1
                        if like[joint] * room[joint] // alike[joint] == before:
                            continue
                    n, k = _voter(i, n_pixels, len(leaves)), at[joint]
                    x = np.float32(offsets[v, 0])
                    places[joint, k, 0] = points[n, 0] + step * (-x if walk else x)
                    places[joint, k, 1] = points[n, 1] + step * np.float32(offsets[v, 1])
                    places[joint, k, 2] = points[n, 2] + step * np.float32(offsets[v, 2])
                    weights[joint, k] = weight * area[n] * unit
                    at[joint] += 1
    return first[BLOCKS]


def cast_votes(
    points_m: np.ndarray,
    area_m2: np.ndarray,
    leaves: np.ndarray,
    votes: PackedVotes,
    max_votes: int = MAX_VOTES,
    max_pixels: int = MAX_PIXELS,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The heaviest votes for every joint.

    Of many pixels, ``max_pixels`` evenly spaced ones vote, each for as many as it stands for. Of a joint's votes
    those on which training pixels agreed best are kept, whatever their pixels' area; of the votes of the least
    weight that still fits, evenly spaced ones.

    Parameters
    ----------
    points_m : float32 (N, 3), metres
    area_m2 : float32 (N,), square metres, times the probability to be a person where that is known; a vote weighs
        its own weight x this, and a pixel of 0 does not vote
    leaves : int32 (N, W), row of each tree's own leaves that a pixel reached, the mirrored walks after the others
    votes : PackedVotes, of the same trees
    max_votes : int, for each joint
    max_pixels : int

    Returns
    -------
    places : float32 (J, max_votes, 3), metres, in the order of their pixels
    weights : float32 (J, max_votes), square metres
    n_votes : int64 (J,), how many of them there are; the rest is 0

    References
    ----------
    Girshick et al., ICCV 2011, section 3.3. Naive twin: tests/reference/joints/offset_votes.py
    """
    places = np.zeros((votes.n_joints, max_votes, 3), np.float32)
    weights = np.zeros((votes.n_joints, max_votes), np.float32)
    n_votes = _cast(
        points_m,
        area_m2,
        leaves,
        min(len(points_m), max_pixels),
        votes.spans,
        votes.first_leaf,
        votes.codes,
        votes.offsets,
        votes.mirrored_joints,
        places,
        weights,
    )
    return places, weights, n_votes


@njit(cache=True, parallel=True)
def _find_vote_modes(places, weights, n_votes, bandwidth, modes, masses):
    for task in prange(len(n_votes)):  # a joint owns its rows of modes and masses
        k = evens_first(task, len(n_votes))
        near, own = room_for(n_votes[k])
        for i in range(n_votes[k]):
            near[0, i], near[1, i], near[2, i] = places[k, i, 0], places[k, i, 1], places[k, i, 2]
            own[i] = weights[k, i]
        find_density_modes(near, own, bandwidth[k], MAX_STARTS, modes[k], masses[k])


def find_vote_modes(
    places_m: np.ndarray, weights_m2: np.ndarray, n_votes: np.ndarray, bandwidth_m: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Modes of each joint's votes, heaviest first.

    At most MAX_STARTS climbs each, by the rules of `find_modes`.

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
    Comaniciu and Meer, PAMI 2002; Girshick et al., ICCV 2011. Naive twin: tests/reference/joints/offset_votes.py
    """
    modes = np.zeros((len(n_votes), MAX_MODES, 3), np.float32)
    masses = np.zeros((len(n_votes), MAX_MODES), np.float32)
    _find_vote_modes(places_m, weights_m2, n_votes, bandwidth_m, modes, masses)
    return modes, masses
