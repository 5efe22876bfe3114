"""An empty room of floor, back wall and a bed, as a depth camera reads it, for tests of backgrounds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from posepipe.camera import Intrinsics
from synth.geometry.mesh import BACKGROUND, Mesh, box
from synth.render.rasterizer import render_depth
from synth.scene.placement import Placement

SHAPE = 240, 320
BED_M = 0.5
"""Height of the bed."""
CAMERA = Placement(0.0, 0.0, 0.0, camera_height_m=1.4, pitch_rad=0.25, roll_rad=0.05)


def room_depth(focal: float = 285.6, wall_m: float = 4.5) -> np.ndarray:
    """Depth of the room, float32 (H, W), metres: the bed is 0.5 m high, 2.2 to 3.3 m away, to the right."""
    floor = box((-4, -0.1, -wall_m), (4, 0, 1), BACKGROUND)
    wall = box((-4, 0, -wall_m - 0.1), (4, 3, -wall_m), BACKGROUND)
    bed = box((0.0, 0, -3.3), (2.1, BED_M, -2.2), BACKGROUND)
    mesh = Mesh.join([floor, wall, bed])
    points_m = CAMERA.world_view().camera_points(mesh.vertices_m)
    return render_depth(points_m, mesh.triangles, lens(focal), *SHAPE)[0]


def lens(focal: float) -> Intrinsics:
    """Return the intrinsics of the room's camera."""
    return Intrinsics(focal, focal, (SHAPE[1] - 1) / 2, (SHAPE[0] - 1) / 2)


def save_room(path: Path, focals: Sequence[float] = (285.6,), wall_m: float = 4.5) -> Path:
    """Save the room as a pack, a frame for each focal length, and return its path."""
    depth_mm = np.stack([np.rint(room_depth(focal, wall_m) * 1000).astype(np.uint16) for focal in focals])
    cameras = [lens(focal) for focal in focals]
    np.savez(path, depth_mm=depth_mm, K=np.array([[each.fx, each.fy, each.cx, each.cy] for each in cameras]))
    return path
