"""Naive twin of the test which readings lie before planes, pixel by pixel."""

import numpy as np


def before_planes(depth_m, fx, fy, cx, cy, planes):
    mask = np.zeros(depth_m.shape, bool)
    for row in range(depth_m.shape[0]):
        for col in range(depth_m.shape[1]):
            z = float(depth_m[row, col])
            point = np.array([(col - cx) / fx * z, (row - cy) / fy * z, z])
            heights = [np.dot(plane.normal, point) + plane.distance_m for plane in planes]
            mask[row, col] = z > 0 and all(height > 0.02 + 0.0035 * z * z for height in heights)
    return mask
