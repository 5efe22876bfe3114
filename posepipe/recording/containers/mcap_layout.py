"""Structure of an MCAP file, from its record headers.

References
----------
https://mcap.dev/spec : a record is an opcode (1 byte), a length (8 bytes, little endian) and a body.
"""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import IO

import numpy as np
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Attachment, Metadata, Schema
from mcap.records import Channel as ChannelRecord
from mcap.writer import MCAP0_MAGIC

from posepipe.errors import FormatError
from posepipe.recording.containers.chunked_file import Channel, Layout, MessagePlace, walk_records
from posepipe.recording.containers.message_file import DAMAGE, check_time, short_kind
from posepipe.recording.containers.next_chunk import next_chunk

RECORD_HEADER = struct.Struct("<BQ")
MESSAGE_HEAD = struct.Struct("<HIQQ")  #: channel, sequence, log time, publish time
_INDEX_HEAD = struct.Struct("<HI")
_CHUNK_HEAD = struct.Struct("<QQQQII")  # record length; first and last time, size, CRC, length of the compression name
_LENGTH = struct.Struct("<Q")
_CHUNK_BEGIN = re.compile(  # opcode, length, times, size, CRC, and zstd, lz4 or nothing: sizes are below 4 GB
    rb"\x06(?=.{4}\0{4}.{16}.{4}\0{4}.{4}(?:\x04\0{3}zstd|\x03\0{3}lz4|\0{4}).{4}\0{4})", re.DOTALL
)


@dataclass(slots=True)
class McapLayout(Layout):
    """Structure of an MCAP file, from its record headers alone."""

    schemas: dict[int, str] = field(default_factory=dict)  #: id -> message type
    attachments: dict[str, bytes] = field(default_factory=dict)
    metadata: dict[str, dict[str, str]] = field(default_factory=dict)

    def add_definition(self, opcode: int, body: bytes) -> tuple[int, Channel] | None:
        """Parse a schema or a channel record; return a channel with its id, None for a schema.

        Raises the errors of `DAMAGE` for a cut or damaged record.
        """
        stream = ReadDataStream(BytesIO(body))
        try:
            if opcode == Opcode.SCHEMA:
                schema = Schema.read(stream)
                self.schemas[schema.id] = short_kind(schema.name)
            elif opcode == Opcode.CHANNEL:
                channel = ChannelRecord.read(stream)
                kind = self.schemas.get(channel.schema_id, "")
                return channel.id, Channel(channel.topic, kind, channel.message_encoding)
        except McapError as error:  # of a cut record, without a message
            raise ValueError(str(error) or f"a cut record of {len(body)} bytes") from error
        return None


def read_layout(stream: IO[bytes], path: Path) -> McapLayout:
    """Scan all record headers. Raises FormatError when the file is not MCAP."""
    size = stream.seek(0, 2)
    stream.seek(0)
    magic = stream.read(len(MCAP0_MAGIC))
    if magic != MCAP0_MAGIC:
        raise FormatError(path, "the file is empty" if size == 0 else "wanted an MCAP recording, got something else")
    layout = McapLayout(readable_bytes=len(MCAP0_MAGIC), size=size)
    walk_records(
        path,
        layout,
        lambda: _take_record(stream, layout),
        lambda before: next_chunk(stream, before + 1, size, _CHUNK_BEGIN, lambda at: _is_chunk(stream, at, size)),
    )
    return layout


def _take_record(stream: IO[bytes], layout: McapLayout) -> bool:
    """Add the record at `readable_bytes` and advance; False when no complete record is there."""
    offset = layout.readable_bytes
    stream.seek(offset)
    head = stream.read(RECORD_HEADER.size)
    if len(head) < RECORD_HEADER.size:
        return False
    opcode, length = RECORD_HEADER.unpack(head)
    end = offset + RECORD_HEADER.size + length
    if opcode == 0 or end > layout.size:  # opcode 0 is never written: zeros are a lost end of the file
        return False
    if opcode not in (Opcode.CHUNK, Opcode.MESSAGE_INDEX):
        layout.indexed = None
    try:
        _add_record(opcode, length, offset, stream, layout)
    except (McapError, *DAMAGE):
        layout.skip_record()
    layout.readable_bytes = end
    return True


def _is_chunk(stream: IO[bytes], offset: int, size: int) -> bool:
    """Whether a complete chunk starts at a position, by the lengths of its record and of its content."""
    stream.seek(offset + RECORD_HEADER.size - 8)
    length, _, _, _, _, name_bytes = _CHUNK_HEAD.unpack(stream.read(_CHUNK_HEAD.size))
    (packed,) = _LENGTH.unpack(stream.read(name_bytes + _LENGTH.size)[-_LENGTH.size :])
    fields = _CHUNK_HEAD.size - 8 + name_bytes + _LENGTH.size
    return length == fields + packed and offset + RECORD_HEADER.size + length <= size


def _add_record(opcode: int, length: int, offset: int, stream: IO[bytes], layout: McapLayout) -> None:
    if opcode == Opcode.CHUNK:
        layout.begin_chunk()
    elif opcode == Opcode.MESSAGE_INDEX:
        place = layout.index_record()
        channel, index_bytes = _INDEX_HEAD.unpack(stream.read(_INDEX_HEAD.size))
        if _INDEX_HEAD.size + index_bytes != length:
            raise ValueError("an index of another length than its record")
        entries = np.frombuffer(stream.read(index_bytes), "<u8").reshape(-1, 2)  # log time, offset in the chunk
        if len(entries):
            check_time(int(entries[:, 0].max()))
            place.index[channel] = entries.astype(np.int64)
    elif opcode == Opcode.MESSAGE:
        channel, _, time_ns, _ = MESSAGE_HEAD.unpack(stream.read(MESSAGE_HEAD.size))
        layout.outside.append(MessagePlace(channel, check_time(time_ns), offset))
    elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
        found = layout.add_definition(opcode, stream.read(length))
        layout.channels |= dict([found] if found else [])
    elif opcode == Opcode.ATTACHMENT:
        attachment = Attachment.read(ReadDataStream(BytesIO(stream.read(length))))
        layout.attachments[attachment.name] = attachment.data
    elif opcode == Opcode.METADATA:
        metadata = Metadata.read(ReadDataStream(BytesIO(stream.read(length))))
        layout.metadata[metadata.name] = metadata.metadata
    elif opcode == Opcode.FOOTER:
        stream.seek(length, 1)
        layout.complete = stream.read(len(MCAP0_MAGIC)) == MCAP0_MAGIC
