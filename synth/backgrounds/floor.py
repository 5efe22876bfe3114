"""The floor of a real frame: where its camera is above it, and how the camera is turned."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics, Plane
from posepipe.segmentation.room_geometry.plane_detection import CELL_SHARE, find_planes, floor_of, surface_cells
from synth.scene.placement import Placement

MIN_HEIGHT_M, MAX_HEIGHT_M = 0.25, 4.0
"""Heights of a camera above a floor. A level plane nearer than that is a table."""
BELOW_M, MAX_BELOW_SHARE = 0.15, 0.02
"""A plane is no floor when more than MAX_BELOW_SHARE of the readings lie further than BELOW_M under it."""
SMALL_M2, LAYER_M, LEVEL_COSINE, TABLE_M = 0.15, 0.04, 0.94, 0.9
"""Of a floor of which little shows: area, thickness of the layer that it lies in, minimum cosine between its normal and
up, minimum distance below the camera."""
ASSUMED_HEIGHT_M = (0.8, 1.7)
ASSUMED_PITCH_DEG, ASSUMED_ROLL_DEG = 6.0, 2.0
"""Standard deviations of the camera's angles where neither floor nor walls are seen."""
WALL_COSINE = 0.6
"""Maximum cosine between up in the image and the normal of a wall."""


@dataclass(frozen=True, slots=True)
class Floor:
    """The floor under a camera."""

    camera: Placement  #: pose of the camera; its place stands for no subject
    seen: bool  #: False = assumed, because the frame shows too little of it


def find_floor(depth_m: np.ndarray, intrinsics: Intrinsics, rng: np.random.Generator) -> Floor:
    """Find the floor of a depth frame, float32 (H, W), metres; draw one out of sight where there is none."""
    planes = find_planes(depth_m, intrinsics)
    plane = floor_of(planes)
    if plane is not None and _is_floor(plane, depth_m, intrinsics):
        return Floor(camera_above(plane), seen=True)
    assumed = _assumed(planes, rng)
    plane = _small_floor(depth_m, intrinsics, np.asarray(assumed.normal))
    if plane is not None and _is_floor(plane, depth_m, intrinsics):
        return Floor(camera_above(plane), seen=True)
    return Floor(camera_above(assumed), seen=False)


def _small_floor(depth_m: np.ndarray, intrinsics: Intrinsics, up: np.ndarray) -> Plane | None:
    """Lowest level surface of at least SMALL_M2, float (3,) up; None when it is so near that it may be a table."""
    cell = max(1, round(depth_m.shape[1] * CELL_SHARE))
    points_m, normals, areas_m2 = surface_cells(depth_m, intrinsics, cell)
    level = normals @ up > LEVEL_COSINE
    points_m, normals, areas_m2 = points_m[level], normals[level], areas_m2[level]
    below_m = -points_m @ up
    layers = np.floor(below_m / LAYER_M).astype(int)
    wide = [layer for layer in np.unique(layers) if areas_m2[np.abs(layers - layer) <= 1].sum() >= SMALL_M2]
    if not wide:
        return None
    rows = np.abs(layers - wide[-1]) <= 1
    normal = areas_m2[rows] @ normals[rows]
    normal = normal / np.linalg.norm(normal)
    distance_m = float(np.median(-points_m[rows] @ normal))
    return Plane((float(normal[0]), float(normal[1]), float(normal[2])), distance_m) if distance_m > TABLE_M else None


def _assumed(planes: tuple[Plane, ...], rng: np.random.Generator) -> Plane:
    """Draw a floor out of sight: about level in the image, and at right angles to the walls."""
    pitch, roll = np.radians([ASSUMED_PITCH_DEG, ASSUMED_ROLL_DEG]) * rng.normal(size=2)
    up = np.array([-np.sin(roll), -np.cos(pitch) * np.cos(roll), -np.sin(pitch)])
    for plane in planes:
        if abs(up @ plane.normal) < WALL_COSINE:
            up -= (up @ plane.normal) * np.asarray(plane.normal)
            up /= np.linalg.norm(up)
    return Plane((float(up[0]), float(up[1]), float(up[2])), rng.uniform(*ASSUMED_HEIGHT_M))


def camera_above(plane: Plane) -> Placement:
    """Return the pose of a camera above a plane in its own axes: height, pitch and roll."""
    x, y, z = plane.normal
    pitch, roll = math.asin(min(max(-z, -1.0), 1.0)), math.atan2(-x, -y)
    return Placement(0.0, 0.0, 0.0, plane.distance_m, pitch, roll)


def _is_floor(plane: Plane, depth_m: np.ndarray, intrinsics: Intrinsics) -> bool:
    if not MIN_HEIGHT_M <= plane.distance_m <= MAX_HEIGHT_M:
        return False
    heights_m = plane.height_m(intrinsics.deproject(depth_m))[depth_m > 0]
    return float(np.mean(heights_m < -BELOW_M)) <= MAX_BELOW_SHARE
