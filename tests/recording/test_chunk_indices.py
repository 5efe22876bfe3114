"""The index of a recording takes little memory while it grows, and is the one that the library writes."""

from __future__ import annotations

import tracemalloc

import numpy as np
import pytest
from mcap.reader import make_reader
from mcap.records import ChunkIndex

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingWriter, writer
from posepipe.recording.containers.chunk_indices import ChunkIndices

CAMERA = Intrinsics(40.0, 40.0, 15.5, 11.5)


def index(k: int) -> ChunkIndex:
    return ChunkIndex(
        chunk_length=500 + k,
        chunk_start_offset=1 << 40 | k,
        compression="zstd",
        compressed_size=400 + k,
        message_end_time=(1 << 61) + k,
        message_index_length=60,
        message_index_offsets={channel: (1 << 40) + k + channel for channel in range(1, 1 + k % 4)},
        message_start_time=(1 << 61) - k,
        uncompressed_size=9000 + k,
    )


def record(path, frames: int) -> None:
    with RecordingWriter(path, CAMERA, 24, 32) as recording:
        for k in range(frames):
            depth_m = np.full((24, 32), 2 + k / 1000, np.float32)
            recording.write(DepthFrame(depth_m=depth_m, intrinsics=CAMERA, timestamp_s=k / 30, index=k))


def test_indexes_come_back_as_they_were():
    indices = ChunkIndices("zstd")
    for k in range(9):
        indices.append(index(k))
    assert list(indices) == [index(k) for k in range(9)]


def test_recordings_are_those_of_the_library_alone(tmp_path, monkeypatch):
    record(tmp_path / "packed.mcap", 30)
    monkeypatch.setattr(writer, "keep_chunk_indices_packed", lambda *_: None)
    record(tmp_path / "own.mcap", 30)
    assert (tmp_path / "packed.mcap").read_bytes() == (tmp_path / "own.mcap").read_bytes()
    with (tmp_path / "packed.mcap").open("rb") as stream:
        assert len(make_reader(stream).get_summary().chunk_indexes) == 30


def test_a_frame_costs_the_recording_little_memory(tmp_path, monkeypatch):
    def growth(name: str) -> float:
        """Bytes that a frame leaves in memory while the recording is open."""
        with RecordingWriter(tmp_path / name, CAMERA, 24, 32) as recording:
            tracemalloc.start()
            for k in range(2000):
                if k == 500:
                    before = tracemalloc.get_traced_memory()[0]
                depth_m = np.full((24, 32), 2, np.float32)
                recording.write(DepthFrame(depth_m=depth_m, intrinsics=CAMERA, timestamp_s=k / 30, index=k))
            after = tracemalloc.get_traced_memory()[0]
            tracemalloc.stop()
        return (after - before) / 1500

    assert growth("packed.mcap") < 250
    monkeypatch.setattr(writer, "keep_chunk_indices_packed", lambda *_: None)
    assert growth("own.mcap") > 500  # what is packed is what grows


@pytest.mark.parametrize("frames", [0, 1])
def test_short_recordings_too(tmp_path, frames):
    record(tmp_path / "short.mcap", frames)
    assert (tmp_path / "short.mcap").exists() == bool(frames)
