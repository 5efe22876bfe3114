"""Streams for pipes and sockets, and senders: frames with content that depends on their index."""

from __future__ import annotations

import json
import socket
import struct
import time

import numpy as np

from posepipe.camera import Intrinsics

WIDTH, HEIGHT = 32, 24
INTRINSICS = Intrinsics(28.0, 28.5, 15.5, 11.5)
START_NS = 1_700_000_000_123_456_789
STEP_NS = 33_333_333


def header_line(**changes: object) -> bytes:
    values = {"width": WIDTH, "height": HEIGHT, "fx": 28.0, "fy": 28.5, "cx": 15.5, "cy": 11.5, "depth_unit_m": 0.001}
    values.update(changes)
    return json.dumps({key: value for key, value in values.items() if value is not None}).encode() + b"\n"


def depth_mm_of(index: int, shape: tuple[int, int] = (HEIGHT, WIDTH)) -> np.ndarray:
    """Noise that depends on the index alone and is hard to compress."""
    return np.random.default_rng(index).integers(500, 9000, shape, dtype=np.uint16)


def time_ns_of(index: int) -> int:
    return START_NS + index * STEP_NS


def frame_bytes(index: int, shape: tuple[int, int] = (HEIGHT, WIDTH), time_ns: int | None = None) -> bytes:
    stamp = time_ns_of(index) if time_ns is None else time_ns
    return struct.pack("<Q", stamp) + depth_mm_of(index, shape).astype("<u2").tobytes()


def stream_bytes(count: int) -> bytes:
    return header_line() + b"".join(frame_bytes(i) for i in range(count))


def connect(port: int) -> socket.socket:
    """Connect as soon as the port listens."""
    deadline = time.monotonic() + 60
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port))
        except ConnectionRefusedError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.01)
