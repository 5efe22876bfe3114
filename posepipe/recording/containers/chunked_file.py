"""Files with messages in compressed chunks, each followed by its index: MCAP and ROS 1 bags.

The index of the whole file is at its end, and missing after a killed writer. This reader scans the record headers
instead, for complete and cut files alike. It takes about 12 microseconds per record. After a damaged header the scan
continues at the next chunk. A damaged chunk loses its own messages and no others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from posepipe.errors import DamagedMessageError, FormatError
from posepipe.io.decompression import decompress
from posepipe.io.files import disk_errors, open_regular
from posepipe.io.limits import check_block, max_plain_records, max_records, max_unpacked_bytes
from posepipe.recording.containers.message_file import DAMAGE, MessageFile, Topic

_OUTSIDE = -1


class Channel(NamedTuple):
    """One stream of messages; ROS 1 calls it a connection. Several may share a topic."""

    topic: str
    kind: str  #: message type, as in `Topic`
    encoding: str  #: as in `Topic`


class MessagePlace(NamedTuple):
    """Position of one message."""

    channel: int
    time_ns: int
    offset: int  #: of its record, in the unpacked chunk, or in the file for messages outside chunks


@dataclass(slots=True)
class ChunkPlace:
    """Position of one chunk, and index of its messages."""

    offset: int  #: byte of the record header
    index: dict[int, np.ndarray] = field(default_factory=dict)  #: channel -> int64 (N, 2): time, offset; {} = unknown
    index_complete: bool = True  #: False if part of the index may be missing


@dataclass(slots=True)
class Layout:
    """Structure of a file, from its record headers alone."""

    chunks: list[ChunkPlace] = field(default_factory=list)
    channels: dict[int, Channel] = field(default_factory=dict)
    outside: list[MessagePlace] = field(default_factory=list)  #: messages outside chunks
    complete: bool = False  #: whether the end of the file was found
    readable_bytes: int = 0  #: end of the last complete record
    size: int = 0  #: of the file, bytes
    damaged: list[int] = field(default_factory=list)  #: positions of skipped, unreadable data
    indexed: ChunkPlace | None = (
        None  #: chunk of the index records that may follow; an index directly follows its chunk
    )

    def begin_chunk(self) -> None:
        """Add the chunk at `readable_bytes`."""
        self.indexed = ChunkPlace(self.readable_bytes)
        self.chunks.append(self.indexed)

    def index_record(self) -> ChunkPlace:
        """Chunk of the index record at `readable_bytes`. Without a preceding chunk, that chunk is damaged."""
        if self.indexed is None:
            self.damaged.append(self.readable_bytes)
            self.indexed = ChunkPlace(self.readable_bytes)
        return self.indexed

    def skip_record(self) -> None:
        """Note a damaged record at `readable_bytes`. It may have been part of the last chunk's index."""
        self.damaged.append(self.readable_bytes)
        self.distrust_last_index()

    def distrust_last_index(self) -> None:
        """Note that the index of the last chunk may be cut or damaged."""
        if self.chunks:
            self.chunks[-1].index_complete = False


def walk_records(
    path: Path, layout: Layout, take_record: Callable[[], bool], next_chunk_after: Callable[[int], int | None]
) -> None:
    """Read record after record, to the end of the file or of its readable part.

    Parameters
    ----------
    path : of the file, for messages
    layout : Layout, extended in place
    take_record : adds the record at `Layout.readable_bytes` and advances; False when no complete record is there
    next_chunk_after : start of the next chunk after a position; None = no chunk

    Raises
    ------
    FormatError
        For more records than the size of the file justifies.
    """
    left = max_plain_records(layout.size)
    before = layout.readable_bytes  # a record with a damaged length may extend beyond the next chunk
    while not layout.complete and layout.readable_bytes < layout.size:
        here = layout.readable_bytes
        left -= 1
        if left < 0:
            raise FormatError(path, "too many records for its size; the recording is damaged")
        if take_record():
            before = here
        elif (found := next_chunk_after(before)) is not None:
            layout.skip_record()
            layout.readable_bytes = before = found
        else:
            return


class ChunkedFile(MessageFile):
    """Messages of one file, by topic. A subclass reads the records of its format.

    Parameters
    ----------
    path : the file
    read_layout : scans the record headers of an open file

    Raises
    ------
    FormatError
        When the file has another format, or nothing in it can be read.
    """

    def __init__(self, path: str | Path, read_layout: Callable[[IO[bytes], Path], Layout]) -> None:
        self.path = Path(path)
        self._stream = open_regular(self.path)
        try:
            with disk_errors(self.path):
                self._layout = read_layout(self._stream, self.path)
            if not self._layout.complete:
                self._layout.distrust_last_index()
            if not self._layout.chunks and not self._layout.outside:
                raise FormatError(self.path, "no complete frame in the recording")
            self._unpacked: tuple[int, bytes] = (_OUTSIDE, b"")
            self._damaged: dict[int, str] = {}  # chunk -> why it cannot be unpacked
            self._unpacked_bytes, self.size_bytes = 0, self._layout.size
            self._index_chunks()
            self.complete = self._layout.complete and not self._layout.damaged
        except BaseException:
            self._stream.close()
            raise
        self._places: dict[str, np.ndarray] = {}
        self.topics = self._list_topics()

    @abstractmethod
    def _unpack(self, place: ChunkPlace) -> bytes:
        """Unpack the records of a chunk, by `_decompressed`."""

    def _decompressed(self, compression: str, data: bytes, size: int) -> bytes:
        """Content of a chunk that declares its size. Raises ValueError for another size, or an unknown compression."""
        if compression:
            check_block(size)
        self._unpacked_bytes += size if compression else len(data)  # before the work: damaged chunks cost as much
        content = decompress(compression, data, size) if compression else data
        if len(content) != size:
            raise ValueError(f"a chunk of {size} bytes unpacks to {len(content)}")
        return content

    @abstractmethod
    def _walk(self, content: bytes) -> Iterator[tuple[int, Channel] | MessagePlace | None]:
        """Iterate over records of an unpacked chunk: channels with their ids, messages, None for others."""

    @abstractmethod
    def _record(self, offset: int) -> bytes:
        """Read a complete record outside chunks."""

    @abstractmethod
    def _message(self, content: bytes, offset: int) -> tuple[int, int, bytes]:
        """Channel, time and bytes of the message with its record at ``offset``."""

    def times_ns(self, topic: str) -> np.ndarray:
        """Times of all messages of a topic, int64 (N,), nanoseconds, ascending."""
        return self._places_of(topic)[:, 0]

    def _read_message(self, topic: str, index: int) -> bytes:
        """Read one message. Raises DamagedMessageError where the file is damaged."""
        time_ns, chunk, offset, channel = map(int, self._places_of(topic)[index])
        with disk_errors(self.path), self._chunk_errors(self.offset(topic, index)):
            if chunk == _OUTSIDE:
                found, found_time_ns, data = self._message(self._record(offset), 0)
            else:
                found, found_time_ns, data = self._message(self._content(chunk), offset)
            if (found, found_time_ns) != (channel, time_ns):
                raise ValueError(f"{topic}: the index points to another message")
        return data

    @property
    def unpacked_bytes(self) -> int:
        """Size of all chunks that were read so far, as they declare it; damaged ones count, too."""
        return self._unpacked_bytes

    def offset(self, topic: str, index: int) -> int:
        """Position in the file of a message, or of its chunk."""
        _, chunk, offset, _ = self._places_of(topic)[index]
        return int(offset) if chunk == _OUTSIDE else self._layout.chunks[chunk].offset

    def missing(self, frames: int) -> str:
        """Describe what a cut or damaged file lacks; "" for a complete one."""
        if self.complete:
            return ""
        layout, problems = self._layout, []
        if not layout.complete:
            problems.append(f"{layout.size - layout.readable_bytes} bytes after byte {layout.readable_bytes} were not")
        if layout.damaged:
            more = f" and in {len(layout.damaged) - 1} more places" if len(layout.damaged) > 1 else ""
            problems.append(f"what is damaged at byte {min(layout.damaged)}{more} was skipped")
        state = "is damaged" if layout.complete else "was not closed"
        read = "1 complete frame was" if frames == 1 else f"{frames} complete frames were"
        return f"{self.path}: the recording {state}: {read} read, {'; '.join(problems)}"

    def close(self) -> None:
        """Close the file."""
        self._stream.close()

    @contextmanager
    def _chunk_errors(self, offset: int) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            problem = f"damaged recording ({error or type(error).__name__})"
            raise DamagedMessageError(self.path, problem, offset) from error

    def _content(self, chunk: int) -> bytes:
        """Unpack a chunk, and keep the last one. Raises the errors of `DAMAGE`."""
        if chunk in self._damaged:
            raise ValueError(self._damaged[chunk])
        if self._unpacked[0] != chunk:
            try:
                self._unpacked = (chunk, self._unpack(self._layout.chunks[chunk]))
            except DAMAGE as error:
                self._damaged[chunk] = str(error) or type(error).__name__
                raise
        return self._unpacked[1]

    def _index_chunks(self) -> None:
        """Index the chunks with an incomplete index, or with channels that are defined only inside."""
        limit = max_unpacked_bytes(self._layout.size)
        self._records_left = max_records(self._layout.size)
        for chunk, place in enumerate(self._layout.chunks):
            if not place.index or not place.index_complete or place.index.keys() - self._layout.channels.keys():
                place.index = {}
                try:
                    with disk_errors(self.path):
                        self._index_chunk(place, self._content(chunk))
                except DAMAGE:
                    self._layout.damaged.append(place.offset)
                if self._unpacked_bytes > limit:
                    problem = f"has no index, and unpacks to more than {limit >> 20} MB; give a file with an index"
                    raise FormatError(self.path, problem)

    def _index_chunk(self, place: ChunkPlace, content: bytes) -> None:
        found: dict[int, list[tuple[int, int]]] = {}
        try:
            for record in self._walk(content):
                self._records_left -= 1
                if self._records_left < 0:
                    raise FormatError(
                        self.path, "has no index, and too many records for its size; give one with an index"
                    )
                if isinstance(record, MessagePlace):
                    found.setdefault(record.channel, []).append((record.time_ns, record.offset))
                elif record is not None:
                    self._layout.channels[record[0]] = record[1]
        finally:  # in a damaged chunk, keep the messages before the damage
            place.index = {channel: np.array(entries, np.int64) for channel, entries in found.items()}

    def _list_topics(self) -> dict[str, Topic]:
        counts = dict.fromkeys(self._layout.channels, 0)
        for place in self._layout.chunks:
            for id, entries in place.index.items():
                counts[id] = counts.get(id, 0) + len(entries)
        for message in self._layout.outside:
            counts[message.channel] = counts.get(message.channel, 0) + 1
        topics: dict[str, Topic] = {}
        for id, channel in self._layout.channels.items():
            known = topics.get(channel.topic)
            if known is None or channel == (known.name, known.kind, known.encoding):  # else: the first channel wins
                topics[channel.topic] = Topic(*channel, counts[id] + (known.count if known else 0))
        return topics

    def _places_of(self, topic: str) -> np.ndarray:
        """Positions of all messages, int64 (N, 4): time, chunk, offset and channel, in order of time."""
        if topic not in self._places:
            known = self.topics[topic]
            wanted = Channel(known.name, known.kind, known.encoding)
            places = np.concatenate(list(self._rows({id for id, c in self._layout.channels.items() if c == wanted})))
            # equal times: in file order
            self._places[topic] = places[np.lexsort((places[:, 2], places[:, 1], places[:, 0]))]
        return self._places[topic]

    def _rows(self, channels: set[int]) -> Iterator[np.ndarray]:
        """Positions as in `_places_of`, in file order."""
        for chunk, place in enumerate(self._layout.chunks):
            for id in channels & place.index.keys():
                rows = np.empty((len(place.index[id]), 4), np.int64)
                rows[:, [0, 2]], rows[:, 1], rows[:, 3] = place.index[id], chunk, id
                yield rows
        outside = [message for message in self._layout.outside if message.channel in channels]
        yield np.array([(m.time_ns, _OUTSIDE, m.offset, m.channel) for m in outside], np.int64).reshape(-1, 4)
