"""Which channels of an MCAP file carry depth, calibration and truth."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from mcap.records import Channel, Schema

from posepipe.errors import FormatError
from posepipe.recording import messages as ros


@dataclass(frozen=True)
class TruthChannels:
    """Channel ids of a labelled recording."""

    parts: int
    people: int
    joints: int


@dataclass(frozen=True)
class TopicChoice:
    """Channel ids of the streams that make a frame."""

    depth: int
    camera_info: int | None
    truth: TruthChannels | None

    @cached_property
    def wanted(self) -> frozenset[int]:
        """Channels that must all have spoken before a frame is whole."""
        truth = () if self.truth is None else (self.truth.parts, self.truth.people, self.truth.joints)
        return frozenset((self.depth, *truth))


def choose_topics(
    path: Path, channels: dict[int, Channel], schemas: dict[int, Schema], depth_topic: str | None = None
) -> TopicChoice:
    """Find our topics, or the one depth stream of another program's recording and the camera_info beside it.

    Raises FormatError, naming the topics there are, where the depth stream is missing or one of several.
    """
    kinds = {c.topic: schemas[c.schema_id].name for c in channels.values() if c.schema_id in schemas}
    ids = {channel.topic: id for id, channel in channels.items()}
    topic = _depth_topic(path, kinds, depth_topic)
    if channels[ids[topic]].message_encoding != "cdr":
        raise FormatError(path, f"{topic}: wanted ROS 2 messages (cdr), got {channels[ids[topic]].message_encoding!r}")
    camera_info = ids.get(topic.rpartition("/")[0] + "/camera_info")
    truth = [ids.get(name) for name in (ros.PARTS_TOPIC, ros.PEOPLE_TOPIC, ros.JOINTS_TOPIC)]
    labelled = TruthChannels(*(id for id in truth if id is not None)) if None not in truth else None
    return TopicChoice(ids[topic], camera_info, labelled)


def _depth_topic(path: Path, kinds: dict[str, str], wanted: str | None) -> str:
    images = [topic for topic, kind in kinds.items() if kind == ros.IMAGE]
    if wanted is None and ros.DEPTH_TOPIC in images:
        return ros.DEPTH_TOPIC
    found = [topic for topic in images if (topic == wanted if wanted else "depth" in topic)]
    if len(found) == 1:
        return found[0]
    if found:
        raise FormatError(path, f"several depth topics, choose one: {', '.join(sorted(found))}")
    there = ", ".join(sorted(kinds)) or "none"
    raise FormatError(path, f"no depth topic {wanted or ros.DEPTH_TOPIC} of type {ros.IMAGE}; topics: {there}")
