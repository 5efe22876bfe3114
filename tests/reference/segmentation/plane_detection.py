"""Naive twin of posepipe/segmentation/room_geometry/plane_detection.py, pixel by pixel."""

import numpy as np


def before_planes(depth_m, fx, fy, cx, cy, planes, inner_share=0.05, step=4):
    def height_m(plane, row, col):
        z = float(depth_m[row, col])
        return np.dot(plane.normal, [(col - cx) / fx * z, (row - cy) / fy * z, z]) + plane.distance_m

    def tolerance_m(row, col):
        return 0.02 + 0.0035 * float(depth_m[row, col]) ** 2

    counted = [(row, col) for row, col in np.argwhere(depth_m > 0) if row % step == col % step == 0]
    behind = [[height_m(plane, *at) < -2 * tolerance_m(*at) for at in counted] for plane in planes]
    mask = depth_m > 0
    for plane, hidden in zip(planes, behind, strict=True):
        inner = sum(hidden) >= inner_share * len(counted)
        for row, col in np.argwhere(depth_m > 0):
            height = height_m(plane, row, col)
            mask[row, col] &= (abs(height) if inner else height) > tolerance_m(row, col)
    return mask


def surface_cells(depth_m, fx, fy, cx, cy, cell, bent=0.006):
    """Points, normals and surface of the smooth cells inside the image, row by row."""
    height, width = depth_m.shape[0] // cell, depth_m.shape[1] // cell
    inverse = np.zeros((height, width))
    for row in range(height):
        for col in range(width):
            block = depth_m[row * cell : (row + 1) * cell, col * cell : (col + 1) * cell].astype(float)
            read = block[block > 0]
            if 2 * len(read) >= cell * cell:
                inverse[row, col] = (1 / read).mean()

    def point(row, col):
        z = 1 / inverse[row, col]
        x, y = col * cell + (cell - 1) / 2, row * cell + (cell - 1) / 2
        return np.array([(x - cx) / fx * z, (y - cy) / fy * z, z])

    points, normals, areas = [], [], []
    for row in range(1, height - 1):
        for col in range(1, width - 1):
            here, up, down = inverse[row, col], inverse[row - 1, col], inverse[row + 1, col]
            left, right = inverse[row, col - 1], inverse[row, col + 1]
            if min(here, up, down, left, right) == 0:
                continue
            if abs(up + down - 2 * here) >= bent or abs(left + right - 2 * here) >= bent:
                continue
            place = point(row, col)
            across, along = point(row, col + 1) - point(row, col - 1), point(row + 1, col) - point(row - 1, col)
            normal = np.cross(across, along)
            normal /= np.linalg.norm(normal)
            normal *= -np.sign(normal @ place)
            cosine = abs(normal @ place) / np.linalg.norm(place)
            points.append(place)
            normals.append(normal)
            areas.append((cell * place[2]) ** 2 / (fx * fy) / max(cosine, 0.05))
    return np.array(points).reshape(-1, 3), np.array(normals).reshape(-1, 3), np.array(areas)


def largest_plane(points, normals, areas, tried, alike, least_m2, least_spread_m):
    """(normal, distance) of the plane with the most surface, fitted three times to what it holds; None = too small."""

    def held_by(normal, distance):
        near = np.abs(points @ normal + distance) < 0.02 + 0.0035 * points[:, 2] ** 2
        return near & (normals @ normal > alike)

    best = max(tried, key=lambda k: areas[held_by(normals[k], -normals[k] @ points[k])].sum())
    normal, distance = normals[best], -normals[best] @ points[best]
    for _ in range(3):
        held = held_by(normal, distance)
        if areas[held].sum() < least_m2:
            return None
        centre = np.average(points[held], axis=0, weights=areas[held])
        spread, axes = np.linalg.eigh(np.cov((points[held] - centre).T, aweights=areas[held], bias=True))
        normal = axes[:, 0] * -np.sign(axes[:, 0] @ centre)
        distance = -normal @ centre
    return None if spread[1] < least_spread_m**2 else (normal, distance)


def find_planes(depth_m, fx, fy, cx, cy, cell, most=5, proposals=100):
    points, normals, areas = surface_cells(depth_m, fx, fy, cx, cy, cell)
    planes = []
    while len(points) and len(planes) < most and areas.sum() >= 1.0:
        tried = np.linspace(0, len(points) - 1, min(proposals, len(points))).astype(int)
        plane = largest_plane(points, normals, areas, tried, np.cos(np.radians(20)), 1.0, 0.25)
        if plane is None:
            break
        planes.append(plane)
        rest = np.abs(points @ plane[0] + plane[1]) > 2 * (0.02 + 0.0035 * points[:, 2] ** 2)
        points, normals, areas = points[rest], normals[rest], areas[rest]
    return planes
