"""The few ROS messages that depth comes in, read field by field, as ROS 1 and ROS 2 (CDR) serialise them.

rosbags' deserialiser wants the definitions of all types and refuses a message that goes on after its last field, as
images of RealSense's SDK do.

References
----------
http://wiki.ros.org/ROS/TCPROS ; DDS-XTypes 1.3, 7.4.1 (CDR: numbers stand at multiples of their size)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import zstandard

from posepipe.recording.containers.message_file import MAX_MESSAGE_BYTES

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CDR_HEADER_BYTES = 4
_NS = 1_000_000_000


class Image(NamedTuple):
    """sensor_msgs/Image."""

    stamp_ns: int
    height: int
    width: int
    encoding: str
    is_bigendian: bool
    step: int  #: bytes a row
    data: np.ndarray  #: uint8 (N,)


class CompressedImage(NamedTuple):
    """sensor_msgs/CompressedImage."""

    stamp_ns: int
    format: str
    data: np.ndarray  #: uint8 (N,)


class CameraInfo(NamedTuple):
    """What of sensor_msgs/CameraInfo says how a camera sees."""

    height: int
    width: int
    distortion_model: str
    d: np.ndarray  #: float64 (N,), coefficients of the distortion
    k: np.ndarray  #: float64 (3, 3), intrinsics of the picture as it is
    p: np.ndarray  #: float64 (3, 4), projection into the rectified picture


class MessageFields:
    """Take the fields of one message, from the first on.

    Parameters
    ----------
    data : the message; rosbag2 may have compressed it by itself
    encoding : "ros1", or "cdr" for ROS 2

    Raises
    ------
    ValueError
        Here and in every method, where the message ends too early or is none.
    """

    def __init__(self, data: bytes, encoding: str) -> None:
        self._aligned = encoding == "cdr"
        self._order = "<"
        self._at = 0
        if self._aligned:
            data = _inflated(data)
            if len(data) < _CDR_HEADER_BYTES or data[0] != 0 or data[1] > 1:
                raise ValueError("a message without the header of CDR")
            self._order = "<" if data[1] else ">"
            self._at = _CDR_HEADER_BYTES
        self._data = data

    def number(self, kind: str) -> float:
        """One number; ``kind`` is a letter of the struct module."""
        (value,) = self.numbers(kind, 1)
        return value.item()

    def numbers(self, kind: str, count: int) -> np.ndarray:
        """So many numbers, (count,), read-only."""
        dtype = np.dtype(self._order + kind)
        if self._aligned and count:
            self._at += -(self._at - _CDR_HEADER_BYTES) % dtype.itemsize
        if count * dtype.itemsize > len(self._data) - self._at:
            raise ValueError(f"the message ends where {count} numbers should be")
        found = np.frombuffer(self._data, dtype, count, self._at)
        self._at += found.nbytes
        return found

    def sequence(self, kind: str) -> np.ndarray:
        """Numbers after their count."""
        return self.numbers(kind, int(self.number("u4")))

    def text(self) -> str:
        """A string; that of CDR ends with a zero."""
        return self.sequence("u1").tobytes().rstrip(b"\0").decode()

    def header(self) -> int:
        """std_msgs/Header: its time, nanoseconds."""
        if not self._aligned:
            self.number("u4")  # a counter that ROS 2 did without
        seconds, nanoseconds = self.numbers("u4", 2).tolist()
        self.text()  # the frame's name
        return seconds * _NS + nanoseconds


def read_image(data: bytes, encoding: str) -> Image:
    """sensor_msgs/Image. Raises ValueError where it ends too early."""
    fields = MessageFields(data, encoding)
    stamp_ns = fields.header()
    height, width = fields.numbers("u4", 2).tolist()
    pixel_encoding, is_bigendian, step = fields.text(), bool(fields.number("u1")), int(fields.number("u4"))
    return Image(stamp_ns, height, width, pixel_encoding, is_bigendian, step, fields.sequence("u1"))


def read_compressed_image(data: bytes, encoding: str) -> CompressedImage:
    """sensor_msgs/CompressedImage. Raises ValueError where it ends too early."""
    fields = MessageFields(data, encoding)
    return CompressedImage(fields.header(), fields.text(), fields.sequence("u1"))


def read_camera_info(data: bytes, encoding: str) -> CameraInfo:
    """sensor_msgs/CameraInfo. Raises ValueError where it ends too early."""
    fields = MessageFields(data, encoding)
    fields.header()
    height, width = fields.numbers("u4", 2).tolist()
    model, d, k = fields.text(), fields.sequence("f8"), fields.numbers("f8", 9).reshape(3, 3)
    fields.numbers("f8", 9)  # R: the turn between the eyes of a stereo pair
    return CameraInfo(height, width, model, d, k, fields.numbers("f8", 12).reshape(3, 4))


def _inflated(data: bytes) -> bytes:
    """A message, unpacked where rosbag2 compressed each by itself."""
    if not data.startswith(_ZSTD_MAGIC):
        return data
    try:
        size = zstandard.frame_content_size(data)
        if size > MAX_MESSAGE_BYTES:
            raise ValueError(f"a message of {size} bytes; at most {MAX_MESSAGE_BYTES} are unpacked")
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=MAX_MESSAGE_BYTES if size < 0 else 0)
    except zstandard.ZstdError as error:
        raise ValueError(f"a compressed message that is damaged ({error})") from error
