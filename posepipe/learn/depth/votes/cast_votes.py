"""Kernel: votes of a person's pixels for joints, visible or hidden. Each pixel casts the votes of its leaves.

A leaf stores the offsets from its training pixels to the joints: a pixel of the forearm votes for wrist, elbow and
shoulder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.compilation import njit, prange
from posepipe.learn.depth.votes.leaf_votes import FULL_WEIGHT, OFFSET_STEP_M, LeafVotes
from posepipe.parts import JointVotes

WEIGHTS = FULL_WEIGHT + 1
MAX_PIXELS = 1000
"""Maximum number of pixels of a person that vote; evenly spaced ones are taken, in image order."""
MAX_VOTES = 200
"""Maximum number of votes for a joint; the heaviest are kept."""
BLOCKS = 4
"""Blocks of voters, one thread each; few, because each block has its own counts to clear."""


@dataclass(frozen=True, slots=True, eq=False)
class PackedVotes:
    """Memory layout of the votes of some trees for the kernel: the votes of a node are adjacent."""

    spans: np.ndarray  #: int32 (L, 2), of the leaves of all trees: first vote, and end of the votes
    first_leaf: np.ndarray  #: int32 (T,), first row of each tree in ``spans``
    codes: np.ndarray  #: uint16 or uint32 (E,), of every vote: joint x WEIGHTS + stored weight
    offsets: np.ndarray  #: int8 (E, 3), in units of OFFSET_STEP_M
    mirrored_joints: np.ndarray  #: int64 (J,), mirrored joint of each joint, for mirrored walks

    @property
    def n_joints(self) -> int:
        """Number of joints of the body."""
        return len(self.mirrored_joints)


def pack_votes(trees: Sequence[LeafVotes], mirrored_joints: np.ndarray | None = None) -> PackedVotes:
    """Pack the votes of one or more trees for the kernel.

    Parameters
    ----------
    trees : LeafVotes of each tree
    mirrored_joints : int (J,), of a symmetric forest; None = not symmetric

    Returns
    -------
    PackedVotes
    """
    n_joints = trees[0].n_joints
    n_leaves = np.cumsum([0] + [len(tree.node_of_leaf) for tree in trees])
    n_votes = np.cumsum([0] + [len(tree.weight) for tree in trees])
    spans = np.empty((n_leaves[-1], 2), np.int32)
    for tree, leaf, vote in zip(trees, n_leaves[:-1], n_votes[:-1], strict=True):
        own, ends = spans[leaf : leaf + len(tree.node_of_leaf)], (vote + np.cumsum(tree.n_votes)).astype(np.int32)
        own[:, 0] = (ends - tree.n_votes)[tree.node_of_leaf]
        own[:, 1] = ends[tree.node_of_leaf]
    wide = np.uint16 if n_joints * WEIGHTS <= 2**16 else np.uint32
    return PackedVotes(
        spans=spans,
        first_leaf=n_leaves[:-1].astype(np.int32),
        codes=np.concatenate([tree.joint * wide(WEIGHTS) + tree.weight for tree in trees]),
        offsets=np.concatenate([tree.offset for tree in trees]),
        mirrored_joints=np.array(range(n_joints) if mirrored_joints is None else mirrored_joints, np.int64),
    )


@njit(cache=True, inline="always")
def _voter(i, n_pixels, n):
    """Row of voter ``i`` among ``n`` pixels, of which ``n_pixels`` vote."""
    return (2 * i + 1) * n // (2 * n_pixels)


@njit(cache=True)
def _lightest(counts, limit):
    """Minimum stored weight among the ``limit`` heaviest votes, and their number of votes of that weight."""
    quota = limit
    for weight in range(FULL_WEIGHT, 0, -1):
        if counts[weight] >= quota:
            return weight, quota
        quota -= counts[weight]
    return 0, 0


@njit(cache=True)
def _divide_votes(counts, mirrored_joints, limit):
    """Decide which votes each block keeps, from its counts, int32 (B, 2, J x WEIGHTS), of direct and mirrored walks.

    Returns
    -------
    quota, n_lightest : int64 (J,), number of kept votes of the minimum kept weight, and number of all such votes
    kept : uint8 (2, J x WEIGHTS), of every code: 1 = all, 2 = some, 0 = none
    passed, first : int64 (B + 1, J), before each block: votes of the minimum kept weight, and kept votes
    """
    n_blocks, n_joints = len(counts), len(mirrored_joints)
    quota, n_lightest = np.zeros(n_joints, np.int64), np.zeros(n_joints, np.int64)
    kept = np.zeros((2, n_joints * WEIGHTS), np.uint8)
    passed, first = np.zeros((n_blocks + 1, n_joints), np.int64), np.zeros((n_blocks + 1, n_joints), np.int64)
    own = np.zeros((n_blocks, WEIGHTS), np.int64)
    for joint in range(n_joints):
        direct, mirrored = joint * WEIGHTS, mirrored_joints[joint] * WEIGHTS
        for block in range(n_blocks):
            for weight in range(WEIGHTS):
                own[block, weight] = counts[block, 0, direct + weight] + counts[block, 1, mirrored + weight]
        lightest, quota[joint] = _lightest(own.sum(axis=0), limit)
        n_lightest[joint] = max(own[:, lightest].sum(), 1)
        kept[0, direct + lightest : direct + WEIGHTS] = 1
        kept[0, direct + lightest] = 2
        kept[1, mirrored : mirrored + WEIGHTS] = kept[0, direct : direct + WEIGHTS]
        heavier = 0
        for block in range(n_blocks):
            heavier += own[block, lightest + 1 :].sum()
            passed[block + 1, joint] = passed[block, joint] + own[block, lightest]
            first[block + 1, joint] = heavier + passed[block + 1, joint] * quota[joint] // n_lightest[joint]
    return quota, n_lightest, kept, passed, first


@njit(cache=True, parallel=True)
def _cast(  # noqa: C901  # one kernel: the blocks share counts and cursors
    points, area, leaves, n_pixels, spans, first_leaf, codes, offsets, mirrored_joints, places, weights
):
    """Count the votes of each weight, then decode the few that are heavy enough."""
    n_trees, n_walks = len(first_leaf), leaves.shape[1]
    reached, touched = np.empty((n_pixels, n_walks, 2), np.int32), np.zeros(n_pixels, np.int32)
    counts = np.zeros((BLOCKS, 2, len(mirrored_joints) * WEIGHTS), np.int32)
    for block in prange(BLOCKS):  # a block owns its voters' rows and its counts
        voters = range(block * n_pixels // BLOCKS, (block + 1) * n_pixels // BLOCKS)
        # read all spans before any vote, and one vote of each before counting, so that cache misses overlap
        for i in voters:
            n = _voter(i, n_pixels, len(leaves))
            for t in range(n_walks):
                span = spans[first_leaf[t % n_trees] + leaves[n, t]]
                reached[i, t, 0], reached[i, t, 1] = span[0], span[1] if area[n] > 0 else span[0]
        for i in voters:
            for t in range(n_walks):
                if reached[i, t, 0] < reached[i, t, 1]:
                    touched[i] += codes[reached[i, t, 0]] + offsets[reached[i, t, 0], 0]
        for i in voters:
            for t in range(n_walks):
                walk = np.int64(t >= n_trees)
                for v in range(reached[i, t, 0], reached[i, t, 1]):
                    counts[block, walk, codes[v]] += 1
    quota, n_lightest, kept, passed, first = _divide_votes(counts, mirrored_joints, weights.shape[1])
    step = np.float32(OFFSET_STEP_M)
    unit = np.float32(len(points)) / np.float32(max(n_pixels, 1)) / np.float32(FULL_WEIGHT)
    for block in prange(BLOCKS):  # and its range of places
        passed_here, cursor = passed[block].copy(), first[block].copy()
        for i in range(block * n_pixels // BLOCKS, (block + 1) * n_pixels // BLOCKS):
            for t in range(n_walks):
                walk = np.int64(t >= n_trees)
                for v in range(reached[i, t, 0], reached[i, t, 1]):
                    if not kept[walk, codes[v]]:
                        continue
                    joint, weight = np.int64(codes[v] // WEIGHTS), np.float32(codes[v] % WEIGHTS)
                    if walk:  # a mirrored walk votes for the mirrored joint
                        joint = mirrored_joints[joint]
                    if kept[walk, codes[v]] == 2:  # evenly spaced ones are kept
                        before = passed_here[joint] * quota[joint] // n_lightest[joint]
                        passed_here[joint] += 1
                        if passed_here[joint] * quota[joint] // n_lightest[joint] == before:
                            continue
                    n, k = _voter(i, n_pixels, len(leaves)), cursor[joint]
                    x = np.float32(offsets[v, 0])
                    places[joint, k, 0] = points[n, 0] + step * (-x if walk else x)
                    places[joint, k, 1] = points[n, 1] + step * np.float32(offsets[v, 1])
                    places[joint, k, 2] = points[n, 2] + step * np.float32(offsets[v, 2])
                    weights[joint, k] = weight * area[n] * unit
                    cursor[joint] += 1
    return first[BLOCKS]


def cast_votes(
    points_m: np.ndarray,
    area_m2: np.ndarray,
    leaves: np.ndarray,
    votes: PackedVotes,
    max_votes: int = MAX_VOTES,
    max_pixels: int = MAX_PIXELS,
) -> JointVotes:
    """Decode the heaviest votes of some pixels for every joint.

    At most ``max_pixels`` evenly spaced pixels vote, and each represents an equal number of pixels. Votes are ranked by
    their stored weight, regardless of the area of the pixel. Among votes of the minimum kept weight, evenly spaced ones
    are taken.

    Parameters
    ----------
    points_m : float32 (N, 3), metres
    area_m2 : float32 (N,), square metres; factor of the weight of a vote; a pixel of area 0 does not vote
    leaves : int32 (N, W), row of the leaf that a pixel reached in each tree, mirrored walks after the others
    votes : PackedVotes, of the same trees
    max_votes : int, of each joint
    max_pixels : int

    Returns
    -------
    JointVotes of V = ``max_votes`` rows, in the order of their pixels

    References
    ----------
    Girshick et al., ICCV 2011, section 3.3. Naive twin: tests/reference/learn/cast_votes.py
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
    return JointVotes(places, weights, n_votes)
