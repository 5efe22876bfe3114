"""Results from a file in the form the pipeline gives them: without depth, with the original camera pose."""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Extrinsics, Intrinsics
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import ResultRow

MIN_SPREAD_M = 0.02
"""Minimum distance of joints from one line, root mean square, metres; closer joints do not define a rotation."""
MAX_RESIDUAL_M = 0.01
"""Maximum distance between given and transformed joints, root mean square, metres."""
_NO_CAMERA = Intrinsics(1.0, 1.0, 0.0, 0.0)


def body_with_joints(joints: tuple[str, ...]) -> BodyDefinition:
    """Return HUMAN if it has all these joints, else a body without bones, as a results file does not store bones."""
    if set(joints) <= set(HUMAN.joints):
        return HUMAN
    return BodyDefinition("unknown", parts=("surface",), joints=joints, joint_parts={})


def result_from_row(row: ResultRow) -> FrameResult:
    """Make a result of a stored row; its frame is one pixel without a reading."""
    frame = DepthFrame(np.zeros((1, 1), np.float32), _NO_CAMERA, row.timestamp_s, row.frame, row.up)
    parts = np.zeros((1, 1), np.uint8)
    return FrameResult(frame, parts > 0, parts, (), row.people, extrinsics=extrinsics_from_row(row))


def extrinsics_from_row(row: ResultRow) -> Extrinsics | None:
    """Recover the camera's pose from joints with both camera and world positions; None if they do not define it.

    References
    ----------
    Kabsch, A solution for the best rotation to relate two sets of vectors, Acta Cryst. A32, 1976.
    """
    pairs = [
        (track.pose.joints[name].xyz_m, xyz_world_m)
        for track, world_m in row.with_world()
        for name, xyz_world_m in world_m.items()
        if name in track.pose.joints
    ]
    if len(pairs) < 3:
        return None
    camera_m, world_m = np.array(pairs).transpose(1, 0, 2)
    camera_mean_m, world_mean_m = camera_m.mean(axis=0), world_m.mean(axis=0)
    left, spread, right = np.linalg.svd((world_m - world_mean_m).T @ (camera_m - camera_mean_m) / len(pairs))
    if spread[1] < MIN_SPREAD_M**2:
        return None
    rotation = left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right
    found = Extrinsics(rotation, world_mean_m - rotation @ camera_mean_m)
    residual_m = np.sqrt(((found.world_points(camera_m) - world_m) ** 2).sum(axis=1).mean())
    return found if residual_m < MAX_RESIDUAL_M else None
