"""The lens that depth images were seen through, from the camera_info beside them."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.lens_distortion import LensDistortion
from posepipe.recording.ros.message_fields import CameraInfo

_AS_ROS_CALLS_IT = {"Brown Conrady": "plumb_bob"}
"""RealSense's name of the same formula."""


def lens_of(info: CameraInfo, rectified: bool, model: str | None = None) -> tuple[Intrinsics, LensDistortion | None]:
    """Intrinsics and distortion of a picture; None where there is nothing to undo.

    Parameters
    ----------
    info : CameraInfo
    rectified : whether the picture is straight already: then P describes it, else K and D do (image_pipeline)
    model : of the distortion, where another message knows better

    Raises
    ------
    ValueError
        For a camera that was never calibrated, or a distortion that cannot be undone.
    """
    bends = np.any(info.d != 0)
    if rectified and info.p[0, 0] != 0:
        return _intrinsics(info.p), None
    if info.k[0, 0] == 0:
        raise ValueError("camera_info is empty: the camera was never calibrated; give --camera PRESET|FILE")
    if rectified and bends:
        raise ValueError("camera_info has no P for the rectified images; give --camera PRESET|FILE")
    if not bends:
        return _intrinsics(info.k), None
    name = model or info.distortion_model
    try:
        return _intrinsics(info.k), LensDistortion(_AS_ROS_CALLS_IT.get(name, name), tuple(info.d.tolist()))
    except ValueError as error:
        raise ValueError(f"{error}; record the rectified topic, or give --camera to play the images bent") from error


def _intrinsics(matrix: np.ndarray) -> Intrinsics:
    return Intrinsics(*(float(matrix[row, col]) for row, col in ((0, 0), (1, 1), (0, 2), (1, 2))))
