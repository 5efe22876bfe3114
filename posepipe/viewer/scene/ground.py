"""Where the scene stands: z up, on the floor, once it is known where that is."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Extrinsics

UPRIGHT = Extrinsics(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), np.zeros(3))
"""A level camera at the origin, for as long as nothing is known: x stays, y is ahead, z is up."""
SAME_COS, SAME_M = 0.9994, 0.05
"""Within 2 degrees and 5 cm the camera stands where it stood."""
FOLLOW = 0.1
"""Share of a new sight in what is known: a floor is found anew in every frame, and must not tremble."""


class Ground:
    """Where the camera is, steadied; remembered while the floor is out of view."""

    def __init__(self) -> None:
        self._known: Extrinsics | None = None

    @property
    def is_known(self) -> bool:
        """Whether the floor is at 0."""
        return self._known is not None

    def world(self, seen: Extrinsics | None) -> Extrinsics:
        """Where the camera is, now that a frame says this, or nothing."""
        if seen is not None:
            self._known = seen if self._known is None else _steadied(self._known, seen)
        return UPRIGHT if self._known is None else self._known


def heading(world: Extrinsics) -> tuple[float, float]:
    """Where the camera looks along the floor, unit length; straight up or down, where the picture's top is."""
    ahead, top = world.rotation[:2, 2], -world.rotation[:2, 1]
    along = ahead if np.linalg.norm(ahead) > np.linalg.norm(top) / 3 else top
    x, y = (along / np.linalg.norm(along)).tolist()
    return x, y


def _steadied(known: Extrinsics, seen: Extrinsics) -> Extrinsics:
    turn_cos = (np.trace(known.rotation.T @ seen.rotation) - 1) / 2
    if turn_cos < SAME_COS or np.linalg.norm(seen.translation_m - known.translation_m) > SAME_M:
        return seen
    left, _, right = np.linalg.svd(known.rotation + FOLLOW * (seen.rotation - known.rotation))  # the nearest rotation
    return Extrinsics(left @ right, known.translation_m + FOLLOW * (seen.translation_m - known.translation_m))
