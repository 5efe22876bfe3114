"""``camera:realsense[:SERIAL|INDEX]``: depth of an Intel RealSense, by ``pyrealsense2``.

The depth stream itself, in the resolution that the camera offers first, aligned to no other stream: its pixels are
where the depth was measured. Tested with librealsense's software device, not with a camera.
"""

from __future__ import annotations

import logging
from threading import Event
from types import ModuleType
from typing import Any

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.errors import SourceError
from posepipe.sources.cameras.depth_camera import CameraFrame, choose_device, import_sdk
from posepipe.sources.formats.depth_png import depth_in_metres

_QUEUE_FRAMES = 16  # librealsense keeps so many for us; it drops the oldest, and its frame numbers tell
_log = logging.getLogger(__name__)


class RealSenseCamera:
    """The depth sensor of one RealSense.

    Parameters
    ----------
    name : what the user called it
    argument : serial number, or place among those connected; empty = the first
    calibration : to take instead of the camera's own intrinsics
    """

    intrinsics: Intrinsics
    shape: tuple[int, int]
    waits = False
    recorded = False

    def __init__(self, name: str, argument: str, calibration: CameraFile | None = None) -> None:
        self.name = name
        self._argument = argument
        self._calibration = calibration
        self._sensor: Any = None
        self._queue: Any = None
        self._undistortion: Undistortion | None = None

    def open(self, stop: Event) -> None:
        self.close()
        rs = import_sdk(self.name, "pyrealsense2", "pip install 'posepipe[realsense]'")
        devices = list(rs.context().query_devices())
        serials = [device.get_info(rs.camera_info.serial_number) for device in devices]
        self.start(rs, devices[choose_device(self.name, self._argument, serials, "RealSense")])

    def start(self, rs: ModuleType, device: Any) -> None:
        """Let the depth sensor of a device run. Raises SourceError where it has none, or will not."""
        try:
            sensor = device.first_depth_sensor()
            profile = _choose_profile(rs, sensor)
            sensor.open(profile)
            self._sensor, self._device = sensor, device
            self._queue = rs.frame_queue(_QUEUE_FRAMES)
            sensor.start(self._queue)
            self._depth_unit_m = round(sensor.get_depth_scale(), 9)  # a float32: 0.001 came as 0.0010000000475
        except RuntimeError as error:  # what librealsense throws for all that goes wrong
            raise SourceError(self.name, f"cannot be started ({error})") from error
        self._take_lens(profile.get_intrinsics())
        self._domains = rs.timestamp_domain
        width, height, fps = profile.width(), profile.height(), profile.fps()
        _log.info("%s: %s, %dx%d at %d fps", self.name, device.get_info(rs.camera_info.name), width, height, fps)

    def _take_lens(self, lens: Any) -> None:
        self.shape = (lens.height, lens.width)
        self.intrinsics = Intrinsics(lens.fx, lens.fy, lens.ppx, lens.ppy)
        self._undistortion = None
        if self._calibration is not None:
            self.intrinsics = self._calibration.intrinsics_for(*self.shape)
        elif any(lens.coeffs):
            self._undistortion = Undistortion(self.intrinsics, _distortion(self.name, lens), self.shape)

    def read(self, timeout_s: float) -> CameraFrame | None:
        try:
            came, frame = self._queue.try_wait_for_frame(max(1, round(timeout_s * 1000)))
            if not came:
                if not self._device.is_connected():
                    raise SourceError(self.name, "was unplugged")
                return None
            return self._frame(frame)
        except RuntimeError as error:
            raise SourceError(self.name, f"has failed ({error})") from error

    def _frame(self, frame: Any) -> CameraFrame:
        grey = np.array(frame.get_data(), np.uint16)  # copied: librealsense fills its buffer again
        if self._undistortion is not None:
            grey = self._undistortion.straighten(grey)
        since_epoch = frame.get_frame_timestamp_domain() != self._domains.hardware_clock
        return CameraFrame(
            depth_in_metres(grey, self._depth_unit_m),
            round(frame.get_timestamp() * 1e6),  # milliseconds
            since_epoch,
            frame.get_frame_number(),
        )

    def close(self) -> None:
        sensor, self._sensor = self._sensor, None
        if sensor is None:
            return
        for end in (sensor.stop, sensor.close):
            try:
                end()
            except RuntimeError as error:  # of a camera that is gone
                _log.debug("%s: %s", self.name, error)
        self._queue = self._device = None


def _choose_profile(rs: ModuleType, sensor: Any) -> Any:
    """The depth stream that the camera offers by default, else its largest."""
    found = [
        p for p in sensor.get_stream_profiles() if (p.stream_type(), p.format()) == (rs.stream.depth, rs.format.z16)
    ]
    if not found:
        raise RuntimeError("it offers no 16-bit depth stream")
    videos = [p.as_video_stream_profile() for p in found]
    return max(videos, key=lambda p: (p.is_default(), p.width() * p.height(), p.fps()))


def _distortion(name: str, lens: Any) -> LensDistortion:
    """The lens's model in our words. Raises SourceError for one that cannot be undone."""
    model = lens.model.name
    coefficients = tuple(lens.coeffs)
    if model == "brown_conrady":
        return LensDistortion("plumb_bob", coefficients)
    if model == "kannala_brandt4":
        return LensDistortion("equidistant", coefficients[:4])
    raise SourceError(name, f"its lens is bent ({model}, {list(coefficients)}); calibrate it and give --camera")
