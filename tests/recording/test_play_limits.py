"""Reading on through a recording unpacks no more than the sizes of the file and of its messages justify."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.io import limits
from posepipe.recording import McapFile
from posepipe.sources import open_source
from tests.support.recordings import ros_writers as ros

COUNT = 12
FILLER_BYTES = 1 << 20
STEP_NS = 10**9 // 30


@pytest.fixture(autouse=True)
def few_free_bytes(monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 5 * FILLER_BYTES)


def depth(index: int, place: int | None = None) -> ros.Message:
    return ros.image(ros.depth_mm(index), ros.START_NS + (index if place is None else place) * STEP_NS)


def filler(index: int) -> ros.Message:
    """A message that takes no space, packed, and closes its chunk."""
    return ros.text(" " * FILLER_BYTES, "/note", ros.START_NS + index * STEP_NS)


def write(path: Path, messages: list[ros.Message]) -> Path:
    return ros.write_mcap(path, [ros.camera_info(), *messages], chunk_size=FILLER_BYTES)


@pytest.fixture
def padded(tmp_path) -> Path:
    """One frame in each chunk of a megabyte."""
    return write(tmp_path / "a.mcap", [message for i in range(COUNT) for message in (depth(i), filler(i))])


def test_chunks_without_frames_end_the_playing(padded):
    with open_source(padded) as source:
        frames = iter(source)
        assert [next(frames).index for _ in range(7)] == list(range(7))  # the first chunk was unpacked before
        with pytest.raises(FormatError, match=rf"a\.mcap: {ros.DEPTH}, message 7: unpacked 6 MB for \d+ bytes"):
            next(frames)


def test_any_number_of_jumps_back_is_read(padded):
    with McapFile(padded) as file:
        for index in [*range(COUNT)[::-1]] * 3:
            file.message(ros.DEPTH, index)


def test_chunks_that_alternate_end_the_playing(tmp_path):
    even, odd = ([depth(i) for i in range(start, 2 * COUNT, 2)] for start in (0, 1))
    path = write(tmp_path / "a.mcap", [*even, filler(0), *odd, filler(1)])
    with McapFile(path) as file:
        for index in range(6):
            file.message(ros.DEPTH, index)
        with pytest.raises(FormatError, match="message 6: unpacked 6 MB"):
            file.message(ros.DEPTH, 6)


def test_a_covered_camera_is_played_to_the_end(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_BYTES", 0)
    dark = np.zeros((240, 320), np.uint16)
    messages = [ros.image(dark, ros.START_NS + i * STEP_NS) for i in range(COUNT)]
    info = ros.camera_info(camera=ros.CAMERA.scaled(20), shape=dark.shape)
    path = ros.write_mcap(tmp_path / "a.mcap", [info, *messages], chunk_size=dark.nbytes // 2)
    assert COUNT * dark.nbytes > limits.MAX_RATIO * path.stat().st_size
    with open_source(path) as source:
        assert len(list(source)) == COUNT
