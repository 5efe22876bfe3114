"""A scene: where the camera hangs, where a person stands and how he is turned.

World axes: x right, y up, z towards the camera; the floor is y = 0 and the camera stands above the
origin looking along -z. A body comes with y up, facing +z, its left at +x: at yaw 0 it faces the
camera and its left hand is on the right of the image, as in every un-mirrored view.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import cv2
import numpy as np

from posepipe.camera import Intrinsics
from synth.recipe import Recipe

ELBOW_ROOM_M = 0.6
"""Two people's roots are at least so far apart."""
ABOVE_ROOT_M = 0.5
"""No higher above a root does a camera look where people lie."""
TRIES = 20
_FLIP = np.diag([1.0, -1.0, -1.0])
"""From y up, looking along -z, to y down, looking along z."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """From a body's own axes to camera points: rotate, then translate."""

    rotation: np.ndarray  #: float64 (3, 3)
    translation_m: np.ndarray  #: float64 (3,)

    @property
    def camera_m(self) -> np.ndarray:
        """Where the camera is, in the body's axes: float64 (3,)."""
        return -self.rotation.T @ self.translation_m

    def camera_points(self, points_m: np.ndarray) -> np.ndarray:
        """Body points (..., 3) to camera points (x right, y down, z forward), float32, metres."""
        points_m = np.asarray(points_m, np.float32)
        moved_m = cv2.transform(points_m.reshape(1, -1, 3), np.column_stack([self.rotation, self.translation_m]))
        return moved_m.reshape(points_m.shape)


def rotation_about(axis: str, angle_rad: float) -> np.ndarray:
    """Right-handed rotation about x, y or z: float64 (3, 3)."""
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
    """Where a camera hangs, and where before it somebody stands."""

    yaw_rad: float  #: turn of the body about the vertical; 0 faces the camera
    distance_m: float  #: along the floor, ahead of the camera, at which the body's root will be
    aside_m: float  #: and to the camera's right
    camera_height_m: float  #: above the floor
    pitch_rad: float  #: of the camera; 0 is level, down is positive
    roll_rad: float  #: of the camera

    @property
    def floor_place_m(self) -> np.ndarray:
        """(x, z) on the floor, world axes: float64 (2,)."""
        return np.array([self.aside_m, -self.distance_m])

    def view(self, root_m: np.ndarray, floor_y_m: float) -> View:
        """From a body's own axes to the camera's.

        Parameters
        ----------
        root_m : float (3,), metres, the body's root in its own axes
        floor_y_m : metres, height of the floor in the body's axes: of its lowest point, or that of what it rests on
        """
        turn = rotation_about("y", self.yaw_rad)
        place = np.array([self.aside_m, -floor_y_m, -self.distance_m]) - turn @ (root_m * [1, 0, 1])
        world = self.world_view()
        return View(world.rotation @ turn, world.rotation @ (place - self.camera_m))

    def world_view(self) -> View:
        """From world axes to the camera's."""
        rotation = _FLIP @ rotation_about("z", self.roll_rad) @ rotation_about("x", self.pitch_rad)
        return View(rotation, -rotation @ self.camera_m)

    @property
    def camera_m(self) -> np.ndarray:
        """World place of the camera: float64 (3,)."""
        return np.array([0.0, self.camera_height_m, 0.0])


def draw_placement(
    recipe: Recipe, root_height_m: float, intrinsics: Intrinsics, width: int, rng: np.random.Generator
) -> Placement:
    """Draw camera and place within the recipe's ranges, for a body whose root is so high above the floor.

    A dataset is its random numbers in their order: a field that joins draws nothing unless a recipe asks for it.
    """
    yaw = _draw_yaw(recipe, rng)
    distance_m = rng.uniform(*recipe.distance_m)
    camera_height_m = rng.uniform(*recipe.camera_height_m)
    if recipe.pitch_deg is None:
        aim_height_m = rng.uniform(*recipe.aim_height_m)
        if recipe.lying_share:
            aim_height_m = min(aim_height_m, root_height_m + ABOVE_ROOT_M)
        drop_m = camera_height_m - aim_height_m
        least, most = map(math.radians, recipe.aim_limits_deg)
        pitch = min(max(math.atan2(drop_m, distance_m), least), most)
        depth_m = distance_m  # near enough while the camera is pitched little; frozen recipes rest on it
    else:
        pitch = math.radians(rng.uniform(*recipe.pitch_deg))
        drop_m = camera_height_m - root_height_m
        depth_m = distance_m * math.cos(pitch) + drop_m * math.sin(pitch)
    roll = math.radians(rng.uniform(*recipe.roll_deg))
    aside_m = rng.uniform(*recipe.aside) * width / intrinsics.fx * depth_m
    return Placement(yaw, distance_m, aside_m, camera_height_m, pitch, roll)


def draw_companion(
    recipe: Recipe,
    others: Sequence[Placement],
    intrinsics: Intrinsics,
    width: int,
    rng: np.random.Generator,
    clear_m: float = ELBOW_ROOM_M,
) -> Placement | None:
    """Draw a place before the same camera, so far from all others; None when there is no room."""
    for _ in range(TRIES):
        distance_m = rng.uniform(*recipe.distance_m)
        aside_m = rng.uniform(*recipe.aside) * width / intrinsics.fx * distance_m
        place = replace(others[0], yaw_rad=_draw_yaw(recipe, rng), distance_m=distance_m, aside_m=aside_m)
        gaps = [np.linalg.norm(place.floor_place_m - other.floor_place_m) for other in others]
        if min(gaps) >= clear_m:
            return place
    return None


def _draw_yaw(recipe: Recipe, rng: np.random.Generator) -> float:
    if rng.random() < recipe.facing_share:
        return rng.normal(0, np.radians(recipe.facing_spread_deg))
    return rng.uniform(-np.pi, np.pi)
