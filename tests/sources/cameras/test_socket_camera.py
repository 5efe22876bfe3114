"""Frames over TCP: who may send, and senders that end, stall, send other data or nothing."""

from __future__ import annotations

import logging
import re
import socket
import subprocess
import sys
import threading
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from posepipe.errors import FormatError, SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras import LiveSource
from posepipe.sources.cameras.socket import SocketCamera
from tests.support.commands import free_port
from tests.support.paths import EXAMPLES
from tests.support.recordings.depth_senders import (
    INTRINSICS,
    START_NS,
    STEP_NS,
    connect,
    depth_mm_of,
    frame_bytes,
    header_line,
    stream_bytes,
)

FEEDER = EXAMPLES / "feed_depth.py"


def send_each(port, *streams):
    """Connect, send and disconnect, once per stream, from a thread, as another program would."""

    def send():
        for content in streams:
            with connect(port) as sender:
                sender.sendall(content)

    thread = threading.Thread(target=send)
    thread.start()
    return thread


def listening_addresses(port):
    """Local addresses, hexadecimal as in the kernel's tables, with this listening port."""
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    rows = [line.split() for table in tables if table.exists() for line in table.read_text().splitlines()[1:]]
    return [row[1].split(":")[0] for row in rows if row[3] == "0A" and int(row[1].split(":")[1], 16) == port]


def test_frames_of_a_sender_come_with_its_times():
    port = free_port()
    sender = send_each(port, stream_bytes(40))
    with open_source(f"camera:socket:{port}", every_frame=True) as source:
        frames = list(islice(source, 40))
        assert source.intrinsics == INTRINSICS
        assert source.start_time_ns == START_NS
    sender.join()
    for i, frame in enumerate(frames):
        np.testing.assert_array_equal(np.rint(frame.depth_m * 1000), depth_mm_of(i))
        assert (frame.index, round(frame.timestamp_s * 1e9)) == (i, i * STEP_NS)


def test_only_this_computer_can_send():
    port = free_port()
    sender = send_each(port, stream_bytes(1))
    camera = SocketCamera("camera:socket", str(port))
    with LiveSource(camera) as source:
        next(iter(source))
        assert camera.address == ("127.0.0.1", port)
        if Path("/proc/net/tcp").exists():
            assert listening_addresses(port) == ["0100007F"]  # 127.0.0.1
    sender.join()
    assert listening_addresses(port) == []


def test_another_host_must_be_named_and_logs_a_warning(caplog):
    port = free_port()
    sender = send_each(port, stream_bytes(1))
    with open_source(f"camera:socket:0.0.0.0:{port}") as source:
        next(iter(source))
    sender.join()
    assert "whoever reaches it can send frames" in caplog.text


def test_a_returning_sender_is_accepted_again(caplog):
    port = free_port()
    later = header_line() + b"".join(frame_bytes(i) for i in range(10, 13))
    sender = send_each(port, stream_bytes(3), later)
    with open_source(f"camera:socket:{port}", every_frame=True) as source:
        frames = list(islice(source, 6))
    sender.join()
    assert [round(frame.timestamp_s * 1e9) // STEP_NS for frame in frames] == [0, 1, 2, 10, 11, 12]
    assert [frame.index for frame in frames] == [0, 1, 2, 3, 4, 5]
    assert "the sender went away; trying again, 1 of 5" in caplog.text


def test_after_a_sender_dies_in_a_frame_another_is_accepted(caplog):
    port = free_port()
    sender = send_each(port, stream_bytes(2)[:-7], stream_bytes(1))
    with open_source(f"camera:socket:{port}", every_frame=True) as source:
        frames = list(islice(source, 2))
    sender.join()
    assert [frame.index for frame in frames] == [0, 1]
    assert "the stream was cut in frame 1: 1537 of 1544 bytes came" in caplog.text


def test_a_sender_of_another_format_is_refused_for_the_next(caplog):
    port = free_port()
    wrong = (b"GET / HTTP/1.1\r\nHost: x\r\n\r\n", b"", header_line(width=10**9), header_line(fx=0.9))
    sender = send_each(port, *wrong, stream_bytes(1))
    with open_source(f"camera:socket:{port}") as source:
        assert next(iter(source)).index == 0
    sender.join()
    refused = [record.getMessage() for record in caplog.records if "was refused" in record.getMessage()]
    reasons = ("GET /", "sent nothing", "width", r"a sender from 127\.0\.0\.1 was refused: wanted .* got fx 0\.9, fy")
    assert all(re.search(what, line) for what, line in zip(reasons, refused, strict=True))


def test_a_silent_sender_is_dropped_for_the_next(monkeypatch):
    monkeypatch.setattr("posepipe.sources.cameras.socket.HEADER_WAIT_S", 0.5)
    port = free_port()
    sender = None
    silent = threading.Thread(target=lambda: connections.append(connect(port)))
    connections: list = []
    silent.start()
    try:
        sender = threading.Thread(target=lambda: (silent.join(), send_each(port, stream_bytes(1)).join()))
        sender.start()
        with open_source(f"camera:socket:{port}") as source:
            assert next(iter(source)).index == 0
    finally:
        sender.join()
        connections[0].close()


def test_a_stalled_sender_is_dropped(caplog):
    port = free_port()
    stalled: list = []

    def stall():
        stalled.append(connect(port))
        stalled[0].sendall(stream_bytes(1) + b"half a frame")

    stalling = threading.Thread(target=stall)
    stalling.start()
    with LiveSource(SocketCamera("camera:socket", str(port)), every_frame=True, stall_s=0.3) as source:
        frames = iter(source)
        next(frames)
        stalling.join()
        sender = send_each(port, stream_bytes(1))
        assert next(frames).index == 1
    sender.join()
    stalled[0].close()
    assert "no frame for 0.3 s" in caplog.text


def test_a_missing_sender_is_an_error_of_one_line(monkeypatch):
    monkeypatch.setattr("posepipe.sources.cameras.socket.SENDER_WAIT_S", 0.2)
    with pytest.raises(SourceError, match=r"^camera:socket:\d+: no sender came within 0.2 s$"):
        open_source(f"camera:socket:{free_port()}")


def test_a_sender_gone_for_good_is_an_error(monkeypatch):
    monkeypatch.setattr("posepipe.sources.cameras.socket.RETURN_WAIT_S", 0.1)
    port = free_port()
    sender = send_each(port, stream_bytes(1))
    with LiveSource(SocketCamera("camera:socket", str(port)), every_frame=True, pauses_s=(0, 0)) as source:
        frames = iter(source)
        next(frames)
        with pytest.raises(SourceError, match=r"no sender came back within 0.1 s"):
            next(frames)
    sender.join()


def test_closing_does_not_wait_for_a_sender():
    port = free_port()
    sender = send_each(port, stream_bytes(1))
    camera = SocketCamera("camera:socket", str(port))
    source = LiveSource(camera, every_frame=True)
    next(iter(source))
    sender.join()  # now it waits for the sender to come back
    source.close()
    assert source._thread is not None
    assert not source._thread.is_alive()
    assert camera._listener is None


@pytest.mark.parametrize("place", ["", "port", "70000", "-1", "1.5", "localhost:", "²"])
def test_an_invalid_port_is_one_line(place):
    with pytest.raises(SourceError, match="wanted camera:socket:PORT or camera:socket:HOST:PORT"):
        open_source(f"camera:socket:{place}")


def test_a_taken_port_and_a_foreign_host_are_one_line():
    taken = socket.create_server(("127.0.0.1", 0))
    with taken, pytest.raises(SourceError, match=r"cannot listen on 127\.0\.0\.1:"):
        open_source(f"camera:socket:{taken.getsockname()[1]}")
    with pytest.raises(SourceError, match=r"cannot listen on 192\.0\.2\.1:5555"):
        open_source("camera:socket:192.0.2.1:5555")


def test_a_calibration_for_another_size_is_an_error():
    port = free_port()
    sender = send_each(port, stream_bytes(1))
    with pytest.raises(FormatError, match="is for 640x480 pixels, the frames have 32x24"):
        open_source(f"camera:socket:{port}", camera="kinect-v1")
    sender.join()


def test_the_example_of_the_docs_feeds_a_socket(caplog):
    port = free_port()
    camera = SocketCamera("camera:socket", str(port))
    listening = threading.Event()

    class Told(logging.Handler):
        def emit(self, record):
            if "waiting for a sender" in record.getMessage():
                listening.set()

    logger = logging.getLogger("posepipe.sources.cameras.socket")
    logger.addHandler(handler := Told())
    caplog.set_level(logging.INFO)
    senders: list = []

    def start_example():
        listening.wait(5)
        senders.append(subprocess.Popen([sys.executable, FEEDER, str(port), "5"]))

    starting = threading.Thread(target=start_example)
    starting.start()
    try:
        with LiveSource(camera, every_frame=True) as source:
            frames = list(islice(source, 5))
    finally:
        logger.removeHandler(handler)
        starting.join()
    assert senders[0].wait(10) == 0
    assert [round(float(frame.depth_m.max()) * 1000) for frame in frames] == [1000, 1001, 1002, 1003, 1004]
