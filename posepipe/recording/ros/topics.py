"""Which topics of a recording carry depth and calibration."""

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
"""What image_transport puts behind the name of a stream."""
_LISTED = 20  #: topics in an error message


class SeveralTopicsError(FormatError):
    """A file holds several streams of depth, and nobody said which is meant."""

    def __init__(self, path: str | Path, topics: Sequence[Topic]) -> None:
        super().__init__(path, f"several depth topics, choose one with --topic: {', '.join(map(str, topics))}")
        self.topics = tuple(topic.name for topic in topics)


def choose_depth_topic(file: MessageFile, wanted: str | None = None) -> Topic:
    """The depth stream that was asked for, ours, or the only one there is.

    A stream that is there both raw and compressed is one. Raises FormatError, naming the topics there are, where there
    is none, and SeveralTopicsError where there are several to choose from.
    """
    if wanted is not None:
        return _checked(file, wanted)
    ours = file.topics.get(DEPTH_TOPIC)
    if ours is not None and ours.kind == IMAGE:
        return _checked(file, DEPTH_TOPIC)
    named = [t for t in file.topics.values() if t.kind in IMAGE_KINDS and "depth" in t.name.lower()]
    readable = {t.name: t for t in named if t.encoding in ENCODINGS and (t.count == 0 or is_depth(read_head(file, t)))}
    spoken = {name: t for name, t in readable.items() if t.count} or readable
    found = [t for name, t in spoken.items() if name == stream_of(name) or stream_of(name) not in spoken]
    if len(found) == 1:
        return found[0]
    if found:
        raise SeveralTopicsError(file.path, found)
    raise FormatError(file.path, f"no depth topic was found, choose one with --topic: {_listed(file)}{_foreign(file)}")


def camera_info_topic(file: MessageFile, topic: str) -> Topic | None:
    """The calibration of a depth stream; None where there is none.

    It stands beside the stream, or, in RealSense's own bags, in ``info`` beside the ``image`` that the stream is in.
    """
    folder = stream_of(topic).rpartition("/")[0]
    for name in (f"{folder}/camera_info", f"{folder.rpartition('/')[0]}/info/camera_info"):
        found = file.topics.get(name)
        if found is not None and found.kind == CAMERA_INFO and found.count:
            return found
    return None


def stream_of(topic: str) -> str:
    """A topic's name without its transport."""
    for transport in _TRANSPORTS:
        topic = topic.removesuffix(transport)
    return topic


def is_rectified(topic: str) -> bool:
    """Whether the images of a topic are straight already, as image_pipeline names them: image_rect, image_rect_raw."""
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
    more = f", and {len(topics) - _LISTED} more" if len(topics) > _LISTED else ""
    return (", ".join(str(t) for t in topics[:_LISTED]) or "none") + more


def _foreign(file: MessageFile) -> str:
    foreign = sorted({t.encoding for t in file.topics.values() if t.encoding not in ENCODINGS})
    return f"; only ROS messages (cdr or ros1) are read, not {', '.join(foreign)}" if foreign else ""
