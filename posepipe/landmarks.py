"""What the joint stages look for: surface regions of a body, and joints that pixels vote for."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition


def landmark_names(body: BodyDefinition) -> tuple[str, ...]:
    """Surface regions whose modes are sought: joints that own parts, then the parts that no joint owns."""
    owned = {part for parts in body.joint_parts.values() for part in parts}
    joints = tuple(joint for joint in body.joints if body.joint_parts.get(joint))
    return joints + tuple(part for part in body.parts if part not in owned)


class Landmark(NamedTuple):
    """What the joint stages look for."""

    name: str  #: a joint, or a part that no joint owns
    voted: bool  #: the mode of the votes for that joint; otherwise of the pixels of that surface


METHODS = ("parts", "votes", "both")
"""Joints may follow from the modes of surfaces, from those of votes, or from all of them."""


def landmarks_of(body: BodyDefinition, method: str = "parts") -> tuple[Landmark, ...]:
    """The landmarks of a method: surfaces first, then joints that are voted for."""
    surfaces = landmark_names(body) if method != "votes" else ()
    voted = body.joints if method != "parts" else ()
    return tuple(Landmark(name, False) for name in surfaces) + tuple(Landmark(name, True) for name in voted)


def landmark_classes(body: BodyDefinition) -> np.ndarray:
    """Which classes make up each surface: bool (S, C)."""
    table = np.zeros((len(landmark_names(body)), body.n_classes), bool)
    for row, name in enumerate(landmark_names(body)):
        for part in body.joint_parts.get(name) or (name,):
            table[row, body.part_code(part)] = True
    return table
