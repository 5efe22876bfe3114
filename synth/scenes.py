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
    aside_m: float,
    camera_height_m: float,
    pitch_rad: float,
    roll_rad: float,
) -> View:
    """Place one person before one camera.

    Parameters
    ----------
    yaw_rad : turn of the body about the vertical; 0 faces the camera
    pelvis_m : float (3,), metres, the body's pelvis in its own axes
    floor_y_m : metres, height of the body's lowest point in its own axes
    distance_m, aside_m : metres along the floor, ahead of the camera and to its right, at which the pelvis will be
    camera_height_m : metres above the floor
    pitch_rad : of the camera; 0 is level, down is positive
    roll_rad : of the camera
    """
    turn = rotation_about("y", yaw_rad)
    place = np.array([aside_m, -floor_y_m, -distance_m]) - turn @ (pelvis_m * [1, 0, 1])
    world_to_camera = np.diag([1.0, -1.0, -1.0]) @ rotation_about("z", roll_rad) @ rotation_about("x", pitch_rad)
    camera = np.array([0.0, camera_height_m, 0.0])
    return View(world_to_camera @ turn, world_to_camera @ (place - camera))


def draw_view(
    recipe: Recipe, pelvis_m: np.ndarray, floor_y_m: float, intrinsics: Intrinsics, width: int, rng: np.random.Generator
) -> View:
    """Draw a view within the recipe's ranges.

    A dataset is its random numbers in their order: a field that joins draws nothing unless a recipe asks for it.
    """
    if rng.random() < recipe.facing_share:
        yaw = rng.normal(0, np.radians(recipe.facing_spread_deg))
    else:
        yaw = rng.uniform(-np.pi, np.pi)
    distance_m = rng.uniform(*recipe.distance_m)
    camera_height_m = rng.uniform(*recipe.camera_height_m)
    if recipe.pitch_deg is None:
        drop_m = camera_height_m - rng.uniform(*recipe.aim_height_m)
        pitch = np.clip(np.arctan2(drop_m, distance_m), *np.radians(recipe.aim_limits_deg))
        depth_m = distance_m  # near enough while the camera is pitched little; frozen recipes rest on it
    else:
        pitch = np.radians(rng.uniform(*recipe.pitch_deg))
        drop_m = camera_height_m - (pelvis_m[1] - floor_y_m)
        depth_m = distance_m * np.cos(pitch) + drop_m * np.sin(pitch)
    roll = np.radians(rng.uniform(*recipe.roll_deg))
    return look(
        yaw_rad=yaw,
        pelvis_m=pelvis_m,
        floor_y_m=floor_y_m,
        distance_m=distance_m,
        aside_m=rng.uniform(*recipe.aside) * width / intrinsics.fx * depth_m,
        camera_height_m=camera_height_m,
        pitch_rad=pitch,
        roll_rad=roll,
    )
