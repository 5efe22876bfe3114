"""Naive twin of synth/body/skinning.py: linear blend skinning from the definition, bone by bone, in float64."""

from __future__ import annotations

import numpy as np


def rotate(quaternion, points):
    """q p q* for a unit quaternion xyzw and points (..., 3)."""
    vector, scalar = quaternion[:3], quaternion[3]
    twice = 2 * np.cross(vector, points)
    return points + scalar * twice + np.cross(vector, twice)


def move_bones(bone_names, bone_parents, bone_heads, posed_bones, rotations):
    """How each bone of the whole rig moves points: a function of points (..., 3) at rest.

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

    def moved(bone, points):
        return moved_heads[bone] + shift + rotate(turned[bone], points - heads[bone])

    return moved


def skin(vertices, weight_bones, weights, moved):
    """Posed vertices (V, 3): each bone moves its share of each vertex rigidly; ``moved`` of `move_bones`."""
    out = np.zeros(np.shape(vertices))
    for bone in np.unique(weight_bones):
        share = np.where(weight_bones == bone, weights, 0).astype(float).sum(1)
        out += share[:, None] * moved(bone, vertices)
    return out


def place_joints(places, bone_names, bone_heads, bone_tails, moved):
    """Posed joints (J, 3) of (bone, one end, another end, share between them), an end being a head or "... tail"."""

    def end_of(name):
        bone = bone_names.index(name.removesuffix(" tail"))
        return np.asarray(bone_tails if name.endswith(" tail") else bone_heads, float)[bone]

    return np.array(
        [
            moved(bone_names.index(bone), (1 - share) * end_of(one) + share * end_of(other))
            for bone, one, other, share in places
        ]
    )
