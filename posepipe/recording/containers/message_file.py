"""Messages by topic and place: what an MCAP file, a ROS 1 bag and a ROS 2 database have in common."""

from __future__ import annotations

import struct
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError

MAX_MESSAGE_BYTES = 1 << 30
DAMAGE = (ValueError, LookupError, ArithmeticError, struct.error, MemoryError)
"""What bytes that are not what they should be lead to."""


class DamagedMessageError(FormatError):
    """One message cannot be read; others of its file can."""


@dataclass(frozen=True, slots=True)
class Topic:
    """One stream of messages."""

    name: str
    kind: str  #: its type, as ROS 1 writes it: sensor_msgs/Image
    encoding: str  #: cdr (ROS 2), ros1, or another program's
    count: int

    def __str__(self) -> str:
        return f"{self.name} ({self.kind or 'unknown type'}, {self.count} messages)"


def short_kind(kind: str) -> str:
    """A type's name without what only ROS 2 writes: sensor_msgs/msg/Image is sensor_msgs/Image."""
    return kind.replace("/msg/", "/")


class MessageFile(ABC):
    """Any message at once, by topic and place in order of time; a context manager.

    Times are those at which the recorder took the messages: they stand in the index, so that a file of any size opens
    without unpacking what it holds, and they never jump as the clocks of cameras do.
    """

    path: Path
    topics: dict[str, Topic]
    start_time_ns: int | None = None  #: time that counts as second 0; None = that of the first frame
    complete: bool = True  #: whether the recorder closed the file, and all of it can be found

    @abstractmethod
    def times_ns(self, topic: str) -> np.ndarray:
        """Of every message of a topic, int64 (N,), ascending."""

    @abstractmethod
    def message(self, topic: str, index: int) -> bytes:
        """The bytes of one message. Raises DamagedMessageError where the file is damaged there."""

    @abstractmethod
    def close(self) -> None:
        """Close the file."""

    def first(self, topic: str) -> tuple[int, bytes]:
        """Place and bytes of the first message that is not damaged. Raises FormatError where there is none."""
        problem = FormatError(self.path, f"{topic}: no message in the recording")
        for index in range(len(self.times_ns(topic))):
            try:
                return index, self.message(topic, index)
            except DamagedMessageError as error:
                problem = error if index == 0 else problem
        raise problem

    def offset(self, topic: str, index: int) -> int | None:
        """Where a message lies, in bytes, for error messages; None where that tells nothing."""
        return None

    def missing(self, frames: int) -> str:
        """What a file that was cut or is damaged lacks, in words; empty for a complete one."""
        return ""

    @contextmanager
    def errors_of(self, topic: str, index: int) -> Iterator[None]:
        """Turn whatever damaged bytes lead to into one line that names the message."""
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
    """Several files as one: recorders begin a new one when the last has grown large."""

    def __init__(self, path: Path, files: Sequence[MessageFile]) -> None:
        self.path = path
        self._files = files
        self.complete = all(file.complete for file in files)
        self.topics = {}
        for topic in (topic for file in files for topic in file.topics.values()):
            known = self.topics.get(topic.name)
            if known is None or (known.kind, known.encoding) == (topic.kind, topic.encoding):
                count = topic.count + (known.count if known else 0)
                self.topics[topic.name] = Topic(topic.name, topic.kind, topic.encoding, count)
        self._places: dict[str, np.ndarray] = {}

    def times_ns(self, topic: str) -> np.ndarray:
        return self._places_of(topic)[:, 0]

    def message(self, topic: str, index: int) -> bytes:
        _, file, place = self._places_of(topic)[index]
        return self._files[file].message(topic, int(place))

    def missing(self, frames: int) -> str:
        cut = [str(file.path) for file in self._files if not file.complete]
        return f"{', '.join(cut)}: not closed or damaged; {frames} complete frames were read" if cut else ""

    def close(self) -> None:
        for file in self._files:
            file.close()

    def _places_of(self, topic: str) -> np.ndarray:
        """int64 (N, 3): time, file, and place in it, of every message."""
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
