"""Naive twin of synth/body/skinning.py: linear blend skinning from the definition, bone by bone, in float64."""

from __future__ import annotations

import numpy as np


def rotate(quaternion, points):
    """q p q* for a unit quaternion xyzw and points (..., 3)."""
    vector, scalar = quaternion[:3], quaternion[3]
    twice = 2 * np.cross(vector, points)
    return points + scalar * twice + np.cross(vector, twice)


def skin(vertices, weight_bones, weights, bone_names, bone_parents, bone_heads, posed_bones, rotations):
    """Posed vertices (V, 3): each bone of the whole rig moves its share of each vertex rigidly.

    A bone without a rotation of its own turns with its parent; one without any posed ancestor with the
    first posed bone. The first posed bone's head stays where it is.
    """
    given = {name: np.asarray(q, float) / np.linalg.norm(q) for name, q in zip(posed_bones, rotations, strict=True)}
    turned, moved_heads = {}, {}
    heads = np.asarray(bone_heads, float)
    for bone, (name, parent) in enumerate(zip(bone_names, bone_parents, strict=True)):
        inherited = turned[parent] if parent >= 0 else given[posed_bones[0]]
        turned[bone] = given.get(name, inherited)
        start = heads[bone] if parent < 0 else moved_heads[parent] + rotate(turned[parent], heads[bone] - heads[parent])
        moved_heads[bone] = start
    shift = heads[bone_names.index(posed_bones[0])] - moved_heads[bone_names.index(posed_bones[0])]
    out = np.zeros(np.shape(vertices))
    for bone in range(len(bone_names)):
        share = np.where(weight_bones == bone, weights, 0).astype(float).sum(1)
        moved = moved_heads[bone] + shift + rotate(turned[bone], vertices - heads[bone])
        out += share[:, None] * moved
    return out
