"""Frames through a named pipe, a file or standard input."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.errors import FormatError, SourceError
from posepipe.sources import open_source
from tests.support.paths import EXAMPLES
from tests.support.recordings.depth_senders import (
    HEIGHT,
    INTRINSICS,
    START_NS,
    STEP_NS,
    WIDTH,
    depth_mm_of,
    frame_bytes,
    header_line,
    stream_bytes,
)

if os.name == "nt":
    pytest.skip("pipes are not read on Windows", allow_module_level=True)

FEEDER = EXAMPLES / "feed_depth.py"


@pytest.fixture
def pipe(tmp_path):
    path = tmp_path / "depth.pipe"
    os.mkfifo(path)
    return path


def write(path, *pieces):
    """Write to a pipe from a thread, as another program would; a float is a pause, seconds."""

    def send():
        with open(path, "wb", buffering=0) as stream:
            for piece in pieces:
                if isinstance(piece, float):
                    time.sleep(piece)
                else:
                    stream.write(piece)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def test_every_frame_of_a_pipe_comes_and_then_the_source_ends(pipe):
    sender = write(pipe, stream_bytes(200))
    with open_source(f"camera:pipe:{pipe}", every_frame=True) as source:
        assert (source.name, source.intrinsics) == (f"camera:pipe:{pipe}", INTRINSICS)
        assert source.shape == (HEIGHT, WIDTH)
        assert source.start_time_ns == START_NS
        frames = list(source)
    sender.join()
    assert [frame.index for frame in frames] == list(range(200))
    for frame in frames:
        np.testing.assert_array_equal(np.rint(frame.depth_m * 1000), depth_mm_of(frame.index))
        assert START_NS + round(frame.timestamp_s * 1e9) == START_NS + frame.index * STEP_NS


def test_a_file_of_frames_plays_whole_however_slow_the_reader(tmp_path):
    path = tmp_path / "kept.bin"
    path.write_bytes(stream_bytes(60))
    with open_source(f"camera:pipe:{path}") as source:
        indices = []
        for frame in source:
            time.sleep(0.001)
            indices.append(frame.index)
    assert indices == list(range(60))


def test_a_reader_slower_than_a_pipe_gets_the_newest_frame(pipe):
    sender = write(pipe, stream_bytes(30))
    with open_source(f"camera:pipe:{pipe}") as source:
        _ = source.start_time_ns
        sender.join()
        deadline = time.monotonic() + 5
        while source.dropped < 29 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [frame.index for frame in source] == [29]
        assert source.dropped == 29


def test_a_late_sender_is_awaited(pipe):
    sender = write(pipe, 0.3, stream_bytes(0), 0.2, frame_bytes(0))
    with open_source(f"camera:pipe:{pipe}") as source:
        assert [frame.index for frame in source] == [0]
    sender.join()


def test_a_cut_stream_gives_its_whole_frames_and_then_one_line(tmp_path):
    path = tmp_path / "cut.bin"
    path.write_bytes(stream_bytes(3)[:-100])
    with open_source(f"camera:pipe:{path}") as source:
        frames = iter(source)
        assert [next(frames).index, next(frames).index] == [0, 1]
        with pytest.raises(FormatError, match=f"^camera:pipe:{path}: the stream was cut in frame 2: 1444 of 1544"):
            next(frames)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "empty: the sender ended before it sent anything"),
        (b'{"width": 3', "ended within its first line"),
        (b"hello\n", "wanted a first line of JSON"),
        (os.urandom(20000), "first line"),
        (bytes(20000), "first line"),
    ],
)
def test_files_of_another_format_are_one_line(tmp_path, content, problem):
    (tmp_path / "thing").write_bytes(content)
    with pytest.raises(FormatError, match=problem):
        open_source(f"camera:pipe:{tmp_path / 'thing'}")


def test_endless_zeros_are_refused_early():
    with pytest.raises(FormatError, match="wanted a first line of at most"):
        open_source("camera:pipe:/dev/zero")


def test_invalid_paths_are_one_line(tmp_path):
    for path, problem in ((tmp_path / "nothing", "No such file"), (tmp_path, "is a folder"), ("", "which pipe")):
        with pytest.raises(SourceError, match=problem):
            open_source(f"camera:pipe:{path}")


def test_a_silent_sender_is_an_error(pipe, monkeypatch):
    monkeypatch.setattr("posepipe.sources.cameras.pipe.SENDER_WAIT_S", 0.2)
    with pytest.raises(SourceError, match=r"no header came within 0.2 s$"):
        open_source(f"camera:pipe:{pipe}")


def test_a_given_calibration_replaces_the_senders_own(tmp_path):
    path, other = tmp_path / "kept.bin", Intrinsics(40, 40, 15, 11)
    path.write_bytes(stream_bytes(1))
    write_camera_file(tmp_path / "right.json", CameraFile(WIDTH, HEIGHT, other, 0.001, 30))
    with open_source(f"camera:pipe:{path}", camera=tmp_path / "right.json") as source:
        assert next(iter(source)).intrinsics == other
    with pytest.raises(FormatError, match="is for 640x480 pixels, the frames have 32x24"):
        open_source(f"camera:pipe:{path}", camera="kinect-v1")


def test_a_sender_with_an_implausible_lens_is_refused(tmp_path):
    path = tmp_path / "kept.bin"
    path.write_bytes(header_line(fx=0.9, fy=0.9))
    with pytest.raises(FormatError, match=rf"^camera:pipe:{path}: wanted focal lengths .*got fx 0\.9, fy 0\.9"):
        open_source(f"camera:pipe:{path}")


def test_standard_input_is_a_pipe_too(tmp_path):
    take = (
        "from posepipe.sources import open_source\n"
        "with open_source('camera:pipe:-', every_frame=True) as source:\n"
        "    print(sum(1 for _ in source))"
    )
    done = subprocess.run([sys.executable, "-c", take], input=stream_bytes(9), capture_output=True, check=True)
    assert done.stdout.split() == [b"9"]


def test_the_example_of_the_docs_feeds_a_pipe(pipe):
    sender = subprocess.Popen([sys.executable, FEEDER, pipe, "5"])
    with open_source(f"camera:pipe:{pipe}", every_frame=True) as source:
        assert [round(float(frame.depth_m.max()) * 1000) for frame in source] == [1000, 1001, 1002, 1003, 1004]
    assert sender.wait(10) == 0


def test_the_example_is_short():
    assert len(FEEDER.read_text().splitlines()) <= 25
