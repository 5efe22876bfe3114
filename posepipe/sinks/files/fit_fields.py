"""Fitted bodies as fields of results: orientations, uncertainty, and what the body explains.

Format: docs/reference/results.md.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.camera import Extrinsics
from posepipe.kinematics.joint_angles import joint_angles
from posepipe.results import BodyFit
from posepipe.sinks.files.result_numbers import finite, point, quaternion, rounded

ROTATIONS = "unit quaternions x, y, z, w: from the rest pose (y up, facing +z, left = +x) to camera axes"

_ANGLE_DECIMALS = 2
_BY_UP = ("trunk_lean",)  # measured from the vertical, which a person's row does not know


def world_rotations(fit: BodyFit, axes: Extrinsics) -> dict[str, tuple[float, ...]]:
    """Rotations of the fitted joints from the rest pose to world axes, x y z w."""
    from scipy.spatial.transform import Rotation  # slow to import

    turned = Rotation.from_matrix(axes.rotation) * Rotation.from_quat(fit.rotations_xyzw)
    rows = turned.as_quat(canonical=True).tolist()
    return {name: tuple(map(rounded, row)) for name, row in zip(fit.names, rows, strict=True)}


def add_fit(joints: dict[str, dict], fit: BodyFit) -> dict[str, dict]:
    """Add orientation and uncertainty of the fitted body to the rows of its joints."""
    for name, rotation, sigma_m in zip(fit.names, fit.rotations_xyzw, fit.sigma_m.tolist(), strict=True):
        if name in joints:
            joints[name]["rotation_xyzw"] = [rounded(value) for value in rotation]
            if math.isfinite(sigma_m):
                joints[name]["sigma_m"] = rounded(sigma_m)
    return joints


def fit_row(fit: BodyFit) -> dict:
    """Describe the fitted body as a whole."""
    angles = joint_angles(dict(zip(fit.names, fit.joints_m, strict=True)))
    known = {name: float(value) for name, value in angles.items() if name not in _BY_UP and math.isfinite(value)}
    return {
        "pixels_explained": rounded(fit.pixels_explained),
        "outline_explained": rounded(fit.outline_explained),
        "shape": [rounded(value) for value in fit.shape],
        "angles_deg": {name: round(value, _ANGLE_DECIMALS) + 0.0 for name, value in known.items()},
    }


def read_fit(joints: dict[str, dict], about: dict) -> BodyFit:
    """Read the fitted body of a person; its joints are those that have a rotation."""
    names = tuple(name for name, row in joints.items() if "rotation_xyzw" in row)
    sigmas_m = [finite(joints[name]["sigma_m"]) if "sigma_m" in joints[name] else math.nan for name in names]
    return BodyFit(
        names,
        np.array([point(joints[name]["xyz_m"]) for name in names]).reshape(-1, 3),
        np.array([quaternion(joints[name]["rotation_xyzw"]) for name in names]).reshape(-1, 4),
        np.array(sigmas_m),
        np.array([finite(value) for value in about["shape"]]),
        finite(about["pixels_explained"]),
        finite(about["outline_explained"]),
    )


def read_world_rotations(person: dict) -> dict[str, tuple[float, ...]]:
    """Read the rotations of the joints of a person to world axes, x y z w."""
    joints = person["joints"].items()
    return {name: quaternion(row["rotation_world_xyzw"]) for name, row in joints if "rotation_world_xyzw" in row}
