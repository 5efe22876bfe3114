"""``camera:opencv:INDEX``: any camera that the system itself shows as a video device with 16-bit depth, by OpenCV.

Such a device says nothing of its lens or unit: ``--camera`` must. On Linux these are V4L2 devices with the pixel
format ``Z16 `` or ``Y16 `` (``v4l2-ctl --list-formats`` tells). Tested without a device, at the seam to OpenCV.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from threading import Event
from typing import Any

import cv2
import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import SourceError
from posepipe.sources.cameras.depth_camera import CameraFrame
from posepipe.sources.formats.depth_png import depth_in_metres

_FORMATS = ("Z16 ", "Y16 ")


def _open_device(index: int) -> Any:
    return cv2.VideoCapture(index, cv2.CAP_V4L2 if sys.platform == "linux" else cv2.CAP_ANY)


class OpenCvCamera:
    """A video device whose pixels are 16-bit depth.

    Parameters
    ----------
    name : what the user called it
    argument : number of the device, as in ``/dev/video2``; empty = 0
    calibration : its lens, picture size, unit and rate; must be given
    open_device : makes an object that behaves as ``cv2.VideoCapture``
    """

    shape: tuple[int, int]
    intrinsics: Intrinsics
    waits = False
    recorded = False

    def __init__(
        self,
        name: str,
        argument: str,
        calibration: CameraFile | None = None,
        open_device: Callable[[int], Any] = _open_device,
    ) -> None:
        self.name = name
        if not (argument or "0").isdecimal() or len(argument) > 4:
            raise SourceError(name, f"wanted camera:opencv:INDEX with the number of a video device, got {argument!r}")
        if calibration is None:
            raise SourceError(name, "a video device does not say what lens it has; give its camera.json as --camera")
        self._index = int(argument or "0")
        self._calibration = calibration
        self._open_device = open_device
        self._device: Any = None

    def open(self, stop: Event) -> None:
        self.close()
        self._device = self._open_device(self._index)
        if not self._device.isOpened():
            raise SourceError(self.name, f"video device {self._index} cannot be opened; is it there, and free?")
        self._ask_for_depth()
        self.shape = (self._calibration.height, self._calibration.width)
        self.intrinsics = self._calibration.intrinsics

    def _ask_for_depth(self) -> None:
        device = self._device
        for name in _FORMATS:
            device.set(cv2.CAP_PROP_FOURCC, cv2.VideoWriter.fourcc(*name))
            if _four_letters(device.get(cv2.CAP_PROP_FOURCC)) in _FORMATS:
                break
        else:
            given = _four_letters(device.get(cv2.CAP_PROP_FOURCC))
            raise SourceError(
                self.name, f"video device {self._index} gives {given!r}, wanted 16-bit depth (Z16 or Y16)"
            )
        device.set(cv2.CAP_PROP_FRAME_WIDTH, self._calibration.width)
        device.set(cv2.CAP_PROP_FRAME_HEIGHT, self._calibration.height)
        device.set(cv2.CAP_PROP_FPS, self._calibration.fps)
        device.set(cv2.CAP_PROP_CONVERT_RGB, 0)

    def read(self, timeout_s: float) -> CameraFrame | None:
        came, picture = self._device.read()  # waits as long as OpenCV likes to, up to 10 s
        if not came:
            return None
        return CameraFrame(depth_in_metres(self._grey(np.asarray(picture)), self._calibration.depth_unit_m))

    def _grey(self, picture: np.ndarray) -> np.ndarray:
        """The 16-bit picture; OpenCV hands formats that it does not know over as one row of bytes."""
        height, width = self.shape
        if picture.dtype == np.uint8 and picture.shape in ((1, 2 * height * width), (height, width, 2)):
            picture = picture.reshape(-1).view(np.uint16).reshape(height, width)
        if picture.dtype != np.uint16 or picture.shape != self.shape:
            got = f"{picture.dtype.itemsize * 8}-bit pictures {picture.shape}"
            wanted = f"16-bit depth of {width}x{height} pixels, as {self._calibration.name} says"
            raise SourceError(self.name, f"gave {got}, wanted {wanted}")
        return picture.copy()  # it fills its buffer again

    def close(self) -> None:
        if self._device is not None:
            self._device.release()
            self._device = None


def _four_letters(code: float) -> str:
    return (int(code) & 0xFFFFFFFF).to_bytes(4, "little").decode("latin-1")
