"""Rooms of planes seen by a pinhole camera, and boxes before them."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame

CAMERA = Intrinsics(285.0, 285.0, 159.5, 119.5)
SHAPE = (240, 320)
HEIGHT_M = 1.2  #: of the camera above the floor
WALL_M = 4.0  #: to the wall straight ahead


def plane_depth(normal, distance_m: float, camera: Intrinsics = CAMERA, shape=SHAPE) -> np.ndarray:
    """Depth of the plane normal . p + distance = 0: float64 (H, W), infinite where a ray misses it."""
    rows, cols = np.indices(shape, float)
    rays = np.stack([(cols - camera.cx) / camera.fx, (rows - camera.cy) / camera.fy, np.ones(shape)], axis=-1)
    with np.errstate(divide="ignore"):
        depth = -distance_m / (rays @ np.asarray(normal, float))
    return np.where(depth > 0, depth, np.inf)


def empty_room(pitch_deg: float = 0.0) -> np.ndarray:
    """A floor and the wall ahead, seen by a camera that is pitched down: float32 (H, W), metres."""
    floor, wall = room_normals(pitch_deg)
    depth = np.minimum(plane_depth(floor, HEIGHT_M), plane_depth(wall, WALL_M))
    return np.where(depth < 9, depth, 0).astype(np.float32)


def room_normals(pitch_deg: float) -> tuple[np.ndarray, np.ndarray]:
    """Normals of floor and wall, towards the camera, camera axes."""
    c, s = np.cos(np.radians(pitch_deg)), np.sin(np.radians(pitch_deg))
    return np.array([0, -c, -s]), np.array([0, s, -c])


def with_box(depth_m: np.ndarray, centre_m, size_m, camera: Intrinsics = CAMERA) -> np.ndarray:
    """Put an upright rectangle (width, height) that faces the camera before what is there."""
    (x, y, z), (width, height) = centre_m, size_m
    rows, cols = np.indices(depth_m.shape, float)
    inside = (abs((cols - camera.cx) / camera.fx * z - x) < width / 2) & (
        abs((rows - camera.cy) / camera.fy * z - y) < height / 2
    )
    return np.where(inside & ((depth_m == 0) | (depth_m > z)), np.float32(z), depth_m)


def frame_of(depth_m: np.ndarray, camera: Intrinsics = CAMERA) -> DepthFrame:
    """A frame of that camera."""
    return DepthFrame(depth_m.astype(np.float32), camera)
