"""Position and orientation of a camera in the world, and planes in camera axes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

VERTICAL_VIEW_COSINE = 0.95
"""Cosine between optical axis and floor normal above which the view counts as vertical: within 18 degrees."""
ROTATION_TOLERANCE = 1e-3
"""Maximum deviation of the rows of a rotation from unit length and right angles: allows four written digits."""
_MAX_VALUE = 1e9  # also excludes NaN and infinities


@dataclass(frozen=True, slots=True)
class Plane:
    """Points p with normal . p + distance_m = 0, camera axes; the camera is on the positive side."""

    normal: tuple[float, float, float]  #: unit vector
    distance_m: float  #: from the camera to the plane

    def height_m(self, points_m: ArrayLike) -> np.ndarray:
        """Signed distance of points (..., 3) from the plane, metres, positive on the camera's side.

        Points are an array, or three numbers such as `Joint.xyz_m`; the distance has the dtype of floating point ones.
        """
        points_m = np.asarray(points_m)
        if points_m.dtype.kind != "f":
            points_m = points_m.astype(np.float64)
        return points_m @ np.asarray(self.normal, points_m.dtype) + points_m.dtype.type(self.distance_m)


@dataclass(frozen=True, slots=True, eq=False)
class Extrinsics:
    """Pose of a camera in the world, T_world_camera: z up, the floor at 0, metres."""

    rotation: np.ndarray  #: float64 (3, 3), camera axes to world axes
    translation_m: np.ndarray  #: float64 (3,), position of the camera in the world

    @classmethod
    def above_floor(cls, floor: Plane) -> Extrinsics:
        """Extrinsics of a camera that sees the floor.

        The origin is the floor point below the camera. y points along the floor in viewing direction, x to its right.
        For a vertical view, y points to the top of the image.
        """
        up = np.asarray(floor.normal, float)
        ahead = np.array([0.0, 0.0, 1.0])
        if abs(up @ ahead) > VERTICAL_VIEW_COSINE:
            ahead = np.array([0.0, -1.0, 0.0])
        ahead = ahead - (ahead @ up) * up
        ahead /= np.linalg.norm(ahead)
        return cls(np.stack([np.cross(ahead, up), ahead, up]), np.array([0.0, 0.0, floor.distance_m]))

    @classmethod
    def of_matrix(cls, matrix: object) -> Extrinsics:
        """Extrinsics of T_world_camera, four rows of four numbers; the rotation is replaced by the nearest exact one.

        Raises
        ------
        ValueError
            When that is no rotation and translation.
        """
        try:
            given = np.array(matrix)
            rows = given.astype(float) if given.dtype.kind in "iuf" else np.zeros(0)  # numbers in quotes are text
        except (TypeError, ValueError, OverflowError):
            rows = np.zeros(0)
        if rows.shape != (4, 4) or not (np.abs(rows) < _MAX_VALUE).all():
            raise ValueError(f"wanted T_world_camera, four rows of four numbers, got {str(matrix)[:60]}")
        rotation = rows[:3, :3]
        if np.abs(rotation @ rotation.T - np.eye(3)).max() > ROTATION_TOLERANCE or np.linalg.det(rotation) < 0:
            raise ValueError(
                "the upper left 3x3 of T_world_camera is no rotation: wanted rows of length 1 at right angles,"
                " without a mirror"
            )
        if np.abs(rows[3] - [0, 0, 0, 1]).max() > ROTATION_TOLERANCE:
            raise ValueError(
                f"the last row of T_world_camera: wanted 0 0 0 1, got {rows[3].tolist()}; is it transposed?"
            )
        left, _, right = np.linalg.svd(rotation)
        return cls(left @ right, rows[:3, 3])

    @property
    def matrix(self) -> np.ndarray:
        """T_world_camera: float64 (4, 4), takes homogeneous camera points to world points."""
        matrix = np.eye(4)
        matrix[:3, :3], matrix[:3, 3] = self.rotation, self.translation_m
        return matrix

    def camera_points(self, points_m: np.ndarray) -> np.ndarray:
        """Convert world points (..., 3) to camera axes: float64 (..., 3), metres."""
        return (points_m - self.translation_m) @ self.rotation

    def world_points(self, points_m: np.ndarray) -> np.ndarray:
        """Convert camera points (..., 3) to world axes: float64 (..., 3), metres."""
        return points_m @ self.rotation.T + self.translation_m
