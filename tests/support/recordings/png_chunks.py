"""Chunks of PNGs, whole or lying about their length."""

from __future__ import annotations

import struct
import zlib

SIGNATURE = b"\x89PNG\r\n\x1a\n"


def chunk(kind: bytes, content: bytes, length: int | None = None) -> bytes:
    """A chunk of right checksum, which says that it has a length, or another one."""
    size = len(content) if length is None else length
    return struct.pack(">I", size) + kind + content + struct.pack(">I", zlib.crc32(kind + content))
