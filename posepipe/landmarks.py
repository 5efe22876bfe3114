"""Landmarks of a body: surface regions, and joints that pixels vote for. The joint stages find their modes."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition


def landmark_names(body: BodyDefinition) -> tuple[str, ...]:
    """Names of the surface landmarks: joints that own parts, then the parts that no joint owns."""
    owned = {part for parts in body.joint_parts.values() for part in parts}
    joints = tuple(joint for joint in body.joints if body.joint_parts.get(joint))
    return joints + tuple(part for part in body.parts if part not in owned)


class Landmark(NamedTuple):
    """A joint, or a part that no joint owns, and the points whose mode marks it."""

    name: str  #: of the joint or part
    voted: bool  #: True = mode of the votes for the joint; False = mode of the pixels of its surface


METHODS = ("parts", "votes", "both")
"""Sources of the joints: modes of surfaces, modes of votes, or both."""


def landmarks_of(body: BodyDefinition, method: str = "parts") -> tuple[Landmark, ...]:
    """Landmarks that a method uses: surfaces first, then voted joints.

    Parameters
    ----------
    body : BodyDefinition
    method : one of METHODS

    Returns
    -------
    tuple of Landmark
    """
    surfaces = landmark_names(body) if method != "votes" else ()
    voted = body.joints if method != "parts" else ()
    return tuple(Landmark(name, False) for name in surfaces) + tuple(Landmark(name, True) for name in voted)


def landmark_classes(body: BodyDefinition) -> np.ndarray:
    """Classes of each surface landmark: bool (S, C)."""
    table = np.zeros((len(landmark_names(body)), body.n_classes), bool)
    for row, name in enumerate(landmark_names(body)):
        for part in body.joint_parts.get(name) or (name,):
            table[row, body.part_code(part)] = True
    return table
