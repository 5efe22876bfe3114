"""Results as motion capture (BVH): rigid bones, for Blender and other animation programs.

Axes are y up and +z towards the camera; units are centimetres and degrees; a joint's channels are Z, X, Y. The bones
come from `posepipe.kinematics.skeleton_fitting`. Where bodies are fitted, bones also turn about their own axes.
Content of the files and handling of gaps: docs/reference/results.md.

References
----------
Meredith and Maddock, Motion capture file formats explained, University of Sheffield, 2001.
"""

from __future__ import annotations

import numpy as np

from posepipe.kinematics.skeleton_fitting import FittedSkeleton
from posepipe.sinks.motion.person_motion import PersonMotion

UNITS_PER_METRE = 100.0
_TIP_RATIO = 0.2  # length of the end site after the last joint of a limb, relative to the last bone
_MIN_COSINE = 1e-7


def bvh_bytes(motion: PersonMotion) -> bytes:
    """Return the content of a BVH file. Raises ValueError where no joint is known."""
    return bvh_text(motion.skeleton, motion.frame_s).encode()


def bvh_text(skeleton: FittedSkeleton, frame_s: float) -> str:
    """Return the content of a BVH file. Raises ValueError for a skeleton without frames."""
    if not len(skeleton.root_m):
        raise ValueError("a BVH file needs at least one frame, got none")
    lines = ["HIERARCHY"]
    _write_joint(lines, skeleton, 0, 0)
    lines += ["MOTION", f"Frames: {len(skeleton.root_m)}", f"Frame Time: {frame_s:.9f}"]
    angles = _unwrap(_angles_zxy_deg(skeleton.local_rotations()))
    values = np.concatenate([skeleton.root_m * UNITS_PER_METRE, angles.reshape(len(angles), -1)], axis=1)
    values = np.round(values, 4) + 0.0  # no -0.0
    lines += [" ".join(map("{:.4f}".format, row)) for row in values.tolist()]
    return "\n".join(lines) + "\n"


def _write_joint(lines: list[str], skeleton: FittedSkeleton, joint: int, depth: int) -> None:
    pad, root = "\t" * depth, joint == 0
    offset = skeleton.offsets_m[joint]
    name = "_".join(skeleton.joints[joint].split())  # a space would end the name
    channels = "6 Xposition Yposition Zposition" if root else "3"
    lines += [
        f"{pad}{'ROOT' if root else 'JOINT'} {name}",
        pad + "{",
        f"{pad}\tOFFSET {_centimetres(offset)}",
        f"{pad}\tCHANNELS {channels} Zrotation Xrotation Yrotation",
    ]
    children = [child for child, parent in enumerate(skeleton.parents) if parent == joint]
    for child in children:
        _write_joint(lines, skeleton, child, depth + 1)
    if not children:
        lines += [f"{pad}\tEnd Site", pad + "\t{", f"{pad}\t\tOFFSET {_centimetres(offset * _TIP_RATIO)}", pad + "\t}"]
    lines.append(pad + "}")


def _centimetres(offset_m: np.ndarray) -> str:
    return " ".join(f"{value:.4f}" for value in np.round(offset_m * UNITS_PER_METRE, 4) + 0.0)


def _angles_zxy_deg(rotations: np.ndarray) -> np.ndarray:
    """Euler angles z, x, y of rotations Rz Rx Ry (..., 3, 3), degrees."""
    x = np.arcsin(np.clip(rotations[..., 2, 1], -1, 1))
    z = np.arctan2(-rotations[..., 0, 1], rotations[..., 1, 1])
    y = np.arctan2(-rotations[..., 2, 0], rotations[..., 2, 2])
    # gimbal lock (x = +-90 degrees): only z + y or z - y is defined, so y is set to 0
    locked = np.hypot(rotations[..., 0, 1], rotations[..., 1, 1]) < _MIN_COSINE
    z = np.where(locked, np.arctan2(rotations[..., 1, 0], rotations[..., 0, 0]), z)
    return np.degrees(np.stack([z, x, np.where(locked, 0.0, y)], axis=-1))


def _unwrap(angles_deg: np.ndarray) -> np.ndarray:
    """Equivalent Euler angles (T, J, 3) without jumps, because animation programs interpolate between frames."""
    smooth = angles_deg.copy()
    for now, before in zip(smooth[1:], smooth[:-1], strict=True):
        other = now * [1, -1, 1] + 180  # the second set of angles of the same rotation
        both = np.stack([now, other])
        both -= 360 * np.round((both - before) / 360)
        nearer = np.abs(both - before).sum(axis=-1).argmin(axis=0)
        now[:] = np.take_along_axis(both, nearer[None, :, None], axis=0)[0]
    return smooth
