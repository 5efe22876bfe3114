"""Messages with a cached constant part equal those of ROS's own serialiser."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.recording.ros import messages as ros

STAMPS_NS = (0, 33_333_333, 1_700_000_000_123_456_789)


def serialised(kind: str, *fields) -> bytes:
    return bytes(ros.typestore().serialize_cdr(ros.typestore().types[kind](*fields), kind, little_endian=True))


@pytest.mark.parametrize("stamp_ns", STAMPS_NS)
@pytest.mark.parametrize(("encoding", "dtype"), [("mono8", np.uint8), ("16UC1", np.uint16), ("32FC1", np.float32)])
@pytest.mark.parametrize("frame_id", ["", "camera"])
def test_images_equal_those_of_rosbags(stamp_ns, encoding, dtype, frame_id):
    pixels = np.random.default_rng(0).integers(0, 200, (5, 7)).astype(dtype)
    data = pixels.view(np.uint8).reshape(-1)
    wanted = serialised(ros.IMAGE, ros.message_header(stamp_ns, frame_id), 5, 7, encoding, 0, 7 * pixels.itemsize, data)
    assert ros.encode_image(pixels, encoding, stamp_ns, frame_id) == wanted
    assert ros.encode_image(np.asfortranarray(pixels), encoding, stamp_ns, frame_id) == wanted


@pytest.mark.parametrize("people", [0, 1, 3])
def test_joints_equal_those_of_rosbags(people):
    rng = np.random.default_rng(people)
    names = ("head", "hand", "left_foot")
    joints_m, visible = rng.normal(size=(people, 3, 3)).astype(np.float32), rng.random((people, 3)) < 0.5
    ids = np.arange(1, people + 1, dtype=np.uint8)
    for stamp_ns in STAMPS_NS:
        header = ros.message_header(stamp_ns, "f")
        wanted = serialised(ros.JOINTS, header, list(names), ids, joints_m.reshape(-1), visible.reshape(-1))
        assert ros.encode_joints(names, joints_m, visible, stamp_ns, "f") == wanted


def test_camera_infos_differ_in_their_time_alone():
    camera = Intrinsics(60.0, 61.0, 15.5, 11.5)
    for stamp_ns in STAMPS_NS:
        info = ros.typestore().deserialize_cdr(ros.encode_camera_info(camera, 24, 32, stamp_ns, "f"), ros.CAMERA_INFO)
        assert info.header.stamp.sec * 10**9 + info.header.stamp.nanosec == stamp_ns
        assert (info.height, info.width, info.header.frame_id) == (24, 32, "f")
        assert info.k.tolist() == [60, 0, 15.5, 0, 61, 11.5, 0, 0, 1]


@pytest.mark.parametrize("where", [(0, 0), (4, 6), (2, slice(None)), (slice(None), slice(None))])
def test_depth_in_a_part_of_the_frame_is_stored_completely(where):
    depth_mm = np.zeros((5, 7), np.uint16)
    depth_mm[where] = 1234
    pixels, encoding = ros.depth_pixels(depth_mm.astype(np.float32) * np.float32(0.001))
    assert encoding == "16UC1"
    np.testing.assert_array_equal(pixels, depth_mm)
    assert not ros.depth_pixels(np.zeros((5, 7), np.float32))[0].any()


@pytest.mark.parametrize("stamp_ns", [-1, ros.MAX_STAMP_NS + 1])
def test_times_beyond_those_of_ros_are_refused(stamp_ns):
    ros.message_header(ros.MAX_STAMP_NS, "f")
    ros.encode_up((0.0, -1.0, 0.0), ros.MAX_STAMP_NS, "f")
    for encode in (lambda: ros.message_header(stamp_ns, "f"), lambda: ros.encode_up((0.0, -1.0, 0.0), stamp_ns, "f")):
        with pytest.raises(ValueError, match="none after January 2038"):
            encode()
