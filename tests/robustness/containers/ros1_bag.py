"""Mutations inside a ROS 1 bag, and inside its chunks."""

from __future__ import annotations

import struct
from random import Random

from tests.robustness.containers.packing import pack, unpack
from tests.robustness.mutations import mutate, mutate_in_place

MAGIC = b"#ROSBAG V2.0\n"
_CHUNK, _INDEX = b"\x05", b"\x04"
_LENGTH = struct.Struct("<I")

Fields = list[tuple[bytes, bytes]]


def mutate_bag(rng: Random, content: bytes) -> bytes:
    """Mutate one record of a bag, or a record in one of its chunks, and correct lengths."""
    records = _split(content[len(MAGIC) :])
    chunks = [i for i, (fields, _) in enumerate(records) if dict(fields).get(b"op") == _CHUNK]
    chosen = rng.choice(chunks) if chunks and rng.random() < 0.7 else rng.randrange(len(records))
    fields, data = records[chosen]
    inside = chosen in chunks and rng.random() < 0.8
    records[chosen] = _mutate_chunk(rng, fields, data) if inside else _mutate_record(rng, fields, data)
    if rng.random() < 0.3:  # the reader then walks the chunks themselves
        records = [record for record in records if dict(record[0]).get(b"op") != _INDEX]
    return MAGIC + _joined(records)


def _mutate_chunk(rng: Random, fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    known = dict(fields)
    records = _split(unpack(known[b"compression"].decode(), data))
    chosen = rng.randrange(len(records))
    records[chosen] = _mutate_record(rng, *records[chosen])
    content, name = _joined(records), rng.choice(("none", "bz2", "lz4"))
    known |= {b"compression": name.encode(), b"size": _LENGTH.pack(len(content))}
    return list(known.items()), pack(name, content)


def _mutate_record(rng: Random, fields: Fields, data: bytes) -> tuple[Fields, bytes]:
    """Mutate the data of a record, or a field of its header."""
    change = rng.choice((mutate, mutate_in_place))
    if not fields or rng.random() < 0.5:
        return fields, change(rng, data)
    fields = list(fields)
    k = rng.randrange(len(fields))
    name, value = fields[k]
    if rng.random() < 0.1:
        del fields[k]
    elif rng.random() < 0.1:
        fields.insert(rng.randrange(len(fields)), (name, change(rng, value)))
    else:
        fields[k] = name, change(rng, value)
    return fields, data


def _split(content: bytes) -> list[tuple[Fields, bytes]]:
    """Records as their header fields and data."""
    records, at = [], 0
    while at < len(content):
        header, at = _block(content, at)
        data, at = _block(content, at)
        fields, place = [], 0
        while place < len(header):
            field, place = _block(header, place)
            name, _, value = field.partition(b"=")
            fields.append((name, value))
        records.append((fields, data))
    return records


def _block(content: bytes, at: int) -> tuple[bytes, int]:
    """Bytes after their length, and what follows them."""
    begin = at + _LENGTH.size
    end = begin + _LENGTH.unpack_from(content, at)[0]
    return content[begin:end], end


def _joined(records: list[tuple[Fields, bytes]]) -> bytes:
    pieces = []
    for fields, data in records:
        pairs = (name + b"=" + value for name, value in fields)
        header = b"".join(_LENGTH.pack(len(pair)) + pair for pair in pairs)
        pieces += [_LENGTH.pack(len(header)), header, _LENGTH.pack(len(data)), data]
    return b"".join(pieces)
