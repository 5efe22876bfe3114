"""The stream that any program can send: read however it is cut into pieces, and refused when it is none."""

from __future__ import annotations

import json
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.sources.cameras.wire import LATEST_NS, MOST_HEADER_BYTES, WireError, WireReader, parse_header
from tests.depth_senders import HEIGHT, LENS, WIDTH, depth_mm_of, frame_bytes, header_line, stream_bytes, time_ns_of


class Pieces:
    """Hands a stream over in pieces of given sizes; a size of 0 is a moment without any."""

    def __init__(self, content, sizes=(1 << 30,)):
        self.content, self.sizes, self.at, self.turn = content, sizes, 0, 0

    def __call__(self, buffer, timeout_s):
        size = self.sizes[self.turn % len(self.sizes)]
        self.turn += 1
        if size == 0:
            return None
        piece = self.content[self.at : self.at + min(size, len(buffer))]
        buffer[: len(piece)] = piece
        self.at += len(piece)
        return len(piece)


def frames_of(pieces):
    reader = WireReader("camera:test", pieces)
    while reader.read_header(0) is None:
        pass
    frames = []
    while True:
        try:
            frame = reader.read(0)
        except EOFError:
            return frames
        if frame is not None:
            frames.append(frame)


def assert_is_frame(frame, index):
    np.testing.assert_array_equal(frame.depth, depth_mm_of(index))
    assert frame.depth.dtype == np.uint16
    assert (frame.time_ns, frame.since_epoch) == (time_ns_of(index), True)


@given(st.lists(st.integers(0, 3000), min_size=1, max_size=5).filter(any))
def test_frames_come_whole_however_the_stream_is_cut_into_pieces(sizes):
    frames = frames_of(Pieces(stream_bytes(3), sizes))
    assert len(frames) == 3
    for i, frame in enumerate(frames):
        assert_is_frame(frame, i)


def test_the_first_line_says_what_follows():
    header = parse_header(header_line())
    assert (header.width, header.height, header.intrinsics, header.depth_unit_m) == (WIDTH, HEIGHT, LENS, 0.001)
    assert header.frame_bytes == len(frame_bytes(0))


def test_a_finer_unit_gives_metres():
    (frame,) = frames_of(Pieces(header_line(depth_unit_m=0.00025) + frame_bytes(0)))
    np.testing.assert_allclose(frame.depth, depth_mm_of(0) * 0.00025, rtol=1e-6)
    assert frame.depth.dtype == np.float32


def test_a_time_of_0_is_none():
    (frame,) = frames_of(Pieces(header_line() + frame_bytes(0, time_ns=0)))
    assert (frame.time_ns, frame.since_epoch) == (None, False)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"width": 10**9}, "width: wanted a whole number from 1 to 8192, got 1e"),
        ({"height": 0}, "height: wanted a whole number"),
        ({"width": -1}, "width: wanted a whole number"),
        ({"width": 8192, "height": 8192}, "at most 16777216 pixels"),
        ({"width": 32.5}, "width: wanted a whole number"),
        ({"width": "32"}, "width: wanted a number in the first line, got 32"),
        ({"height": None}, "height: wanted a number in the first line, got None"),
        ({"fx": 0}, "focal lengths must be positive"),
        ({"fy": float("nan")}, "fy: wanted a number"),
        ({"cx": float("inf")}, "cx: wanted a number"),
        ({"cy": 10**400}, "cy: wanted a number"),
        ({"cy": True}, "cy: wanted a number"),
        ({"depth_unit_m": 0}, "depth_unit_m: wanted metres a grey level"),
        ({"depth_unit_m": [1]}, "depth_unit_m: wanted a number"),
    ],
)
def test_a_hostile_or_mistaken_header_is_told(changes, problem):
    with pytest.raises(WireError, match=problem):
        parse_header(header_line(**changes))


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r\n", b"\n", b"[1, 2]\n", b"\xff\xfe\x00\n", b"[" * 4000 + b"\n"])
def test_a_first_line_of_something_else_is_shown(line):
    with pytest.raises(WireError, match=r"wanted a first line of JSON with width, .*got b"):
        frames_of(Pieces(line))


def test_a_stream_without_a_first_line_is_not_read_for_ever():
    pieces = Pieces(b"x" * 10_000_000)
    with pytest.raises(WireError, match="wanted a first line of at most 4096 bytes, got b'xxx"):
        WireReader("camera:test", pieces).read_header(1)
    assert pieces.at == MOST_HEADER_BYTES + 1


def test_a_stream_cut_within_a_frame_or_its_first_line_is_told():
    whole = stream_bytes(2)
    with pytest.raises(WireError, match=f"cut in frame 1: 100 of {len(frame_bytes(0))} bytes came"):
        frames_of(Pieces(whole[: len(header_line()) + len(frame_bytes(0)) + 100]))
    with pytest.raises(WireError, match="ended within its first line"):
        frames_of(Pieces(whole[:20]))
    with pytest.raises(EOFError):
        frames_of(Pieces(b""))


def test_frames_of_another_size_than_the_first_line_says_are_noticed_by_their_times(caplog):
    first_line = header_line(width=WIDTH - 1)
    frames = b"".join(frame_bytes(i) for i in range(3))
    frames_of(Pieces(first_line + frames[: 2 * 1496]))
    assert re.search(r"camera:test: frame 1: .* days away from the last; is every frame 8 \+ 2 x 31 x 24", caplog.text)
    with pytest.raises(WireError, match=r"frame 0: wanted nanoseconds since 1970, got 2147483648000000000"):
        frames_of(Pieces(header_line() + frame_bytes(0, time_ns=LATEST_NS)))


@given(st.binary(max_size=4000), st.booleans())
def test_random_bytes_are_frames_or_one_line_and_never_anything_else(content, after_a_header):
    try:
        for frame in frames_of(Pieces((header_line() if after_a_header else b"") + content)):
            assert frame.depth.shape == (HEIGHT, WIDTH)
    except (WireError, EOFError):
        pass


@given(st.dictionaries(st.sampled_from(list(json.loads(header_line()))), st.floats() | st.integers() | st.text()))
def test_any_numbers_in_the_header_are_taken_or_refused(changes):
    try:
        header = parse_header(header_line(**changes))
    except WireError:
        return
    assert 0 < header.frame_bytes <= 8 + 2 * (1 << 24)
