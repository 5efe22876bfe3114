"""Mutations that keep a container whole: inside its compression and its checksums."""

from __future__ import annotations

import json
import sqlite3
import struct
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from random import Random

import lz4.frame
import numpy as np
import zstandard

from tests.robustness.mutations import FLOATS, WHOLE, mutate, mutate_in_place

_PNG, _MCAP, _ZIP, _SQLITE = b"\x89PNG\r\n\x1a\n", b"\x89MCAP0\r\n", b"PK\x03\x04", b"SQLite format 3\0"
_DTYPES = ("<u1", "<i1", ">u2", "<i4", "<i8", "<f2", "<f4", ">f4", "<f8", "<c8", "?", "U3", "S3", "M8[s]")
_CHUNK, _INDEX, _FOOTER, _DATA_END = 0x06, 0x07, 0x02, 0x0F


def mutate_file(rng: Random, content: bytes) -> bytes:
    """Mutate a file: inside its container two times of three, its bytes otherwise."""
    inside = next((change for magic, change in CONTAINERS.items() if content.startswith(magic)), None)
    return mutate(rng, content) if inside is None or rng.random() < 0.34 else inside(rng, content)


def mutate_png(rng: Random, content: bytes) -> bytes:
    """Mutate one chunk of a PNG, or its unpacked pixels, and correct the checksum."""
    chunks, at = [], len(_PNG)
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
    return _PNG + b"".join(packed)


def mutate_mcap(rng: Random, content: bytes) -> bytes:
    """Mutate one record of an MCAP file, or the records in one of its chunks, and correct lengths and checksums."""
    records, at = [], len(_MCAP)
    while at + 9 <= len(content) - len(_MCAP):
        opcode, length = struct.unpack_from("<BQ", content, at)
        records.append((opcode, content[at + 9 : at + 9 + length]))
        at += 9 + length
    chunks = [i for i, (opcode, _) in enumerate(records) if opcode == _CHUNK]
    chosen = rng.choice(chunks) if chunks and rng.random() < 0.7 else rng.randrange(len(records))
    opcode, body = records[chosen]
    records[chosen] = opcode, _mutate_chunk(rng, body) if opcode == _CHUNK else mutate(rng, body)
    if rng.random() < 0.3:  # the reader then walks the chunks themselves
        records = [record for record in records if record[0] not in (_INDEX, _FOOTER, _DATA_END)]
    return _MCAP + b"".join(struct.pack("<BQ", o, len(b)) + b for o, b in records) + _MCAP


def _mutate_chunk(rng: Random, body: bytes) -> bytes:
    first, last, _, _, name_bytes = struct.unpack_from("<QQQII", body)
    begin = 32 + name_bytes
    records = _unpack(body[32:begin].decode(), body[begin + 8 :])
    records = rng.choice((mutate, mutate_in_place))(rng, records)
    name = rng.choice(("", "zstd", "lz4"))
    packed = _pack(name, records)
    head = struct.pack("<QQQII", first, last, len(records), zlib.crc32(records), len(name))
    return head + name.encode() + struct.pack("<Q", len(packed)) + packed


def _unpack(compression: str, data: bytes) -> bytes:
    if compression == "zstd":
        return zstandard.ZstdDecompressor().decompress(data, max_output_size=1 << 26)
    return lz4.frame.decompress(data) if compression == "lz4" else data


def _pack(compression: str, data: bytes) -> bytes:
    if compression == "zstd":
        return zstandard.compress(data)
    return lz4.frame.compress(data) if compression == "lz4" else data


def mutate_npz(rng: Random, content: bytes) -> bytes:
    """Mutate the arrays of an .npz, or the bytes of its members, and write the archive again."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        members = {info.filename: archive.read(info) for info in archive.infolist()}
    for _ in range(rng.choice((1, 1, 2))):
        name = rng.choice(list(members))
        if rng.random() < 0.1:
            members[rng.choice(list(members))] = members.pop(name)
        else:
            members[name] = _mutate_member(rng, members[name])
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))) as archive:
        for name, member in members.items():
            archive.writestr(name, member)
    return packed.getvalue()


def _mutate_member(rng: Random, content: bytes) -> bytes:
    """Mutate one array, or its bytes and header."""
    if rng.random() < 0.25:
        return mutate(rng, content)
    try:
        return _npy(_mutate_array(rng, np.load(BytesIO(content), allow_pickle=False)))
    except Exception:  # an earlier mutation damaged its header; NumPy parses it as Python
        return mutate(rng, content)


def _npy(array: np.ndarray) -> bytes:
    stream = BytesIO()
    np.save(stream, array, allow_pickle=False)
    return stream.getvalue()


def _mutate_array(rng: Random, array: np.ndarray) -> np.ndarray:
    if array.dtype == np.uint8 and array.ndim == 1 and array[:1].tobytes() == b"{" and rng.random() < 0.9:
        return np.frombuffer(_mutate_json(rng, array.tobytes()), np.uint8)
    return rng.choice((_set_elements, _set_elements, _other_dtype, _other_shape, _other_order))(rng, array)


def _mutate_json(rng: Random, content: bytes) -> bytes:
    """Mutate one value of a JSON object, at any depth, or its text."""
    if rng.random() < 0.5:
        return mutate(rng, content)
    data = json.loads(content)
    place = data
    while True:
        keys = list(place) if isinstance(place, dict) else list(range(len(place)))
        key = rng.choice(keys)
        if not isinstance(place[key], dict | list) or not place[key] or rng.random() < 0.3:
            break
        place = place[key]
    place[key] = rng.choice((None, True, -1, 0, 2**31, 2**64, 10**400, 1e308, float("nan"), "", "x", [], {}, [[1]]))
    return json.dumps(data).encode()


def _set_elements(rng: Random, array: np.ndarray) -> np.ndarray:
    array = np.array(array)
    for _ in range(min(array.size, rng.choice((1, 1, 3, 100)))):
        value = rng.choice((*WHOLE, *FLOATS, -1, -2))
        if array.dtype.kind == "f":
            with np.errstate(all="ignore"):
                array.flat[rng.randrange(array.size)] = np.float64(value).astype(array.dtype)
        elif array.dtype.kind in "iu":
            bits = 8 * array.dtype.itemsize
            whole = int(value) % (1 << bits) if np.isfinite(value) else 0
            low = 1 << (bits - 1) if array.dtype.kind == "i" else 1 << bits
            array.flat[rng.randrange(array.size)] = whole if whole < low else whole - (1 << bits)
        elif array.dtype.kind == "U":
            array.flat[rng.randrange(array.size)] = rng.choice(("", "x", "\x1b[2J", "\ud800"))
    return array


def _other_dtype(rng: Random, array: np.ndarray) -> np.ndarray:
    try:
        with np.errstate(all="ignore"):
            return array.astype(rng.choice(_DTYPES))
    except (TypeError, ValueError):
        return np.zeros(array.shape, rng.choice(_DTYPES))


def _other_shape(rng: Random, array: np.ndarray) -> np.ndarray:
    changes: tuple[Callable[[], np.ndarray], ...] = (
        array.ravel,
        lambda: array[None],
        lambda: array[..., None],
        lambda: array[: len(array) // 2] if array.ndim else array,
        lambda: array[:0] if array.ndim else array,
        lambda: array[..., :-1] if array.ndim else array,
        lambda: np.concatenate([array, array]) if array.ndim else array,
        lambda: np.zeros(array.shape + (0,), array.dtype),
        lambda: array.ravel()[0] if array.size else array,
        lambda: np.zeros((0, 1 << 40), array.dtype),
    )
    return np.asarray(rng.choice(changes)())


def _other_order(rng: Random, array: np.ndarray) -> np.ndarray:
    """Column-major, or another byte order."""
    if rng.random() < 0.5:
        return np.asfortranarray(array)
    return array.astype(array.dtype.newbyteorder())


def mutate_database(rng: Random, content: bytes) -> bytes:
    """Set one cell of an SQLite database, or a setting of its file."""
    database = sqlite3.connect(":memory:")
    try:
        database.deserialize(content)
        tables = [name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        table = rng.choice(tables)
        columns = [row[1] for row in database.execute(f"PRAGMA table_info({table})")]
        column = rng.choice(columns)
        rows = [row for (row,) in database.execute(f"SELECT rowid FROM {table}")]
        row = rng.choice(rows)
        (old,) = database.execute(f"SELECT {column} FROM {table} WHERE rowid = ?", (row,)).fetchone()
        if isinstance(old, bytes) and rng.random() < 0.8:
            value: object = mutate(rng, old)
        else:
            value = rng.choice((None, -1, 0, 2**63 - 1, -(2**63), 1e308, "x", "\x1b[2J", b"", b"\xff\xfe", 1.5))
        database.execute("PRAGMA ignore_check_constraints = ON")
        database.execute(f"UPDATE OR IGNORE {table} SET {column} = ? WHERE rowid = ?", (value, row))
        database.commit()
        return database.serialize()
    except (sqlite3.Error, IndexError, TypeError):  # a NULL where none may be
        return mutate(rng, content)
    finally:
        database.close()


CONTAINERS: dict[bytes, Callable[[Random, bytes], bytes]] = {
    _PNG: mutate_png,
    _MCAP: mutate_mcap,
    _ZIP: mutate_npz,
    _SQLITE: mutate_database,
}
"""First bytes of a file -> mutation inside its container."""
