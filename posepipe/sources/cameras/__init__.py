"""Live depth cameras as sources: ``camera:NAME[:ARGUMENT]``.

`CAMERAS` is the table of cameras. To add one, write a file with a class that implements `DepthCamera`, import it here
and add a `CameraKind`. A vendor's package is imported only when its camera is opened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from posepipe.camera.camera_file import CameraFile
from posepipe.errors import SourceError
from posepipe.sources.cameras.depth_camera import CameraFrame, DepthCamera
from posepipe.sources.cameras.kinect_v1 import KinectV1Camera
from posepipe.sources.cameras.live import LiveSource
from posepipe.sources.cameras.oak import OakCamera
from posepipe.sources.cameras.opencv_device import OpenCvCamera
from posepipe.sources.cameras.orbbec import OrbbecCamera
from posepipe.sources.cameras.pipe import PipeCamera
from posepipe.sources.cameras.realsense import RealSenseCamera
from posepipe.sources.cameras.ros2 import Ros2Camera
from posepipe.sources.cameras.socket import SocketCamera

__all__ = ["CAMERAS", "CameraFrame", "DepthCamera", "LiveSource", "file_of_camera", "is_camera_name", "open_camera"]

PREFIX = "camera:"


@dataclass(frozen=True)
class CameraKind:
    """One camera of `CAMERAS`."""

    description: str  #: device and argument, for --help
    make: Callable[[str, str, CameraFile | None], DepthCamera]  #: make(name, argument, calibration)


CAMERAS: dict[str, CameraKind] = {
    "realsense": CameraKind("Intel RealSense; SERIAL or INDEX", RealSenseCamera),
    "orbbec": CameraKind("Orbbec; SERIAL or INDEX", OrbbecCamera),
    "oak": CameraKind("Luxonis OAK with stereo depth; ID or INDEX", OakCamera),
    "kinect-v1": CameraKind("Kinect for Xbox 360; SERIAL or INDEX", KinectV1Camera),
    "opencv": CameraKind("video device with 16-bit depth; INDEX", OpenCvCamera),
    "ros2": CameraKind("a topic of ROS 2; TOPIC or HOST:TOPIC", Ros2Camera),
    "pipe": CameraKind("a program that writes to a named pipe or file; PATH or -", PipeCamera),
    "socket": CameraKind("a program that connects over TCP; PORT or HOST:PORT", SocketCamera),
}
"""All cameras, by the NAME in ``camera:NAME``."""


def is_camera_name(source: str) -> bool:
    """Whether the name of a source denotes a camera."""
    return source.startswith(PREFIX)


def file_of_camera(source: str) -> Path | None:
    """The named pipe or file that a camera reads, by the name of a source; None for other cameras, and no camera."""
    name, _, argument = source.removeprefix(PREFIX).partition(":")
    return Path(argument) if is_camera_name(source) and name == "pipe" and argument not in ("", "-") else None


def open_camera(source: str, calibration: CameraFile | None = None, every_frame: bool = False) -> LiveSource:
    """Open a camera.

    Parameters
    ----------
    source : ``camera:NAME[:ARGUMENT]``
    calibration : replaces the camera's own calibration
    every_frame : queue frames instead of dropping them, for a recording

    Raises
    ------
    SourceError
        For an unknown name, or a camera that does not answer.
    """
    name, _, argument = source.removeprefix(PREFIX).partition(":")
    if name not in CAMERAS:
        raise SourceError(source, f"there is no camera {name!r}; known are {', '.join(CAMERAS)}")
    return LiveSource(CAMERAS[name].make(source, argument, calibration), every_frame)
