"""The interface of all files of ROS messages: MCAP files, ROS 1 bags and ROS 2 databases."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

import numpy as np

from posepipe.errors import DamagedMessageError, FormatError, counted
from posepipe.io.limits import max_played_bytes, max_searched_bytes

MAX_TIME_NS = (1 << 63) - 1
"""Maximum time of a message, nanoseconds, in an int64: the year 2262."""
DAMAGE = (ValueError, LookupError, ArithmeticError, struct.error, MemoryError)
"""Errors that damaged bytes cause while they are decoded."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One stream of messages."""

    name: str
    kind: str  #: message type, as ROS 1 writes it: sensor_msgs/Image
    encoding: str  #: serialisation: cdr (ROS 2), ros1, or another program's
    count: int  #: number of messages

    def __str__(self) -> str:
        return f"{self.name} ({self.kind or 'unknown type'}, {counted(self.count, 'message')})"


def short_kind(kind: str) -> str:
    """Convert the name of a message type from ROS 2 to ROS 1: sensor_msgs/msg/Image to sensor_msgs/Image."""
    return kind.replace("/msg/", "/")


def check_time(time_ns: int) -> int:
    """Return a time, nanoseconds since the Unix epoch. Raises ValueError outside 0 to `MAX_TIME_NS`."""
    if not 0 <= time_ns <= MAX_TIME_NS:
        raise ValueError(f"a time of {time_ns} ns; wanted 0 to {MAX_TIME_NS}")
    return time_ns


class MessageFile(ABC):
    """Messages by topic and index, in order of time, with random access; a context manager.

    Times are when the recorder received the messages. They are in the index of the file, and opening unpacks no
    message. Unlike the clocks of cameras, they do not jump.
    """

    path: Path
    topics: dict[str, Topic]  #: by name
    start_time_ns: int | None = None  #: time of second 0; None = that of the first frame
    complete: bool = True  #: whether the recorder closed the file, and nothing in it is damaged
    size_bytes: int = 0  #: of the file; 0 = it has no chunks
    _searched_bytes: int = 0  #: unpacked so far by `first`
    _beside_bytes: int = 0  #: unpacked so far by `beside`
    _last_read: Mapping[str, int] = MappingProxyType({})  #: topic -> index of the last message, since reading went back
    _played_from: int = 0  #: `unpacked_bytes` before these messages
    _message_bytes: int = 0  #: size of these messages

    @abstractmethod
    def times_ns(self, topic: str) -> np.ndarray:
        """Times of all messages of a topic, int64 (N,), nanoseconds, ascending."""

    @abstractmethod
    def _read_message(self, topic: str, index: int) -> bytes:
        """Read one message. Raises DamagedMessageError where the file is damaged."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    @property
    def unpacked_bytes(self) -> int:
        """Size of all chunks that were read so far, as they declare it; again for those that were read again."""
        return 0

    def message(self, topic: str, index: int) -> bytes:
        """Read one message.

        Raises
        ------
        DamagedMessageError
            Where the file is damaged.
        FormatError
            Where reading on unpacks more than the sizes of the file and of its messages justify. Going back to an
            earlier message starts anew: a jump costs one chunk.
        """
        if not self._last_read or index <= self._last_read.get(topic, -1):
            self._last_read, self._played_from, self._message_bytes = {}, self.unpacked_bytes, 0
        self._last_read = {**self._last_read, topic: index}
        played = self.unpacked_bytes - self._played_from
        if played > max_played_bytes(self.size_bytes, self._message_bytes):
            problem = f"unpacked {played >> 20} MB for {self._message_bytes} bytes of messages"
            raise FormatError(self.path, f"{topic}, message {index}: {problem}; the recording is damaged")
        data = self._read_message(topic, index)
        self._message_bytes += len(data)
        return data

    def first(self, topic: str) -> tuple[int, bytes]:
        """Index and bytes of the first undamaged message.

        Raises FormatError where there is none, or where the search unpacks more than the size of the file justifies.
        """
        problem = FormatError(self.path, f"{topic}: no message in the recording")
        for index in range(len(self.times_ns(topic))):
            if self._searched_bytes > max_searched_bytes(self.size_bytes):
                searched = f"in the first {self._searched_bytes >> 20} MB that were unpacked"
                raise FormatError(self.path, f"{topic}: no message {searched}; the recording is damaged")
            before = self.unpacked_bytes
            try:
                return index, self._read_message(topic, index)
            except DamagedMessageError as error:
                problem = error if index == 0 else problem
            finally:
                self._searched_bytes += self.unpacked_bytes - before
        raise problem

    def beside(self, topic: str, index: int) -> bytes:
        """Read a message of a topic that is not played, such as of an accelerometer.

        Raises
        ------
        FormatError
            Where the file is damaged, or such messages lie in chunks that unpack to more than the size of the file
            justifies. Neither counts for the topic that is played.
        """
        if self._beside_bytes > max_searched_bytes(self.size_bytes):
            raise FormatError(self.path, f"{topic}: its messages unpack to {self._beside_bytes >> 20} MB")
        before = self.unpacked_bytes
        try:
            return self._read_beside(topic, index)
        finally:
            unpacked = self.unpacked_bytes - before
            self._beside_bytes += unpacked
            self._played_from += unpacked

    def _read_beside(self, topic: str, index: int) -> bytes:
        return self._read_message(topic, index)

    def offset(self, topic: str, index: int) -> int | None:
        """Position of a message in the file, bytes, for error messages; None = unknown."""
        return None

    def missing(self, frames: int) -> str:
        """Describe what a cut or damaged file lacks; "" for a complete one.

        Parameters
        ----------
        frames : number of complete frames, for the message
        """
        return ""

    @contextmanager
    def errors_of(self, topic: str, index: int) -> Iterator[None]:
        """Convert errors of damaged bytes to a DamagedMessageError that names the message."""
        try:
            yield
        except DAMAGE as error:
            problem = f"{topic}, message {index}: {error or type(error).__name__}"
            raise DamagedMessageError(self.path, problem, self.offset(topic, index)) from error

    def __enter__(self) -> MessageFile:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()


class JoinedFiles(MessageFile):
    """Several files of one recording as one. Recorders split large recordings.

    Parameters
    ----------
    path : folder of the files, for messages
    files : closed with this object
    """

    def __init__(self, path: Path, files: Sequence[MessageFile]) -> None:
        self.path = path
        self._files = files
        self.complete = all(file.complete for file in files)
        self.size_bytes = sum(file.size_bytes for file in files)
        self.topics = {}
        for topic in (topic for file in files for topic in file.topics.values()):
            known = self.topics.get(topic.name)
            if known is None or (known.kind, known.encoding) == (topic.kind, topic.encoding):
                count = topic.count + (known.count if known else 0)
                self.topics[topic.name] = Topic(topic.name, topic.kind, topic.encoding, count)
        self._places: dict[str, np.ndarray] = {}

    def times_ns(self, topic: str) -> np.ndarray:
        """Times of all messages of a topic, int64 (N,), nanoseconds, ascending."""
        return self._places_of(topic)[:, 0]

    def _read_message(self, topic: str, index: int) -> bytes:
        """Read one message. Raises DamagedMessageError where the file is damaged."""
        _, file, place = self._places_of(topic)[index]
        return self._files[file].message(topic, int(place))

    def _read_beside(self, topic: str, index: int) -> bytes:
        _, file, place = self._places_of(topic)[index]
        return self._files[file].beside(topic, int(place))

    @property
    def unpacked_bytes(self) -> int:
        """Size of all chunks that were read so far."""
        return sum(file.unpacked_bytes for file in self._files)

    def missing(self, frames: int) -> str:
        """Describe what cut or damaged files lack; "" for complete ones."""
        cut = [str(file.path) for file in self._files if not file.complete]
        read = "1 complete frame was" if frames == 1 else f"{frames} complete frames were"
        return f"{', '.join(cut)}: not closed or damaged; {read} read" if cut else ""

    def close(self) -> None:
        """Close all files."""
        for file in self._files:
            file.close()

    def _places_of(self, topic: str) -> np.ndarray:
        """Positions of all messages, int64 (N, 3): time, file, and index in that file."""
        if topic not in self._places:
            wanted = self.topics[topic]
            rows = []
            for i, file in enumerate(self._files):
                own = file.topics.get(topic)
                if own is not None and (own.kind, own.encoding) == (wanted.kind, wanted.encoding):
                    times = file.times_ns(topic)
                    rows.append(np.column_stack([times, np.full(len(times), i), np.arange(len(times))]))
            places = np.concatenate(rows)
            self._places[topic] = places[np.argsort(places[:, 0], kind="stable")]
        return self._places[topic]
