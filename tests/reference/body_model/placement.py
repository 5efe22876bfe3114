"""Forward kinematics with 4 x 4 transforms."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def build(body, shape):
    """Origins (S, 3), joints (J, 3), capsule ends (C, 2, 3) and radii (C, 2) of one build, in its segments' axes."""
    shares, lengths = np.concatenate([[1.0], shape]), (body.origins_m, body.joints_m, body.capsule_ends_m, body.radii_m)
    return tuple(np.tensordot(shares, each, 1) for each in lengths)


def place(body, posture):
    """Rotations (S, 3, 3), starts (S, 3), joints (J, 3), capsule ends (C, 2, 3) and radii (C, 2) of a posture."""
    origins, joints, ends, radii = build(body, posture.shape)
    poses = []
    for segment, parent in enumerate(body.parents):
        own = np.eye(4)
        own[:3, :3], own[:3, 3] = posture.turns[segment], posture.root_m if parent < 0 else origins[segment]
        poses.append(own if parent < 0 else poses[parent] @ own)
    poses = np.array(poses)

    def carried(points, segments):
        return np.einsum("nab,n...b->n...a", poses[segments, :3, :3], points) + np.expand_dims(
            poses[segments, :3, 3], tuple(range(1, points.ndim - 1))
        )

    return (
        poses[:, :3, :3],
        poses[:, :3, 3],
        carried(joints, body.joint_segments),
        carried(ends, body.capsule_segments),
        radii,
    )


def take_step(body, posture, step):
    """A posture moved by a step: shape, root, and a turn of each segment in camera axes."""
    rotations, coefficients = place(body, posture)[0], len(posture.shape)
    turns = posture.turns.copy()
    for segment, parent in enumerate(body.parents):
        up = np.eye(3) if parent < 0 else rotations[parent]
        vector = step[coefficients + 3 + 3 * segment : coefficients + 6 + 3 * segment]
        turns[segment] = Rotation.from_rotvec(up.T @ vector).as_matrix() @ turns[segment]
    root_m = posture.root_m + step[coefficients : coefficients + 3]
    return type(posture)(root_m, turns, posture.shape + step[:coefficients])
