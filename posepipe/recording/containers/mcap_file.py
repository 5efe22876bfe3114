"""Messages of an MCAP file, of posepipe or another program, complete or cut."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import zstandard
from mcap.data_stream import ReadDataStream
from mcap.exceptions import McapError
from mcap.opcode import Opcode
from mcap.records import Chunk
from mcap.stream_reader import get_chunk_data_stream

from posepipe.recording.containers.chunked_file import MAX_CHUNK_BYTES, Channel, ChunkedFile, ChunkPlace, MessagePlace
from posepipe.recording.containers.mcap_layout import MESSAGE_HEAD, RECORD_HEADER, McapLayout, read_layout

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
                self.start_time_ns = int(stamp)

    def _unpack(self, place: ChunkPlace) -> bytes:
        self._stream.seek(place.offset + RECORD_HEADER.size)
        try:
            chunk = Chunk.read(ReadDataStream(self._stream))
            _check_size(chunk)
            stream, size = get_chunk_data_stream(chunk, validate_crc=True)
            content = stream.read(size)
        except (McapError, zstandard.ZstdError, RuntimeError) as error:  # lz4 raises RuntimeError
            raise ValueError(str(error) or type(error).__name__) from error
        if len(content) != chunk.uncompressed_size:
            raise ValueError(f"a chunk of {chunk.uncompressed_size} bytes unpacks to {len(content)}")
        return content

    def _walk(self, content: bytes) -> Iterator[tuple[int, Channel] | MessagePlace]:
        offset = 0
        while offset < len(content):
            opcode, length = RECORD_HEADER.unpack_from(content, offset)
            if opcode == Opcode.MESSAGE:
                channel, time_ns, _ = self._message(content, offset)
                yield MessagePlace(channel, time_ns, offset)
            elif opcode in (Opcode.SCHEMA, Opcode.CHANNEL):
                found = self._layout.add_definition(opcode, content[offset + RECORD_HEADER.size :][:length])
                if found:
                    yield found
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
        return channel, time_ns, content[begin + MESSAGE_HEAD.size : begin + length]


def _check_size(chunk: Chunk) -> None:
    """Refuse an oversized chunk before memory is allocated."""
    if chunk.compression not in ("", "lz4", "zstd"):
        raise ValueError(f"a chunk compressed with {chunk.compression!r}; readable are zstd and lz4")
    size = chunk.uncompressed_size
    if chunk.compression == "zstd":
        size = max(size, zstandard.frame_content_size(chunk.data))
    if size > MAX_CHUNK_BYTES:
        raise ValueError(f"a chunk of {size} bytes; at most {MAX_CHUNK_BYTES} are unpacked")
