"""The rotation nearest to a matrix, by its singular values, and the posture turned towards joints by it."""

from __future__ import annotations

import numpy as np
from scipy.spatial.transform import Rotation

from tests.reference.body_model.placement import place


def nearest_rotation(matrix):
    """Kabsch's rotation."""
    u, _, vt = np.linalg.svd(matrix)
    return u @ np.diag([1, 1, np.linalg.det(u @ vt)]) @ vt


def aim(body, targets, posture, mean_weight, next_weight, root_weight):
    """Turns (S, 3, 3) of the mean build, each nearest to what its own and the next segments' joints ask for."""
    mean_turns = Rotation.from_rotvec(body.turn_mean_rad).as_matrix()
    turns = np.concatenate([posture.turns[:1], mean_turns[1:]])
    for segment, parent in enumerate(body.parents):
        mean_build = type(posture)(posture.root_m, turns, np.zeros(len(body.origins_m) - 1))
        rotations, starts_m, *_ = place(body, mean_build)
        pulls = [np.zeros((3, 3))]
        for owner, at_m, target_m, weight in zip(
            body.joint_segments, body.joints_m[0], targets.joints_m, targets.weights, strict=True
        ):
            if owner == segment:
                pulls.append(weight * np.outer(target_m - starts_m[segment], at_m))
            elif body.parents[owner] == segment:
                rest_m = body.origins_m[0, owner] + mean_turns[owner] @ at_m
                pulls.append(next_weight * weight * np.outer(target_m - starts_m[segment], rest_m))
        size = np.abs(pulls).sum() + 1e-6
        pull_of_mean = mean_weight * size + (root_weight if parent < 0 else 0)
        turned = nearest_rotation(np.sum(pulls, axis=0) + pull_of_mean * rotations[segment])
        turns[segment] = turned if parent < 0 else rotations[parent].T @ turned
    return turns
