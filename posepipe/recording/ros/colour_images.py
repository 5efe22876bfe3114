"""Decode colour from ROS image messages, raw or compressed."""

from __future__ import annotations

import struct

import cv2
import numpy as np

from posepipe.io.limits import check_pixels
from posepipe.recording.containers.message_file import Topic
from posepipe.recording.ros.depth_images import COMPRESSED_IMAGE
from posepipe.recording.ros.message_fields import (
    CompressedImage,
    Image,
    read_compressed_image,
    read_image,
)

RGB_ORDER = {"rgb8": (0, 1, 2), "bgr8": (2, 1, 0), "rgba8": (0, 1, 2), "bgra8": (2, 1, 0)}
"""ROS image encodings of colour -> place of red, green and blue among the bytes of a pixel."""
_PNG, _JPEG = b"\x89PNG\r\n\x1a\n", b"\xff\xd8"
_PNG_SIZE = struct.Struct(">8sI4sII")  #: signature, length and name of the first chunk, width, height
_JPEG_SIZE = struct.Struct(">BHH")  #: bits, height, width
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of a JPEG before its size (ITU-T T.81, table B.1)."""


def is_colour(image: Image | CompressedImage) -> bool:
    """Whether an image contains colour, by its encoding, or the first bytes of its file."""
    if isinstance(image, Image):
        return image.encoding in RGB_ORDER
    data = image.data[:26].tobytes()
    return data.startswith(_JPEG) or (data.startswith(_PNG) and len(data) == 26 and data[25] in (2, 6))


def read_colour(data: bytes, topic: Topic) -> np.ndarray:
    """Decode the colour of one message: uint8 (H, W, 3), RGB. Raises ValueError for none, or a damaged message."""
    if topic.kind == COMPRESSED_IMAGE:
        return _unpacked(read_compressed_image(data, topic.encoding).data)
    image = read_image(data, topic.encoding)
    order = RGB_ORDER.get(image.encoding)
    if order is None:
        raise ValueError(f"wanted a colour image ({', '.join(RGB_ORDER)}), got {image.encoding}")
    channels = 4 if "a" in image.encoding else 3
    check_pixels(image.width, image.height)
    if image.step < image.width * channels or image.data.size < image.height * image.step:
        raise ValueError(f"image of {image.width}x{image.height} {image.encoding} with {image.data.size} bytes")
    rows = image.data[: image.height * image.step].reshape(image.height, image.step)[:, : image.width * channels]
    return np.ascontiguousarray(rows.reshape(image.height, image.width, channels)[:, :, order])


def _unpacked(data: np.ndarray) -> np.ndarray:
    check_pixels(*_declared_size(data.tobytes()))
    found = cv2.imdecode(data, cv2.IMREAD_COLOR)
    if found is None:
        raise ValueError("the JPEG or PNG is damaged")
    return np.ascontiguousarray(found[:, :, ::-1])


def _declared_size(data: bytes) -> tuple[int, int]:
    """Width and height that a PNG or JPEG declares; OpenCV allocates them before it reads a pixel."""
    if data.startswith(_PNG) and len(data) >= _PNG_SIZE.size:
        return _PNG_SIZE.unpack_from(data)[3:]
    at = 2
    while data.startswith(_JPEG) and at + 4 + _JPEG_SIZE.size <= len(data):
        if data[at] != 0xFF:
            break
        marker = data[at + 1]
        if marker in _JPEG_FRAMES:
            _, height, width = _JPEG_SIZE.unpack_from(data, at + 4)
            return width, height
        at += 1 if marker == 0xFF else 2 + int.from_bytes(data[at + 2 : at + 4], "big")
    raise ValueError("wanted a JPEG or a PNG of colour")
