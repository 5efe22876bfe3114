"""``camera:realsense[:SERIAL|INDEX]``: depth of an Intel RealSense, by ``pyrealsense2``.

The depth stream comes in the camera's default resolution, not aligned to any other stream. Tested with librealsense's
software device, without a camera.
"""

from __future__ import annotations

import logging
import math
import platform
import sys
from contextlib import suppress
from threading import Event
from types import ModuleType
from typing import Any

import numpy as np

from posepipe.camera import Intrinsics, UpVector, up_of
from posepipe.camera.camera_file import CameraFile
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.errors import SourceError
from posepipe.sources.base.depth_units import levels_to_depth
from posepipe.sources.cameras.depth_camera import (
    CameraFrame,
    choose_device,
    import_sdk,
    intrinsics_of_device,
    tell_left_distorted,
)

_QUEUE_MOTIONS = 256  # half a second and more
_SETTLING_MS = 300.0
"""Time constant of the mean acceleration."""
_QUEUE_FRAMES = 16  # of librealsense; on overflow it drops the oldest, and frame numbers have a gap
_LIBRARIES = {"libusb-1.0.so.0": "apt install libusb-1.0-0", "libudev.so.1": "apt install libudev1"}
_WHEELS = {("linux", "x86_64"): (), ("win32", "AMD64"): (), ("linux", "aarch64"): ((3, 12),)}
"""Systems and processors for which the maker builds pyrealsense2, and the versions of Python; empty = all."""
_log = logging.getLogger(__name__)


class RealSenseCamera:
    """The depth sensor of one RealSense.

    Parameters
    ----------
    name : what the user called it
    argument : serial number, or index among the connected devices; empty = the first
    calibration : replaces the camera's own intrinsics; images are then not undistorted
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
        self._accelerometer: _Accelerometer | None = None

    def open(self, stop: Event) -> None:
        """Connect or reconnect to the device. Raises SourceError where nothing answers."""
        self.close()
        rs = import_sdk(self.name, "pyrealsense2", _how_to_install(), _LIBRARIES)
        devices = list(rs.context().query_devices())
        serials = [device.get_info(rs.camera_info.serial_number) for device in devices]
        self.start(rs, devices[choose_device(self.name, self._argument, serials, "RealSense")])

    def start(self, rs: ModuleType, device: Any) -> None:
        """Start the depth sensor of a device. Raises SourceError where that fails, or there is none."""
        try:
            sensor = device.first_depth_sensor()
            profile = _choose_profile(rs, sensor)
            sensor.open(profile)
            self._sensor, self._device = sensor, device
            self._queue = rs.frame_queue(_QUEUE_FRAMES)
            sensor.start(self._queue)
            self._depth_unit_m = round(sensor.get_depth_scale(), 9)  # a float32: 0.001 is 0.0010000000475
        except RuntimeError as error:  # the only exception of librealsense
            raise SourceError(self.name, f"cannot be started ({error})") from error
        self._accelerometer = _start_accelerometer(self.name, rs, device, profile)
        self.read_intrinsics(profile.get_intrinsics())
        self._domains = rs.timestamp_domain
        width, height, fps = profile.width(), profile.height(), profile.fps()
        _log.info("%s: %s, %dx%d at %d fps", self.name, device.get_info(rs.camera_info.name), width, height, fps)

    def read_intrinsics(self, own: Any) -> None:
        """Take intrinsics and distortion from those of the SDK. Raises SourceError for an unsupported distortion."""
        self.shape = (own.height, own.width)
        self._undistortion = None
        if self._calibration is not None:
            self.intrinsics = self._calibration.intrinsics_for(*self.shape)
            if any(own.coeffs):
                tell_left_distorted(self.name, self._calibration)
            return
        self.intrinsics = intrinsics_of_device(self.name, self.shape, own.fx, own.fy, own.ppx, own.ppy)
        if any(own.coeffs):
            self._undistortion = Undistortion(self.intrinsics, _distortion(self.name, own), self.shape)

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout. Raises SourceError when the camera is gone."""
        try:
            received, frame = self._queue.try_wait_for_frame(max(1, round(timeout_s * 1000)))
            if not received:
                if not self._device.is_connected():
                    raise SourceError(self.name, "was unplugged")
                return None
            return self._frame(frame)
        except RuntimeError as error:
            raise SourceError(self.name, f"has failed ({error})") from error

    def _frame(self, frame: Any) -> CameraFrame:
        grey = np.array(frame.get_data(), np.uint16)  # copied: librealsense reuses its buffer
        if self._undistortion is not None:
            grey = self._undistortion.undistort(grey)
        since_epoch = frame.get_frame_timestamp_domain() != self._domains.hardware_clock
        return CameraFrame(
            levels_to_depth(grey, self._depth_unit_m),
            round(frame.get_timestamp() * 1e6),  # milliseconds
            since_epoch,
            frame.get_frame_number(),
            None if self._accelerometer is None else self._accelerometer.up(),
        )

    def close(self) -> None:
        """Release the device, in any state."""
        sensor, self._sensor = self._sensor, None
        if sensor is None:
            return
        accelerometer, self._accelerometer = self._accelerometer, None
        for each in [sensor] if accelerometer is None else [accelerometer.sensor, sensor]:
            for end in (each.stop, each.close):
                try:
                    end()
                except RuntimeError as error:  # the camera is gone
                    _log.debug("%s: %s", self.name, error)
        self._queue = self._device = None


class _Accelerometer:
    """Accelerations of a running motion sensor, low-pass filtered."""

    def __init__(self, sensor: Any, queue: Any, rotation: np.ndarray) -> None:
        self.sensor = sensor
        self._queue = queue
        self._rotation = rotation  # to the axes of the depth image
        self._mean_m_s2: np.ndarray | None = None
        self._time_ms = 0.0

    def up(self) -> UpVector | None:
        """Direction of up by all measurements until now; None = there is none yet, or the camera shakes."""
        while frame := self._queue.poll_for_frame():
            data, time_ms = frame.as_motion_frame().get_motion_data(), frame.get_timestamp()
            new = self._rotation @ np.array([data.x, data.y, data.z])
            if not np.isfinite(new).all():
                continue
            weight = 1.0
            if self._mean_m_s2 is not None:
                weight = -math.expm1(-max(0.0, time_ms - self._time_ms) / _SETTLING_MS)
            self._mean_m_s2 = new if self._mean_m_s2 is None else self._mean_m_s2 + weight * (new - self._mean_m_s2)
            self._time_ms = time_ms
        return None if self._mean_m_s2 is None else up_of(self._mean_m_s2)


def _start_accelerometer(name: str, rs: ModuleType, device: Any, depth: Any) -> _Accelerometer | None:
    """Start the accelerometer of a device; None where it has none, or another program uses it."""
    sensor = None
    try:
        streams = [(sensor, profile) for sensor in device.query_sensors() for profile in sensor.get_stream_profiles()]
        found = [each for each in streams if each[1].stream_type() == rs.stream.accel]
        if not found:
            return None
        sensor, profile = found[0]
        queue = rs.frame_queue(_QUEUE_MOTIONS)
        sensor.open(profile)
        sensor.start(queue)
    except RuntimeError as error:
        _log.warning("%s: its accelerometer cannot be started (%s)", name, error)
        if sensor is not None:
            with suppress(RuntimeError):
                sensor.close()
        return None
    try:
        to_depth = np.array(profile.get_extrinsics_to(depth).rotation).reshape(3, 3).T  # column-major
    except RuntimeError:  # the SDK knows none; both look the same way
        to_depth = np.eye(3)
    return _Accelerometer(sensor, queue, to_depth)


def _choose_profile(rs: ModuleType, sensor: Any) -> Any:
    """The default depth stream of the camera, else its largest."""
    found = [
        p for p in sensor.get_stream_profiles() if (p.stream_type(), p.format()) == (rs.stream.depth, rs.format.z16)
    ]
    if not found:
        raise RuntimeError("it offers no 16-bit depth stream")
    videos = [p.as_video_stream_profile() for p in found]
    return max(videos, key=lambda p: (p.is_default(), p.width() * p.height(), p.fps()))


def _distortion(name: str, own: Any) -> LensDistortion:
    """Convert the distortion. Raises SourceError for an unsupported model."""
    model = own.model.name
    coefficients = tuple(own.coeffs)
    if model == "brown_conrady":
        return LensDistortion("plumb_bob", coefficients)
    if model == "kannala_brandt4":
        return LensDistortion("equidistant", coefficients[:4])
    raise SourceError(
        name, f"unsupported lens distortion ({model}, {list(coefficients)}); calibrate it and give --camera"
    )


def _how_to_install() -> str:
    """Command that installs the package; where there is none for this platform, that."""
    here = sys.platform, platform.machine()
    versions = _WHEELS.get(here)
    if versions == () or (versions is not None and sys.version_info[:2] in versions):
        return "pip install 'posepipe[realsense]'"
    python = f"Python {sys.version_info.major}.{sys.version_info.minor}"
    return (
        f"its maker builds none for {' '.join(here)} and {python}; build librealsense with its Python bindings, "
        "or record on another machine: recordings need no package"
    )
