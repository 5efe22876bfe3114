"""Where the camera is, where a subject stands in front of it, and how the subject is turned.

World axes: x right, y up, z towards the camera. The floor is y = 0; the camera is above the origin and looks along
-z. A body comes with y up, facing +z, its left at +x. At yaw 0 it faces the camera, and its left hand is on the right
of the image, as in every image that is not mirrored.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from posepipe.camera import Intrinsics
from synth.recipe import CameraRecipe

MIN_SEPARATION_M = 0.6
"""Minimum distance between the roots of two people."""
MAX_AIM_ABOVE_ROOT_M = 0.5
"""Maximum height above the root at which the camera aims, in recipes with lying people."""
MAX_TRIES = 20
_FLIP = np.diag([1.0, -1.0, -1.0])
"""From y up, looking along -z, to y down, looking along z."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewTransform:
    """Transform from a body's own axes to camera points: rotate, then translate."""

    rotation: np.ndarray  #: float64 (3, 3)
    translation_m: np.ndarray  #: float64 (3,)

    @property
    def camera_m(self) -> np.ndarray:
        """Position of the camera in the body's axes: float64 (3,)."""
        return -self.rotation.T @ self.translation_m

    def camera_points(self, points_m: np.ndarray) -> np.ndarray:
        """Return body points (..., 3) as camera points (x right, y down, z forward), float32, metres."""
        points_m = np.asarray(points_m, np.float32)
        moved_m = cv2.transform(points_m.reshape(1, -1, 3), np.column_stack([self.rotation, self.translation_m]))
        return moved_m.reshape(points_m.shape)

    def onto(self, other: ViewTransform) -> ViewTransform:
        """Return the transform from this body's axes to those of another view of the same camera."""
        rotation = other.rotation.T @ self.rotation
        return ViewTransform(rotation, other.rotation.T @ (self.translation_m - other.translation_m))


def rotation_about(axis: str, angle_rad: float) -> np.ndarray:
    """Return the right-handed rotation about x, y or z: float64 (3, 3)."""
    c, s = math.cos(angle_rad), math.sin(angle_rad)
    return np.array(
        {
            "x": [[1.0, 0, 0], [0, c, -s], [0, s, c]],
            "y": [[c, 0, s], [0, 1.0, 0], [-s, 0, c]],
            "z": [[c, -s, 0], [s, c, 0], [0, 0, 1.0]],
        }[axis]
    )


@dataclass(frozen=True, slots=True)
class Placement:
    """Pose of the camera, and the place of one subject in front of it."""

    yaw_rad: float  #: of the body, about the vertical; 0 faces the camera
    distance_m: float  #: of the body's root along the floor, ahead of the camera
    lateral_offset_m: float  #: of the body's root, to the camera's right
    camera_height_m: float  #: above the floor
    pitch_rad: float  #: of the camera; 0 is level, down is positive
    roll_rad: float  #: of the camera

    @property
    def floor_place_m(self) -> np.ndarray:
        """Position (x, z) on the floor, world axes: float64 (2,)."""
        return np.array([self.lateral_offset_m, -self.distance_m])

    def view(self, root_m: np.ndarray, floor_y_m: float) -> ViewTransform:
        """Return the transform from a body's own axes to the camera's.

        Parameters
        ----------
        root_m : float (3,), metres
            The body's root in its own axes.
        floor_y_m : float, metres
            Height of the floor in the body's axes: of the lowest point of the body, or of what it rests on.
        """
        yaw = rotation_about("y", self.yaw_rad)
        place = np.array([self.lateral_offset_m, -floor_y_m, -self.distance_m]) - yaw @ (root_m * [1, 0, 1])
        world = self.world_view()
        return ViewTransform(world.rotation @ yaw, world.rotation @ (place - self.camera_m))

    def world_view(self) -> ViewTransform:
        """Return the transform from world axes to the camera's."""
        rotation = _FLIP @ rotation_about("z", self.roll_rad) @ rotation_about("x", self.pitch_rad)
        return ViewTransform(rotation, -rotation @ self.camera_m)

    @property
    def camera_m(self) -> np.ndarray:
        """Position of the camera, world axes: float64 (3,)."""
        return np.array([0.0, self.camera_height_m, 0.0])


def draw_placement(
    camera: CameraRecipe,
    root_height_m: float,
    intrinsics: Intrinsics,
    width: int,
    rng: np.random.Generator,
    max_aim_height_m: float = math.inf,
) -> Placement:
    """Draw the camera's pose and a subject's place within the ranges of a recipe.

    A dataset is defined by the order of its random numbers. A new field must draw nothing unless a recipe asks for it.

    Parameters
    ----------
    camera : CameraRecipe
    root_height_m : float, metres
        Height of the subject's root above the floor.
    intrinsics : Intrinsics
    width : int, pixels
        Of the image.
    rng : numpy.random.Generator
    max_aim_height_m : float, metres
        The camera aims no higher than this.
    """
    yaw = draw_yaw(camera, rng)
    distance_m = rng.uniform(*camera.distance_m)
    camera_height_m = rng.uniform(*camera.camera_height_m)
    if camera.pitch_deg is None:
        aim_height_m = min(rng.uniform(*camera.aim_height_m), max_aim_height_m)
        drop_m = camera_height_m - aim_height_m
        low, high = map(math.radians, camera.aim_limits_deg)
        pitch = min(max(math.atan2(drop_m, distance_m), low), high)
        depth_m = distance_m  # accurate enough for small pitches; the frozen recipes depend on it
    else:
        pitch = math.radians(rng.uniform(*camera.pitch_deg))
        drop_m = camera_height_m - root_height_m
        depth_m = distance_m * math.cos(pitch) + drop_m * math.sin(pitch)
    roll = math.radians(rng.uniform(*camera.roll_deg))
    lateral_m = rng.uniform(*camera.lateral_offset) * width / intrinsics.fx * depth_m
    return Placement(yaw, distance_m, lateral_m, camera_height_m, pitch, roll)


def draw_companion(
    camera: CameraRecipe,
    others: Sequence[Placement],
    intrinsics: Intrinsics,
    width: int,
    rng: np.random.Generator,
    min_separation_m: float = MIN_SEPARATION_M,
) -> Placement | None:
    """Draw a place for one more subject before the same camera; None after MAX_TRIES places without space.

    Parameters
    ----------
    camera : CameraRecipe
    others : sequence of Placement
        Of the subjects that are placed already, at least one.
    intrinsics : Intrinsics
    width : int, pixels
        Of the image.
    rng : numpy.random.Generator
    min_separation_m : float, metres
        Minimum distance to all others.
    """
    for _ in range(MAX_TRIES):
        distance_m = rng.uniform(*camera.distance_m)
        lateral_m = rng.uniform(*camera.lateral_offset) * width / intrinsics.fx * distance_m
        place = replace(others[0], yaw_rad=draw_yaw(camera, rng), distance_m=distance_m, lateral_offset_m=lateral_m)
        gaps_m = [np.linalg.norm(place.floor_place_m - other.floor_place_m) for other in others]
        if min(gaps_m) >= min_separation_m:
            return place
    return None


def draw_yaw(camera: CameraRecipe, rng: np.random.Generator) -> float:
    """Draw the yaw of one subject, radians; 0 faces the camera."""
    if rng.random() < camera.facing_share:
        return rng.normal(0, np.radians(camera.facing_spread_deg))
    return rng.uniform(-np.pi, np.pi)
