"""``camera:opencv:INDEX``: a video device of the system with 16-bit depth, by OpenCV.

Such a device reports neither intrinsics nor depth unit, so ``--camera`` is required. On Linux these are V4L2 devices
with the pixel format ``Z16 `` or ``Y16 `` (see ``v4l2-ctl --list-formats``). Tested with a simulated OpenCV device.
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
from posepipe.sources.base.depth_units import levels_to_depth
from posepipe.sources.cameras.depth_camera import CameraFrame

_FORMATS = ("Z16 ", "Y16 ")


def _open_device(index: int) -> Any:
    return cv2.VideoCapture(index, cv2.CAP_V4L2 if sys.platform == "linux" else cv2.CAP_ANY)


class OpenCvCamera:
    """A video device whose pixels are 16-bit depth.

    Parameters
    ----------
    name : what the user called it
    argument : number of the device, as in ``/dev/video2``; empty = 0
    calibration : intrinsics, image size, depth unit and frame rate; required
    open_device : returns an object with the methods of ``cv2.VideoCapture``

    Raises
    ------
    SourceError
        For an argument that is no number of a device, or without a calibration.
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
            raise SourceError(name, "a video device does not report its intrinsics; give its camera.json as --camera")
        self._index = int(argument or "0")
        self._calibration = calibration
        self._open_device = open_device
        self._device: Any = None

    def open(self, stop: Event) -> None:
        """Connect or reconnect to the device. Raises SourceError where nothing answers."""
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
            if _fourcc_text(device.get(cv2.CAP_PROP_FOURCC)) in _FORMATS:
                break
        else:
            given = _fourcc_text(device.get(cv2.CAP_PROP_FOURCC))
            raise SourceError(
                self.name, f"video device {self._index} gives {given!r}, wanted 16-bit depth (Z16 or Y16)"
            )
        device.set(cv2.CAP_PROP_FRAME_WIDTH, self._calibration.width)
        device.set(cv2.CAP_PROP_FRAME_HEIGHT, self._calibration.height)
        device.set(cv2.CAP_PROP_FPS, self._calibration.fps)
        device.set(cv2.CAP_PROP_CONVERT_RGB, 0)

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None when none comes. Raises SourceError for images of another kind or size."""
        received, image = self._device.read()  # OpenCV chooses the timeout, up to 10 s
        if not received:
            return None
        return CameraFrame(levels_to_depth(self._grey(np.asarray(image)), self._calibration.depth_unit_m))

    def _grey(self, image: np.ndarray) -> np.ndarray:
        """The 16-bit image. OpenCV returns unknown formats as bytes."""
        height, width = self.shape
        if image.dtype == np.uint8 and image.shape in ((1, 2 * height * width), (height, width, 2)):
            image = image.reshape(-1).view(np.uint16).reshape(height, width)
        if image.dtype != np.uint16 or image.shape != self.shape:
            got = f"{image.dtype.itemsize * 8}-bit images {image.shape}"
            wanted = f"16-bit depth of {width}x{height} pixels, as {self._calibration.name} says"
            raise SourceError(self.name, f"gave {got}, wanted {wanted}")
        return image.copy()  # OpenCV reuses its buffer

    def close(self) -> None:
        """Release the device, in any state."""
        if self._device is not None:
            self._device.release()
            self._device = None


def _fourcc_text(code: float) -> str:
    return (int(code) & 0xFFFFFFFF).to_bytes(4, "little").decode("latin-1")
