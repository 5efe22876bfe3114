"""Writes recordings of OpenNI, record by record, for tests."""

from __future__ import annotations

import struct
from pathlib import Path

import numpy as np

from tests.reference.recording.primesense_16z import encode_16z

FOV = (1.0144686707507438, 0.7898090692972045)
"""Field of view that the drivers of the Kinect and the Xtion report, radians."""


def text(words: str) -> bytes:
    return struct.pack("<I", len(words) + 1) + words.encode() + b"\0"


def record(kind: int, node: int, fields: bytes, payload: bytes = b"", wide: bool = True) -> bytes:
    fields = bytes(8 if wide else 4) + fields
    return struct.pack("<4sIIII", b"NIR\0", kind, node, 20 + len(fields), len(payload)) + fields + payload


def general(name: str, value: bytes) -> bytes:
    return text(name) + struct.pack("<I", len(value)) + value


def oni_bytes(
    depth_mm: np.ndarray,
    codec: bytes = b"16zT",
    mirrored: bool = False,
    times_us: list[int] | None = None,
    version: tuple[int, int, int] = (1, 0, 1),
    fov: tuple[float, float] | None = FOV,
    turned_at: int | None = None,
    pixel_format: int | None = None,
    crop: tuple[int, int, int, int] | None = None,
) -> bytes:
    """A recording of depth uint16 (N, H, W): a colour node first, then a depth node, its properties and frames.

    From frame ``turned_at`` on, counted from 1, the stream is mirrored the other way. OpenNI 2 adds a pixel format.
    ``crop`` is column, row, width and height of what is kept of each frame.
    """
    wide = version >= (1, 0, 1)

    def make(kind: int, node: int, fields: bytes, payload: bytes = b"") -> bytes:
        return record(kind, node, fields, payload, wide)

    count, height, width = depth_mm.shape
    times_us = times_us or [33_333 * k for k in range(1, count + 1)]
    parts = [struct.pack("<4sBBHIQI", b"NI10", *version, 0, times_us[-1], 3)]
    parts += [make(0x0D, 3, text("Image1") + struct.pack("<I4s", 3, b"JPEG") + bytes(20))]
    parts += [make(0x0D, 2, text("Depth1") + struct.pack("<I4s", 2, codec) + bytes(20))]
    parts += [make(0x06, 2, general("xnMapOutputMode", struct.pack("<III", width, height, 30)))]
    parts += [make(0x03, 2, general("xnMirror", struct.pack("<Q", mirrored)))]
    if pixel_format is not None:
        parts += [make(0x03, 2, general("oniPixelFormat", struct.pack("<Q", pixel_format)))]
    if fov is not None:
        parts += [make(0x06, 2, general("xnFOV", struct.pack("<dd", *fov)))]
    if crop is not None:
        col, row, crop_width, crop_height = crop
        parts += [make(0x06, 2, general("xnCropping", struct.pack("<IHHHH", 1, *crop)))]
        depth_mm = depth_mm[:, row : row + crop_height, col : col + crop_width]
    for number, (frame, time) in enumerate(zip(depth_mm, times_us, strict=True), 1):
        if number == turned_at:
            parts.append(make(0x03, 2, general("xnMirror", struct.pack("<Q", not mirrored))))
        payload = encode_16z(frame) if codec == b"16zT" else frame.astype("<u2").tobytes()
        parts.append(make(0x0A, 3, struct.pack("<QII", time, 1, number), b"\xff\xd8not a picture"))
        parts.append(make(0x0A, 2, struct.pack("<QII", time, 1, number), payload))
    return b"".join([*parts, make(0x0B, 0, b"")])


def write_oni(path: Path, *args, **named) -> Path:
    path.write_bytes(oni_bytes(*args, **named))
    return path
