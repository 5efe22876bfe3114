"""Publishers and subscribers of ROS 2 topics: messages in and out as CDR bytes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from posepipe.dds.domain import RosParticipant, delete
from posepipe.dds.ros_types import dds_topic, message_class, ros_topic, ros_type
from posepipe.errors import PosepipeError

QUEUE_MESSAGES = 4
"""Maximum number of messages that wait for a reader; the oldest are dropped on overflow."""

_MAX_FOUND = 10_000  # publishers of a domain that are looked at


@dataclass(frozen=True, slots=True)
class Publication:
    """A publisher that another program has."""

    topic: str  #: name in ROS 2, such as /camera/depth
    kind: str  #: message type, such as sensor_msgs/msg/Image
    reliable: bool  #: whether it sends lost messages again

    def __str__(self) -> str:
        return f"{self.topic} ({self.kind})"


class Discovery:
    """The publishers of a domain, as they become known.

    Parameters
    ----------
    participant : of this process
    """

    def __init__(self, participant: RosParticipant) -> None:
        from cyclonedds.builtin import BuiltinDataReader, BuiltinTopicDcpsPublication

        self._reader = BuiltinDataReader(participant.entity, BuiltinTopicDcpsPublication)

    def publications(self) -> list[Publication]:
        """List all publishers of ROS 2 topics that are known by now, in the order of their topics."""
        from cyclonedds.core import InstanceState
        from cyclonedds.qos import Policy

        found = set()
        for each in self._reader.read(_MAX_FOUND):
            if each.sample_info.instance_state != InstanceState.Alive:
                continue  # it has left, and has no name any more
            topic = ros_topic(each.topic_name)
            if topic is not None:
                reliable = isinstance(each.qos[Policy.Reliability], Policy.Reliability.Reliable)
                found.add(Publication(topic, ros_type(each.type_name), reliable))
        return sorted(found, key=lambda each: (each.topic, each.kind, each.reliable))


class Subscriber:
    """Messages of one topic, the newest `QUEUE_MESSAGES` of them.

    Parameters
    ----------
    participant : of this process
    publication : what to receive
    """

    def __init__(self, participant: RosParticipant, publication: Publication) -> None:
        from cyclonedds.core import InstanceState, ReadCondition, SampleState, ViewState, WaitSet
        from cyclonedds.sub import DataReader
        from cyclonedds.topic import Topic

        self._kind = message_class(publication.kind)
        topic = Topic(participant.entity, dds_topic(publication.topic), self._kind)
        self._reader = DataReader(participant.entity, topic, _quality(publication.reliable))
        self._news = WaitSet(participant.entity)
        self._unread = ReadCondition(self._reader, ViewState.Any | InstanceState.Any | SampleState.NotRead)
        self._news.attach(self._unread)

    def take(self, timeout_s: float) -> bytes | None:
        """Wait for the next message; None after the timeout."""
        if not self._news.wait(max(0, round(timeout_s * 1e9))):
            return None
        samples = self._reader.take(1)
        return samples[0].data if samples and isinstance(samples[0], self._kind) else None  # else a publisher left

    def close(self) -> None:
        """Receive no more."""
        delete(self._news)
        delete(self._reader)


class Publisher:
    """Sends messages of one topic, without waiting for anybody.

    `write` raises PosepipeError for bytes that do not fit the type.

    Parameters
    ----------
    participant : of this process
    topic : name in ROS 2
    kind : message type
    """

    def __init__(self, participant: RosParticipant, topic: str, kind: str) -> None:
        from cyclonedds.pub import DataWriter
        from cyclonedds.topic import Topic

        self._topic, self._kind = topic, message_class(kind)
        named = Topic(participant.entity, dds_topic(topic), self._kind)
        self._writer: Any = DataWriter(participant.entity, named, _quality(reliable=True))

    @property
    def readers(self) -> int:
        """Number of subscribers that are known by now."""
        return len(self._writer.get_matched_subscriptions())

    def write(self, message: bytes) -> bool:
        """Send a message; False where it was dropped, because a subscriber is far behind.

        Raises PosepipeError where it cannot be sent for another reason.
        """
        from cyclonedds.core import DDSException

        try:
            self._writer.write(self._kind(message))
        except DDSException as error:
            if error.code != DDSException.DDS_RETCODE_TIMEOUT:
                raise PosepipeError(f"{self._topic}: cannot be sent ({error})") from error
            return False
        return True


def _quality(reliable: bool) -> Any:
    """Quality of service as ROS 2 has it for streams: nothing is kept for those who come later."""
    from cyclonedds.core import Policy, Qos

    return Qos(
        Policy.Reliability.Reliable(max_blocking_time=0) if reliable else Policy.Reliability.BestEffort,
        Policy.Durability.Volatile,
        Policy.History.KeepLast(QUEUE_MESSAGES),
        Policy.DataRepresentation(use_cdrv0_representation=True),
    )
