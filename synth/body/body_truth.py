"""The truth about one body beside its joints: orientations, bone lengths and joint angles."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import BodyDefinition
from posepipe.frames import BodyTruth
from posepipe.kinematics.joint_angles import joint_angles
from synth.body.skinning import PosedBody
from synth.geometry.quaternions import multiply

UP = (0.0, 1.0, 0.0)


def body_truth(posed: PosedBody, body: BodyDefinition) -> BodyTruth:
    """Return orientations and bone lengths of one body, in its own axes: arrays (1, ...)."""
    lengths_m = bone_lengths_m(posed.rest_joints_m, body)
    return BodyTruth(posed.rotations_xyzw[None].astype(np.float32), lengths_m[None])


def with_joint_angles(truth: BodyTruth, joints_m: np.ndarray, body: BodyDefinition) -> BodyTruth:
    """Return the truth about one body with its joint angles; its joints, float (J, 3), are in its own axes, y up."""
    angles = joint_angles(dict(zip(body.joints, joints_m.astype(float), strict=True)), UP)
    return replace(truth, angle_names=tuple(angles), angles_deg=np.array([list(angles.values())], np.float32))


def bone_lengths_m(joints_m: np.ndarray, body: BodyDefinition) -> np.ndarray:
    """Return the distance of each joint from its parent: (J, 3) to float32 (J,), NaN without a parent."""
    lengths_m = np.full(len(body.joints), np.nan, np.float32)
    joints, parents = np.array(body.bones(), np.int64).reshape(-1, 2).T
    lengths_m[joints] = np.linalg.norm(joints_m[joints] - joints_m[parents], axis=1)
    return lengths_m


def truth_in_camera_axes(truths: Sequence[BodyTruth | None], rotations: Sequence[np.ndarray]) -> BodyTruth | None:
    """Join the truths about several bodies; None unless all are known.

    Parameters
    ----------
    truths : of each body, in its own axes
    rotations : float (3, 3) of each, from its own axes to the camera's
    """
    known = [truth for truth in truths if truth is not None]
    if not known or len(known) < len(truths):
        return None
    turned = [
        multiply(Rotation.from_matrix(rotation).as_quat(), truth.rotations_xyzw[0])
        for truth, rotation in zip(known, rotations, strict=True)
    ]
    angles_deg = [truth.angles_deg for truth in known if truth.angles_deg is not None]
    all_angles = len(angles_deg) == len(known)
    return BodyTruth(
        np.array(turned, np.float32),
        np.concatenate([truth.bone_lengths_m for truth in known]),
        known[0].angle_names if all_angles else (),
        np.concatenate(angles_deg) if all_angles else None,
    )
