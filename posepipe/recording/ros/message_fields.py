"""Decoders of the ROS messages for depth, field by field, in the serialisations of ROS 1 and ROS 2 (CDR).

The deserialiser of rosbags needs the definitions of all types. It refuses messages with data after the last field, as
the RealSense SDK writes them.

References
----------
http://wiki.ros.org/ROS/TCPROS ; DDS-XTypes 1.3, 7.4.1 (CDR: numbers are aligned to their size)
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import zstandard

from posepipe.io.decompression import decompress

_ZSTD_MAGIC = b"\x28\xb5\x2f\xfd"
_CDR_HEADER_BYTES = 4
_NS_PER_S = 1_000_000_000


class Image(NamedTuple):
    """sensor_msgs/Image."""

    stamp_ns: int
    height: int
    width: int
    encoding: str
    is_bigendian: bool
    step: int  #: bytes per row
    data: np.ndarray  #: uint8 (N,)


class CompressedImage(NamedTuple):
    """sensor_msgs/CompressedImage."""

    stamp_ns: int
    format: str
    data: np.ndarray  #: uint8 (N,)


class CameraInfo(NamedTuple):
    """Size, intrinsics and distortion of a sensor_msgs/CameraInfo."""

    height: int
    width: int
    distortion_model: str
    d: np.ndarray  #: float64 (N,), distortion coefficients
    k: np.ndarray  #: float64 (3, 3), intrinsics of the raw image
    p: np.ndarray  #: float64 (3, 4), projection of the rectified image


class Imu(NamedTuple):
    """Frame and acceleration of a sensor_msgs/Imu."""

    frame_id: str  #: whose axes are meant
    acceleration_m_s2: np.ndarray  #: float64 (3,), with gravity: upwards at rest


class StaticTransform(NamedTuple):
    """Rotation of a geometry_msgs/TransformStamped."""

    parent: str
    child: str
    rotation_xyzw: np.ndarray  #: float64 (4,), takes points of the child to the parent


class MessageFields:
    """Reads the fields of one message in order.

    Parameters
    ----------
    data : the message; rosbag2 may have compressed it
    encoding : "ros1", or "cdr" for ROS 2

    Raises
    ------
    ValueError
        From the constructor and every method, when the message is too short or invalid.
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
        """Read one number; ``kind`` is a NumPy type such as "u4"."""
        (value,) = self.numbers(kind, 1)
        return value.item()

    def numbers(self, kind: str, count: int) -> np.ndarray:
        """Read numbers, (count,), read-only. Raises ValueError where the message ends before."""
        dtype = np.dtype(self._order + kind)
        if self._aligned and count:
            self._at += -(self._at - _CDR_HEADER_BYTES) % dtype.itemsize
        if count * dtype.itemsize > len(self._data) - self._at:
            raise ValueError(f"the message ends where {count} numbers should be")
        found = np.frombuffer(self._data, dtype, count, self._at)
        self._at += found.nbytes
        return found

    def sequence(self, kind: str) -> np.ndarray:
        """Read a sequence: a count, then as many numbers."""
        return self.numbers(kind, int(self.number("u4")))

    def text(self) -> str:
        """Read a string, without the terminating zero of CDR."""
        return self.sequence("u1").tobytes().rstrip(b"\0").decode()

    def header(self) -> int:
        """Read a std_msgs/Header; return its time, nanoseconds."""
        return self.stamp_and_frame()[0]

    def stamp_and_frame(self) -> tuple[int, str]:
        """Read a std_msgs/Header; return its time, nanoseconds, and frame_id."""
        if not self._aligned:
            self.number("u4")  # the sequence number, only in ROS 1
        seconds, nanoseconds = self.numbers("u4", 2).tolist()
        return seconds * _NS_PER_S + nanoseconds, self.text()


def read_image(data: bytes, encoding: str) -> Image:
    """Read a sensor_msgs/Image. Raises ValueError for a truncated message."""
    fields = MessageFields(data, encoding)
    stamp_ns = fields.header()
    height, width = fields.numbers("u4", 2).tolist()
    pixel_encoding, is_bigendian, step = fields.text(), bool(fields.number("u1")), int(fields.number("u4"))
    return Image(stamp_ns, height, width, pixel_encoding, is_bigendian, step, fields.sequence("u1"))


def read_compressed_image(data: bytes, encoding: str) -> CompressedImage:
    """Read a sensor_msgs/CompressedImage. Raises ValueError for a truncated message."""
    fields = MessageFields(data, encoding)
    return CompressedImage(fields.header(), fields.text(), fields.sequence("u1"))


def read_camera_info(data: bytes, encoding: str) -> CameraInfo:
    """Read a sensor_msgs/CameraInfo. Raises ValueError for a truncated message."""
    fields = MessageFields(data, encoding)
    fields.header()
    height, width = fields.numbers("u4", 2).tolist()
    model, d, k = fields.text(), fields.sequence("f8"), fields.numbers("f8", 9).reshape(3, 3)
    fields.numbers("f8", 9)  # R, the rectifying rotation of stereo pairs
    return CameraInfo(height, width, model, d, k, fields.numbers("f8", 12).reshape(3, 4))


def read_imu(data: bytes, encoding: str) -> Imu:
    """Read a sensor_msgs/Imu. Raises ValueError for a truncated message."""
    fields = MessageFields(data, encoding)
    _, frame_id = fields.stamp_and_frame()
    fields.numbers("f8", 4 + 9 + 3 + 9)  # orientation and angular velocity, each with its covariance
    return Imu(frame_id, fields.numbers("f8", 3))


def read_static_transforms(data: bytes, encoding: str, max_links: int) -> list[StaticTransform]:
    """Read the first links of a tf2_msgs/TFMessage. Raises ValueError for a truncated message."""
    fields = MessageFields(data, encoding)
    found = []
    for _ in range(min(int(fields.number("u4")), max_links)):
        _, parent = fields.stamp_and_frame()
        child = fields.text()
        fields.numbers("f8", 3)  # translation
        found.append(StaticTransform(parent, child, fields.numbers("f8", 4)))
    return found


def frame_of(data: bytes, encoding: str) -> str:
    """Read the frame_id of a message that begins with a std_msgs/Header. Raises ValueError for a truncated one."""
    return MessageFields(data, encoding).stamp_and_frame()[1]


def _inflated(data: bytes) -> bytes:
    """Decompress a message that rosbag2 compressed individually."""
    if not data.startswith(_ZSTD_MAGIC):
        return data
    try:
        size = zstandard.frame_content_size(data)
        return decompress("zstd", data, None if size < 0 else size)
    except (ValueError, zstandard.ZstdError) as error:
        raise ValueError(f"a compressed message that is damaged ({error})") from error
