"""The camera's pose in the scene: z is up, and the floor is at z = 0 once it is known."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Extrinsics, Plane, UpVector

LEVEL_CAMERA = Extrinsics(np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]]), np.zeros(3))
"""A level camera at the origin, used while the floor is unknown: x is unchanged, y is forward, z is up."""
MIN_SAME_COS, MAX_SAME_M = 0.9994, 0.05
"""Poses within 2 degrees and 5 cm of each other count as the same pose with noise."""
SMOOTHING = 0.1
"""Weight of a new measurement of the same pose. The floor is found in every frame, and the scene must not jitter."""


class CameraPlacement:
    """The smoothed camera pose; it is kept while the floor is out of view."""

    def __init__(self) -> None:
        self._pose: Extrinsics | None = None

    @property
    def has_floor(self) -> bool:
        """Whether the floor is known and at z = 0."""
        return self._pose is not None

    def update(self, measured: Extrinsics | None, up: UpVector | None = None) -> Extrinsics:
        """Return the camera pose after a measurement; None = the frame has none.

        ``up``, camera axes, is that of an accelerometer: it levels the scene while the floor is unknown.
        """
        if measured is not None:
            self._pose = measured if self._pose is None else _smoothed(self._pose, measured)
        if self._pose is not None:
            return self._pose
        return LEVEL_CAMERA if up is None else Extrinsics.above_floor(Plane(up, 0.0))


def heading(world: Extrinsics) -> tuple[float, float]:
    """Viewing direction of the camera along the floor, unit length.

    For a camera that points straight up or down it is the direction of the top of the image.
    """
    forward, top = world.rotation[:2, 2], -world.rotation[:2, 1]
    along = forward if np.linalg.norm(forward) > np.linalg.norm(top) / 3 else top
    x, y = (along / np.linalg.norm(along)).tolist()
    return x, y


def _smoothed(pose: Extrinsics, measured: Extrinsics) -> Extrinsics:
    turn_cos = (np.trace(pose.rotation.T @ measured.rotation) - 1) / 2
    if turn_cos < MIN_SAME_COS or np.linalg.norm(measured.translation_m - pose.translation_m) > MAX_SAME_M:
        return measured
    left, _, right = np.linalg.svd(pose.rotation + SMOOTHING * (measured.rotation - pose.rotation))  # nearest rotation
    return Extrinsics(left @ right, pose.translation_m + SMOOTHING * (measured.translation_m - pose.translation_m))
