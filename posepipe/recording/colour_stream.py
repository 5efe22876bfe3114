"""Colour images of one topic of a file of ROS messages, beside depth."""

from __future__ import annotations

import numpy as np

from posepipe.errors import FormatError
from posepipe.recording.colour_by_time import AUTO, ColourByTime
from posepipe.recording.containers.message_file import MessageFile, Topic
from posepipe.recording.ros.colour_images import is_colour, read_colour
from posepipe.recording.ros.depth_images import ENCODINGS, IMAGE_KINDS, read_head
from posepipe.recording.ros.topics import stream_of


class ColourStream(ColourByTime):
    """Colour images of one topic. They have a lens of their own, and are not aligned to depth.

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
        super().__init__(file.times_ns(self.topic.name))
        self.shape  # noqa: B018 - a stream without an image is an error when it is opened

    def image(self, index: int) -> np.ndarray:
        """Decode an image; see `ColourByTime.image`."""
        return self._decoded(index, self._file.message(self.topic.name, index))

    def first_images(self, index: int) -> np.ndarray:
        """Decode an image that is read besides the messages that are played."""
        return self._decoded(index, self._file.beside(self.topic.name, index))

    def _decoded(self, index: int, data: bytes) -> np.ndarray:
        with self._file.errors_of(self.topic.name, index):
            return read_colour(data, self.topic)


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
