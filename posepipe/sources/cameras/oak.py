"""``camera:oak[:ID|INDEX]``: stereo depth of a Luxonis OAK camera, by version 3 of ``depthai``.

The camera matches its left and right images itself. Tested with images that the package creates and a simulated
device: it never ran on a camera.
"""

from __future__ import annotations

import logging
import os
import time
from datetime import timedelta
from threading import Event
from types import ModuleType
from typing import Any

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import SourceError
from posepipe.sources.cameras.depth_camera import CameraFrame, choose_device, import_sdk, intrinsics_of_device

SIZE = (640, 400)
"""Columns and rows of the depth image: the default of the package."""
FPS = 30.0
FIRST_FRAME_S = 20.0
"""Maximum wait for the first image, which brings the intrinsics; the camera loads its program before."""

_QUEUE_FRAMES = 4  # of depthai; on overflow it drops the oldest, and sequence numbers have a gap
_POLL_S = 0.1
_SILENT = {"DEPTHAI_TELEMETRY": "0", "DEPTHAI_LEVEL": "off", "DEPTHAI_INSTALL_SIGNAL_HANDLER": "0"}
"""Without the first, depthai reports each import and device to its maker over the network; without the last, it ends a
process at signals that Python ignores."""
_log = logging.getLogger(__name__)


class OakCamera:
    """The stereo depth of one OAK camera, in the geometry of its rectified image.

    Parameters
    ----------
    name : what the user called it
    argument : device id, or index among the connected devices; empty = the first
    calibration : replaces the camera's own intrinsics
    """

    intrinsics: Intrinsics
    shape: tuple[int, int]
    waits = False
    recorded = False

    def __init__(self, name: str, argument: str, calibration: CameraFile | None = None) -> None:
        self.name = name
        self._argument = argument
        self._calibration = calibration
        self._device: Any = None
        self._pipeline: Any = None
        self._queue: Any = None

    def open(self, stop: Event) -> None:
        """Connect or reconnect to the device. Raises SourceError where nothing answers."""
        self.close()
        dai = import_depthai(self.name)
        try:
            self._start(dai)
            self._read_intrinsics(self._first(stop))
        except RuntimeError as error:  # the only exception of depthai
            raise SourceError(self.name, f"cannot be started ({error})") from error

    def _start(self, dai: ModuleType) -> None:
        found = dai.Device.getAllAvailableDevices()
        chosen = choose_device(self.name, self._argument, [each.getDeviceId() for each in found], "OAK")
        self._device = dai.Device(found[chosen])
        self._pipeline = dai.Pipeline(self._device)
        stereo = self._pipeline.create(dai.node.StereoDepth).build(autoCreateCameras=True, size=SIZE, fps=FPS)
        self._queue = stereo.depth.createOutputQueue(maxSize=_QUEUE_FRAMES, blocking=False)
        self._pipeline.start()

    def _first(self, stop: Event) -> Any:
        deadline = time.monotonic() + FIRST_FRAME_S
        while not stop.is_set() and time.monotonic() < deadline:
            frame = self._queue.get(timedelta(seconds=_POLL_S))
            if frame is not None:
                return frame
        raise SourceError(self.name, f"no depth within {FIRST_FRAME_S:g} s")

    def _read_intrinsics(self, frame: Any) -> None:
        self.shape = (frame.getHeight(), frame.getWidth())
        if self._calibration is not None:
            self.intrinsics = self._calibration.intrinsics_for(*self.shape)
        else:
            (fx, _, cx), (_, fy, cy), _ = frame.getTransformation().getIntrinsicMatrix()
            self.intrinsics = intrinsics_of_device(self.name, self.shape, fx, fy, cx, cy)
        _log.info("%s: %dx%d at %g fps", self.name, *reversed(self.shape), FPS)

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout. Raises SourceError when the camera is gone."""
        try:
            frame = self._queue.get(timedelta(seconds=timeout_s))
            if frame is None and not self._pipeline.isRunning():
                raise SourceError(self.name, "was unplugged")
            return None if frame is None else self._convert(frame)
        except RuntimeError as error:
            raise SourceError(self.name, f"has failed ({error})") from error

    def _convert(self, frame: Any) -> CameraFrame:
        """Convert an ``ImgFrame``: millimetres, 0 = no reading; its time is of the computer's steady clock."""
        depth = np.array(frame.getFrame())  # copied: the buffer is the frame's
        if depth.dtype != np.uint16 or depth.shape != self.shape:
            came = f"{depth.dtype} {depth.shape}"
            raise SourceError(self.name, f"gave an image of {came}, wanted 16-bit depth {self.shape}")
        time_ns = frame.getTimestamp() // timedelta(microseconds=1) * 1000
        return CameraFrame(depth, time_ns or None, number=frame.getSequenceNum())

    def close(self) -> None:
        """Release the device, in any state."""
        ends = [end for end in (self._pipeline and self._pipeline.stop, self._device and self._device.close) if end]
        self._device = self._pipeline = self._queue = None
        for end in ends:
            try:
                end()
            except RuntimeError as error:  # the camera is gone
                _log.debug("%s: %s", self.name, error)


def import_depthai(name: str) -> ModuleType:
    """Import depthai, with neither telemetry nor lines of its own unless the environment asks for them.

    Raises SourceError where it is missing.
    """
    for variable, value in _SILENT.items():
        os.environ.setdefault(variable, value)
    return import_sdk(name, "depthai", "pip install 'posepipe[oak]'")
