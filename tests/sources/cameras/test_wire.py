"""The byte stream of depth frames: read in pieces of any size, and refused when invalid."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.camera.camera_file import CameraFile
from posepipe.sources.cameras.wire import MAX_HEADER_BYTES, MAX_TIME_NS, WireError, WireReader, parse_header
from tests.support.recordings.depth_senders import (
    HEIGHT,
    INTRINSICS,
    WIDTH,
    depth_mm_of,
    frame_bytes,
    header_line,
    stream_bytes,
    time_ns_of,
)


class Pieces:
    """Delivers a stream in pieces of given sizes; size 0 is a timeout."""

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
def test_frames_are_whole_whatever_the_pieces_of_the_stream(sizes):
    frames = frames_of(Pieces(stream_bytes(3), sizes))
    assert len(frames) == 3
    for i, frame in enumerate(frames):
        assert_is_frame(frame, i)


def test_the_first_line_says_what_follows():
    header = parse_header(header_line())
    assert (header.width, header.height, header.intrinsics, header.depth_unit_m) == (WIDTH, HEIGHT, INTRINSICS, 0.001)
    assert header.frame_bytes == len(frame_bytes(0))


def test_a_finer_unit_gives_metres():
    (frame,) = frames_of(Pieces(header_line(depth_unit_m=0.00025) + frame_bytes(0)))
    np.testing.assert_allclose(frame.depth, depth_mm_of(0) * 0.00025, rtol=1e-6)
    assert frame.depth.dtype == np.float32


def test_a_time_of_0_means_no_time():
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
        ({"depth_unit_m": 0}, "depth_unit_m: wanted metres per grey level"),
        ({"depth_unit_m": [1]}, "depth_unit_m: wanted a number"),
    ],
)
def test_a_hostile_or_wrong_header_is_an_error(changes, problem):
    with pytest.raises(WireError, match=problem):
        parse_header(header_line(**changes))


def test_lens_distortion_is_refused_or_told(caplog):
    header = parse_header(header_line(D=[0.1, 0, 0, 0, 0]))
    with pytest.raises(WireError, match=r"^D: lens distortion is not removed; .* give --camera"):
        header.intrinsics_or(None, "camera:pipe:-")
    own = CameraFile(WIDTH, HEIGHT, INTRINSICS, 0.001, 30.0)
    assert header.intrinsics_or(own, "camera:pipe:-") == INTRINSICS
    assert caplog.messages == ["camera:pipe:-: calibration from camera.json; images are not undistorted"]
    assert parse_header(header_line(D=[0, 0, 0, 0, 0])).intrinsics_or(None, "camera:pipe:-") == INTRINSICS


def test_a_header_of_any_depth_is_read_or_refused():
    for depth in (900, 990, 1900):  # some versions of Python read deeper JSON than they call functions
        deep = b"[" * depth + b"0.1" + b"]" * depth
        try:
            assert parse_header(header_line(D=0).replace(b'"D": 0', b'"D": ' + deep)).distortion == "D"
        except WireError as error:
            assert "wanted a first line of JSON" in str(error)  # noqa: PT017 - deeper than Python reads


@pytest.mark.parametrize("focal", [0.9, 3.1, 641, 99999, 1e-310])
def test_an_implausible_lens_is_refused_unless_it_is_replaced(focal):
    header = parse_header(header_line(fx=focal))
    with pytest.raises(WireError, match=rf"wanted .* 3\.2 to 640 pixels .*got fx {focal:g}, .*correct the sender"):
        header.intrinsics_or(None, "camera:pipe:-")
    own = CameraFile(WIDTH, HEIGHT, INTRINSICS, 0.001, 30.0)
    assert (
        header.intrinsics_or(own, "camera:pipe:-")
        == parse_header(header_line()).intrinsics_or(None, "camera:pipe:-")
        == INTRINSICS
    )


@pytest.mark.parametrize("line", [b"GET / HTTP/1.1\r\n", b"\n", b"[1, 2]\n", b"\xff\xfe\x00\n", b"[" * 4000 + b"\n"])
def test_an_invalid_first_line_is_quoted(line):
    with pytest.raises(WireError, match=r"wanted a first line of JSON with width, .*got b"):
        frames_of(Pieces(line))


def test_a_stream_without_a_first_line_is_refused_early():
    pieces = Pieces(b"x" * 10_000_000)
    with pytest.raises(WireError, match="wanted a first line of at most 4096 bytes, got b'xxx"):
        WireReader("camera:test", pieces).read_header(1)
    assert pieces.at == MAX_HEADER_BYTES + 1


def test_a_stream_cut_in_a_frame_or_its_header_is_an_error():
    whole = stream_bytes(2)
    with pytest.raises(WireError, match=f"cut in frame 1: 100 of {len(frame_bytes(0))} bytes came"):
        frames_of(Pieces(whole[: len(header_line()) + len(frame_bytes(0)) + 100]))
    with pytest.raises(WireError, match="ended within its first line"):
        frames_of(Pieces(whole[:20]))
    with pytest.raises(EOFError):
        frames_of(Pieces(b""))


def pictures_of(scene, shape):
    """Four images, millimetres: noise, a wall, a cut-out person, or zeros only."""
    for i in range(4):
        depth_mm = np.zeros(shape, "<u2")
        if scene == "noise":
            depth_mm = depth_mm_of(i, shape).astype("<u2")
        elif scene == "wall":
            depth_mm[:] = 1500
        elif scene == "cut out":
            depth_mm[shape[0] // 4 :, shape[1] // 3 : shape[1] // 2] = 2000 + i
        yield depth_mm


def sent(scene, shape, times_ns):
    pictures = pictures_of(scene, shape)
    return b"".join(struct.pack("<Q", time) + depth.tobytes() for time, depth in zip(times_ns, pictures, strict=True))


TIMES_NS = [time_ns_of(i) for i in range(4)]
OTHER_SHAPES = [(HEIGHT, WIDTH - 1), (HEIGHT + 1, WIDTH), (2 * HEIGHT, 2 * WIDTH), (HEIGHT // 2, WIDTH), (3, 5)]


@pytest.mark.parametrize("shape", OTHER_SHAPES)
@pytest.mark.parametrize("scene", ["noise", "wall", "cut out", "nothing"])
def test_images_of_another_size_end_the_stream_at_frame_1(scene, shape):
    reader = WireReader("camera:test", Pieces(header_line() + sent(scene, shape, TIMES_NS) * 30))
    reader.read_header(0)
    reader.read(0)  # its time is right, whatever follows
    with pytest.raises(WireError, match=r"frame 1: wanted (a|nanosec).*is every frame 8 \+ 2 x 32 x 24 bytes\?"):
        reader.read(0)


@pytest.mark.parametrize("shape", OTHER_SHAPES)
@pytest.mark.parametrize("scene", ["noise", "wall", "cut out", "nothing"])
def test_images_of_another_size_without_times_end_the_stream(scene, shape):
    with pytest.raises(WireError, match=r"frame \d+: wanted (0|nanosec)|cut in frame .* is every frame 8 \+"):
        frames_of(Pieces(header_line() + sent(scene, shape, [0] * 4)))


def test_a_time_after_2038_is_refused():
    with pytest.raises(WireError, match=r"frame 0: wanted nanoseconds since 1970, got 2147483648000000000"):
        frames_of(Pieces(header_line() + frame_bytes(0, time_ns=MAX_TIME_NS)))


def test_one_jump_of_days_is_a_warning_and_a_second_an_error(caplog):
    day_ns = 86_400 * 10**9
    times_ns = [TIMES_NS[0] - 200 * day_ns, *TIMES_NS[1:]]
    assert len(frames_of(Pieces(header_line() + sent("wall", (HEIGHT, WIDTH), times_ns)))) == 4
    (record,) = caplog.records
    assert "frame 1: its time is days after the last; is every frame" in record.getMessage()
    twice = [TIMES_NS[0], TIMES_NS[0] + 2 * day_ns, TIMES_NS[0] + 4 * day_ns, TIMES_NS[0] + 6 * day_ns]
    with pytest.raises(WireError, match="frame 2: wanted a time like"):
        frames_of(Pieces(header_line() + sent("wall", (HEIGHT, WIDTH), twice)))


def test_a_clock_set_back_by_hours_is_accepted(caplog):
    times_ns = [TIMES_NS[0], TIMES_NS[1] - 7200 * 10**9, *TIMES_NS[2:]]
    assert len(frames_of(Pieces(header_line() + sent("noise", (HEIGHT, WIDTH), times_ns)))) == 4
    assert not caplog.records


@given(st.binary(max_size=4000), st.booleans())
def test_random_bytes_are_frames_or_a_wire_error(content, after_a_header):
    try:
        for frame in frames_of(Pieces((header_line() if after_a_header else b"") + content)):
            assert frame.depth.shape == (HEIGHT, WIDTH)
    except (WireError, EOFError):
        pass


@given(st.dictionaries(st.sampled_from(list(json.loads(header_line()))), st.floats() | st.integers() | st.text()))
def test_any_header_numbers_are_accepted_or_refused(changes):
    try:
        header = parse_header(header_line(**changes))
    except WireError:
        return
    assert 0 < header.frame_bytes <= 8 + 2 * (1 << 24)
