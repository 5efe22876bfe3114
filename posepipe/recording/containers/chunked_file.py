"""Files that pack messages into compressed chunks with an index behind each: MCAP, and bags of ROS 1.

The index of the whole file stands at its end, where a killed writer has not been. Walking the headers of all records
costs about 12 microseconds each, serves whole and cut files alike, and needs no second code path. Where a header is
damaged, the walk goes on at the next chunk; where the content of a chunk is, its messages are lost and no others.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, NamedTuple

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.files import disk_errors
from posepipe.recording.containers.message_file import DAMAGE, DamagedMessageError, MessageFile, Topic

MAX_CHUNK_BYTES = 1 << 30
"""A damaged size must not ask for all the memory there is."""
_OUTSIDE = -1


class Channel(NamedTuple):
    """Who speaks: ROS 1 calls it a connection. Several may share a topic."""

    topic: str
    kind: str
    encoding: str


class MessagePlace(NamedTuple):
    """Where one message stands."""

    channel: int
    time_ns: int
    offset: int  #: of its record, in the unpacked chunk or, outside of chunks, in the file


@dataclass(slots=True)
class ChunkPlace:
    """Where one chunk lies and where each channel speaks in it."""

    offset: int  #: byte of the record header
    index: dict[int, np.ndarray] = field(default_factory=dict)  #: channel -> int64 (N, 2): time, offset; {} = unknown
    certain: bool = True  #: no part of the index is lost


@dataclass(slots=True)
class Layout:
    """What the record headers of a file tell, before any chunk is unpacked."""

    chunks: list[ChunkPlace] = field(default_factory=list)
    channels: dict[int, Channel] = field(default_factory=dict)
    outside: list[MessagePlace] = field(default_factory=list)  #: messages that stand in no chunk
    complete: bool = False
    readable_bytes: int = 0  #: end of the last whole record
    size: int = 0
    damaged: list[int] = field(default_factory=list)  #: bytes where something could not be read and was passed over
    indexed: ChunkPlace | None = None  #: whose index the next records may be: it stands right behind its chunk

    def begin_chunk(self) -> None:
        """Note the chunk at `readable_bytes`."""
        self.indexed = ChunkPlace(self.readable_bytes)
        self.chunks.append(self.indexed)

    def index_record(self) -> ChunkPlace:
        """Whose index the record at `readable_bytes` is part of. One that follows no chunk tells of a lost one."""
        if self.indexed is None:
            self.damaged.append(self.readable_bytes)
            self.indexed = ChunkPlace(self.readable_bytes)
        return self.indexed

    def pass_over(self) -> None:
        """The record at `readable_bytes` is damaged: what it might have said of the last chunk is not known."""
        self.damaged.append(self.readable_bytes)
        self.doubt_last_chunk()

    def doubt_last_chunk(self) -> None:
        """A cut, or damage, may have gone through its index."""
        if self.chunks:
            self.chunks[-1].certain = False


def walk_records(
    layout: Layout, take_record: Callable[[], bool], next_chunk_after: Callable[[int], int | None]
) -> None:
    """Take in one record after another, to the end of the file or of what can be read of it.

    Parameters
    ----------
    take_record : notes the record at `Layout.readable_bytes` and steps over it; False where there is no whole one
    next_chunk_after : where the next chunk begins behind a byte; None where there is none
    """
    before = layout.readable_bytes  # a record whose length is damaged reaches beyond the chunk to go on with
    while not layout.complete and layout.readable_bytes < layout.size:
        here = layout.readable_bytes
        if take_record():
            before = here
        elif (found := next_chunk_after(before)) is not None:
            layout.pass_over()
            layout.readable_bytes = before = found
        else:
            return


class ChunkedFile(MessageFile):
    """Messages of one file, by topic; a format says how its records are read.

    Parameters
    ----------
    path : the file
    read_layout : walks the record headers of an open file

    Raises
    ------
    FormatError
        For a file of another format, or one of which nothing can be read.
    """

    def __init__(self, path: str | Path, read_layout: Callable[[IO[bytes], Path], Layout]) -> None:
        self.path = Path(path)
        with disk_errors(self.path):
            self._stream = self.path.open("rb")
        try:
            with disk_errors(self.path):
                self._layout = read_layout(self._stream, self.path)
            if not self._layout.complete:
                self._layout.doubt_last_chunk()
            if not self._layout.chunks and not self._layout.outside:
                raise FormatError(self.path, "no complete frame in the recording")
            self._unpacked: tuple[int, bytes] = (_OUTSIDE, b"")
            self._lost: dict[int, str] = {}  # chunks that cannot be unpacked, and why
            self._learn()
            self.complete = self._layout.complete and not self._layout.damaged
        except BaseException:
            self._stream.close()
            raise
        self._places: dict[str, np.ndarray] = {}
        self.topics = self._list_topics()

    @abstractmethod
    def _unpack(self, place: ChunkPlace) -> bytes:
        """The records inside a chunk."""

    @abstractmethod
    def _walk(self, content: bytes) -> Iterator[tuple[int, Channel] | MessagePlace]:
        """Channels, with their ids, and messages of an unpacked chunk."""

    @abstractmethod
    def _record(self, offset: int) -> bytes:
        """A record outside of chunks, whole."""

    @abstractmethod
    def _message(self, content: bytes, offset: int) -> tuple[int, int, bytes]:
        """Channel, time and bytes of the message whose record begins at ``offset``."""

    def times_ns(self, topic: str) -> np.ndarray:
        return self._places_of(topic)[:, 0]

    def message(self, topic: str, index: int) -> bytes:
        time_ns, chunk, offset, channel = map(int, self._places_of(topic)[index])
        with disk_errors(self.path), self._chunk_errors(self.offset(topic, index)):
            if chunk == _OUTSIDE:
                found, found_time_ns, data = self._message(self._record(offset), 0)
            else:
                found, found_time_ns, data = self._message(self._content(chunk), offset)
            if (found, found_time_ns) != (channel, time_ns):
                raise ValueError(f"{topic}: the index points to another message")
        return data

    def offset(self, topic: str, index: int) -> int:
        _, chunk, offset, _ = self._places_of(topic)[index]
        return int(offset) if chunk == _OUTSIDE else self._layout.chunks[chunk].offset

    def missing(self, frames: int) -> str:
        if self.complete:
            return ""
        layout, lost = self._layout, []
        if not layout.complete:
            lost.append(f"{layout.size - layout.readable_bytes} bytes after byte {layout.readable_bytes} were not")
        if layout.damaged:
            more = f" and in {len(layout.damaged) - 1} more places" if len(layout.damaged) > 1 else ""
            lost.append(f"what is damaged at byte {min(layout.damaged)}{more} was passed over")
        state = "is damaged" if layout.complete else "was not closed"
        return f"{self.path}: the recording {state}: {frames} complete frames were read, {'; '.join(lost)}"

    def close(self) -> None:
        self._stream.close()

    @contextmanager
    def _chunk_errors(self, offset: int) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            problem = f"damaged recording ({error or type(error).__name__})"
            raise DamagedMessageError(self.path, problem, offset) from error

    def _content(self, chunk: int) -> bytes:
        """An unpacked chunk; the last one is kept, for its other messages. Raises what `DAMAGE` lists."""
        if chunk in self._lost:
            raise ValueError(self._lost[chunk])
        if self._unpacked[0] != chunk:
            try:
                self._unpacked = (chunk, self._unpack(self._layout.chunks[chunk]))
            except DAMAGE as error:
                self._lost[chunk] = str(error) or type(error).__name__
                raise
        return self._unpacked[1]

    def _learn(self) -> None:
        """Look into chunks that have no whole index, or where a channel speaks that was named nowhere else."""
        for chunk, place in enumerate(self._layout.chunks):
            if not place.index or not place.certain or place.index.keys() - self._layout.channels.keys():
                place.index = {}
                try:
                    with disk_errors(self.path):
                        self._learn_chunk(place, self._content(chunk))
                except DAMAGE:
                    self._layout.damaged.append(place.offset)

    def _learn_chunk(self, place: ChunkPlace, content: bytes) -> None:
        found: dict[int, list[tuple[int, int]]] = {}
        try:
            for record in self._walk(content):
                if isinstance(record, MessagePlace):
                    found.setdefault(record.channel, []).append((record.time_ns, record.offset))
                else:
                    self._layout.channels[record[0]] = record[1]
        finally:  # of a chunk that is damaged further on, what stands before that
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
            if known is None or channel == (known.name, known.kind, known.encoding):  # else: the first is taken
                topics[channel.topic] = Topic(*channel, counts[id] + (known.count if known else 0))
        return topics

    def _places_of(self, topic: str) -> np.ndarray:
        """int64 (N, 4): time, chunk, offset and channel of every message, in order of time."""
        if topic not in self._places:
            known = self.topics[topic]
            wanted = Channel(known.name, known.kind, known.encoding)
            places = np.concatenate(list(self._rows({id for id, c in self._layout.channels.items() if c == wanted})))
            # ties: as they stand in the file
            self._places[topic] = places[np.lexsort((places[:, 2], places[:, 1], places[:, 0]))]
        return self._places[topic]

    def _rows(self, channels: set[int]) -> Iterator[np.ndarray]:
        """The same, as they stand in the file."""
        for chunk, place in enumerate(self._layout.chunks):
            for id in channels & place.index.keys():
                rows = np.empty((len(place.index[id]), 4), np.int64)
                rows[:, [0, 2]], rows[:, 1], rows[:, 3] = place.index[id], chunk, id
                yield rows
        outside = [message for message in self._layout.outside if message.channel in channels]
        yield np.array([(m.time_ns, _OUTSIDE, m.offset, m.channel) for m in outside], np.int64).reshape(-1, 4)
