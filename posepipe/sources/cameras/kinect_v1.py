"""``camera:kinect-v1[:INDEX|SERIAL]``: depth of the first Kinect, by libfreenect.

libfreenect converts disparity to millimetres, with the reference plane of the camera. For versions without that mode,
this driver converts, with the plane of an average Kinect. libfreenect's timestamps are a counter of unknown rate, so
the time of arrival counts. Tested with fakenect, libfreenect's own simulated Kinect, which delivers disparity only.

References
----------
libfreenect.h, version 0.5: https://github.com/OpenKinect/libfreenect
"""

from __future__ import annotations

import ctypes
import os
import sys
from collections import deque
from threading import Event

import numpy as np

from posepipe.camera.camera_file import CameraFile
from posepipe.camera.presets import CAMERA_PRESETS
from posepipe.errors import SourceError
from posepipe.sources.base.kinect_disparity import ZeroPlane
from posepipe.sources.cameras.depth_camera import CameraFrame

LIBRARY_VARIABLE = "POSEPIPE_LIBFREENECT"
"""Environment variable: path of a library that replaces the system's."""
NOMINAL = CAMERA_PRESETS["kinect-v1"]
"""Image size and nominal intrinsics; a Kinect reports none of its own."""

_LIBRARIES = {"darwin": ("libfreenect.dylib",), "win32": ("freenect.dll",)}
"""Names of the library by platform."""
_UNIX_LIBRARIES = ("libfreenect.so.0.5", "libfreenect.so.0", "libfreenect.so")
_MEDIUM_RESOLUTION = 1  # 640x480
_DISPARITY = 0  # 11 bits
_DEPTH_MM = 5  # not aligned to the colour image
_CAMERA_ONLY = 2  # neither motor, missing in some models, nor microphones
_LOG_FATAL = 0  # errors are returned as numbers; suppress its own messages


class _FrameMode(ctypes.Structure):
    """``freenect_frame_mode``."""

    _fields_ = (
        ("reserved", ctypes.c_uint32),
        ("resolution", ctypes.c_int),
        ("format", ctypes.c_int32),
        ("bytes", ctypes.c_int32),
        ("width", ctypes.c_int16),
        ("height", ctypes.c_int16),
        ("data_bits_per_pixel", ctypes.c_int8),
        ("padding_bits_per_pixel", ctypes.c_int8),
        ("framerate", ctypes.c_int8),
        ("is_valid", ctypes.c_int8),
    )


class _Time(ctypes.Structure):
    """``struct timeval``."""

    _fields_ = (("seconds", ctypes.c_long), ("microseconds", ctypes.c_long))


_DepthCallback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)


class KinectV1Camera:
    """The depth camera of one Kinect for Xbox 360 or Kinect for Windows v1.

    Parameters
    ----------
    name : what the user called it
    argument : index among the connected devices, or serial number; empty = the first
    calibration : replaces the nominal intrinsics
    """

    waits = False
    recorded = False

    def __init__(self, name: str, argument: str, calibration: CameraFile | None = None) -> None:
        self.name = name
        self._argument = argument
        self.shape = (NOMINAL.height, NOMINAL.width)
        self.intrinsics = NOMINAL.intrinsics
        if calibration is not None:
            self.intrinsics = calibration.intrinsics_for(*self.shape)
        self._library: ctypes.CDLL | None = None
        self._context = ctypes.c_void_p()
        self._device = ctypes.c_void_p()
        self._millimetres: np.ndarray | None = None  # depth by disparity; None while millimetres come
        self._queue: deque[np.ndarray] = deque()
        self._callback = _DepthCallback(self._take)  # libfreenect keeps its address: it must not be freed

    def open(self, stop: Event) -> None:
        """Connect or reconnect to the device. Raises SourceError where nothing answers."""
        self.close()
        library = self._library = _load(self.name)
        if library.freenect_init(ctypes.byref(self._context), None) < 0:
            raise SourceError(self.name, "libfreenect does not start: is USB available here?")
        library.freenect_set_log_level(self._context, _LOG_FATAL)
        library.freenect_select_subdevices(self._context, _CAMERA_ONLY)
        count = library.freenect_num_devices(self._context)
        if count < 1:
            raise SourceError(self.name, "no Kinect is connected; it needs its own power supply beside USB")
        if self._open_device(library, count) < 0:
            raise SourceError(
                self.name, f"none of {count} Kinects is {self._argument or 0}, or this user may not open it"
            )
        self._start(library)

    def _open_device(self, library: ctypes.CDLL, count: int) -> int:
        device = ctypes.byref(self._device)
        index = self._argument or "0"
        if index.isdecimal() and len(index) < 4:
            return library.freenect_open_device(self._context, device, int(index)) if int(index) < count else -1
        return library.freenect_open_device_by_camera_serial(self._context, device, self._argument.encode())

    def _start(self, library: ctypes.CDLL) -> None:
        mode = self._choose_mode(library)
        self._millimetres = None if mode.format == _DEPTH_MM else ZeroPlane().millimetres()
        self._queue.clear()
        library.freenect_set_depth_callback(self._device, self._callback)
        if library.freenect_set_depth_mode(self._device, mode) < 0 or library.freenect_start_depth(self._device) < 0:
            raise SourceError(self.name, "its depth stream does not start; plug it in again")

    def _choose_mode(self, library: ctypes.CDLL) -> _FrameMode:
        # not by freenect_find_depth_mode: fakenect exits the process for an unknown mode
        modes = [library.freenect_get_depth_mode(i) for i in range(library.freenect_get_depth_mode_count())]
        known = {m.format: m for m in modes if m.is_valid and m.resolution == _MEDIUM_RESOLUTION}
        mode = known.get(_DEPTH_MM, known.get(_DISPARITY))
        if mode is None or (mode.height, mode.width) != self.shape:
            raise SourceError(
                self.name, f"this libfreenect has no depth of 640x480 pixels; it has formats {list(known)}"
            )
        return mode

    def _take(self, device: int, depth: int, timestamp: int) -> None:
        height, width = self.shape
        pixels = np.frombuffer(
            ctypes.string_at(depth, 2 * height * width), np.uint16
        )  # copied: libfreenect reuses its buffer
        if self._millimetres is not None:
            pixels = self._millimetres[np.minimum(pixels, len(self._millimetres) - 1)]
        self._queue.append(pixels.reshape(height, width))

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout. Raises SourceError when the camera is gone."""
        assert self._library is not None
        if not self._queue:
            time = _Time(int(timeout_s), round(timeout_s % 1 * 1e6))
            if self._library.freenect_process_events_timeout(self._context, ctypes.byref(time)) < 0:
                raise SourceError(self.name, "was unplugged")
        return CameraFrame(self._queue.popleft()) if self._queue else None

    def close(self) -> None:
        """Release the device, in any state."""
        library, self._library = self._library, None
        if library is None:
            return
        if self._device:
            library.freenect_stop_depth(self._device)
            library.freenect_close_device(self._device)
        if self._context:
            library.freenect_shutdown(self._context)
        self._device, self._context = ctypes.c_void_p(), ctypes.c_void_p()


def _load(name: str) -> ctypes.CDLL:
    """Load the library. Raises SourceError, with the command that installs it."""
    chosen = os.environ.get(LIBRARY_VARIABLE)
    problem: Exception | None = None
    for path in [chosen] if chosen else _LIBRARIES.get(sys.platform, _UNIX_LIBRARIES):
        try:
            return _typed(ctypes.CDLL(path))
        except (OSError, AttributeError) as error:  # AttributeError: another library of this name
            problem = error
    if chosen:
        raise SourceError(name, f"{LIBRARY_VARIABLE}={chosen} is no libfreenect ({problem})")
    raise SourceError(name, f"needs libfreenect: apt install libfreenect0.5, or the like ({problem})")


def _typed(library: ctypes.CDLL) -> ctypes.CDLL:
    """Declare the argument types of each function: ctypes passes pointers as 32-bit numbers by default."""
    pointer, number = ctypes.c_void_p, ctypes.c_int
    for function, takes in {
        "freenect_init": (pointer, pointer),
        "freenect_set_log_level": (pointer, number),
        "freenect_select_subdevices": (pointer, number),
        "freenect_num_devices": (pointer,),
        "freenect_open_device": (pointer, pointer, number),
        "freenect_open_device_by_camera_serial": (pointer, pointer, ctypes.c_char_p),
        "freenect_get_depth_mode_count": (),
        "freenect_get_depth_mode": (number,),
        "freenect_set_depth_mode": (pointer, _FrameMode),
        "freenect_set_depth_callback": (pointer, _DepthCallback),
        "freenect_start_depth": (pointer,),
        "freenect_process_events_timeout": (pointer, pointer),
        "freenect_stop_depth": (pointer,),
        "freenect_close_device": (pointer,),
        "freenect_shutdown": (pointer,),
    }.items():
        getattr(library, function).argtypes = takes
    library.freenect_get_depth_mode.restype = _FrameMode
    return library
