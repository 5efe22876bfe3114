"""Depth cameras by name: image size and nominal intrinsics, for renders and for recordings without calibration.

The calibration of the individual camera is more accurate: give its own file where centimetres matter.
"""

from __future__ import annotations

from dataclasses import dataclass

from posepipe.camera.intrinsics import Intrinsics


@dataclass(frozen=True, slots=True)
class CameraPreset:
    """One mode of one depth camera."""

    width: int
    height: int
    intrinsics: Intrinsics


def _centred(width: int, height: int, focal: float) -> CameraPreset:
    return CameraPreset(width, height, Intrinsics(focal, focal, (width - 1) / 2, (height - 1) / 2))


CAMERA_PRESETS: dict[str, CameraPreset] = {
    "ideal": _centred(320, 240, 285.6),
    "kinect-v1": _centred(640, 480, 585.0),
    "kinect-v1-320": _centred(320, 240, 285.6),
    "kinect-v2": _centred(512, 424, 365.0),
    "azure-nfov": _centred(640, 576, 504.0),
    "d435": _centred(640, 480, 385.0),
}
