"""Decode depth from ROS image messages, raw or compressed."""

from __future__ import annotations

import numpy as np

from posepipe.io.limits import check_pixels
from posepipe.recording.codecs.compressed_depth import decode_compressed_depth, is_compressed_depth
from posepipe.recording.containers.message_file import MessageFile, Topic
from posepipe.recording.ros.message_fields import CompressedImage, Image, read_compressed_image, read_image

IMAGE = "sensor_msgs/Image"
COMPRESSED_IMAGE = "sensor_msgs/CompressedImage"
IMAGE_KINDS = (IMAGE, COMPRESSED_IMAGE)
ENCODINGS = ("cdr", "ros1")
"""Supported serialisations of messages."""

DEPTH_ENCODINGS = {"16UC1": np.uint16, "mono16": np.uint16, "32FC1": np.float32}
"""ROS image encodings of depth (REP 118): integers are millimetres, floats metres."""

_PIXEL_TYPES = {**DEPTH_ENCODINGS, "mono8": np.uint8, "8UC1": np.uint8}


def image_pixels(image: Image) -> np.ndarray:
    """Pixels (H, W) in native byte order, writable. Raises ValueError for unsupported or damaged images."""
    if image.encoding not in _PIXEL_TYPES:
        raise ValueError(f"image encoding {image.encoding!r}; readable: {', '.join(_PIXEL_TYPES)}")
    dtype = np.dtype(_PIXEL_TYPES[image.encoding])
    height, width, row_bytes = image.height, image.width, image.step
    check_pixels(width, height)
    if row_bytes < width * dtype.itemsize or image.data.size < height * row_bytes:
        raise ValueError(f"image of {width}x{height} {image.encoding} with {image.data.size} bytes")
    rows = image.data[: height * row_bytes].reshape(height, row_bytes)[:, : width * dtype.itemsize]
    pixels = np.ascontiguousarray(rows).view(dtype.newbyteorder(">" if image.is_bigendian else "<"))
    return pixels.astype(dtype)


def read_depth(data: bytes, topic: Topic) -> np.ndarray:
    """Decode the depth of one message: (H, W), uint16 as recorded, or float32 metres.

    Raises ValueError when the message contains no depth, or is damaged.
    """
    if topic.kind == COMPRESSED_IMAGE:
        compressed = read_compressed_image(data, topic.encoding)
        return decode_compressed_depth(compressed.format, compressed.data)
    image = read_image(data, topic.encoding)
    if image.encoding not in DEPTH_ENCODINGS:
        raise ValueError(f"wanted a depth image ({', '.join(DEPTH_ENCODINGS)}), got {image.encoding}")
    return image_pixels(image)


def read_head(file: MessageFile, topic: Topic) -> Image | CompressedImage:
    """Read the first undamaged image of a topic, not decoded. Raises FormatError where there is none."""
    index, data = file.first(topic.name)
    with file.errors_of(topic.name, index):
        read = read_compressed_image if topic.kind == COMPRESSED_IMAGE else read_image
        return read(data, topic.encoding)


def is_depth(image: Image | CompressedImage) -> bool:
    """Whether an image contains depth, by its encoding."""
    if isinstance(image, CompressedImage):
        return is_compressed_depth(image.format, image.data)
    return image.encoding in DEPTH_ENCODINGS
