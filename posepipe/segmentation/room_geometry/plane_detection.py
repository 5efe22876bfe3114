"""Kernel and search: large planes, floor and walls, in one depth frame.

The image is averaged to cells in 1 / depth, to reduce noise; each cell has a point and a normal. A plane is proposed
from one cell and fitted to its inliers: the cells that lie in it and have a similar normal. Bodies are not flat, so too
little of their surface has one normal to pass for a wall.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from posepipe.camera import CAMERA_UP, Intrinsics, Plane, UpVector
from posepipe.compilation import compiled_for, njit

CELL_SHARE = 1 / 80
"""Side of a cell, as a share of the longer side of the image: 4 pixels of 320."""
MIN_COSINE = np.cos(np.radians(20))
"""Minimum cosine between the normals of a plane and of its inliers: 20 degrees."""
MAX_BEND_PER_M = 0.006
"""Maximum second difference of 1 / depth, 1/m, of a smooth cell: 5 cm of depth at 3 m. 1 / depth is linear along a
plane, and the noise of a triangulating camera is constant in it."""
MIN_AREA_M2 = 1.0
"""Minimum surface of a floor or wall; most tables, and bodies, have less."""
MIN_SPREAD_M = 0.25
"""Minimum standard deviation of a plane's points along its narrower side; a plank is no wall."""
MAX_PLANES = 5
PROPOSALS = 100
"""Number of proposals of each search, evenly spaced over the remaining cells."""
TOLERANCE_M, TOLERANCE_PER_M = np.float32(0.02), np.float32(0.0035)
"""Of readings of a plane: constant, and proportional to the square of the depth in metres."""
INNER_SHARE = 0.05
"""Share of the readings behind a plane from which on it does not bound the room: a bed, a cupboard, an open door."""
INNER_STEP = 4
"""Step of the pixels, along rows and columns, that are counted for this."""
LEVEL_DEG = 50.0
"""Maximum angle between the normal of a floor and up in the image: pitch and roll of a camera that measures neither."""
MEASURED_LEVEL_DEG = 12.0
"""The same where an accelerometer measures up: noise, its calibration, and a carried camera."""


def plane_tolerance_m(depth_m: Any) -> Any:
    """Maximum distance of a reading from its plane: 2 cm plus a disparity term proportional to z^2; 5 cm at 3 m.

    A number or array, float32; kernels use `plane_tolerance`.
    """
    return TOLERANCE_M + TOLERANCE_PER_M * depth_m * depth_m


@njit(cache=True, inline="always")
def plane_tolerance(depth_m):
    """`plane_tolerance_m` for kernels."""
    return TOLERANCE_M + TOLERANCE_PER_M * depth_m * depth_m


def find_planes(depth_m: np.ndarray, intrinsics: Intrinsics) -> tuple[Plane, ...]:
    """Find the large planes of a frame, largest first.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = no reading
    intrinsics : Intrinsics

    Returns
    -------
    at most MAX_PLANES planes; none in a frame of cut-out people. The result is deterministic

    References
    ----------
    RANSAC (Fischler and Bolles 1981), one oriented point for each proposal (Schnabel et al. 2007).
    """
    cell = max(1, round(max(depth_m.shape) * CELL_SHARE))
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


def floor_of(planes: tuple[Plane, ...], up: UpVector | None = None) -> Plane | None:
    """Lowest level plane under the camera; None when there is none. ``up`` is as in `DepthFrame`."""
    vertical, max_deg = (CAMERA_UP, LEVEL_DEG) if up is None else (up, MEASURED_LEVEL_DEG)
    level = [plane for plane in planes if np.dot(plane.normal, vertical) >= np.cos(np.radians(max_deg))]
    # the lowest level plane, because tables are level too
    return max(level, key=lambda plane: plane.distance_m, default=None)


def before_planes(depth_m: np.ndarray, intrinsics: Intrinsics, planes: tuple[Plane, ...]) -> np.ndarray:
    """Mask of the readings in front of all planes by more than `plane_tolerance_m`: bool (H, W).

    What is behind a plane with INNER_SHARE of the readings behind it is kept, too: it is beside a cupboard, not behind
    a wall.
    """
    mask = depth_m > 0
    if planes:
        table = np.array([(*plane.normal, plane.distance_m) for plane in planes], np.float32)
        camera = np.array([intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy], np.float32)
        behind = np.zeros(len(planes), np.int64)
        readings = _count_behind(depth_m, camera, table, behind)
        _clear_planes(depth_m, camera, table, behind >= INNER_SHARE * readings, mask)
    return mask


@compiled_for("f4[:,::1], f4[::1], f4[:,::1], i8[::1]")
@njit(cache=True)
def _count_behind(depth_m, camera, planes, behind):
    """Count the readings of every INNER_STEP-th row and column, and those behind each plane by twice the tolerance."""
    readings = 0
    for row in range(0, depth_m.shape[0], INNER_STEP):
        y = (np.float32(row) - camera[3]) / camera[1]
        for col in range(0, depth_m.shape[1], INNER_STEP):
            z = depth_m[row, col]
            if z > 0:
                readings += 1
                x = (np.float32(col) - camera[2]) / camera[0]
                limit = np.float32(-2) * plane_tolerance(z)
                for k in range(len(planes)):
                    if (planes[k, 0] * x + planes[k, 1] * y + planes[k, 2]) * z + planes[k, 3] < limit:
                        behind[k] += 1
    return readings


@compiled_for("f4[:,::1], f4[::1], f4[:,::1], b1[::1], b1[:,::1]")
@njit(cache=True)
def _clear_planes(depth_m, camera, planes, inner, mask):
    x = np.empty(depth_m.shape[1], np.float32)
    for col in range(len(x)):
        x[col] = (np.float32(col) - camera[2]) / camera[0]
    for row in range(depth_m.shape[0]):
        y = (np.float32(row) - camera[3]) / camera[1]
        for k in range(len(planes)):  # the loop over columns is vectorised
            a, b, c, d = planes[k, 0], planes[k, 1], planes[k, 2], planes[k, 3]
            for col in range(len(x)):
                z = depth_m[row, col]
                height = (a * x[col] + b * y + c) * z + d
                mask[row, col] &= (abs(height) if inner[k] else height) > plane_tolerance(z)


def surface_cells(depth_m: np.ndarray, intrinsics: Intrinsics, cell: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Points, normals (towards the camera) and areas of the smooth cells of a frame.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics
    cell : side of a cell, pixels

    Returns
    -------
    points_m : float32 (N, 3), metres
    normals : float32 (N, 3), unit vectors
    area_m2 : float32 (N,), square metres, corrected for foreshortening
    """
    height, width = (side // cell for side in depth_m.shape)
    if height < 3 or width < 3:
        return np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros(0, np.float32)
    inverse = np.zeros((height, width), np.float32)
    _average_inverse(depth_m, cell, inverse)
    camera = np.array([intrinsics.fx, intrinsics.fy, intrinsics.cx, intrinsics.cy], np.float32)
    max_cells = (height - 2) * (width - 2)
    points, normals = np.empty((max_cells, 3), np.float32), np.empty((max_cells, 3), np.float32)
    area = np.empty(max_cells, np.float32)
    count = _smooth_cells(inverse, cell, camera, points, normals, area)
    return points[:count], normals[:count], area[:count]


@compiled_for("f4[:,::1], i8, f4[:,::1]")
@njit(cache=True)
def _average_inverse(depth_m, cell, out):
    """Mean of 1 / depth over the readings of each cell; 0 where fewer than half of its pixels have one."""
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
    """Camera point (x, y, z) of the centre of a cell."""
    z = np.float32(1) / inverse[row, col]
    half = np.float32((cell - 1) / 2)
    x = (np.float32(col * cell) + half - camera[2]) / camera[0]
    y = (np.float32(row * cell) + half - camera[3]) / camera[1]
    return x * z, y * z, z


@compiled_for("f4[:,::1], i8, f4[::1], f4[:,::1], f4[:,::1], f4[::1]")
@njit(cache=True)
def _smooth_cells(inverse, cell, camera, points, normals, area):
    """Write the smooth cells in image order; return their number."""
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
            if not (up > 0 and down > 0 and left > 0 and right > 0 and here > 0):
                continue
            if not (abs(up + down - 2 * here) < MAX_BEND_PER_M and abs(left + right - 2 * here) < MAX_BEND_PER_M):
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
    proposed = np.linspace(0, len(points) - 1, min(PROPOSALS, len(points))).astype(np.int64)
    support = np.zeros(len(proposed), np.float32)
    planes = np.ascontiguousarray(np.concatenate([points[proposed].T, normals[proposed].T]))
    _sum_inliers(points, normals, area, tolerance, planes, np.float32(MIN_COSINE), support)
    best = proposed[np.argmax(support)]
    normal, distance = normals[best], -normals[best] @ points[best]
    for _ in range(3):
        inlier = (np.abs(points @ normal + distance) < tolerance) & (normals @ normal > MIN_COSINE)
        inliers = np.flatnonzero(inlier)
        weight = area[inliers].astype(np.float64)
        if weight.sum() < MIN_AREA_M2:
            return None
        weight /= weight.sum()
        own = points.take(inliers, axis=0)
        centre = weight @ own
        centred = own - centre
        spread, axes = np.linalg.eigh((centred * weight[:, None]).T @ centred)
        normal = axes[:, 0] * -np.sign(axes[:, 0] @ centre)
        distance = -float(normal @ centre)
    if spread[1] < MIN_SPREAD_M**2:
        return None
    return Plane((float(normal[0]), float(normal[1]), float(normal[2])), distance)


@compiled_for("f4[:,::1], f4[:,::1], f4[::1], f4[::1], f4[:,::1], f4, f4[::1]")
@njit(cache=True)
def _sum_inliers(points, normals, area, tolerance, proposed, min_cosine, out):
    """Sum the surface, square metres, of the inliers of planes: each through a point, rows 0 to 2, with a normal."""
    px, py, pz, nx, ny, nz = proposed[0], proposed[1], proposed[2], proposed[3], proposed[4], proposed[5]
    for i in range(len(points)):
        for k in range(len(out)):  # this loop, over the planes, is vectorised
            off = (points[i, 0] - px[k]) * nx[k] + (points[i, 1] - py[k]) * ny[k] + (points[i, 2] - pz[k]) * nz[k]
            cosine = normals[i, 0] * nx[k] + normals[i, 1] * ny[k] + normals[i, 2] * nz[k]
            inlier = (abs(off) < tolerance[i]) & (cosine > min_cosine)
            out[k] += area[i] if inlier else np.float32(0)
