"""Messages of a ROS 1 bag, complete or cut.

References
----------
http://wiki.ros.org/Bags/Format/2.0 : a record is a header of named fields and data, each after its length (4 bytes).
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import numpy as np

from posepipe.errors import FormatError
from posepipe.recording.containers.chunked_file import (
    Channel,
    ChunkedFile,
    ChunkPlace,
    Layout,
    MessagePlace,
    walk_records,
)
from posepipe.recording.containers.message_file import DAMAGE, short_kind
from posepipe.recording.containers.next_chunk import next_chunk

MAGIC = b"#ROSBAG V2.0\n"
_OLD_MAGIC = b"#ROSBAG V"
_MESSAGE, _BAG_HEADER, _INDEX, _CHUNK, _CONNECTION = 0x02, 0x03, 0x04, 0x05, 0x07
_READ = (_INDEX, _CONNECTION)
"""Records with data that locate messages."""
_LENGTH = struct.Struct("<I")
_CHUNK_BEGIN = re.compile(  # length of the header, and its three fields in any order
    rb"[\x28\x29]\0{3}(?=(?:\x04\0{3}op=\x05|[\x0f\x10]\0{3}compression=(?:none|bz2|lz4)|\x09\0{3}size=.{4}){3})",
    re.DOTALL,
)
_INDEX_ENTRY = np.dtype([("seconds", "<u4"), ("nanoseconds", "<u4"), ("offset", "<u4")])
_MAX_HEADER_BYTES = 1 << 20
_NS_PER_S = 1_000_000_000


class Ros1File(ChunkedFile):
    """Messages of a ROS 1 bag.

    Raises
    ------
    FormatError
        When the file is not a bag of version 2.0, is encrypted, or nothing in it can be read.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, _read_layout)

    def _unpack(self, place: ChunkPlace) -> bytes:
        fields, data = _split(self._record(place.offset), 0)
        compression, (size,) = fields["compression"].decode(), _LENGTH.unpack(fields["size"])
        return self._decompressed("" if compression == "none" else compression, data, size)

    def _walk(self, content: bytes) -> Iterator[tuple[int, Channel] | MessagePlace | None]:
        offset = 0
        while offset < len(content):
            fields, data, end = _split_record(content, offset)
            if fields["op"][0] == _CONNECTION:
                yield _connection(fields, data)
            elif fields["op"][0] == _MESSAGE:
                yield MessagePlace(*_channel_and_time(fields), offset)
            else:
                yield None
            offset = end

    def _record(self, offset: int) -> bytes:
        self._stream.seek(offset)
        content = self._stream.read(_LENGTH.size)
        content += self._stream.read(_LENGTH.unpack(content)[0] + _LENGTH.size)
        return content + self._stream.read(_LENGTH.unpack(content[-_LENGTH.size :])[0])

    def _message(self, content: bytes, offset: int) -> tuple[int, int, bytes]:
        fields, data = _split(content, offset)
        if fields["op"][0] != _MESSAGE:
            raise ValueError("no message at the indexed position")
        return *_channel_and_time(fields), data


@dataclass(slots=True)
class _BagLayout(Layout):
    """Structure of a bag, from its record headers alone."""

    expected_chunks: int = 0  #: from the bag's header, written last; 0 = the bag was not closed


def _read_layout(stream: IO[bytes], path: Path) -> Layout:
    """Scan all record headers. Raises FormatError when the file is not a bag of this version."""
    size = stream.seek(0, 2)
    stream.seek(0)
    magic = stream.read(len(MAGIC))
    if magic != MAGIC:
        if magic.startswith(_OLD_MAGIC):
            raise FormatError(path, f"wanted a bag of version 2.0, got {magic!r}; `rosbag fix` converts older ones")
        raise FormatError(path, "the file is empty" if size == 0 else "wanted a ROS 1 bag, got something else")
    layout = _BagLayout(readable_bytes=len(MAGIC), size=size)
    walk_records(
        path,
        layout,
        lambda: _take_record(stream, layout, path),
        lambda before: next_chunk(
            stream, before + 1, size, _CHUNK_BEGIN, lambda at: _read_head(stream, at, size) is not None
        ),
    )
    whole = layout.expected_chunks == len(layout.chunks) or bool(layout.damaged)
    layout.complete = layout.readable_bytes == size and layout.expected_chunks > 0 and whole
    return layout


def _take_record(stream: IO[bytes], layout: _BagLayout, path: Path) -> bool:
    """Add the record at `readable_bytes` and advance; False when no complete record is there."""
    record = _read_head(stream, layout.readable_bytes, layout.size)
    if record is None:
        return False
    fields, data_offset, end = record
    op = fields["op"][0]
    if op not in (_CHUNK, _INDEX):
        layout.indexed = None
    try:
        if op == _BAG_HEADER:
            _refuse_encrypted(path, fields)
            layout.expected_chunks = _LENGTH.unpack(fields["chunk_count"])[0] if any(fields["index_pos"]) else 0
        else:
            stream.seek(data_offset)
            _add_record(fields, stream.read(end - data_offset) if op in _READ else b"", layout)
    except DAMAGE:
        layout.skip_record()
    layout.readable_bytes = end
    return True


def _read_head(stream: IO[bytes], offset: int, size: int) -> tuple[dict[str, bytes], int, int] | None:
    """Fields of a record, start and end of its data; None when no complete record is there."""
    try:
        stream.seek(offset)
        (header_bytes,) = _LENGTH.unpack(stream.read(_LENGTH.size))
        if header_bytes > _MAX_HEADER_BYTES:
            return None
        fields = _fields(stream.read(header_bytes))
        (data_bytes,) = _LENGTH.unpack(stream.read(_LENGTH.size))
    except (struct.error, ValueError):
        return None
    data_offset = offset + _LENGTH.size + header_bytes + _LENGTH.size
    end = data_offset + data_bytes
    return (fields, data_offset, end) if end <= size and fields.get("op") else None


def _add_record(fields: dict[str, bytes], data: bytes, layout: Layout) -> None:
    op = fields["op"][0]
    if op == _CHUNK:
        layout.begin_chunk()
    elif op == _INDEX:
        place = layout.index_record()
        entries = np.frombuffer(data, _INDEX_ENTRY)
        times_ns = entries["seconds"].astype(np.int64) * _NS_PER_S + entries["nanoseconds"]
        (channel,) = _LENGTH.unpack(fields["conn"])
        place.index[channel] = np.stack([times_ns, entries["offset"].astype(np.int64)], axis=1)
    elif op == _CONNECTION:
        id, channel_found = _connection(fields, data)
        layout.channels[id] = channel_found
    elif op == _MESSAGE:  # in an unclosed chunk, with size 0 in its header
        layout.outside.append(MessagePlace(*_channel_and_time(fields), layout.readable_bytes))


def _refuse_encrypted(path: Path, fields: dict[str, bytes]) -> None:
    encryptor = fields.get("encryptor", b"").decode(errors="replace")
    if encryptor:
        raise FormatError(path, f"the bag is encrypted ({encryptor}); decrypt it with `rosbag decrypt`")


def _fields(header: bytes) -> dict[str, bytes]:
    """Parse the named fields of a record header. Raises ValueError for inconsistent lengths."""
    fields, at = {}, 0
    while at < len(header):
        (length,) = _LENGTH.unpack_from(header, at)
        at += _LENGTH.size
        name, equals, value = header[at : at + length].partition(b"=")
        if not equals or at + length > len(header):
            raise ValueError("a record header without its fields")
        fields[name.decode()] = value
        at += length
    return fields


def _split_record(content: bytes, offset: int) -> tuple[dict[str, bytes], bytes, int]:
    """Fields and data of the record at ``offset`` of an unpacked chunk, and start of the next record."""
    (header_bytes,) = _LENGTH.unpack_from(content, offset)
    begin = offset + _LENGTH.size
    fields = _fields(content[begin : begin + header_bytes])
    begin += header_bytes
    (data_bytes,) = _LENGTH.unpack_from(content, begin)
    begin += _LENGTH.size
    if begin + data_bytes > len(content):
        raise ValueError("a record that is longer than its chunk")
    return fields, content[begin : begin + data_bytes], begin + data_bytes


def _split(content: bytes, offset: int) -> tuple[dict[str, bytes], bytes]:
    fields, data, _ = _split_record(content, offset)
    return fields, data


def _connection(fields: dict[str, bytes], data: bytes) -> tuple[int, Channel]:
    (id,) = _LENGTH.unpack(fields["conn"])
    return id, Channel(fields["topic"].decode(), short_kind(_fields(data)["type"].decode()), "ros1")


def _channel_and_time(fields: dict[str, bytes]) -> tuple[int, int]:
    (channel,) = _LENGTH.unpack(fields["conn"])
    seconds, nanoseconds = struct.unpack("<II", fields["time"])
    return channel, seconds * _NS_PER_S + nanoseconds
