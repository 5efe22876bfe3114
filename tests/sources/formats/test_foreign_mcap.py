"""MCAP files of other programs: any chunk size and compression, cut files, and unsupported messages."""

from __future__ import annotations

import logging
import tracemalloc
from contextlib import suppress

import mcap.reader
import mcap.writer
import numpy as np
import pytest
from mcap.writer import CompressionType, IndexType

from posepipe.errors import FormatError
from posepipe.sources import open_source
from tests.support.recordings import ros_writers as ros
from tests.support.recordings.ros_playback import assert_plays, play

COUNT = 8


LAYOUTS = {
    "one chunk": {},
    "a chunk a message": {"chunk_size": 1},
    "three messages a chunk": {"chunk_size": 1300},
    "lz4": {"compression": CompressionType.LZ4, "chunk_size": 1300},
    "uncompressed": {"compression": CompressionType.NONE, "chunk_size": 1300},
    "no chunks": {"use_chunking": False},
    "no index": {"index_types": IndexType.NONE},
    "nothing repeated at the end": {"repeat_channels": False, "repeat_schemas": False, "use_statistics": False},
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_frames_are_the_same_in_any_compression(tmp_path, layout):
    path = ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(COUNT), **LAYOUTS[layout])
    assert_plays(path, COUNT)
    with open_source(path) as source:
        assert (source.intrinsics, source.shape, source.start_time_ns) == (ros.CAMERA, ros.SHAPE, ros.START_NS)
        np.testing.assert_allclose(source.timestamps_s, np.arange(COUNT) / 30, atol=1e-8)
        for i in (5, 0, 7, 7, 3):
            frame = source[i]
            assert frame.index == i
            np.testing.assert_array_equal(np.rint(frame.depth_m * 1000), ros.depth_mm(i))


def test_a_chunk_is_unpacked_once_for_all_its_frames(tmp_path, monkeypatch):
    from posepipe.recording.containers.mcap_file import McapFile

    path = ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(COUNT))
    unpacked = []
    own = McapFile._unpack
    monkeypatch.setattr(McapFile, "_unpack", lambda self, place: unpacked.append(place) or own(self, place))
    assert_plays(path, COUNT)
    assert len(unpacked) == 1


def test_messages_out_of_order_are_played_in_order_of_time(tmp_path):
    path = ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(COUNT)[::-1], chunk_size=1300)
    assert_plays(path, COUNT)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_a_cut_file_plays_what_it_has(tmp_path, caplog, layout):
    content = ros.write_mcap(tmp_path / "whole.mcap", ros.depth_recording(COUNT), **LAYOUTS[layout]).read_bytes()
    counts = []
    for tenth in range(1, 10):
        path = tmp_path / f"{tenth}.mcap"
        path.write_bytes(content[: len(content) * tenth // 10])
        caplog.clear()
        with caplog.at_level(logging.WARNING):
            try:
                counts.append(len(play(path)))
            except FormatError:
                counts.append(0)
                continue
        assert_plays(path, counts[-1])
        assert f"{counts[-1]} complete frame" in caplog.records[0].getMessage()
    assert counts == sorted(counts)
    assert counts[6] > 0 or layout in ("one chunk", "no index", "nothing repeated at the end")  # which are one chunk


def test_a_ros_1_recording_that_was_converted_is_read(tmp_path):
    assert_plays(ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(COUNT), encoding="ros1"), COUNT)


@pytest.mark.parametrize("ours", [True, False])
def test_messages_of_other_encodings_are_refused_by_name(tmp_path, ours):
    path = tmp_path / "a.mcap"
    with path.open("wb") as stream:
        writer = mcap.writer.Writer(stream)
        writer.start()
        schema = writer.register_schema("foxglove.RawImage", "protobuf", b"")
        topic = "/depth/image" if ours else "/camera/depth"
        writer.add_message(writer.register_channel(topic, "protobuf", schema), 1, b"\x08\x01", 1)
        writer.finish()
    with pytest.raises(
        FormatError, match=r"foxglove\.RawImage.*only ROS messages \(cdr or ros1\) are read, not protobuf"
    ):
        open_source(path)
    with pytest.raises(FormatError, match=r"wanted ROS messages \(cdr or ros1\), got 'protobuf'"):
        open_source(path, topic=topic)


def test_damage_anywhere_is_a_format_error_or_harmless(tmp_path):
    content = ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(3), chunk_size=1300).read_bytes()
    rng = np.random.default_rng(3)
    path = tmp_path / "b.mcap"
    for _ in range(150):
        damaged = bytearray(content)
        for position in rng.integers(8, len(content), 3):
            damaged[position] = rng.integers(256)
        path.write_bytes(damaged)
        with suppress(FormatError):
            assert len(play(path)) <= 9


@pytest.mark.parametrize("compression", [CompressionType.ZSTD, CompressionType.LZ4, CompressionType.NONE])
def test_an_oversized_chunk_is_refused_before_allocation(tmp_path, compression):
    content = ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(1), compression=compression).read_bytes()
    with (tmp_path / "a.mcap").open("rb") as stream:
        summary = mcap.reader.make_reader(stream).get_summary()
    size = summary.chunk_indexes[0].chunk_start_offset + 9 + 16  # behind record header, first and last time
    for claim in (2**60, 2**31, 1):
        path = tmp_path / "lie.mcap"
        path.write_bytes(content[:size] + claim.to_bytes(8, "little") + content[size + 8 :])
        tracemalloc.start()
        with pytest.raises(FormatError, match="damaged recording"):
            play(path)
        assert tracemalloc.get_traced_memory()[1] < 50e6
        tracemalloc.stop()


def test_depth_without_its_name_is_found_by_its_type(tmp_path):
    messages = []
    for i in range(3):
        time_ns = ros.START_NS + i * 10**9 // 30
        colour = np.zeros((ros.SHAPE[0], ros.SHAPE[1] * 3), np.uint8)
        infrared = ros.image(ros.depth_mm(i + 9), time_ns, "/camera/ir/image_raw", encoding="mono16")
        messages += [ros.camera_info(time_ns, "/tof/camera_info"), ros.image(ros.depth_mm(i), time_ns, "/tof/range")]
        messages += [infrared, ros.image(colour, time_ns, "/tof/colour", encoding="rgb8")]
    assert_plays(ros.write_mcap(tmp_path / "a.mcap", messages), 3)
    second = [ros.image(ros.depth_mm(0), topic="/other/range")]
    with pytest.raises(FormatError, match="several depth topics"):
        open_source(ros.write_mcap(tmp_path / "b.mcap", [*messages, *second]))
