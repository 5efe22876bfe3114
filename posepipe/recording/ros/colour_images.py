"""Decode colour from ROS image messages, raw or compressed."""

from __future__ import annotations

import numpy as np

from posepipe.io.colour_picture import declared_size, decode_picture
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


def is_colour(image: Image | CompressedImage) -> bool:
    """Whether an image contains colour, by its encoding, or the head of its file."""
    if isinstance(image, Image):
        return image.encoding in RGB_ORDER
    try:
        return declared_size(image.data.tobytes())[2] >= 3
    except ValueError:
        return False


def read_colour(data: bytes, topic: Topic) -> np.ndarray:
    """Decode the colour of one message: uint8 (H, W, 3), RGB. Raises ValueError for none, or a damaged message."""
    if topic.kind == COMPRESSED_IMAGE:
        return decode_picture(read_compressed_image(data, topic.encoding).data)
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
