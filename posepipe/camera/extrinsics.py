"""Where a camera stands in the world, and the planes that tell it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

STRAIGHT_DOWN = 0.95
"""Cosine between line of sight and floor's normal from which on "ahead" means nothing: 18 degrees."""


@dataclass(frozen=True, slots=True)
class Plane:
    """Points p with normal . p + distance_m = 0, camera axes; the camera is on the positive side."""

    normal: tuple[float, float, float]  #: unit
    distance_m: float  #: of the camera

    def height_m(self, points_m: np.ndarray) -> np.ndarray:
        """How far points (..., 3) lie before the plane, towards the camera."""
        return points_m @ np.asarray(self.normal, points_m.dtype) + points_m.dtype.type(self.distance_m)


@dataclass(frozen=True, slots=True, eq=False)
class Extrinsics:
    """Where a camera is in the world, T_world_camera: z up, the floor at 0, metres."""

    rotation: np.ndarray  #: float64 (3, 3), camera axes to world axes
    translation_m: np.ndarray  #: float64 (3,), the camera's place in the world

    @classmethod
    def above_floor(cls, floor: Plane) -> Extrinsics:
        """Of a camera that sees the floor.

        The origin is the floor's point below the camera; y points along the floor to where the camera looks (or to
        the top of the picture, when it looks straight down), x to the right of that.
        """
        up = np.asarray(floor.normal, float)
        ahead = np.array([0.0, 0.0, 1.0])
        if abs(up @ ahead) > STRAIGHT_DOWN:
            ahead = np.array([0.0, -1.0, 0.0])
        ahead = ahead - (ahead @ up) * up
        ahead /= np.linalg.norm(ahead)
        return cls(np.stack([np.cross(ahead, up), ahead, up]), np.array([0.0, 0.0, floor.distance_m]))

    def world_points(self, points_m: np.ndarray) -> np.ndarray:
        """Camera points (..., 3) in world axes: float64 (..., 3), metres."""
        return points_m @ self.rotation.T + self.translation_m
