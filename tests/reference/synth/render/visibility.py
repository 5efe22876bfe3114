"""Naive twin of synth/render/visibility.py.

The rule of docs/reference/formats.md, joint by joint and pixel by pixel.
"""

import math

import numpy as np


def visible_joints(depth_m, parts, joints_m, intrinsics, body):
    out, labelled = [], np.argwhere(parts > 0).tolist()
    for name, joint in zip(body.joints, np.asarray(joints_m, float), strict=True):
        own = [body.parts.index(part) + 1 for part in body.joint_parts.get(name, ())]
        flesh = 0.04 if own else 0.1
        surface = joint - flesh * joint / np.linalg.norm(joint)
        near = 0
        for row, col in labelled:
            z, label = float(depth_m[row, col]), parts[row, col]
            if z > 0 and (label in own or not own):
                x = (col - intrinsics.cx) / intrinsics.fx * z
                y = (row - intrinsics.cy) / intrinsics.fy * z
                near += math.dist((x, y, z), surface) < 0.1
        out.append(near >= 10)
    return np.array(out)
