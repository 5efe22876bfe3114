"""Results read back from a file, as the pipeline gave them: without depth, in the world that they were placed in."""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from posepipe.camera import Extrinsics, Intrinsics
from posepipe.frames import DepthFrame
from posepipe.results import FrameResult
from posepipe.sinks.files.json_lines import ResultRow

LEAST_SPREAD_M, MOST_MISFIT_M = 0.02, 0.01
"""Joints nearer to one line, or further from where a rigid move puts them, root mean square, tell nothing."""
_LENS = Intrinsics(1.0, 1.0, 0.0, 0.0)


def body_of(joints: tuple[str, ...]) -> BodyDefinition:
    """A body with these joints: a person, if they are a person's; bones of others the file does not tell."""
    if set(joints) <= set(HUMAN.joints):
        return HUMAN
    return BodyDefinition("unknown", parts=("surface",), joints=joints, joint_parts={})


def result_of(row: ResultRow) -> FrameResult:
    """The frame has one pixel, which reads nothing."""
    frame = DepthFrame(np.zeros((1, 1), np.float32), _LENS, row.timestamp_s, row.frame)
    nothing = np.zeros((1, 1), np.uint8)
    return FrameResult(frame, nothing > 0, nothing, (), row.people, extrinsics=world_of(row))


def world_of(row: ResultRow) -> Extrinsics | None:
    """Where the camera was, from joints that are known in both its axes and the world's.

    References
    ----------
    Kabsch, Acta Crystallographica A32, 1976: the rotation between two sets of points.
    """
    pairs = [
        (track.pose.joints[name].xyz_m, place_m)
        for track, world_m in row.with_world()
        for name, place_m in world_m.items()
        if name in track.pose.joints
    ]
    if len(pairs) < 3:
        return None
    camera_m, world_m = np.array(pairs).transpose(1, 0, 2)
    centre_m, there_m = camera_m.mean(axis=0), world_m.mean(axis=0)
    left, spread, right = np.linalg.svd((world_m - there_m).T @ (camera_m - centre_m) / len(pairs))
    if spread[1] < LEAST_SPREAD_M**2:
        return None
    rotation = left @ np.diag([1, 1, np.linalg.det(left @ right)]) @ right
    found = Extrinsics(rotation, there_m - rotation @ centre_m)
    misfit_m = np.sqrt(((found.world_points(camera_m) - world_m) ** 2).sum(axis=1).mean())
    return found if misfit_m < MOST_MISFIT_M else None
