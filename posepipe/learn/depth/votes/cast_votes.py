"""Kernel: votes of a person's pixels for joints, visible or hidden. Each pixel casts the votes of its leaves.

A leaf stores the offsets from its training pixels to the joints: a pixel of the forearm votes for wrist, elbow and
shoulder.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.compilation import compiled_for, njit, prange
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


@compiled_for("f4[::1], i4[:,::1], i8, i4[:,::1], i4[::1], u2[::1], i1[:,::1], i4[:,:,::1], i4[::1], i4[:,:,::1]")
@njit(cache=True, parallel=True)
def _count_votes(area, leaves, n_pixels, spans, first_leaf, codes, offsets, reached, touched, counts):
    """Write the votes that each voter reached, int32 (n_pixels, W, 2), first and end, and count those of each code."""
    n_trees, n_walks = len(first_leaf), leaves.shape[1]
    for block in prange(BLOCKS):  # a block owns its voters' rows and its counts
        voters = range(block * n_pixels // BLOCKS, (block + 1) * n_pixels // BLOCKS)
        # read all spans before any vote, and one vote of each before counting, so that cache misses overlap
        for i in voters:
            n = _voter(i, n_pixels, len(leaves))
            for t in range(n_walks):
                leaf = first_leaf[t % n_trees] + leaves[n, t]
                reached[i, t, 0], reached[i, t, 1] = spans[leaf, 0], spans[leaf, 1] if area[n] > 0 else spans[leaf, 0]
        for i in voters:
            for t in range(n_walks):
                if reached[i, t, 0] < reached[i, t, 1]:
                    touched[i] += codes[reached[i, t, 0]] + offsets[reached[i, t, 0], 0]
        for i in voters:
            for t in range(n_walks):
                walk = np.int64(t >= n_trees)
                for v in range(reached[i, t, 0], reached[i, t, 1]):
                    counts[block, walk, codes[v]] += 1


@compiled_for("i4[:,:,::1], i8[::1], i8, i8[::1], i8[::1], u1[:,::1], i8[:,::1], i8[:,::1]")
@njit(cache=True)
def _divide_votes(counts, mirrored_joints, limit, quota, n_lightest, kept, passed, first):
    """Decide which votes each block keeps, from its counts, int32 (B, 2, J x WEIGHTS), of direct and mirrored walks.

    Written, from 0
    ---------------
    quota, n_lightest : int64 (J,), number of kept votes of the minimum kept weight, and number of all such votes
    kept : uint8 (2, J x WEIGHTS), of every code: 1 = all, 2 = some, 0 = none
    passed, first : int64 (B + 1, J), before each block: votes of the minimum kept weight, and kept votes
    """
    for joint in range(len(mirrored_joints)):
        direct, mirrored = joint * WEIGHTS, mirrored_joints[joint] * WEIGHTS
        lightest, left = WEIGHTS, limit  # minimum weight of those kept, and how many of that weight
        total = 0
        while lightest == WEIGHTS or (lightest > 0 and total < left):
            left -= total
            lightest -= 1
            total = 0
            for block in range(len(counts)):
                total += counts[block, 0, direct + lightest] + counts[block, 1, mirrored + lightest]
        quota[joint], n_lightest[joint] = left if lightest > 0 else 0, max(total, 1)
        for weight in range(lightest, WEIGHTS):
            kept[0, direct + weight] = kept[1, mirrored + weight] = 2 if weight == lightest else 1
        heavier = 0
        for block in range(len(counts)):
            for weight in range(lightest + 1, WEIGHTS):
                heavier += counts[block, 0, direct + weight] + counts[block, 1, mirrored + weight]
            some = counts[block, 0, direct + lightest] + counts[block, 1, mirrored + lightest]
            passed[block + 1, joint] = passed[block, joint] + some
            first[block + 1, joint] = heavier + passed[block + 1, joint] * quota[joint] // n_lightest[joint]


@compiled_for(
    "f4[:,::1], f4[::1], i8, i4[:,:,::1], i8, u2[::1], i1[:,::1], i8[::1],"
    "i8[::1], i8[::1], u1[:,::1], i8[:,::1], i8[:,::1], f4[:,:,::1], f4[:,::1]"
)
@njit(cache=True, parallel=True)
def _decode_votes(
    points, area, n_pixels, reached, n_trees, codes, offsets, mirrored_joints,
    quota, n_lightest, kept, passed, first, places, weights,
):  # fmt: skip
    """Decode the votes that are kept."""
    step = np.float32(OFFSET_STEP_M)
    unit = np.float32(len(points)) / np.float32(max(n_pixels, 1)) / np.float32(FULL_WEIGHT)
    for block in prange(BLOCKS):  # a block owns its range of places
        passed_here, cursor = np.empty(len(quota), np.int64), np.empty(len(quota), np.int64)
        for k in range(len(quota)):
            passed_here[k], cursor[k] = passed[block, k], first[block, k]
        for i in range(block * n_pixels // BLOCKS, (block + 1) * n_pixels // BLOCKS):
            n = _voter(i, n_pixels, len(points))
            for t in range(reached.shape[1]):
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
                    k = cursor[joint]
                    x = np.float32(offsets[v, 0])
                    places[joint, k, 0] = points[n, 0] + step * (-x if walk else x)
                    places[joint, k, 1] = points[n, 1] + step * np.float32(offsets[v, 1])
                    places[joint, k, 2] = points[n, 2] + step * np.float32(offsets[v, 2])
                    weights[joint, k] = weight * area[n] * unit
                    cursor[joint] += 1


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
    n_joints, n_codes, n_pixels = votes.n_joints, votes.n_joints * WEIGHTS, min(len(points_m), max_pixels)
    reached = np.empty((n_pixels, leaves.shape[1], 2), np.int32)
    touched, counts = np.zeros(n_pixels, np.int32), np.zeros((BLOCKS, 2, n_codes), np.int32)
    stored = votes.spans, votes.first_leaf, votes.codes, votes.offsets
    _count_votes(area_m2, leaves, n_pixels, *stored, reached, touched, counts)
    quota, n_lightest, kept = (
        np.zeros(n_joints, np.int64),
        np.zeros(n_joints, np.int64),
        np.zeros((2, n_codes), np.uint8),
    )
    passed, first = np.zeros((BLOCKS + 1, n_joints), np.int64), np.zeros((BLOCKS + 1, n_joints), np.int64)
    shares = quota, n_lightest, kept, passed, first
    _divide_votes(counts, votes.mirrored_joints, max_votes, *shares)
    places_m = np.zeros((n_joints, max_votes, 3), np.float32)
    weights_m2 = np.zeros((n_joints, max_votes), np.float32)
    decoded = len(votes.first_leaf), votes.codes, votes.offsets, votes.mirrored_joints
    _decode_votes(points_m, area_m2, n_pixels, reached, *decoded, *shares, places_m, weights_m2)
    return JointVotes(places_m, weights_m2, first[BLOCKS])
