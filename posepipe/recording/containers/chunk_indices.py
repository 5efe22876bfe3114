"""Indexes of the chunks of an MCAP file that grows: packed numbers, in a tenth of the memory of the library's objects.

An MCAP file ends with an index of its chunks, which the writer keeps until then. With a chunk for each frame, a camera
that records for days would fill the memory with them.
"""

from __future__ import annotations

from array import array
from collections.abc import Iterator

from mcap.records import ChunkIndex
from mcap.writer import Writer

_FIELDS = (
    *("message_start_time", "message_end_time", "chunk_start_offset", "chunk_length"),
    *("message_index_length", "compressed_size", "uncompressed_size"),
)


class ChunkIndices:
    """Chunk indexes in the order of the file, for `mcap.writer.Writer`, which appends to them and iterates once.

    Parameters
    ----------
    compression : of all chunks, as the file names it
    """

    def __init__(self, compression: str) -> None:
        self._compression = compression
        self._numbers = array("Q")  #: of each chunk: its fields, number of channels, and id and offset of each

    def append(self, index: ChunkIndex) -> None:
        """Keep the numbers of one index."""
        offsets = index.message_index_offsets
        self._numbers.extend(getattr(index, name) for name in _FIELDS)
        self._numbers.append(len(offsets))
        for channel_and_offset in offsets.items():
            self._numbers.extend(channel_and_offset)

    def __iter__(self) -> Iterator[ChunkIndex]:
        numbers = iter(self._numbers)
        for first in numbers:
            values = [first, *(next(numbers) for _ in _FIELDS[1:])]
            offsets = {next(numbers): next(numbers) for _ in range(next(numbers))}
            fields = dict(zip(_FIELDS, values, strict=True))
            yield ChunkIndex(**fields, message_index_offsets=offsets, compression=self._compression)


def keep_chunk_indices_packed(writer: Writer, compression: str) -> None:
    """Let a writer that has not begun keep its chunk indexes as `ChunkIndices`.

    Its list is private: a later version of the library that calls it otherwise keeps its own, and works as well.
    """
    vars(writer)["_Writer__chunk_indices"] = ChunkIndices(compression)
