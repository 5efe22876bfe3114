"""Kernel: fits the offset votes of the leaves of a grown tree to training pixels.

A leaf with too few training pixels uses the votes of its nearest ancestor with enough of them: its *vote node*.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.compilation import helper, njit, prange
from posepipe.joints.modes.mean_shift import LANES, MAX_MODES, REACH, padded_points, shift_to_mode
from posepipe.learn.depth.votes.leaf_votes import FULL_WEIGHT, MAX_VOTE_M, OFFSET_STEP_M, LeafVotes
from posepipe.learn.tree import Tree

STARTS = 8
"""Maximum number of mean-shift starts for each node and joint, evenly spaced over its pixels."""


@dataclass(frozen=True, slots=True)
class VoteRules:
    """Parameters of vote fitting. Raises ValueError for numbers outside their range."""

    min_samples: int = 50  #: minimum number of training pixels of a vote node; the root is always one
    max_samples: int = 100  #: maximum number of pixels of a vote node that are used
    modes: int = 1  #: maximum number of votes of a node for a joint
    bandwidth_m: float = 0.05  #: sigma of the Gaussian
    min_weight: float = 0.2  #: minimum weight of a vote, 0 to 1

    def __post_init__(self) -> None:
        if self.min_samples < 1 or self.max_samples < 1 or not 1 <= self.modes <= MAX_MODES:
            raise ValueError(
                f"votes need min_samples and max_samples of at least 1 and 1 to {MAX_MODES} modes,"
                f" got {self.min_samples}, {self.max_samples} and {self.modes}"
            )
        if not 0 < self.bandwidth_m < np.inf or not 0 <= self.min_weight <= 1:
            raise ValueError(
                "votes need a bandwidth above 0 m and a min_weight of 0 to 1,"
                f" got {self.bandwidth_m} m and {self.min_weight}"
            )


@njit(cache=True)
def _place_pixels(first_child, n_children, counts, begins):
    """First pixel of each node in an order in which the pixels of every subtree are adjacent."""
    for node in range(len(counts)):  # a parent comes before its children
        place = begins[node]
        for child in range(first_child[node], first_child[node] + n_children[node]):  # none of a leaf
            begins[child] = place
            place += counts[child]


@helper(cache=True)
def _gather_offsets(points, person, joints, joint, sample, max_length, offsets):
    """Write joint - pixel for the sampled pixels within range of the joint; return their number."""
    count = 0
    for n in sample:
        x = joints[person[n], joint, 0] - points[n, 0]
        y = joints[person[n], joint, 1] - points[n, 1]
        z = joints[person[n], joint, 2] - points[n, 2]
        if x * x + y * y + z * z <= max_length * max_length:  # False for NaN
            offsets[0, count], offsets[1, count], offsets[2, count] = x, y, z
            count += 1
    return count


@njit(cache=True, parallel=True)
def _fit_votes(
    points, person, joints, order, begins, counts, limits, bandwidth, max_samples, min_weight, offsets, weights
):
    n_joints, n_modes = weights.shape[1:]
    min_stored = max(1.0, min_weight * FULL_WEIGHT)
    for node in prange(len(begins)):  # a vote node owns its rows of offsets and weights
        n_samples = min(counts[node], max_samples)
        sample = np.empty(n_samples, np.int64)
        for i in range(n_samples):  # the middle of equal intervals
            sample[i] = order[begins[node] + (2 * i + 1) * counts[node] // (2 * n_samples)]
        near, ones = padded_points(n_samples)
        sums = np.empty((4, LANES), np.float32)
        for joint in range(n_joints):
            limit = limits[joint]
            # offsets beyond this have no weight at any place within the limit
            count = _gather_offsets(points, person, joints, joint, sample, limit + REACH * bandwidth, near)
            ones[:count], ones[count:] = 1, 0
            modes = np.zeros((MAX_MODES, 3), np.float32)
            masses = np.zeros(MAX_MODES, np.float32)
            n_starts = min(count, STARTS)
            for k in range(n_starts):
                start = (2 * k + 1) * count // (2 * n_starts)
                shift_to_mode(near, ones, start, bandwidth, sums, modes, masses)
            kept = 0
            for m in range(MAX_MODES):
                x, y, z = modes[m]
                weight = np.rint(FULL_WEIGHT * masses[m] / max(n_samples, 1))
                if kept < n_modes and weight >= min_stored and x * x + y * y + z * z <= limit * limit:
                    for axis in range(3):
                        offsets[node, joint, kept, axis] = np.rint(modes[m, axis] / OFFSET_STEP_M)
                    weights[node, joint, kept] = weight
                    kept += 1


def fit_votes(
    tree: Tree,
    leaves: np.ndarray,
    points_m: np.ndarray,
    person: np.ndarray,
    joints_m: np.ndarray,
    limits_m: np.ndarray,
    rules: VoteRules | None = None,
) -> LeafVotes:
    """Fit the votes of the leaves of a tree.

    At a vote node, at most ``max_samples`` pixels give one offset, joint - pixel, to each joint. They are evenly spaced
    over the pixels of the node, in the order of their leaves. Gaussian mean shift from at most STARTS offsets finds
    modes; the heaviest modes within the limit become votes.

    The weight of a vote is the sum of the Gaussian (1 at its centre) over the offsets around the mode, divided by the
    number of pixels. It is 1 when all offsets agree to within a fraction of the bandwidth, and 0.35 when they scatter
    by one bandwidth along each axis. A pixel whose joint is unknown (NaN) contributes nothing.

    Parameters
    ----------
    tree : Tree
    leaves : int32 (N,), row of the leaf that each training pixel reached
    points_m : float32 (N, 3), points of the pixels, camera axes, metres
    person : int32 (N,), row of ``joints_m`` of the person of each pixel
    joints_m : float32 (P, J, 3), camera axes, metres; NaN where unknown
    limits_m : float32 (J,), metres, maximum length of a vote
    rules : VoteRules; None = its defaults

    Returns
    -------
    LeafVotes

    Raises
    ------
    ValueError
        For rows of absent leaves or people, or limits above MAX_VOTE_M.

    References
    ----------
    Girshick et al., ICCV 2011, section 3.2; Shotton et al., TPAMI 2013, section 4. They draw a random
    reservoir (Vitter, ACM TOMS 1985) of a stream; here pixels are in memory, and evenly spaced ones are taken.
    Naive twin: tests/reference/learn/fit_votes.py
    """
    rules = rules or VoteRules()
    limits = np.asarray(limits_m, np.float32)
    _check(tree, leaves, points_m, person, joints_m, limits)
    counts, begins, leaf_nodes = _pixels_of_nodes(tree, leaves)
    order = np.argsort(begins[leaf_nodes][leaves], kind="stable")
    nodes, node_of_leaf = _vote_nodes(tree, counts, leaf_nodes, rules.min_samples)
    weights = np.zeros((len(nodes), joints_m.shape[1], rules.modes), np.uint8)
    offsets = np.zeros((*weights.shape, 3), np.int8)
    _fit_votes(
        points_m,
        person,
        joints_m,
        order,
        begins[nodes],
        counts[nodes],
        limits,
        np.float32(rules.bandwidth_m),
        rules.max_samples,
        rules.min_weight,
        offsets,
        weights,
    )
    return LeafVotes.from_dense(node_of_leaf, offsets, weights)


def _check(
    tree: Tree,
    leaves: np.ndarray,
    points_m: np.ndarray,
    person: np.ndarray,
    joints_m: np.ndarray,
    limits: np.ndarray,
) -> None:
    n_joints = joints_m.shape[1]
    if not len(leaves) == len(points_m) == len(person):
        raise ValueError(
            f"every pixel needs a leaf, a point and a person, got {len(leaves)}, {len(points_m)} and {len(person)}"
        )
    for name, rows, count in (("leaf", leaves, tree.n_leaves), ("person", person, len(joints_m))):
        if len(rows) and (rows.min() < 0 or rows.max() >= count):
            raise ValueError(f"a pixel names a {name} outside 0..{count - 1}")
    if limits.shape != (n_joints,) or not ((limits >= 0) & (limits <= MAX_VOTE_M)).all():
        raise ValueError(f"{n_joints} joints need as many limits, 0 to {MAX_VOTE_M} m, got {limits}")


def _pixels_of_nodes(tree: Tree, leaves: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Number and first of the pixels of each node, int64 (nodes,), and the node of each leaf, int64 (L,)."""
    leaf_nodes = np.empty(tree.n_leaves, np.int64)
    leaf_nodes[tree.first_child[tree.is_leaf]] = np.nonzero(tree.is_leaf)[0]
    counts = np.zeros((tree.n_nodes, 1), np.int64)
    counts[leaf_nodes, 0] = np.bincount(leaves, minlength=tree.n_leaves)
    counts = tree.sum_up(counts)[:, 0]
    begins = np.zeros(tree.n_nodes, np.int64)
    _place_pixels(tree.first_child, tree.n_children, counts, begins)
    return counts, begins, leaf_nodes


def _vote_nodes(
    tree: Tree, counts: np.ndarray, leaf_nodes: np.ndarray, min_samples: int
) -> tuple[np.ndarray, np.ndarray]:
    """Vote nodes, int64 (V,), and the row of each leaf's vote node among them, int32 (L,)."""
    too_few = counts < min_samples
    too_few[0] = False
    nearest = tree.inherit(too_few, np.arange(tree.n_nodes)[:, None])[:, 0]
    nodes, row = np.unique(nearest[leaf_nodes], return_inverse=True)
    return nodes, row.astype(np.int32)
