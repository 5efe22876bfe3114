"""Mutations inside a PNG."""

from __future__ import annotations

import struct
import zlib
from random import Random

from tests.robustness.mutations import mutate, mutate_in_place

MAGIC = b"\x89PNG\r\n\x1a\n"


def mutate_png(rng: Random, content: bytes) -> bytes:
    """Mutate one chunk of a PNG, or its unpacked pixels, and correct the checksum."""
    chunks, at = [], len(MAGIC)
    while at + 12 <= len(content):
        (length,) = struct.unpack_from(">I", content, at)
        chunks.append((content[at + 4 : at + 8], content[at + 8 : at + 8 + length]))
        at += 12 + length
    chosen = rng.randrange(len(chunks))
    kind, body = chunks[chosen]
    if kind == b"IDAT" and rng.random() < 0.5:
        body = zlib.compress(mutate(rng, zlib.decompress(body)))
    else:
        body = rng.choice((mutate, mutate_in_place))(rng, body)
    chunks[chosen] = kind, body
    packed = (struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in chunks)
    return MAGIC + b"".join(packed)
