"""ROS 1 bags: of rosbags, of the RealSense SDK, and of killed recorders."""

from __future__ import annotations

import logging
import struct
import tracemalloc
from contextlib import suppress

import numpy as np
import pytest

from posepipe.errors import FormatError, PosepipeError
from posepipe.sources import open_source
from posepipe.sources.formats.ros1_bag import Ros1Bag
from tests.support.paths import GOLDEN
from tests.support.recordings import ros_writers as ros
from tests.support.recordings.ros_playback import assert_plays, play

COUNT = 8
REALSENSE = GOLDEN / "realsense_sdk_2_55.bag"
"""`ros_writers.record_realsense` of three frames in units of 0.25 mm, under pyrealsense2 2.55.1.6486: the last SDKs
that wrote bags; newer ones only read them."""


@pytest.mark.parametrize("compression", ["none", "bz2", "lz4"])
@pytest.mark.parametrize("chunk_bytes", [1, 2500, 1 << 20])
def test_frames_are_the_same_in_any_compression(tmp_path, compression, chunk_bytes):
    path = ros.write_bag(tmp_path / "a.bag", ros.depth_recording(COUNT), compression, chunk_bytes)
    assert_plays(path, COUNT)
    with Ros1Bag(path) as source:
        assert (source.intrinsics, source.shape, source.start_time_ns) == (ros.CAMERA, ros.SHAPE, ros.START_NS)
        np.testing.assert_allclose(source.timestamps_s, np.arange(COUNT) / 30, atol=1e-8)
        for i in (5, 0, 7, 7, 3):
            frame = source[i]
            assert frame.index == i
            np.testing.assert_array_equal(np.rint(frame.depth_m * 1000), ros.depth_mm(i))


def test_compressed_depth_is_read(tmp_path):
    payloads = [ros.compressed_depth(ros.rvl(ros.depth_mm(i))) for i in range(COUNT)]
    packed = [
        ros.compressed_image(payload, ros.START_NS + i, format="16UC1; compressedDepth rvl")
        for i, payload in enumerate(payloads)
    ]
    assert_plays(ros.write_bag(tmp_path / "a.bag", [ros.camera_info(), *packed]), COUNT)


def test_messages_out_of_order_are_played_in_order_of_time(tmp_path):
    assert_plays(ros.write_bag(tmp_path / "a.bag", ros.depth_recording(COUNT)[::-1], chunk_bytes=2500), COUNT)


def test_a_bag_of_the_realsense_sdk_has_its_own_unit():
    with open_source(REALSENSE) as source:
        assert (source.intrinsics, source.shape, len(source)) == (ros.CAMERA, ros.SHAPE, 3)
        assert source.start_time_ns == ros.START_NS  # the frames' own; the bag counts from the start of the recording
        assert (np.diff(source.timestamps_s) > 0).all()
        for i, frame in enumerate(source):
            np.testing.assert_allclose(
                frame.depth_m, np.where(ros.depth_mm(i) < 400, 0, ros.depth_mm(i) * 0.00025), atol=1e-6
            )


@pytest.mark.parametrize("option", ["Depth Units", "Depth_Units"])
def test_the_older_name_of_realsense_s_depth_unit_is_read(tmp_path, option):
    sensor = "/device_0/sensor_0"
    messages = [
        ros.camera_info(topic=f"{sensor}/Depth_0/info/camera_info"),
        ros.number(0.0001, f"{sensor}/option/{option}/value"),
        ros.number(0.5, "/device_0/sensor_1/option/Depth_Units/value"),
        ros.image(np.full(ros.SHAPE, 20_000, np.uint16), topic=f"{sensor}/Depth_0/image/data", encoding="mono16"),
    ]
    assert play(ros.write_bag(tmp_path / "a.bag", messages))[0][0, 0] == 2000
    messages[1] = ros.number(float("nan"), messages[1].topic)
    with pytest.raises(FormatError, match="a depth unit of nan m"):
        open_source(ros.write_bag(tmp_path / "a.bag", messages))


@pytest.mark.parametrize("compression", ["none", "bz2", "lz4"])
def test_a_cut_bag_plays_what_it_has_and_says_what_is_missing(tmp_path, caplog, compression):
    path = ros.write_bag(tmp_path / "a.bag", ros.depth_recording(COUNT), compression, 2500)
    content = path.read_bytes()
    counts = []
    for percent in range(5, 100, 5):
        path.write_bytes(content[: len(content) * percent // 100])
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            try:
                counts.append(len(play(path)))
            except FormatError:
                counts.append(0)
                continue
        assert len(caplog.records) == 1
        assert f"{counts[-1]} complete frame" in caplog.records[0].getMessage()
        assert_plays(path, counts[-1])
    assert counts == sorted(counts)
    assert counts[0] == 0
    assert 2 <= counts[13] <= COUNT  # at 70 %
    assert counts[-1] == COUNT


def test_a_bag_without_its_index_plays(tmp_path, caplog):
    """A bag of a killed recorder: an empty header, and chunks."""
    path = ros.write_bag(tmp_path / "a.bag.active", ros.depth_recording(COUNT), chunk_bytes=2500)
    content = path.read_bytes()
    index_pos, chunks = (content.index(name) + len(name) for name in (b"index_pos=", b"chunk_count="))
    (end,) = struct.unpack_from("<Q", content, index_pos)
    unindexed = bytearray(content[:end])
    unindexed[index_pos : index_pos + 8] = bytes(8)
    unindexed[chunks : chunks + 4] = bytes(4)
    path.write_bytes(unindexed)
    with caplog.at_level(logging.WARNING):
        assert_plays(path, COUNT)
    assert "was not closed" in caplog.records[0].getMessage()


def test_messages_of_an_unclosed_chunk_play(tmp_path):
    """After a killed rosbags, the last chunk has a size of 0 bytes, with messages after it."""
    path = ros.write_bag(tmp_path / "a.bag", ros.depth_recording(COUNT))
    content = bytearray(path.read_bytes())
    size = content.index(b"size=") + len(b"size=")
    size_of_data = size + 4
    (end,) = struct.unpack_from("<I", content, size_of_data)
    content[size : size + 4] = content[size_of_data : size_of_data + 4] = bytes(4)
    path.write_bytes(content[: size_of_data + 4 + end - 700])
    assert_plays(path, COUNT - 1)


def test_invalid_and_unsupported_bags_are_errors(tmp_path):
    path = tmp_path / "a.bag"
    for content, problem in (
        (b"#ROSBAG V1.2\n" + bytes(50), r"wanted a bag of version 2\.0, .*rosbag fix"),
        (b"#ROSBAG V2.0\n", "no complete frame"),
        (ros.write_bag(tmp_path / "e.bag", []).read_bytes(), "no complete frame"),
    ):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=problem):
            open_source(path)
    for content, problem in ((b"", "the file is empty"), (b"hello", "wanted a ROS 1 bag")):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=problem):
            Ros1Bag(path)


def test_an_encrypted_bag_is_an_error(tmp_path):
    path = ros.write_bag(tmp_path / "a.bag", ros.depth_recording(1))
    content = path.read_bytes()
    field = b"encryptor=rosbag/AesCbcEncryptor"
    (length,) = struct.unpack_from("<I", content, 13)
    header = struct.pack("<I", len(field)) + field + content[17 : 17 + length]
    path.write_bytes(content[:13] + struct.pack("<I", len(header)) + header + content[17 + length :])
    with pytest.raises(FormatError, match=r"encrypted \(rosbag/AesCbcEncryptor\)"):
        open_source(path)


def test_random_bytes_after_the_magic_are_one_line(tmp_path):
    rng = np.random.default_rng(5)
    path = tmp_path / "a.bag"
    for size in (1, 9, 40, 1000):
        path.write_bytes(b"#ROSBAG V2.0\n" + rng.bytes(size))
        with pytest.raises(PosepipeError):
            open_source(path)


@pytest.mark.parametrize("compression", ["none", "bz2", "lz4"])
def test_damage_anywhere_is_a_format_error_or_harmless(tmp_path, compression):
    content = ros.write_bag(tmp_path / "a.bag", ros.depth_recording(3), compression, 2500).read_bytes()
    rng = np.random.default_rng(3)
    path = tmp_path / "b.bag"
    for _ in range(60):
        damaged = bytearray(content)
        for position in rng.integers(4100, len(content), 3):
            damaged[position] = rng.integers(256)
        path.write_bytes(damaged)
        with suppress(FormatError):
            assert len(play(path)) <= 9


@pytest.mark.parametrize("compression", ["none", "bz2", "lz4"])
@pytest.mark.parametrize("claim", [2**32 - 1, 2**30 - 1, 1])
def test_an_oversized_chunk_is_refused_before_allocation(tmp_path, compression, claim):
    path = ros.write_bag(tmp_path / "a.bag", ros.depth_recording(1), compression)
    content = path.read_bytes()
    size = content.index(b"size=") + len(b"size=")
    path.write_bytes(content[:size] + struct.pack("<I", claim) + content[size + 4 :])
    tracemalloc.start()
    with pytest.raises(FormatError, match="damaged recording"):
        play(path)
    assert tracemalloc.get_traced_memory()[1] < 50e6
    tracemalloc.stop()
