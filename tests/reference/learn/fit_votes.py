"""Naive twin of posepipe/learn/depth/votes/fit_votes.py.

Girshick et al., ICCV 2011, section 3.2: node by node, joint by joint.

A node takes one pixel of each of equal stretches in place of a random reservoir.
"""

from __future__ import annotations

import numpy as np

from tests.reference.joints import mean_shift

OFFSET_STEP_M = 0.005


def leaves_below(tree, node):
    """Rows of the leaves below a node, from left to right."""
    if tree.n_children[node] == 0:
        return [int(tree.first_child[node])]
    first = tree.first_child[node]
    return [leaf for child in range(first, first + tree.n_children[node]) for leaf in leaves_below(tree, child)]


def pixels_below(tree, node, leaves):
    """Training pixels below a node, leaf by leaf, within a leaf as they came."""
    return [n for leaf in leaves_below(tree, node) for n in np.nonzero(leaves == leaf)[0]]


def vote_node(tree, leaf, leaves, min_samples):
    """The nearest node at or above a leaf that holds enough pixels; the root when none does."""
    above = [node for node in range(tree.n_nodes) if leaf in leaves_below(tree, node)]
    enough = [node for node in above if len(pixels_below(tree, node, leaves)) >= min_samples]
    return enough[-1] if enough else 0


def evenly(items, most):
    """The middles of ``most`` equal stretches of a list, or all of it."""
    count = min(len(items), most)
    return [items[(2 * i + 1) * len(items) // (2 * count)] for i in range(count)]


def votes_of(offsets, limit, bandwidth, starts, n_pixels):
    """Modes of one joint's offsets that are short enough, with their weights, heaviest first."""
    modes, masses = [], []
    for start in evenly(list(offsets), starts):
        mode, mass = mean_shift.shift_to_mode(offsets, np.ones(len(offsets)), start, bandwidth)
        if all(np.linalg.norm(mode - known) > bandwidth / 2 for known in modes):
            modes.append(mode)
            masses.append(mass)
    order = np.argsort(masses)[::-1]
    return [(modes[m], masses[m] / n_pixels) for m in order if np.linalg.norm(modes[m]) <= limit]


def fit_votes(tree, leaves, points_m, person, joints_m, limits_m, rules, starts):
    """The votes of each leaf: offsets (L, J, K, 3) in steps and weights (L, J, K) of 255."""
    offsets = np.zeros((tree.n_leaves, joints_m.shape[1], rules.modes, 3))
    weights = np.zeros(offsets.shape[:3])
    for leaf in range(tree.n_leaves):
        node = vote_node(tree, leaf, leaves, rules.min_samples)
        chosen = evenly(pixels_below(tree, node, leaves), rules.max_samples)
        for joint, limit in enumerate(limits_m):
            seen = joints_m[person[chosen], joint].astype(float) - points_m[chosen]
            seen = seen[np.isfinite(seen).all(1)]
            near = seen[np.linalg.norm(seen, axis=1) <= limit + 3 * rules.bandwidth_m]
            votes = votes_of(near, limit, rules.bandwidth_m, starts, len(chosen))
            votes = [(mode, weight) for mode, weight in votes if weight >= rules.min_weight]
            for k, (mode, weight) in enumerate(votes[: rules.modes]):
                offsets[leaf, joint, k] = np.rint(mode / OFFSET_STEP_M)
                weights[leaf, joint, k] = np.rint(255 * weight)
    return offsets, weights
