"""A scene: where the camera hangs, where a person stands and how he is turned.

World axes: x right, y up, z towards the camera; the floor is y = 0 and the camera stands above the
origin looking along -z. A body comes with y up, facing +z, its left at +x: at yaw 0 it faces the
camera and its left hand is on the right of the image, as in every un-mirrored view.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics
from synth.recipe import Recipe

PITCH_LIMITS_DEG = (-25.0, 35.0)
"""Down is positive."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """From a body's own axes to camera points: rotate, then translate."""

    rotation: np.ndarray  #: float64 (3, 3)
    translation_m: np.ndarray  #: float64 (3,)

    def camera_points(self, points_m: np.ndarray) -> np.ndarray:
        """Body points (..., 3) to camera points (x right, y down, z forward), float32, metres."""
        return (points_m @ self.rotation.T + self.translation_m).astype(np.float32)


def rotation_about(axis: str, angle_rad: float) -> np.ndarray:
    """Right-handed rotation about x, y or z: float64 (3, 3)."""
    c, s = np.cos(angle_rad), np.sin(angle_rad)
    i, j = {"x": (1, 2), "y": (2, 0), "z": (0, 1)}[axis]
    matrix = np.eye(3)
    matrix[i, i] = matrix[j, j] = c
    matrix[i, j], matrix[j, i] = -s, s
    return matrix


def look(
    yaw_rad: float,
    pelvis_m: np.ndarray,
    floor_y_m: float,
    distance_m: float,
    camera_height_m: float,
    aim_height_m: float,
    roll_rad: float,
    aside: float,
    intrinsics: Intrinsics,
    width: int,
) -> View:
    """Place one person before one camera.

    Parameters
    ----------
    yaw_rad : turn of the body about the vertical; 0 faces the camera
    pelvis_m : (3,), the body's pelvis in its own axes; it will stand ``distance_m`` along the floor
    floor_y_m : height of the body's lowest point in its own axes
    camera_height_m, aim_height_m : above the floor; the camera is pitched to look at the latter
    roll_rad : of the camera
    aside : share of the image width by which the pelvis is off the middle column
    """
    turn = rotation_about("y", yaw_rad)
    drop = camera_height_m - aim_height_m
    pitch = np.clip(np.arctan2(drop, distance_m), *np.radians(PITCH_LIMITS_DEG))
    offset = aside * width / intrinsics.fx * distance_m
    place = np.array([offset, -floor_y_m, -distance_m]) - turn @ (pelvis_m * [1, 0, 1])
    world_to_camera = np.diag([1.0, -1.0, -1.0]) @ rotation_about("z", roll_rad) @ rotation_about("x", pitch)
    camera = np.array([0.0, camera_height_m, 0.0])
    return View(world_to_camera @ turn, world_to_camera @ (place - camera))


def draw_view(
    recipe: Recipe, pelvis_m: np.ndarray, floor_y_m: float, intrinsics: Intrinsics, width: int, rng: np.random.Generator
) -> View:
    """Draw a view within the recipe's ranges."""
    if rng.random() < recipe.facing_share:
        yaw = rng.normal(0, np.radians(recipe.facing_spread_deg))
    else:
        yaw = rng.uniform(-np.pi, np.pi)
    return look(
        yaw_rad=yaw,
        pelvis_m=pelvis_m,
        floor_y_m=floor_y_m,
        distance_m=rng.uniform(*recipe.distance_m),
        camera_height_m=rng.uniform(*recipe.camera_height_m),
        aim_height_m=rng.uniform(*recipe.aim_height_m),
        roll_rad=np.radians(rng.uniform(*recipe.roll_deg)),
        aside=rng.uniform(*recipe.aside),
        intrinsics=intrinsics,
        width=width,
    )
