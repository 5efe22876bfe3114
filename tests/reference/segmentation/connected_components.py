"""Naive twin of posepipe/segmentation/room_geometry/connected_components.py: a flood fill, and boxes by masks."""

import itertools

import numpy as np


def jump_m(z):
    return 0.1 + 0.01 * z * z


def find_components(depth_m, mask, reach=2):
    height, width = depth_m.shape
    components, count = np.zeros((height, width), int), 0

    def hang_together(a, b):
        later = max(a, b)  # in image order
        return mask[a] and mask[b] and abs(float(depth_m[a]) - float(depth_m[b])) < jump_m(float(depth_m[later]))

    for first in zip(*np.nonzero(mask), strict=True):
        if components[first]:
            continue
        count += 1
        components[first] = count
        todo = [first]
        while todo:
            row, col = todo.pop()
            for step in range(1, reach + 1):
                for other in ((row + step, col), (row - step, col), (row, col + step), (row, col - step)):
                    if not (0 <= other[0] < height and 0 <= other[1] < width) or components[other]:
                        continue
                    if hang_together((row, col), other):
                        components[other] = count
                        todo.append(other)
    return components, count


def measure_components(components, count, depth_m, fx, fy, cx, cy):
    areas, low, high = np.zeros(count + 1), np.full((count + 1, 3), np.inf), np.full((count + 1, 3), -np.inf)
    for component in range(1, count + 1):
        rows, cols = np.nonzero(components == component)
        if len(rows) == 0:
            continue
        z = depth_m[rows, cols].astype(float)
        places = np.stack([(cols - cx) / fx * z, (rows - cy) / fy * z, z])
        areas[component] = (z * z / (fx * fy)).sum()
        low[component], high[component] = places.min(axis=1), places.max(axis=1)
    return areas, low, high


def find_contacts(components, depth_m, reach):
    gaps = {}
    for lines, depths in ((components, depth_m), (components.T, depth_m.T)):
        for line, depth in zip(lines, depths, strict=True):
            held = np.flatnonzero(line)  # every pixel and the next that is in any component
            for one, other in itertools.pairwise(held):
                a, b = sorted((int(line[one]), int(line[other])))
                if a != b and other - one <= reach:
                    gap = abs(float(depth[one]) - float(depth[other]))
                    gaps[a, b] = min(gaps.get((a, b), np.inf), gap)
    pairs = sorted(gaps)
    return np.array(pairs, int).reshape(-1, 2), np.array([gaps[pair] for pair in pairs])
