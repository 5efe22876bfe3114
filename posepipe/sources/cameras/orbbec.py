"""``camera:orbbec[:SERIAL|INDEX]``: depth of an Orbbec camera, by version 2 of the Orbbec SDK for Python.

Tested with frames and calibrations that the SDK creates, without a camera.
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
from posepipe.sources.base.depth_units import levels_to_depth
from posepipe.sources.cameras.depth_camera import (
    CameraFrame,
    choose_device,
    import_sdk,
    intrinsics_of_device,
    tell_left_distorted,
)

_log = logging.getLogger(__name__)


class OrbbecCamera:
    """The depth stream of one Orbbec camera, not aligned to any other stream.

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
        self._pipeline: Any = None
        self._errors: tuple[type[Exception], ...] = (RuntimeError,)
        self._undistortion: Undistortion | None = None

    def open(self, stop: Event) -> None:
        """Connect or reconnect to the device. Raises SourceError where nothing answers."""
        self.close()
        sdk = import_sdk(self.name, "pyorbbecsdk", "pip install pyorbbecsdk2")
        self._errors = (RuntimeError, sdk.OBError)  # the SDK raises either
        try:
            self._start(sdk)
        except self._errors as error:
            raise SourceError(self.name, f"cannot be started ({error})") from error

    def _start(self, sdk: ModuleType) -> None:
        sdk.Context.set_logger_to_file(sdk.OBLogLevel.NONE, "")  # else it creates a folder Log in the working directory
        sdk.Context.set_logger_to_console(sdk.OBLogLevel.NONE)
        devices = sdk.Context().query_devices()
        count = devices.get_count()
        serials = [devices.get_device_serial_number_by_index(i) for i in range(count)]
        device = devices.get_device_by_index(choose_device(self.name, self._argument, serials, "Orbbec"))
        pipeline, config = sdk.Pipeline(device), sdk.Config()
        profiles = pipeline.get_stream_profile_list(sdk.OBSensorType.DEPTH_SENSOR)
        profile = profiles.get_default_video_stream_profile()
        config.enable_stream(profile)
        pipeline.start(config)
        self._pipeline = pipeline
        self.read_intrinsics(profile)
        _log.info("%s: %dx%d at %d fps", self.name, *reversed(self.shape), profile.get_fps())

    def read_intrinsics(self, profile: Any) -> None:
        """Take intrinsics and distortion from a stream profile. Raises SourceError for an unsupported distortion."""
        own = profile.get_intrinsic()
        self.shape = (profile.get_height(), profile.get_width())
        self._undistortion = None
        if self._calibration is not None:
            self.intrinsics = self._calibration.intrinsics_for(*self.shape)
            if _coefficients(profile.get_distortion()):
                tell_left_distorted(self.name, self._calibration)
            return
        self.intrinsics = intrinsics_of_device(self.name, self.shape, own.fx, own.fy, own.cx, own.cy)
        distortion = _distortion(self.name, profile.get_distortion())
        if distortion is not None:
            self._undistortion = Undistortion(self.intrinsics, distortion, self.shape)

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout. Raises SourceError when the camera is gone."""
        try:
            frames = self._pipeline.wait_for_frames(max(1, round(timeout_s * 1000)))
            depth = None if frames is None else frames.get_depth_frame()
            return None if depth is None else self.convert_frame(depth)
        except self._errors as error:
            raise SourceError(self.name, f"has failed ({error})") from error

    def convert_frame(self, depth: Any) -> CameraFrame:
        """Convert a ``DepthFrame`` of the SDK. Raises SourceError for anything but 16-bit depth."""
        height, width = depth.get_height(), depth.get_width()
        data = np.frombuffer(depth.get_data(), np.uint16)
        if data.size != height * width:
            raise SourceError(self.name, f"gave {data.nbytes} bytes, wanted 16-bit depth of {width}x{height} pixels")
        grey = data.reshape(height, width).copy()
        if self._undistortion is not None:
            grey = self._undistortion.undistort(grey)
        unit_m = round(depth.get_depth_scale() / 1000, 9)  # the SDK's scale is in millimetres
        global_us, device_us = depth.get_global_timestamp_us(), depth.get_timestamp_us()
        since_epoch = global_us > 0  # only some cameras know the computer's time
        time_ns = (global_us or device_us) * 1000
        return CameraFrame(levels_to_depth(grey, unit_m), time_ns or None, since_epoch, depth.get_index())

    def close(self) -> None:
        """Release the device, in any state."""
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            try:
                pipeline.stop()
            except self._errors as error:  # the camera is gone
                _log.debug("%s: %s", self.name, error)


def _coefficients(model: Any) -> tuple[float, ...]:
    """Coefficients of a distortion in the order of OpenCV; none where there is no distortion."""
    found = (model.k1, model.k2, model.p1, model.p2, model.k3, model.k4, model.k5, model.k6)
    return () if model.model.name == "NONE" or not any(found) else found


def _distortion(name: str, model: Any) -> LensDistortion | None:
    """Convert the distortion; None where there is none. Raises SourceError for an unsupported model."""
    kind, coefficients = model.model.name, _coefficients(model)
    if not coefficients:
        return None
    if kind == "BROWN_CONRADY":
        return LensDistortion("plumb_bob", coefficients[:5])
    if kind == "BROWN_CONRADY_K6":
        return LensDistortion("rational_polynomial", coefficients)
    raise SourceError(name, f"unsupported lens distortion ({kind}, {coefficients}); calibrate it and give --camera")
