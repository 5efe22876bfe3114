"""The messages of a ROS 1 bag, whole or cut.

References
----------
http://wiki.ros.org/Bags/Format/2.0 : a record is a header of named fields and data, each after its length (4 bytes).
"""

from __future__ import annotations

import bz2
import struct
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import lz4.frame
import numpy as np

from posepipe.errors import FormatError
from posepipe.recording.chunked_file import (
    MAX_CHUNK_BYTES,
    Channel,
    ChunkedFile,
    ChunkPlace,
    Layout,
    MessagePlace,
)
from posepipe.recording.message_file import short_kind

MAGIC = b"#ROSBAG V2.0\n"
_OLD_MAGIC = b"#ROSBAG V"
_MESSAGE, _BAG_HEADER, _INDEX, _CHUNK, _CONNECTION = 0x02, 0x03, 0x04, 0x05, 0x07
_READ = (_INDEX, _CONNECTION)
"""Records whose data tells where messages are."""
_LENGTH = struct.Struct("<I")
_INDEX_ENTRY = np.dtype([("seconds", "<u4"), ("nanoseconds", "<u4"), ("offset", "<u4")])
_MAX_HEADER_BYTES = 1 << 20
_MOST_OF_LZ4 = 255  #: times shorter is the most that it can make anything
_NS = 1_000_000_000


class Ros1File(ChunkedFile):
    """Messages of a ROS 1 bag.

    Raises
    ------
    FormatError
        For a file that is no bag of version 2.0, is encrypted, or is damaged inside.
    """

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, _read_layout)

    def _unpack(self, place: ChunkPlace) -> bytes:
        fields, data = _split(self._record(place.offset), 0)
        compression, (size,) = fields["compression"].decode(), _LENGTH.unpack(fields["size"])
        if size > MAX_CHUNK_BYTES:
            raise ValueError(f"a chunk of {size} bytes; at most {MAX_CHUNK_BYTES} are unpacked")
        content = _decompressed(compression, data, size)
        if len(content) != size:
            raise ValueError(f"a chunk of {size} bytes unpacks to {len(content)}")
        return content

    def _walk(self, content: bytes) -> Iterator[tuple[int, Channel] | MessagePlace]:
        offset = 0
        while offset < len(content):
            fields, data, end = _split_record(content, offset)
            if fields["op"][0] == _CONNECTION:
                yield _connection(fields, data)
            elif fields["op"][0] == _MESSAGE:
                yield MessagePlace(*_channel_and_time(fields), offset)
            offset = end

    def _record(self, offset: int) -> bytes:
        self._stream.seek(offset)
        content = self._stream.read(_LENGTH.size)
        content += self._stream.read(_LENGTH.unpack(content)[0] + _LENGTH.size)
        return content + self._stream.read(_LENGTH.unpack(content[-_LENGTH.size :])[0])

    def _message(self, content: bytes, offset: int) -> tuple[int, int, bytes]:
        fields, data = _split(content, offset)
        if fields["op"][0] != _MESSAGE:
            raise ValueError("no message where one should be")
        return *_channel_and_time(fields), data


def _read_layout(stream: IO[bytes], path: Path) -> Layout:
    """Walk all record headers, up to the first that is not whole."""
    size = stream.seek(0, 2)
    stream.seek(0)
    magic = stream.read(len(MAGIC))
    if magic != MAGIC:
        if magic.startswith(_OLD_MAGIC):
            raise FormatError(path, f"wanted a bag of version 2.0, got {magic!r}; `rosbag fix` converts older ones")
        raise FormatError(path, "the file is empty" if size == 0 else "wanted a ROS 1 bag, got something else")
    layout = Layout(readable_bytes=len(MAGIC), size=size)
    promised = 0  # chunks, as the header says; it is written last
    while layout.readable_bytes < size:
        record = _read_head(stream, layout.readable_bytes, size)
        if record is None:
            break
        fields, data_offset, end = record
        try:
            if fields["op"][0] == _BAG_HEADER:
                _refuse_encrypted(path, fields)
                promised = _LENGTH.unpack(fields["chunk_count"])[0] if any(fields["index_pos"]) else 0
            else:
                stream.seek(data_offset)
                _note(fields, stream.read(end - data_offset) if fields["op"][0] in _READ else b"", layout)
        except (LookupError, ValueError, struct.error):
            break
        layout.readable_bytes = end
    layout.complete = layout.readable_bytes == size and 0 < promised == len(layout.chunks)
    if not layout.complete and layout.chunks:
        layout.chunks[-1].index = {}  # the cut may have gone through its index records
    return layout


def _read_head(stream: IO[bytes], offset: int, size: int) -> tuple[dict[str, bytes], int, int] | None:
    """Fields of a record, where its data begins and where it ends; None where there is no whole record."""
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


def _note(fields: dict[str, bytes], data: bytes, layout: Layout) -> None:
    op = fields["op"][0]
    if op == _CHUNK:
        layout.chunks.append(ChunkPlace(layout.readable_bytes))
    elif op == _INDEX and layout.chunks:
        entries = np.frombuffer(data, _INDEX_ENTRY)
        times_ns = entries["seconds"].astype(np.int64) * _NS + entries["nanoseconds"]
        (channel,) = _LENGTH.unpack(fields["conn"])
        layout.chunks[-1].index[channel] = np.stack([times_ns, entries["offset"].astype(np.int64)], axis=1)
    elif op == _CONNECTION:
        id, channel_found = _connection(fields, data)
        layout.channels[id] = channel_found
    elif op == _MESSAGE:  # of a chunk that was never closed: its header says that it is empty
        layout.outside.append(MessagePlace(*_channel_and_time(fields), layout.readable_bytes))


def _refuse_encrypted(path: Path, fields: dict[str, bytes]) -> None:
    encryptor = fields.get("encryptor", b"").decode(errors="replace")
    if encryptor:
        raise FormatError(path, f"the bag is encrypted ({encryptor}); decrypt it with `rosbag decrypt`")


def _fields(header: bytes) -> dict[str, bytes]:
    """Named fields of a record's header. Raises ValueError where their lengths disagree."""
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
    """Fields and data of the record at ``offset`` of an unpacked chunk, and where the next begins."""
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
    return channel, seconds * _NS + nanoseconds


def _decompressed(compression: str, data: bytes, size: int) -> bytes:
    """The records of a chunk; no more than one byte beyond what it says is unpacked."""
    try:
        if compression == "bz2":
            return bz2.BZ2Decompressor().decompress(data, size + 1)
        if compression == "lz4":
            if size > _MOST_OF_LZ4 * (len(data) + 1):  # what it may grow to is allocated at once
                raise ValueError(f"a chunk of {size} bytes, packed into {len(data)}")
            return lz4.frame.LZ4FrameDecompressor().decompress(data, size + 1)
    except (OSError, RuntimeError) as error:  # as these two report damage
        raise ValueError(str(error)) from error
    if compression != "none":
        raise ValueError(f"a chunk compressed with {compression!r}; readable are bz2, lz4 and none")
    return data
