"""Naive twin of posepipe/learn/depth/votes/cast_votes.py.

Girshick et al., ICCV 2011, section 3.3: every vote a row of a list. Votes of a tree are arrays with an equal number of
places for each joint: node_of_leaf (L,), offsets (V, J, K, 3) and weights (V, J, K).
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

OFFSET_STEP_M = 0.005


def evenly(items, count):
    """``count`` items, evenly spaced: item i where the whole part of i x count / n steps up."""
    n = len(items)
    return [item for i, item in enumerate(items) if (i + 1) * count // n > i * count // n]


def heaviest(votes, most):
    """The ``most`` rows of largest stored weight, in their own order; of the last weight that fits, evenly spaced."""
    if len(votes) <= most:
        return votes
    last = sorted((vote[0] for vote in votes), reverse=True)[most - 1]
    heavier = [i for i, vote in enumerate(votes) if vote[0] > last]
    alike = [i for i, vote in enumerate(votes) if vote[0] == last]
    return [votes[i] for i in sorted(heavier + evenly(alike, most - len(heavier)))]


def mirrored(tree, mirrored_joints):
    """What the leaves of a tree say of the world in a mirror."""
    offsets, weights = np.zeros(tree.offsets.shape, int), np.zeros_like(tree.weights)
    for joint, other in enumerate(mirrored_joints):
        offsets[:, other] = tree.offsets[:, joint] * np.array([-1, 1, 1])
        weights[:, other] = tree.weights[:, joint]
    return SimpleNamespace(node_of_leaf=tree.node_of_leaf, offsets=offsets, weights=weights)


def cast_votes(points_m, area_m2, leaves, trees, max_votes, max_pixels, mirrored_joints=()):
    """For each joint a list of (place, weight in square metres); leaves of mirrored trees come after the others."""
    if len(mirrored_joints):
        trees = [*trees, *(mirrored(tree, mirrored_joints) for tree in trees)]
    n = len(points_m)
    voters = [(2 * i + 1) * n // (2 * max_pixels) for i in range(max_pixels)] if n > max_pixels else range(n)
    cast = []
    for joint in range(trees[0].weights.shape[1]):
        votes = []
        for pixel in (voter for voter in voters if area_m2[voter] > 0):
            for tree, leaf in zip(trees, leaves[pixel], strict=True):
                node = tree.node_of_leaf[leaf]
                for offset, weight in zip(tree.offsets[node, joint], tree.weights[node, joint], strict=True):
                    if weight > 0:
                        place = points_m[pixel] + offset.astype(float) * OFFSET_STEP_M
                        votes.append((int(weight), place, weight / 255 * area_m2[pixel] * n / len(voters)))
        cast.append([(place, weight) for _, place, weight in heaviest(votes, max_votes)])
    return cast
