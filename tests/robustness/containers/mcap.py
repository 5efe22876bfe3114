"""Mutations inside an MCAP file, and inside its chunks."""

from __future__ import annotations

import struct
import zlib
from random import Random

from tests.robustness.containers.packing import pack, unpack
from tests.robustness.mutations import mutate, mutate_in_place

MAGIC = b"\x89MCAP0\r\n"
_CHUNK, _INDEX, _FOOTER, _DATA_END = 0x06, 0x07, 0x02, 0x0F


def mutate_mcap(rng: Random, content: bytes) -> bytes:
    """Mutate one record of an MCAP file, or the records in one of its chunks, and correct lengths and checksums."""
    records, at = [], len(MAGIC)
    while at + 9 <= len(content) - len(MAGIC):
        opcode, length = struct.unpack_from("<BQ", content, at)
        records.append((opcode, content[at + 9 : at + 9 + length]))
        at += 9 + length
    chunks = [i for i, (opcode, _) in enumerate(records) if opcode == _CHUNK]
    chosen = rng.choice(chunks) if chunks and rng.random() < 0.7 else rng.randrange(len(records))
    opcode, body = records[chosen]
    records[chosen] = opcode, _mutate_chunk(rng, body) if opcode == _CHUNK else mutate(rng, body)
    if rng.random() < 0.3:  # the reader then walks the chunks themselves
        records = [record for record in records if record[0] not in (_INDEX, _FOOTER, _DATA_END)]
    return MAGIC + b"".join(struct.pack("<BQ", o, len(b)) + b for o, b in records) + MAGIC


def _mutate_chunk(rng: Random, body: bytes) -> bytes:
    first, last, _, _, name_bytes = struct.unpack_from("<QQQII", body)
    begin = 32 + name_bytes
    records = unpack(body[32:begin].decode(), body[begin + 8 :])
    records = rng.choice((mutate, mutate_in_place))(rng, records)
    name = rng.choice(("", "zstd", "lz4"))
    packed = pack(name, records)
    head = struct.pack("<QQQII", first, last, len(records), zlib.crc32(records), len(name))
    return head + name.encode() + struct.pack("<Q", len(packed)) + packed
