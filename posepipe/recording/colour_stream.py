"""Colour images of one topic of a file of ROS messages, beside depth."""

from __future__ import annotations

import numpy as np

from posepipe.errors import FormatError
from posepipe.recording.containers.message_file import MessageFile, Topic
from posepipe.recording.ros.colour_images import is_colour, read_colour
from posepipe.recording.ros.depth_images import ENCODINGS, IMAGE_KINDS, read_head
from posepipe.recording.ros.topics import stream_of

AUTO = "auto"
"""Stands for the only colour stream of a file."""
MAX_APART_NS = 100_000_000
"""Maximum time between an image and the depth that it is shown beside."""
MAX_TRIED = 10
"""Images that are tried for the size of the stream."""


class ColourStream:
    """Colour images of one topic, by time. They have a lens of their own, and are not aligned to depth.

    Parameters
    ----------
    file : MessageFile; the caller closes it
    topic : colour stream to read; AUTO = the only one

    Raises
    ------
    FormatError
        When there is no such stream, or more than one.
    """

    def __init__(self, file: MessageFile, topic: str = AUTO) -> None:
        self._file = file
        self.topic = _choose(file, topic)
        self._times_ns = file.times_ns(self.topic.name)
        self.shape: tuple[int, int] = self._first().shape[:2]  #: rows and columns

    def _first(self) -> np.ndarray:
        """First image that is whole, among some. Raises FormatError where there is none."""
        for index in range(min(self.topic.count, MAX_TRIED)):
            try:
                return self._decoded(index, self._file.beside(self.topic.name, index))
            except FormatError as error:
                problem = error
        raise problem

    def _decoded(self, index: int, data: bytes) -> np.ndarray:
        with self._file.errors_of(self.topic.name, index):
            return read_colour(data, self.topic)

    def near(self, time_ns: int) -> np.ndarray:
        """Image nearest to a time: uint8 (H, W, 3), RGB; black where there is none, or it is damaged."""
        index = index_near(self._times_ns, time_ns)
        if index is not None:
            try:
                found = self._decoded(index, self._file.message(self.topic.name, index))
                if found.shape[:2] == self.shape:
                    return found
            except FormatError:
                pass
        return np.zeros((*self.shape, 3), np.uint8)


def index_near(times_ns: np.ndarray, time_ns: int) -> int | None:
    """Index of the image nearest to a time, of ascending times, int64 (N,); None = none is near enough."""
    after = int(np.searchsorted(times_ns, time_ns))
    around = [k for k in (after - 1, after) if 0 <= k < len(times_ns)]
    index = min(around, key=lambda k: abs(int(times_ns[k]) - time_ns), default=None)
    return index if index is not None and abs(int(times_ns[index]) - time_ns) <= MAX_APART_NS else None


def _choose(file: MessageFile, wanted: str) -> Topic:
    found = _colour_topics(file)
    if wanted in found:
        return found[wanted]
    if wanted != AUTO:
        raise FormatError(file.path, f"{wanted} is no colour stream; there are: {_listed(found)}")
    if not found:
        raise FormatError(file.path, "no colour stream in the recording; leave out --colour")
    alone = [topic for name, topic in found.items() if name == stream_of(name) or stream_of(name) not in found]
    if len(alone) > 1:
        raise FormatError(file.path, f"several colour streams, choose one with --colour: {_listed(found)}")
    return alone[0]


def _colour_topics(file: MessageFile) -> dict[str, Topic]:
    """Colour streams by name; a stream whose first image is damaged is none."""
    found = {}
    for name, topic in sorted(file.topics.items()):
        if topic.kind not in IMAGE_KINDS or topic.encoding not in ENCODINGS or not topic.count:
            continue
        try:
            if is_colour(read_head(file, topic)):
                found[name] = topic
        except FormatError:
            continue
    return found


def _listed(topics: dict[str, Topic]) -> str:
    return ", ".join(map(str, topics.values())) or "none"
