"""Forward kinematics with 4 x 4 transforms."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation


def place(body, posture):
    """Rotations (S, 3, 3), starts (S, 3), joints (J, 3), capsule ends (C, 2, 3) and radii (C, 2) of a posture."""
    shape = np.concatenate([[1.0], posture.shape])
    origins, joints = np.tensordot(shape, body.origins_m, 1), np.tensordot(shape, body.joints_m, 1)
    ends, radii = np.tensordot(shape, body.capsule_ends_m, 1), np.tensordot(shape, body.radii_m, 1)
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
