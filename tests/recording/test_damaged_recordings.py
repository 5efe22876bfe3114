"""Recordings that are damaged in the middle: one warning, no wrong frame, and the rest is played.

The files are those of mcap's own writer and of rosbags.
"""

from __future__ import annotations

import logging
import sqlite3
import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from mcap.writer import CompressionType

from posepipe.errors import FormatError
from posepipe.recording import DamagedMessageError, McapFile, RecordingReader, Ros1File
from posepipe.recording.containers.mcap_layout import _CHUNK_BEGIN, _is_chunk
from posepipe.recording.containers.next_chunk import next_chunk
from posepipe.sources import open_source
from posepipe.sources.playback import SlicedSource
from tests.support.recordings import ros_writers as ros

COUNT = 9
MESSAGES = ros.depth_recording(COUNT)
TRUTH = {ros.depth_mm(i).tobytes(): i for i in range(COUNT)}


def mcap_file(compression: CompressionType, **options) -> Callable[[Path], Path]:
    """One chunk per frame: calibration, depth and colour."""
    return lambda path: ros.write_mcap(path, MESSAGES, chunk_size=1300, compression=compression, **options)


def bag(compression: str) -> Callable[[Path], Path]:
    return lambda path: ros.write_bag(path, MESSAGES, compression, 1300)


WHOLE = {
    "zstd.mcap": mcap_file(CompressionType.ZSTD),
    "lz4.mcap": mcap_file(CompressionType.LZ4),
    "none.mcap": mcap_file(CompressionType.NONE),
    "bz2.bag": bag("bz2"),
    "lz4.bag": bag("lz4"),
    "none.bag": bag("none"),
}
PACKED = [name for name in WHOLE if name != "none.bag"]
"""Layouts with checksums: an uncompressed bag has none."""


@pytest.fixture(params=WHOLE)
def path(request, tmp_path) -> Path:
    return WHOLE[request.param](tmp_path / request.param)


def chunk_offsets(path: Path) -> list[int]:
    with (McapFile if path.suffix == ".mcap" else Ros1File)(path) as file:
        return [place.offset for place in file._layout.chunks]


def overwrite(path: Path, offset: int, content: bytes) -> None:
    damaged = bytearray(path.read_bytes())
    damaged[offset : offset + len(content)] = content
    path.write_bytes(damaged)


def played(path: Path, caplog, **options) -> tuple[list[int], list[str]]:
    """Numbers of the frames that a file yields, at their index and time, and the warnings about others."""
    caplog.clear()
    with caplog.at_level(logging.WARNING), open_source(path, **options) as source:
        frames = list(source)
    numbers = [TRUTH[np.rint(frame.depth_m * 1000).astype(np.uint16).tobytes()] for frame in frames]
    for frame, number in zip(frames, numbers, strict=True):
        assert frame.timestamp_s == pytest.approx(number / 30, abs=1e-8)
    return numbers, [record.getMessage() for record in caplog.records]


@pytest.mark.parametrize("name", PACKED)
def test_a_damaged_chunk_costs_its_own_frames_and_one_line(tmp_path, caplog, name):
    path = WHOLE[name](tmp_path / name)
    whole, said = played(path, caplog)
    assert (whole, said) == (list(range(COUNT)), [])
    offset = chunk_offsets(path)[4]
    overwrite(path, offset + 120, bytes(range(1, 41)))
    numbers, (line,) = played(path, caplog)
    (lost,) = set(whole) - set(numbers)
    assert f"{path}, byte {offset}: damaged recording (" in line
    assert line.endswith(f"; frame {lost} is left out")
    with open_source(path) as source:
        assert len(source) == COUNT
        assert [frame.index for frame in source] == numbers  # a frame keeps its index
        with pytest.raises(DamagedMessageError):
            source[lost]
        assert [frame.index for frame in SlicedSource(source, frame_step=2)] == [n for n in numbers if n % 2 == 0]


def test_adjacent_damaged_frames_are_one_warning(tmp_path, caplog):
    path = WHOLE["zstd.mcap"](tmp_path / "a.mcap")
    for offset in chunk_offsets(path)[3:6]:
        overwrite(path, offset + 120, bytes(range(1, 41)))
    numbers, (line,) = played(path, caplog)
    first, *_, last = sorted(set(range(COUNT)) - set(numbers))
    assert line.endswith(f"; frames {first} to {last} are left out")


@pytest.mark.parametrize("name", PACKED)
def test_the_first_chunk_may_be_damaged(tmp_path, caplog, name):
    path = WHOLE[name](tmp_path / name)
    overwrite(path, chunk_offsets(path)[0] + 120, bytes(range(1, 41)))
    numbers, (line,) = played(path, caplog)
    assert numbers == list(range(1, COUNT))
    assert "frame 0 is left out" in line


@pytest.mark.parametrize("length", [3, 300, 5000, 2**31])
def test_the_chunk_after_a_damaged_length_is_found(path, caplog, length):
    offset = chunk_offsets(path)[4]
    if path.suffix == ".mcap":
        overwrite(path, offset + 1, struct.pack("<Q", length))
    else:
        (header_bytes,) = struct.unpack_from("<I", path.read_bytes(), offset)
        overwrite(path, offset + 4 + header_bytes, struct.pack("<I", length))
    numbers, said = played(path, caplog)
    assert len(numbers) >= COUNT - 2
    assert len(said) <= 2
    assert "damaged at byte" in said[0]
    assert f"{len(numbers)} complete frame" in said[0] or "left out" in said[-1]


def test_the_chunk_after_a_damaged_header_is_found(path, caplog):
    overwrite(path, chunk_offsets(path)[4], b"\x46\xff\xff\xff" * 8)
    numbers, (line,) = played(path, caplog)
    assert len(numbers) == COUNT - 1
    assert "damaged at byte" in line
    assert f"{len(numbers)} complete frame" in line


def test_the_index_of_a_lost_chunk_is_not_taken_for_another_s(tmp_path, caplog):
    path = WHOLE["zstd.mcap"](tmp_path / "a.mcap")
    overwrite(path, chunk_offsets(path)[4], b"\x46")  # a record of unknown type and the same length
    numbers, (line,) = played(path, caplog)
    assert len(numbers) == COUNT - 1
    assert "damaged at byte" in line


@pytest.mark.parametrize("name", ["zstd.mcap", "bz2.bag"])
def test_a_cut_recording_plays_on_after_damage(tmp_path, caplog, name):
    """A recording without an index at its end."""
    path = WHOLE[name](tmp_path / name)
    offsets = chunk_offsets(path)
    overwrite(path, offsets[2], b"\x46\xff\xff\xff" * 8)
    path.write_bytes(path.read_bytes()[: offsets[7] + 100])
    numbers, (line,) = played(path, caplog)
    assert np.diff(numbers).tolist().count(2) == 1  # one is missing in the middle
    assert len(numbers) == numbers[-1] >= 5
    assert "100 bytes after byte" in line
    assert "the recording was not closed: " in line
    assert "; what is damaged at byte" in line
    assert f"{len(numbers)} complete frame" in line


@pytest.mark.parametrize("name", PACKED)
def test_damage_in_every_chunk_is_one_error(tmp_path, name):
    path = WHOLE[name](tmp_path / name)
    for offset in chunk_offsets(path):
        overwrite(path, offset + 120, bytes(range(1, 41)))
    with pytest.raises(FormatError, match="damaged recording"):
        open_source(path)


def test_a_damaged_attachment_is_skipped_with_a_warning(tmp_path):
    path = ros.write_mcap(tmp_path / "a.mcap", MESSAGES, chunk_size=1300)
    magic, rest = path.read_bytes()[:8], path.read_bytes()[8:]
    path.write_bytes(magic + b"\x09" + struct.pack("<Q", 20) + b"\xff" * 20 + rest)
    with McapFile(path) as file:
        assert not file.complete
        assert "what is damaged at byte 8 was skipped" in file.missing(COUNT)
        assert len(file.times_ns(ros.DEPTH)) == COUNT


def test_a_labelled_reader_reports_an_incomplete_file(tmp_path):
    path = WHOLE["zstd.mcap"](tmp_path / "a.mcap")
    overwrite(path, chunk_offsets(path)[4], b"\x46\xff\xff\xff" * 8)
    with RecordingReader(path, depth_topic=ros.DEPTH) as reader:
        assert not reader.complete
        assert f"{len(reader)} complete frame" in reader.missing


def test_one_file_of_a_folder_may_be_damaged(tmp_path, caplog):
    ros.write_mcap(tmp_path / "bag_0.mcap", MESSAGES[:12], chunk_size=1300)
    ros.write_mcap(tmp_path / "bag_1.mcap", MESSAGES[12:], chunk_size=1300)
    overwrite(tmp_path / "bag_0.mcap", chunk_offsets(tmp_path / "bag_0.mcap")[1], b"\x46\xff\xff\xff" * 8)
    numbers, lines = played(tmp_path, caplog)
    assert len(numbers) == COUNT - 1
    assert len(lines) == 2  # the other tells that files without metadata are played as one
    assert sum("bag_0.mcap: not closed or damaged; " in line for line in lines) == 1


@pytest.mark.parametrize("name", ["zstd.mcap", "lz4.mcap", "none.mcap", "bz2.bag"])
def test_no_damage_gives_a_wrong_frame_in_files_with_checksums(tmp_path, caplog, name):
    content = WHOLE[name](tmp_path / name).read_bytes()
    begin = 4200 if name.endswith(".bag") else 300
    rng = np.random.default_rng(1)
    path, damaged = tmp_path / f"damaged{Path(name).suffix}", []
    for _ in range(40):
        place, size = int(rng.integers(begin, len(content))), int(rng.integers(1, 200))
        path.write_bytes(content[:place] + rng.bytes(len(content[place : place + size])) + content[place + size :])
        with open_source(path) as source:
            images = [np.rint(frame.depth_m * 1000).astype(np.uint16).tobytes() for frame in source]
        assert set(images) <= TRUTH.keys()
        damaged.append(COUNT - len(set(images)))
    assert max(damaged) <= 3


def test_a_row_of_a_database_that_cannot_be_read_is_left_out(tmp_path, caplog):
    path = ros.write_db3(tmp_path / "a.db3", MESSAGES)
    with sqlite3.connect(path) as database:
        rows = database.execute("SELECT id FROM messages WHERE topic_id = 2 ORDER BY timestamp").fetchall()
        database.execute("UPDATE messages SET data = 'text' WHERE id = ?", rows[4])
    database.close()
    numbers, (line,) = played(path, caplog)
    assert numbers == [0, 1, 2, 3, 5, 6, 7, 8]
    assert line.endswith("frame 4 is left out")


@pytest.mark.parametrize("shift", range(-70, 10, 7))
def test_a_chunk_is_found_wherever_the_blocks_of_a_search_end(tmp_path, shift):
    path = WHOLE["zstd.mcap"](tmp_path / "a.mcap")
    first, second = chunk_offsets(path)[:2]
    chunk = path.read_bytes()[first:second]
    begin = (1 << 20) + shift
    path.write_bytes(bytes(begin) + chunk)
    with path.open("rb") as stream:
        size = path.stat().st_size
        assert next_chunk(stream, 0, size, _CHUNK_BEGIN, lambda at: _is_chunk(stream, at, size)) == begin
        assert next_chunk(stream, begin + 1, size, _CHUNK_BEGIN, lambda at: _is_chunk(stream, at, size)) is None
