"""Selection of the depth and calibration topics of a recording."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from posepipe.errors import FormatError
from posepipe.recording.containers.message_file import MessageFile, Topic
from posepipe.recording.ros.depth_images import ENCODINGS, IMAGE, IMAGE_KINDS, is_depth, read_head
from posepipe.recording.ros.message_fields import Image
from posepipe.recording.ros.messages import DEPTH_TOPIC

CAMERA_INFO = "sensor_msgs/CameraInfo"
_TRANSPORTS = ("/compressedDepth", "/compressed")
"""Suffixes that image_transport appends to the name of a stream."""
_OTHER_CONTENT = re.compile(
    r"(?:^|[/_])(?:ir|infra\w*|amplitude|intensity|confidence|disparity|masks?|labels?)(?:$|[/_\d])"
)
"""Names of images whose pixels have the type of depth and hold something else."""
_MAX_LISTED = 20  #: topics in an error message


class SeveralTopicsError(FormatError):
    """A file contains several depth streams, and no topic was given.

    Parameters
    ----------
    path : the file
    topics : its depth streams
    """

    def __init__(self, path: str | Path, topics: Sequence[Topic]) -> None:
        super().__init__(path, f"several depth topics, choose one with --topic: {', '.join(map(str, topics))}")
        self.topics = tuple(topic.name for topic in topics)


def choose_depth_topic(file: MessageFile, wanted: str | None = None) -> Topic:
    """Choose the wanted depth stream, that of posepipe, or the only one.

    The raw and the compressed version of a stream count as one.

    Raises
    ------
    FormatError
        When there is no depth stream. Names the topics of the file.
    SeveralTopicsError
        When there are several depth streams.
    """
    if wanted is not None:
        return _checked(file, wanted)
    own = file.topics.get(DEPTH_TOPIC)
    if own is not None and own.kind == IMAGE:
        return _checked(file, DEPTH_TOPIC)
    images = [t for t in file.topics.values() if t.kind in IMAGE_KINDS]
    readable = _readable(file, [t for t in images if "depth" in t.name.lower()])
    if not readable:  # then by their type alone
        others = [t for t in images if t.count and not _OTHER_CONTENT.search(t.name.lower())]
        readable = _readable(file, others, are_guesses=True)
    nonempty = {name: t for name, t in readable.items() if t.count} or readable
    found = [t for name, t in nonempty.items() if name == stream_of(name) or stream_of(name) not in nonempty]
    if len(found) == 1:
        return found[0]
    if found:
        raise SeveralTopicsError(file.path, found)
    raise FormatError(file.path, f"no depth topic was found, choose one with --topic: {_listed(file)}{_foreign(file)}")


def _readable(file: MessageFile, topics: Sequence[Topic], are_guesses: bool = False) -> dict[str, Topic]:
    """Depth streams among some topics, by the encoding of their first image; those without images, too.

    A guess whose first image is damaged is none.
    """
    found = {}
    for topic in topics:
        if topic.encoding not in ENCODINGS:
            continue
        try:
            if topic.count == 0 or is_depth(read_head(file, topic)):
                found[topic.name] = topic
        except FormatError:
            if not are_guesses:
                raise
    return found


def camera_info_topic(file: MessageFile, topic: str) -> Topic | None:
    """Find the camera_info of a depth stream; None = there is none.

    It is beside the stream or, in bags of the RealSense SDK, in ``info`` beside the ``image`` of the stream.
    """
    folder = stream_of(topic).rpartition("/")[0]
    for name in (f"{folder}/camera_info", f"{folder.rpartition('/')[0]}/info/camera_info"):
        found = file.topics.get(name)
        if found is not None and found.kind == CAMERA_INFO and found.count:
            return found
    return None


def stream_of(topic: str) -> str:
    """Name of a topic without the suffix of its transport."""
    for transport in _TRANSPORTS:
        topic = topic.removesuffix(transport)
    return topic


def is_rectified(topic: str) -> bool:
    """Whether the images of a topic are rectified, by the names of image_pipeline: image_rect, image_rect_raw."""
    return re.search(r"(?:^|[/_])rect", topic.lower()) is not None


def _checked(file: MessageFile, name: str) -> Topic:
    topic = file.topics.get(name)
    if topic is None:
        raise FormatError(file.path, f"no depth topic {name}; there are: {_listed(file)}")
    if topic.encoding not in ENCODINGS:
        raise FormatError(file.path, f"{name}: wanted ROS messages (cdr or ros1), got {topic.encoding!r}")
    if topic.kind not in IMAGE_KINDS:
        raise FormatError(file.path, f"{name}: wanted {' or '.join(IMAGE_KINDS)}, got {topic.kind or 'no known type'}")
    head = read_head(file, topic) if topic.count else None
    if head is not None and not is_depth(head):
        what = head.encoding if isinstance(head, Image) else head.format
        raise FormatError(file.path, f"{name} holds no depth but {what!r}; there are: {_listed(file)}")
    return topic


def _listed(file: MessageFile) -> str:
    topics = sorted(file.topics.values(), key=lambda t: (t.kind not in IMAGE_KINDS, t.name))
    more = f", and {len(topics) - _MAX_LISTED} more" if len(topics) > _MAX_LISTED else ""
    return (", ".join(str(t) for t in topics[:_MAX_LISTED]) or "none") + more


def _foreign(file: MessageFile) -> str:
    foreign = sorted({t.encoding for t in file.topics.values() if t.encoding not in ENCODINGS})
    return f"; only ROS messages (cdr or ros1) are read, not {', '.join(foreign)}" if foreign else ""
