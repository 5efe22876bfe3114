r"""The byte stream of depth frames that other programs send through a pipe or a socket.

One line of JSON, then frames of one size to the end::

    {"width": 640, "height": 480, "fx": 575.8, "fy": 575.8, "cx": 319.5, "cy": 239.5, "depth_unit_m": 0.001}\n
    8 bytes: uint64, little endian, nanoseconds since the Unix epoch; 0 in all frames = time of arrival
    2 * width * height bytes: uint16, little endian, rows from the top; 0 = no reading
"""

from __future__ import annotations

import json
import logging
import math
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics, check_lens
from posepipe.camera.camera_file import CameraFile
from posepipe.camera.distortion_names import distortion_key
from posepipe.sources.base.depth_units import levels_to_depth
from posepipe.sources.cameras.depth_camera import CameraFrame, tell_left_distorted

MAX_HEADER_BYTES = 4096
MAX_PIXELS_PER_SIDE = 8192
MAX_PIXELS = 1 << 24
MAX_TIME_NS = (1 << 31) * 1_000_000_000
"""Time limit of ROS messages, and so of recordings: 2038. Pixels that are misread as a time exceed it."""

_MAX_STEP_NS = 86_400 * 1_000_000_000  # one day: clock corrections are smaller
_TIME = struct.Struct("<Q")
_KEYS = ("width", "height", "fx", "fy", "cx", "cy", "depth_unit_m")
_PIXEL = np.dtype("<u2")
_log = logging.getLogger(__name__)


class WireError(Exception):
    """The stream violates the format. The message says what was wanted and what came."""


@dataclass(frozen=True, slots=True)
class WireHeader:
    """Content of the first line."""

    width: int
    height: int
    intrinsics: Intrinsics
    depth_unit_m: float
    distortion: str = ""  #: key of coefficients of lens distortion; "" = there are none

    @property
    def frame_bytes(self) -> int:
        """Size of one frame with its time, bytes."""
        return _TIME.size + _PIXEL.itemsize * self.width * self.height

    def intrinsics_or(self, calibration: CameraFile | None, name: str) -> Intrinsics:
        """Return the sender's intrinsics, or those of a calibration that replaces them.

        Parameters
        ----------
        calibration : replaces those of the sender
        name : name of the source, for messages

        Raises
        ------
        WireError
            When the sender's are implausible, or with lens distortion, and not replaced.
        FormatError
            When the calibration is for another image size.
        """
        if calibration is not None:
            intrinsics = calibration.intrinsics_for(self.height, self.width)
            if self.distortion:
                tell_left_distorted(name, calibration)
            return intrinsics
        if self.distortion:
            raise WireError(
                f"{self.distortion}: lens distortion is not removed; undistort the images, with the nearest pixel, "
                "and leave it out, or give --camera to play them as they are"
            )
        try:
            check_lens(self.intrinsics, self.width, self.height)
        except ValueError as error:
            raise WireError(f"{error} in the first line; correct the sender, or give --camera PRESET|FILE") from error
        return self.intrinsics


def parse_header(line: bytes) -> WireHeader:
    """Parse the first line. Raises WireError for missing or invalid numbers, and for excessive sizes."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise WireError(f"wanted a first line of JSON with {', '.join(_KEYS)}, got {line[:60]!r}")
    width, height, fx, fy, cx, cy, unit = (_number(values, key) for key in _KEYS)
    for key, size in (("width", width), ("height", height)):
        if size != int(size) or not 1 <= size <= MAX_PIXELS_PER_SIDE:
            raise WireError(f"{key}: wanted a whole number from 1 to {MAX_PIXELS_PER_SIDE}, got {size:g}")
    if width * height > MAX_PIXELS:
        raise WireError(f"wanted at most {MAX_PIXELS} pixels, got {width:g} x {height:g}")
    if unit <= 0:
        raise WireError(f"depth_unit_m: wanted metres per grey level, got {unit:g}")
    try:
        return WireHeader(int(width), int(height), Intrinsics(fx, fy, cx, cy), unit, distortion_key(values) or "")
    except ValueError as error:
        raise WireError(str(error)) from error


def _number(values: dict, key: str) -> float:
    value = values.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18 and math.isfinite(value):
        return float(value)
    raise WireError(f"{key}: wanted a number in the first line, got {str(value)[:40]}")


class WireReader:
    """Reads frames from a stream that arrives in pieces of any size.

    Parameters
    ----------
    name : name of the source, for messages
    receive : receive(buffer, timeout_s) fills the start of a buffer and returns the number of bytes;
        0 = the sender has ended, None = nothing came in time
    """

    def __init__(self, name: str, receive: Callable[[memoryview, float], int | None]) -> None:
        self._name, self._receive = name, receive
        self.header: WireHeader | None = None  #: set by `read_header`
        self._line = bytearray()
        self._buffer = bytearray()
        self._filled = 0
        self._frames = 0
        self._last_ns = 0
        self._jumped = False

    @property
    def silent(self) -> bool:
        """Whether no byte has come yet."""
        return not self._line

    def read_header(self, timeout_s: float) -> WireHeader | None:
        """Read the first line; None after the timeout.

        Raises
        ------
        EOFError
            When the sender ended without sending anything.
        WireError
            When the line is invalid, too long, or cut.
        """
        deadline = time.monotonic() + timeout_s
        byte = bytearray(1)
        while not self._line.endswith(b"\n"):
            count = self._receive(memoryview(byte), max(0.0, deadline - time.monotonic()))
            if count is None:
                return None
            if count == 0 and self._line:
                raise WireError(f"the stream ended within its first line, after {bytes(self._line[:60])!r}")
            if count == 0:
                raise EOFError
            self._line += byte
            if len(self._line) > MAX_HEADER_BYTES:
                raise WireError(
                    f"wanted a first line of at most {MAX_HEADER_BYTES} bytes, got {bytes(self._line[:40])!r} ..."
                )
        self.header = parse_header(bytes(self._line))
        return self.header

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Read the next frame; None after the timeout, and the next call continues.

        Raises
        ------
        EOFError
            When the sender ended after a whole frame.
        WireError
            When it ended within a frame, or the frame is invalid.
        """
        assert self.header is not None
        deadline = time.monotonic() + timeout_s
        size = self.header.frame_bytes
        if not self._filled:
            self._buffer = bytearray(size)  # a new buffer per frame: the frame keeps it
        while self._filled < size:
            count = self._receive(memoryview(self._buffer)[self._filled :], max(0.0, deadline - time.monotonic()))
            if count is None:
                return None
            if count == 0 and self._filled:
                came = f"{self._filled} of {size} bytes came"
                raise WireError(f"the stream was cut in frame {self._frames}: {came}; {self._size_hint}")
            if count == 0:
                raise EOFError
            self._filled += count
        self._filled = 0
        return self._frame(self.header)

    def _frame(self, header: WireHeader) -> CameraFrame:
        (time_ns,) = _TIME.unpack_from(self._buffer)
        self._check_time(time_ns)
        self._frames += 1
        grey = np.frombuffer(self._buffer, _PIXEL, offset=_TIME.size).reshape(header.height, header.width)
        depth = levels_to_depth(grey.astype(np.uint16, copy=False), header.depth_unit_m)
        return CameraFrame(depth, time_ns or None, since_epoch=time_ns > 0)

    def _check_time(self, time_ns: int) -> None:
        """Raise WireError for an implausible time, which indicates frames of another size than the header says.

        The stream has no other marker. Pixels of less than 7.6 m read as a year before 2038, those of less than
        6.2 m as a year in the past.
        """
        before_ns, self._last_ns = self._last_ns if self._frames else time_ns, time_ns
        wanted = ""
        if time_ns >= MAX_TIME_NS:
            wanted = "nanoseconds since 1970"
        elif (time_ns == 0) != (before_ns == 0):
            wanted = "a time, as the frames before have" if before_ns else "0, as the frames before have"
        elif time_ns < before_ns - _MAX_STEP_NS or (time_ns > before_ns + _MAX_STEP_NS and self._jumped):
            wanted = f"a time like {before_ns}, of the frame before"
        if wanted:
            raise WireError(f"frame {self._frames}: wanted {wanted}, got {time_ns}; {self._size_hint}")
        if time_ns > before_ns + _MAX_STEP_NS:  # a computer without a clock sets its time late
            self._jumped = True
            problem = "its time is days after the last"
            _log.warning("%s: frame %d: %s; %s", self._name, self._frames, problem, self._size_hint)

    @property
    def _size_hint(self) -> str:
        assert self.header is not None
        return f"is every frame 8 + 2 x {self.header.width} x {self.header.height} bytes?"
