"""Kernel and search: the large planes of a room, floor and walls, in one depth frame.

The picture is averaged to cells, in 1 / depth, which quietens the noise; each cell has a point and a normal. A plane
is proposed from one cell, is supported by the cells that lie in it and face as it does, and is fitted to
those. A body is not flat: of two people side by side too little faces one way to pass for a wall.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from posepipe.camera import Intrinsics, Plane

CELL_SHARE = 1 / 80
"""Side of a cell in image widths: 4 pixels of 320."""
ALIKE = np.cos(np.radians(20))
"""A cell faces as a plane does when their normals differ by less than 20 degrees."""
BENT_PER_M = 0.006
"""1 / depth is linear along a plane, and a triangulating camera's noise the same in it everywhere: a cell bends where
its second difference is larger (1/m), 5 cm of depth at 3 m."""
MIN_AREA_M2 = 1.0
"""Less surface than this is a table or a body, no floor or wall."""
MIN_SPREAD_M = 0.25
"""Standard deviation of a plane's points along its narrower side; a plank is no wall."""
MAX_PLANES = 5
PROPOSALS = 100
"""Cells that each search tries, evenly spaced over those left."""
LEVEL_DEG = 50.0
"""A floor's normal differs from straight up in the image by no more than the camera's pitch and roll."""


@njit(cache=True, inline="always")
def plane_tolerance_m(depth_m):
    """How far off a plane its readings may lie: 2 cm and, as disparity has it, a share of z^2; 5 cm at 3 m."""
    return np.float32(0.02) + np.float32(0.0035) * depth_m * depth_m


def find_planes(depth_m: np.ndarray, intrinsics: Intrinsics) -> tuple[Plane, ...]:
    """Find the large planes of a frame, the largest first.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading
    intrinsics : Intrinsics

    Returns
    -------
    at most MAX_PLANES; none in a frame that shows no room. The frame alone decides: nothing is random

    References
    ----------
    RANSAC (Fischler and Bolles 1981) with one oriented point a proposal, as in Schnabel et al. 2007.
    """
    cell = max(1, round(depth_m.shape[1] * CELL_SHARE))
    points, normals, area = surface_cells(depth_m, intrinsics, cell)
    planes: list[Plane] = []
    while len(points) and len(planes) < MAX_PLANES and area.sum() >= MIN_AREA_M2:
        plane = _largest_plane(points, normals, area)
        if plane is None:
            break
        planes.append(plane)
        rest = np.abs(plane.height_m(points)) > 2 * plane_tolerance_m(points[:, 2])
        points, normals, area = points[rest], normals[rest], area[rest]
    return tuple(planes)


def floor_of(planes: tuple[Plane, ...]) -> Plane | None:
    """The plane that lies under the camera and is nearest to level; None when none is."""
    up = [plane for plane in planes if -plane.normal[1] >= np.cos(np.radians(LEVEL_DEG))]
    # of level planes, the lowest: tables are seen from above too
    return max(up, key=lambda plane: plane.distance_m, default=None)


def before_planes(depth_m: np.ndarray, intrinsics: Intrinsics, planes: tuple[Plane, ...]) -> np.ndarray:
    """Readings that lie before all planes, by more than `plane_tolerance_m`: bool (H, W)."""
    mask = depth_m > 0
    if planes:
        table = np.array([(*plane.normal, plane.distance_m) for plane in planes], np.float32)
        camera = np.array([intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy], np.float32)
        _clear_planes(depth_m, camera, table, mask)
    return mask


@njit(cache=True)
def _clear_planes(depth_m, camera, planes, mask):
    fx, fy, cx, cy = camera
    x = np.empty(depth_m.shape[1], np.float32)
    for col in range(len(x)):
        x[col] = (np.float32(col) - cx) / fx
    for row in range(depth_m.shape[0]):
        y, depth_row, mask_row = (np.float32(row) - cy) / fy, depth_m[row], mask[row]
        for k in range(len(planes)):  # along the row in vectors
            a, b, c, d = planes[k]
            for col in range(len(x)):
                z = depth_row[col]
                mask_row[col] &= (a * x[col] + b * y + c) * z + d > plane_tolerance_m(z)


def surface_cells(depth_m: np.ndarray, intrinsics: Intrinsics, cell: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, normals (towards the camera) and surface of the smooth cells of a frame.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics
    cell : side of a cell, pixels

    Returns
    -------
    points_m : float32 (N, 3), metres; normals : float32 (N, 3), unit; area_m2 : float32 (N,), true, not foreshortened
    """
    height, width = (side // cell for side in depth_m.shape)
    if height < 3 or width < 3:
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.float32)
    inverse = np.zeros((height, width), np.float32)
    _average_inverse(depth_m, cell, inverse)
    camera = np.array([intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy], np.float32)
    most = (height - 2) * (width - 2)
    points, normals, area = np.empty((most, 3), np.float32), np.empty((most, 3), np.float32), np.empty(most, np.float32)
    count = _smooth_cells(inverse, cell, camera, points, normals, area)
    return points[:count], normals[:count], area[:count]


@njit(cache=True)
def _average_inverse(depth_m, cell, out):
    """Mean of 1 / depth over each cell's readings; 0 where fewer than half read."""
    for row in range(out.shape[0]):
        for col in range(out.shape[1]):
            total, count = np.float32(0), 0
            for r in range(row * cell, (row + 1) * cell):
                for c in range(col * cell, (col + 1) * cell):
                    if depth_m[r, c] > 0:
                        total += np.float32(1) / depth_m[r, c]
                        count += 1
            if 2 * count >= cell * cell:
                out[row, col] = total / count


@njit(cache=True, inline="always")
def _centre(inverse, row, col, cell, camera):
    """Camera point (x, y, z) of the middle of a cell."""
    z = np.float32(1) / inverse[row, col]
    half = np.float32((cell - 1) / 2)
    x = (np.float32(col * cell) + half - camera[2]) / camera[0]
    y = (np.float32(row * cell) + half - camera[3]) / camera[1]
    return x * z, y * z, z


@njit(cache=True)
def _smooth_cells(inverse, cell, camera, points, normals, area):
    """Fill in the cells that are bent neither way, in image order; return how many there are."""
    count = 0
    for row in range(1, inverse.shape[0] - 1):
        for col in range(1, inverse.shape[1] - 1):
            up, down, left, right = (
                inverse[row - 1, col],
                inverse[row + 1, col],
                inverse[row, col - 1],
                inverse[row, col + 1],
            )
            here = inverse[row, col]
            if not min(up, down, left, right, here) > 0:
                continue
            if not (abs(up + down - 2 * here) < BENT_PER_M and abs(left + right - 2 * here) < BENT_PER_M):
                continue
            x, y, z = _centre(inverse, row, col, cell, camera)
            ax, ay, az = _centre(inverse, row, col + 1, cell, camera)
            bx, by, bz = _centre(inverse, row, col - 1, cell, camera)
            ax, ay, az = ax - bx, ay - by, az - bz
            dx, dy, dz = _centre(inverse, row + 1, col, cell, camera)
            bx, by, bz = _centre(inverse, row - 1, col, cell, camera)
            dx, dy, dz = dx - bx, dy - by, dz - bz
            nx, ny, nz = ay * dz - az * dy, az * dx - ax * dz, ax * dy - ay * dx
            scale = 1 / max(math.sqrt(nx * nx + ny * ny + nz * nz), 1e-12)
            towards = (nx * x + ny * y + nz * z) * scale
            if towards > 0:
                scale = -scale
            points[count, 0], points[count, 1], points[count, 2] = x, y, z
            normals[count, 0], normals[count, 1], normals[count, 2] = nx * scale, ny * scale, nz * scale
            cosine = abs(towards) / math.sqrt(x * x + y * y + z * z)
            area[count] = (cell * z) ** 2 / (camera[0] * camera[1]) / max(cosine, 0.05)
            count += 1
    return count


def _largest_plane(points: np.ndarray, normals: np.ndarray, area: np.ndarray) -> Plane | None:
    tolerance = plane_tolerance_m(points[:, 2])
    tried = np.linspace(0, len(points) - 1, min(PROPOSALS, len(points))).astype(np.int64)
    support = np.zeros(len(tried), np.float32)
    _supports(points, normals, area, tolerance, tried, np.float32(ALIKE), support)
    best = tried[np.argmax(support)]
    normal, distance = normals[best], -normals[best] @ points[best]
    for _ in range(3):
        held = (np.abs(points @ normal + distance) < tolerance) & (normals @ normal > ALIKE)
        weight = area[held].astype(np.float64)
        if weight.sum() < MIN_AREA_M2:
            return None
        weight /= weight.sum()
        centre = weight @ points[held]
        beside = points[held] - centre
        spread, axes = np.linalg.eigh((beside * weight[:, None]).T @ beside)
        normal = axes[:, 0] * -np.sign(axes[:, 0] @ centre)
        distance = -float(normal @ centre)
    if spread[1] < MIN_SPREAD_M**2:
        return None
    return Plane((float(normal[0]), float(normal[1]), float(normal[2])), distance)


@njit(cache=True)
def _supports(points, normals, area, tolerance, tried, alike, out):
    """Surface, in square metres, that lies in the plane of each tried cell and faces as it does."""
    for k in range(len(tried)):
        nx, ny, nz = normals[tried[k]]
        px, py, pz = points[tried[k]]
        total = np.float32(0)
        for i in range(len(points)):
            off = (points[i, 0] - px) * nx + (points[i, 1] - py) * ny + (points[i, 2] - pz) * nz
            if abs(off) < tolerance[i]:
                same = normals[i, 0] * nx + normals[i, 1] * ny + normals[i, 2] * nz
                if same > alike:
                    total += area[i]
        out[k] = total
