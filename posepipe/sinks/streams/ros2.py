"""People live in ROS 2, without ROS: markers for RViz, transforms, and a message of all joints.

Topics: docs/reference/results.md. Sending never waits. A subscriber that is too slow loses messages; they are counted.
"""

from __future__ import annotations

import logging
from types import TracebackType
from typing import Self

from posepipe.body import BodyDefinition
from posepipe.dds.domain import RosParticipant, join_domain
from posepipe.dds.topics import Publisher
from posepipe.errors import PosepipeError
from posepipe.loopback import is_loopback
from posepipe.recording import POSE_TOPICS, SKELETON_TOPICS, encode_poses, encode_skeletons
from posepipe.results import FrameResult
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.stream_clock import StreamClock

DEFAULT_FRAME_ID = "depth_camera"

logger = logging.getLogger(__name__)


class Ros2Sink:
    """Publishes people as MarkerArray, TFMessage and posepipe_msgs/Skeletons; a `FrameSink`.

    Parameters
    ----------
    address : network interface to use; its path is the frame of the camera, if the robot has one
    body : joints and bones
    start_time_ns : time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown

    Raises
    ------
    PosepipeError
        On opening, if the extra ``ros2`` is missing or the network cannot be used.
    """

    def __init__(self, address: StreamAddress, body: BodyDefinition, start_time_ns: int = 0) -> None:
        self.address = address
        self.dropped = 0  #: messages that a slow subscriber kept from being sent
        self._body = body
        self._clock = StreamClock(start_time_ns)
        self._participant: RosParticipant | None = None
        self._publishers: dict[str, Publisher] = {}

    def __enter__(self) -> Self:
        try:
            self._participant = participant = join_domain(self.address.host)
        except PosepipeError as error:
            raise PosepipeError(f"{self.address}: {error}") from error
        topics = POSE_TOPICS | SKELETON_TOPICS
        self._publishers = {topic: Publisher(participant, topic, kind) for topic, kind in topics.items()}
        if not is_loopback(self.address.host):
            logger.info("%s: other machines can read this stream", self.address)
        return self

    @property
    def readers(self) -> int:
        """Number of subscribers to all topics that are known by now."""
        return sum(publisher.readers for publisher in self._publishers.values())

    def write(self, result: FrameResult) -> None:
        """Publish one frame."""
        if not self._publishers:
            raise RuntimeError(f"{self.address}: not open")
        stamp_ns = self._clock.stamp_ns(result.frame.timestamp_s)
        own_frame = self.address.path.strip("/")
        frame_id = own_frame or DEFAULT_FRAME_ID
        world = None if own_frame else result.world  # the robot's own tree says where its camera is
        messages = encode_poses(result.people, self._body, world, stamp_ns, frame_id)
        for topic in SKELETON_TOPICS:
            messages[topic] = encode_skeletons(result.people, self._body.joints, stamp_ns, frame_id)
        for topic, message in messages.items():
            self.dropped += not self._publishers[topic].write(message)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.dropped:
            logger.warning("%s: %d messages were dropped, as subscribers were too slow", self.address, self.dropped)
        if self._participant is not None:
            self._participant.leave()
        self._participant, self._publishers = None, {}
