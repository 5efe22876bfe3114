"""``camera:orbbec[:SERIAL|INDEX]``: depth of an Orbbec camera, by the second Orbbec SDK for Python.

Frames and calibrations were tested with the SDK's own objects, and an empty list of devices; no camera was at hand.
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

_log = logging.getLogger(__name__)


class OrbbecCamera:
    """The depth stream of one Orbbec camera, aligned to no other.

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
        self._pipeline: Any = None
        self._errors: tuple[type[Exception], ...] = (RuntimeError,)
        self._undistortion: Undistortion | None = None

    def open(self, stop: Event) -> None:
        self.close()
        sdk = import_sdk(self.name, "pyorbbecsdk", "pip install pyorbbecsdk2")
        self._errors = (RuntimeError, sdk.OBError)  # the SDK throws either
        try:
            self._start(sdk)
        except self._errors as error:
            raise SourceError(self.name, f"cannot be started ({error})") from error

    def _start(self, sdk: ModuleType) -> None:
        sdk.Context.set_logger_to_file(sdk.OBLogLevel.NONE, "")  # or it makes a folder Log wherever we are
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
        self.take_lens(profile)
        _log.info("%s: %dx%d at %d fps", self.name, *reversed(self.shape), profile.get_fps())

    def take_lens(self, profile: Any) -> None:
        """Learn the lens from a video stream's profile. Raises SourceError for one that cannot be straightened."""
        lens, bends = profile.get_intrinsic(), profile.get_distortion()
        self.shape = (profile.get_height(), profile.get_width())
        self.intrinsics = Intrinsics(lens.fx, lens.fy, lens.cx, lens.cy)
        self._undistortion = None
        if self._calibration is not None:
            self.intrinsics = self._calibration.intrinsics_for(*self.shape)
            return
        distortion = _distortion(self.name, bends)
        if distortion is not None:
            self._undistortion = Undistortion(self.intrinsics, distortion, self.shape)

    def read(self, timeout_s: float) -> CameraFrame | None:
        try:
            frames = self._pipeline.wait_for_frames(max(1, round(timeout_s * 1000)))
            depth = None if frames is None else frames.get_depth_frame()
            return None if depth is None else self.frame(depth)
        except self._errors as error:
            raise SourceError(self.name, f"has failed ({error})") from error

    def frame(self, depth: Any) -> CameraFrame:
        """Turn a ``DepthFrame`` of the SDK into ours."""
        height, width = depth.get_height(), depth.get_width()
        data = np.frombuffer(depth.get_data(), np.uint16)
        if data.size != height * width:
            raise SourceError(self.name, f"gave {data.nbytes} bytes, wanted 16-bit depth of {width}x{height} pixels")
        grey = data.reshape(height, width).copy()
        if self._undistortion is not None:
            grey = self._undistortion.straighten(grey)
        unit_m = round(depth.get_depth_scale() / 1000, 9)  # the SDK's scale is in millimetres
        global_us, device_us = depth.get_global_timestamp_us(), depth.get_timestamp_us()
        since_epoch = global_us > 0  # only some cameras keep the computer's time
        time_ns = (global_us or device_us) * 1000
        return CameraFrame(depth_in_metres(grey, unit_m), time_ns or None, since_epoch, depth.get_index())

    def close(self) -> None:
        pipeline, self._pipeline = self._pipeline, None
        if pipeline is not None:
            try:
                pipeline.stop()
            except self._errors as error:  # of a camera that is gone
                _log.debug("%s: %s", self.name, error)


def _distortion(name: str, bends: Any) -> LensDistortion | None:
    """The lens's model in our words, None for a straight one. Raises SourceError for one that cannot be undone."""
    model = bends.model.name
    radial = (bends.k1, bends.k2, bends.p1, bends.p2, bends.k3)
    ratio = (bends.k4, bends.k5, bends.k6)
    if model == "NONE" or not any(radial + ratio):
        return None
    if model == "BROWN_CONRADY":
        return LensDistortion("plumb_bob", radial)
    if model == "BROWN_CONRADY_K6":
        return LensDistortion("rational_polynomial", radial + ratio)
    raise SourceError(name, f"its lens is bent ({model}, {radial + ratio}); calibrate it and give --camera")
