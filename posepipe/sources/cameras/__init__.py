"""Depth cameras as sources: ``camera:NAME[:ARGUMENT]``.

To add a camera: one file with a class that fits `DepthCamera`, one line in `CAMERAS`. Vendors' packages are imported
when their camera is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from posepipe.camera.camera_file import CameraFile
from posepipe.errors import SourceError
from posepipe.sources.cameras.depth_camera import CameraFrame, DepthCamera
from posepipe.sources.cameras.kinect_v1 import KinectV1Camera
from posepipe.sources.cameras.live import LiveSource
from posepipe.sources.cameras.opencv_device import OpenCvCamera
from posepipe.sources.cameras.orbbec import OrbbecCamera
from posepipe.sources.cameras.pipe import PipeCamera
from posepipe.sources.cameras.realsense import RealSenseCamera
from posepipe.sources.cameras.socket import SocketCamera

__all__ = ["CAMERAS", "CameraFrame", "DepthCamera", "LiveSource", "names_camera", "open_camera"]

PREFIX = "camera:"


@dataclass(frozen=True)
class CameraKind:
    """One line of the table of cameras."""

    description: str
    make: Callable[[str, str, CameraFile | None], DepthCamera]  #: called with name, argument and given calibration


CAMERAS: dict[str, CameraKind] = {
    "realsense": CameraKind("Intel RealSense; SERIAL or INDEX", RealSenseCamera),
    "orbbec": CameraKind("Orbbec; SERIAL or INDEX", OrbbecCamera),
    "kinect-v1": CameraKind("Kinect for Xbox 360; SERIAL or INDEX", KinectV1Camera),
    "opencv": CameraKind("video device with 16-bit depth; INDEX", OpenCvCamera),
    "pipe": CameraKind("a program that writes to a named pipe or file; PATH or -", PipeCamera),
    "socket": CameraKind("a program that connects to us; PORT or HOST:PORT", SocketCamera),
}


def names_camera(source: str) -> bool:
    """Whether a source's name means a camera."""
    return source.startswith(PREFIX)


def open_camera(source: str, calibration: CameraFile | None = None, every_frame: bool = False) -> LiveSource:
    """Open ``camera:NAME[:ARGUMENT]``.

    Parameters
    ----------
    calibration : to take instead of what the camera says of its lens
    every_frame : let frames wait rather than drop them, for a recording

    Raises
    ------
    SourceError
        For a name that is not in the table, or a camera that does not answer.
    """
    name, _, argument = source.removeprefix(PREFIX).partition(":")
    if name not in CAMERAS:
        raise SourceError(source, f"there is no camera {name!r}; known are {', '.join(CAMERAS)}")
    return LiveSource(CAMERAS[name].make(source, argument, calibration), every_frame)
