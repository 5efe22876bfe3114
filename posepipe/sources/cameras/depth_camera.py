"""The interface of depth camera drivers; `LiveSource` makes a source of one."""

from __future__ import annotations

import importlib
import logging
from collections.abc import Mapping
from dataclasses import dataclass
from threading import Event
from types import ModuleType
from typing import Protocol

import numpy as np

from posepipe.camera import Intrinsics, UpVector, check_lens
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import SourceError

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, eq=False)
class CameraFrame:
    """One depth image as the driver delivers it."""

    depth: np.ndarray  #: (H, W), uint16 millimetres or float32 metres; not a buffer that the driver reuses
    time_ns: int | None = None  #: from the camera's own clock; None = no clock, the time of arrival counts
    since_epoch: bool = False  #: whether that clock counts from the Unix epoch
    number: int | None = None  #: the camera's own frame counter; None = it has none
    up: UpVector | None = None  #: by its accelerometer; None = it has none, or shakes


class DepthCamera(Protocol):
    """A camera driver, used by one thread at a time.

    The constructor touches no device; `open` does. `SourceError` means that the camera failed and may come back: it
    is opened again. Any other error is final.
    """

    name: str  #: name of the source, as the user gave it
    intrinsics: Intrinsics  #: valid while open
    shape: tuple[int, int]  #: rows and columns, valid while open
    waits: bool  #: whether the sender blocks until its data are read: a slow reader loses nothing
    recorded: bool  #: whether all frames exist already: they play whole, not live

    def open(self, stop: Event) -> None:
        """Connect or reconnect; return soon after ``stop`` is set. Raises SourceError where nothing answers."""

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout.

        Raises
        ------
        SourceError
            When the camera is gone.
        EOFError
            When the stream has ended regularly.
        """

    def close(self) -> None:
        """Release the device, in any state."""


def import_sdk(name: str, module: str, install: str, libraries: Mapping[str, str] | None = None) -> ModuleType:
    """Import a vendor's Python package.

    Parameters
    ----------
    name : name of the source, for messages
    module : Python package
    install : command that installs the package
    libraries : system library -> command that installs it, for those the package needs

    Raises
    ------
    SourceError
        When the package or a system library is missing. Names the command that installs it.
    """
    try:
        return importlib.import_module(module)
    except ImportError as error:
        reason = " ".join(str(error).split())  # the dynamic loader may answer in several lines
        for library, command in (libraries or {}).items():
            if library in reason:
                raise SourceError(name, f"needs the system library {library}: {command} ({reason})") from error
        raise SourceError(name, f"needs the Python package {module}: {install} ({reason})") from error


def choose_device(name: str, argument: str, serials: list[str], maker: str) -> int:
    """Select a connected device by serial number or index.

    Parameters
    ----------
    name : name of the source, for messages
    argument : serial number or index; empty = the first device
    serials : serial numbers of the connected devices
    maker : of the camera, for messages

    Returns
    -------
    index into ``serials``

    Raises
    ------
    SourceError
        When no device matches. Names the connected ones.
    """
    if not serials:
        raise SourceError(name, f"no {maker} camera is connected, or this user may not open it")
    if argument in serials:
        return serials.index(argument)
    if argument == "":
        return 0
    if argument.isdecimal() and int(argument) < len(serials):
        return int(argument)
    raise SourceError(name, f"no such camera; connected are {', '.join(serials)} (0 to {len(serials) - 1})")


def intrinsics_of_device(name: str, shape: tuple[int, int], fx: float, fy: float, cx: float, cy: float) -> Intrinsics:
    """Build the intrinsics that a device reports. Raises SourceError, naming the camera, for an implausible lens.

    Parameters
    ----------
    name : name of the source, for messages
    shape : rows and columns of the image
    fx, fy, cx, cy : pixels
    """
    try:
        intrinsics = Intrinsics(fx, fy, cx, cy)
        check_lens(intrinsics, shape[1], shape[0])
    except ValueError as error:
        raise SourceError(name, f"its calibration: {error}; give --camera PRESET|FILE") from error
    return intrinsics


def tell_left_distorted(name: str, calibration: CameraFile) -> None:
    """Log that given intrinsics replace those of a camera whose images are distorted, and stay so."""
    _log.warning("%s: calibration from %s; images are not undistorted", name, calibration.name)
