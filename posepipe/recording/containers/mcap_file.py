"""Messages of an MCAP file, of posepipe or another program, complete or cut."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Chunk

from posepipe.recording.containers.chunked_file import Channel, ChunkedFile, ChunkPlace, MessagePlace
from posepipe.recording.containers.mcap_layout import MESSAGE_HEAD, RECORD_HEADER, McapLayout, read_layout
from posepipe.recording.containers.message_file import check_time

HEADER_METADATA = "posepipe"
"""Name of the first metadata record of a file by `RecordingWriter`."""


class McapFile(ChunkedFile):
    """Messages of an MCAP file, in chunks of any compression or outside chunks.

    Raises
    ------
    FormatError
        When the file is not MCAP, or nothing in it can be read.
    """

    _layout: McapLayout

    def __init__(self, path: str | Path) -> None:
        super().__init__(path, read_layout)
        self.attachments = self._layout.attachments
        self.metadata = self._layout.metadata
        stamp = self.metadata.get(HEADER_METADATA, {}).get("start_time_ns")
        if stamp is not None:
            with self._chunk_errors(0):
                self.start_time_ns = check_time(int(stamp))

    def _unpack(self, place: ChunkPlace) -> bytes:
        record = BytesIO(self._record(place.offset))  # its lengths cannot reach beyond it
        record.seek(RECORD_HEADER.size)
        try:
            chunk = Chunk.read(ReadDataStream(record))
        except McapError as error:
            raise ValueError(str(error) or type(error).__name__) from error
        content = self._decompressed(chunk.compression, chunk.data, chunk.uncompressed_size)
        if chunk.uncompressed_crc and zlib.crc32(content) != chunk.uncompressed_crc:  # 0 = not computed
            raise ValueError("a chunk with another checksum than it says")
        return content

    def _walk(self, content: bytes) -> Iterator[tuple[int, Channel] | MessagePlace | None]:
        offset = 0
        while offset < len(content):
            opcode, length = RECORD_HEADER.unpack_from(content, offset)
            if opcode == 0:
                raise ValueError("a record of opcode 0, which is never written")
            if opcode == Opcode.MESSAGE:
                channel, time_ns, _ = self._message(content, offset)
                yield MessagePlace(channel, time_ns, offset)
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                found = self._layout.add_definition(opcode, content[offset + RECORD_HEADER.size :][:length])
                yield found
            else:
                yield None
            offset += RECORD_HEADER.size + length

    def _record(self, offset: int) -> bytes:
        self._stream.seek(offset)
        head = self._stream.read(RECORD_HEADER.size)
        return head + self._stream.read(RECORD_HEADER.unpack(head)[1])

    def _message(self, content: bytes, offset: int) -> tuple[int, int, bytes]:
        opcode, length = RECORD_HEADER.unpack_from(content, offset)
        begin = offset + RECORD_HEADER.size
        if opcode != Opcode.MESSAGE or length < MESSAGE_HEAD.size or begin + length > len(content):
            raise ValueError("no complete message at the indexed position")
        channel, _, time_ns, _ = MESSAGE_HEAD.unpack_from(content, begin)
        return channel, check_time(time_ns), content[begin + MESSAGE_HEAD.size : begin + length]
