"""Orientations of the joints of fitted bodies, as line segments: x red, y green, z blue."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.camera import Extrinsics
from posepipe.results import Track

AXIS_M = 0.07
"""Length of a drawn axis, metres."""
COLOURS = np.array([(255, 80, 80), (90, 220, 90), (90, 150, 255)], np.uint8)
"""Of x, y and z, RGB: the order in which 3D programs colour axes."""


def joint_axes(people: Sequence[Track], world: Extrinsics) -> tuple[np.ndarray, np.ndarray]:
    """Draw the axes of the rest pose, turned with each joint.

    Parameters
    ----------
    people : those to whom no body is fitted have no axes
    world : pose of the camera

    Returns
    -------
    ends_m : float32 (3 A, 2, 3), world axes, metres: for each joint its x, y and z
    colours : uint8 (3 A, 2, 3), RGB
    """
    fits = [track.fit for track in people if track.fit is not None]
    if not fits:
        return np.zeros((0, 2, 3), np.float32), np.zeros((0, 2, 3), np.uint8)
    starts_m = world.world_points(np.concatenate([fit.joints_m for fit in fits]))
    turns = Rotation.from_quat(np.concatenate([fit.rotations_xyzw for fit in fits])).as_matrix()
    axes = np.einsum("ab,jbk->jka", world.rotation, turns)  # columns of a rotation are the axes it turns to
    ends_m = np.stack([np.broadcast_to(starts_m[:, None], axes.shape), starts_m[:, None] + AXIS_M * axes], axis=2)
    colours = np.tile(COLOURS[:, None], (len(starts_m), 2, 1))
    return ends_m.reshape(-1, 2, 3).astype(np.float32), colours
