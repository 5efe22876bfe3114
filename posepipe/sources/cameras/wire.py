"""Depth frames in a stream of bytes: what a program in any language writes to feed us through a pipe or a socket.

One line of JSON, then frames of one size to the end::

    {"width": 640, "height": 480, "fx": 575.8, "fy": 575.8, "cx": 319.5, "cy": 239.5, "depth_unit_m": 0.001}\\n
    8 bytes: uint64, little endian, nanoseconds since the Unix epoch; 0 in all frames = the moment of arrival counts
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

from posepipe.camera import Intrinsics
from posepipe.sources.cameras.depth_camera import CameraFrame
from posepipe.sources.formats.depth_png import depth_in_metres

MOST_HEADER_BYTES = 4096
MOST_PIXELS_A_SIDE = 8192
MOST_PIXELS = 1 << 24
LATEST_NS = (1 << 31) * 1_000_000_000
"""ROS messages, and so recordings, have no later time than 2038. Pixels taken for a time lie beyond it."""

_JUMP_NS = 86_400 * 1_000_000_000  # a day: clocks are set, but seldom so far, and not back
_TIME = struct.Struct("<Q")
_KEYS = ("width", "height", "fx", "fy", "cx", "cy", "depth_unit_m")
_PIXEL = np.dtype("<u2")
_log = logging.getLogger(__name__)


class WireError(Exception):
    """What came is not this format; the text says what was wanted and what came."""


@dataclass(frozen=True, slots=True)
class WireHeader:
    """What the first line says."""

    width: int
    height: int
    intrinsics: Intrinsics
    depth_unit_m: float

    @property
    def frame_bytes(self) -> int:
        return _TIME.size + _PIXEL.itemsize * self.width * self.height


def parse_header(line: bytes) -> WireHeader:
    """Read the first line. Raises WireError for anything but the numbers that are wanted, and for absurd sizes."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        values = None
    if not isinstance(values, dict):
        raise WireError(f"wanted a first line of JSON with {', '.join(_KEYS)}, got {line[:60]!r}")
    width, height, fx, fy, cx, cy, unit = (_number(values, key) for key in _KEYS)
    for key, size in (("width", width), ("height", height)):
        if size != int(size) or not 1 <= size <= MOST_PIXELS_A_SIDE:
            raise WireError(f"{key}: wanted a whole number from 1 to {MOST_PIXELS_A_SIDE}, got {size:g}")
    if width * height > MOST_PIXELS:
        raise WireError(f"wanted at most {MOST_PIXELS} pixels, got {width:g} x {height:g}")
    if unit <= 0:
        raise WireError(f"depth_unit_m: wanted metres a grey level, got {unit:g}")
    try:
        return WireHeader(int(width), int(height), Intrinsics(fx, fy, cx, cy), unit)
    except ValueError as error:
        raise WireError(str(error)) from error


def _number(values: dict, key: str) -> float:
    value = values.get(key)
    if isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e18 and math.isfinite(value):
        return float(value)
    raise WireError(f"{key}: wanted a number in the first line, got {str(value)[:40]}")


class WireReader:
    """Takes frames out of a stream, however it is cut into pieces on its way.

    Parameters
    ----------
    name : of the source, for messages
    receive : fills the start of a buffer with what comes within some seconds, and says how many bytes that was:
        0 = the sender has ended, None = nothing came in time
    """

    def __init__(self, name: str, receive: Callable[[memoryview, float], int | None]) -> None:
        self._name, self._receive = name, receive
        self.header: WireHeader | None = None  #: once `read_header` has it
        self._line = bytearray()
        self._buffer = bytearray()
        self._filled = 0
        self._frames = 0
        self._last_ns = 0
        self._jumped = False

    @property
    def silent(self) -> bool:
        """Whether not one byte has come yet."""
        return not self._line

    def read_header(self, timeout_s: float) -> WireHeader | None:
        """The first line, or None when it has not come whole in time. Raises EOFError where nothing came at all."""
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
            if len(self._line) > MOST_HEADER_BYTES:
                raise WireError(
                    f"wanted a first line of at most {MOST_HEADER_BYTES} bytes, got {bytes(self._line[:40])!r} ..."
                )
        self.header = parse_header(bytes(self._line))
        return self.header

    def read(self, timeout_s: float) -> CameraFrame | None:
        """The next frame, or None when it has not come whole in time; what came of it is kept.

        Raises
        ------
        EOFError
            When the sender ended after a whole frame.
        WireError
            When it ended within one, or what came is none.
        """
        assert self.header is not None
        deadline = time.monotonic() + timeout_s
        size = self.header.frame_bytes
        if not self._filled:
            self._buffer = bytearray(size)  # a new one for each: the frame lives in it
        while self._filled < size:
            count = self._receive(memoryview(self._buffer)[self._filled :], max(0.0, deadline - time.monotonic()))
            if count is None:
                return None
            if count == 0 and self._filled:
                came = f"{self._filled} of {size} bytes came"
                raise WireError(f"the stream was cut in frame {self._frames}: {came}; {self._suspicion}")
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
        depth = depth_in_metres(grey.astype(np.uint16, copy=False), header.depth_unit_m)
        return CameraFrame(depth, time_ns or None, since_epoch=time_ns > 0)

    def _check_time(self, time_ns: int) -> None:
        """A stream has no other mark by which to notice that pixels were taken for a time.

        Pixels nearer than 7.6 m make a year before 2038, those nearer than 6.2 m one that is past. Raises WireError.
        """
        before_ns, self._last_ns = self._last_ns if self._frames else time_ns, time_ns
        wanted = ""
        if time_ns >= LATEST_NS:
            wanted = "nanoseconds since 1970"
        elif (time_ns == 0) != (before_ns == 0):
            wanted = "a time, as the frames before have" if before_ns else "0, as the frames before have"
        elif time_ns < before_ns - _JUMP_NS or (time_ns > before_ns + _JUMP_NS and self._jumped):
            wanted = f"a time like {before_ns}, of the frame before"
        if wanted:
            raise WireError(f"frame {self._frames}: wanted {wanted}, got {time_ns}; {self._suspicion}")
        if time_ns > before_ns + _JUMP_NS:  # a computer without a clock learns the time when it finds the network
            self._jumped = True
            problem = "its time is days after the last"
            _log.warning("%s: frame %d: %s; %s", self._name, self._frames, problem, self._suspicion)

    @property
    def _suspicion(self) -> str:
        assert self.header is not None
        return f"is every frame 8 + 2 x {self.header.width} x {self.header.height} bytes?"
