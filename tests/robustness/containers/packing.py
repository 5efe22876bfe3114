"""Compression of chunks, by its name in the formats of ROS."""

from __future__ import annotations

import bz2

import lz4.frame
import zstandard


def unpack(compression: str, data: bytes) -> bytes:
    """Decompress a chunk; an unknown compression is none."""
    if compression == "zstd":
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 26)
    if compression == "bz2":
        return bz2.decompress(data)
    return lz4.frame.decompress(data) if compression == "lz4" else data


def pack(compression: str, data: bytes) -> bytes:
    """Compress a chunk; an unknown compression is none."""
    if compression == "zstd":
        return zstandard.compress(data)
    if compression == "bz2":
        return bz2.compress(data)
    return lz4.frame.compress(data) if compression == "lz4" else data
