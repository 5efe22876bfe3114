"""Intrinsics and lens distortion of depth images, from their camera_info."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics, check_lens
from posepipe.camera.lens_distortion import LensDistortion
from posepipe.recording.ros.message_fields import CameraInfo

_ROS_MODEL_NAMES = {"Brown Conrady": "plumb_bob"}
"""RealSense's name of a distortion model -> that of ROS."""


def checked_lens(
    info: CameraInfo, shape: tuple[int, int], rectified: bool, model: str | None = None
) -> tuple[Intrinsics, LensDistortion | None]:
    """Intrinsics and distortion of the images of a stream; None = no distortion.

    Parameters
    ----------
    info : CameraInfo
    shape : rows and columns of the images
    rectified, model : as for `intrinsics_and_distortion`

    Raises
    ------
    ValueError
        When the camera was not calibrated or for another size, the lens is implausible, or its distortion unsupported.
    """
    if (info.height, info.width) != shape:
        raise ValueError(f"camera_info is for images {(info.height, info.width)}, the depth images are {shape}")
    intrinsics, distortion = intrinsics_and_distortion(info, rectified, model)
    try:
        check_lens(intrinsics, shape[1], shape[0])
    except ValueError as error:
        raise ValueError(f"{error}; give --camera PRESET|FILE") from error
    return intrinsics, distortion


def intrinsics_and_distortion(
    info: CameraInfo, rectified: bool, model: str | None = None
) -> tuple[Intrinsics, LensDistortion | None]:
    """Intrinsics and distortion of an image; None = no distortion.

    Parameters
    ----------
    info : CameraInfo
    rectified : whether the image is rectified: P describes it, else K and D (image_pipeline)
    model : distortion model, replaces that of ``info``

    Raises
    ------
    ValueError
        When the camera was not calibrated, or the distortion is unsupported.
    """
    if rectified and info.p[0, 0] != 0:
        return _intrinsics(info.p), None
    if info.k[0, 0] == 0:
        raise ValueError("camera_info is empty: the camera was never calibrated; give --camera PRESET|FILE")
    if rectified and _has_distortion(info):
        raise ValueError("camera_info has no P for the rectified images; give --camera PRESET|FILE")
    if not _has_distortion(info):
        return _intrinsics(info.k), None
    name = model or info.distortion_model
    try:
        return _intrinsics(info.k), LensDistortion(_ROS_MODEL_NAMES.get(name, name), tuple(info.d.tolist()))
    except ValueError as error:
        raise ValueError(
            f"{error}; record the rectified topic, or give --camera to play the images without undistortion"
        ) from error


def is_distorted(info: CameraInfo, rectified: bool) -> bool:
    """Whether an image has lens distortion, of whatever model; ``rectified`` as for `intrinsics_and_distortion`."""
    return not rectified and _has_distortion(info)


def _has_distortion(info: CameraInfo) -> bool:
    return bool(np.any(info.d != 0))


def _intrinsics(matrix: np.ndarray) -> Intrinsics:
    return Intrinsics(*(float(matrix[row, col]) for row, col in ((0, 0), (1, 1), (0, 2), (1, 2))))
