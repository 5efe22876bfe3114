"""Messages of rosbags are read exactly, for both versions of ROS and byte orders, never beyond their end."""

from __future__ import annotations

from contextlib import suppress

import numpy as np
import pytest
import zstandard

from posepipe.recording.ros.message_fields import (
    MessageFields,
    read_camera_info,
    read_compressed_image,
    read_image,
)
from tests.support.recordings import ros_writers as ros

WIRES = [(1, True, "ros1"), (2, True, "cdr"), (2, False, "cdr")]


@pytest.mark.parametrize(("version", "little", "encoding"), WIRES)
@pytest.mark.parametrize("frame_id", ["", "a", "abc", "abcdefg"])  # every alignment of what follows
def test_fields_are_read_back_exactly(version, little, encoding, frame_id):
    picture = ros.image(ros.depth_mm(0), ros.START_NS + 7, padding=3)
    picture.fields["header"]["frame_id"] = frame_id
    got = read_image(picture.serialised(version, little), encoding)
    assert got[:6] == (ros.START_NS + 7, *ros.SHAPE, "16UC1", False, 2 * ros.SHAPE[1] + 3)
    np.testing.assert_array_equal(got.data, picture.fields["data"])
    info = ros.camera_info(d=[0.5, 0.25, 0.125], model="any")
    info.fields["header"]["frame_id"] = frame_id
    camera = read_camera_info(info.serialised(version, little), encoding)
    assert camera[:3] == (*ros.SHAPE, "any")
    assert camera.d.tolist() == [0.5, 0.25, 0.125]
    np.testing.assert_array_equal(camera.k, info.fields["k"].reshape(3, 3))
    np.testing.assert_array_equal(camera.p, info.fields["p"].reshape(3, 4))
    packed = read_compressed_image(ros.compressed_image(b"abc", format="x").serialised(version, little), encoding)
    assert (packed.stamp_ns, packed.format, packed.data.tobytes()) == (ros.START_NS, "x", b"abc")
    value = ros.number(0.25, "/x").serialised(version, little)
    assert MessageFields(value, encoding).number("f4") == 0.25
    assert MessageFields(ros.text("hello", "/x").serialised(version, little), encoding).text() == "hello"


@pytest.mark.parametrize(("version", "little", "encoding"), WIRES)
def test_a_message_that_ends_too_early_is_a_value_error(version, little, encoding):
    behind_p = 25  # bytes of binning and region of interest, which are not read
    for message, read, unread in (
        (ros.image(np.zeros((2, 3), np.uint16)), read_image, 0),
        (ros.camera_info(), read_camera_info, behind_p),
        (ros.compressed_image(b"abc"), read_compressed_image, 0),
    ):
        data = message.serialised(version, little)
        read(data + b"more", encoding)
        for end in range(len(data) - unread):
            with pytest.raises(ValueError):
                read(data[:end], encoding)


def test_a_message_that_rosbag2_compressed_is_unpacked():
    data = ros.image(ros.depth_mm(0)).serialised(2)
    assert read_image(zstandard.compress(data), "cdr").data.tobytes() == read_image(data, "cdr").data.tobytes()
    streamed = zstandard.ZstdCompressor(write_content_size=False).compress(data)
    assert read_image(streamed, "cdr").height == ros.SHAPE[0]
    with pytest.raises(ValueError, match="damaged"):
        read_image(zstandard.compress(data)[:-20], "cdr")


def test_random_bytes_are_a_value_error_or_a_message():
    rng = np.random.default_rng(0)
    for size in range(300):
        for encoding in ("ros1", "cdr"):
            with suppress(ValueError):
                read_image(b"\0\1\0\0" + rng.bytes(size), encoding)
