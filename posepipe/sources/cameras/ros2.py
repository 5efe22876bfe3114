"""``camera:ros2:[HOST:]TOPIC``: depth images that a program publishes on a topic of ROS 2; ROS itself is not needed.

The type of the topic, Image or compressedDepth, and the quality of service are those of its publisher. The calibration
comes from ``camera_info`` beside the topic.
"""

from __future__ import annotations

import logging
import time
from threading import Event

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.dds.domain import RosParticipant, join_domain
from posepipe.dds.topics import Discovery, Publication, Subscriber
from posepipe.errors import PosepipeError, SourceError
from posepipe.loopback import LOOPBACK, is_loopback
from posepipe.recording import IMAGE_KINDS, LiveDepth, live_camera_info
from posepipe.sources.cameras.depth_camera import CameraFrame, tell_left_distorted

PUBLISHER_WAIT_S = 60.0
"""Maximum wait for the first publisher, its first image and its calibration."""
RETURN_WAIT_S = 10.0
"""The same when it is opened again, per attempt."""

_POLL_S = 0.1
_REPLACED_WAIT_S = 1.0  # for a calibration that is replaced
_TRIED_IMAGES = 3  # of which one must be whole
_MAX_LISTED = 20  #: topics in an error message
_CAMERA_INFO = "sensor_msgs/msg/CameraInfo"
_log = logging.getLogger(__name__)


class Ros2Camera:
    """Depth images of one topic.

    Parameters
    ----------
    name : what the user called it
    place : ``TOPIC``, or ``HOST:TOPIC`` with the address of the network interface to use
    calibration : replaces that of the topic; images are then not undistorted

    Raises
    ------
    SourceError
        For a place without a topic.
    """

    intrinsics: Intrinsics
    shape: tuple[int, int]
    waits = False
    recorded = False

    def __init__(self, name: str, place: str, calibration: CameraFile | None = None) -> None:
        self.name = name
        host, _, topic = place.rpartition(":")
        if not topic.strip("/"):
            raise SourceError(name, f"wanted camera:ros2:TOPIC or camera:ros2:HOST:TOPIC, got topic {topic!r}")
        self._host, self._topic = host or LOOPBACK, "/" + topic.strip("/")
        self._calibration = calibration
        self._participant: RosParticipant | None = None
        self._images: Subscriber | None = None
        self._depth: LiveDepth | None = None
        self._opened = self._warned = False

    def open(self, stop: Event) -> None:
        """Wait for a publisher and its first image. Raises SourceError where none comes."""
        self.close()
        deadline = time.monotonic() + (RETURN_WAIT_S if self._opened else PUBLISHER_WAIT_S)
        self._opened = True
        try:
            self._participant = participant = join_domain(self._host)
        except PosepipeError as error:
            raise SourceError(self.name, str(error)) from error
        if not is_loopback(self._host):
            _log.warning("%s: uses the network of %s: whoever reaches it can send frames", self.name, self._host)
        _log.info("%s: waiting for images", self.name)
        found = self._find(Discovery(participant), self._topic, stop, deadline)
        if found.kind.replace("/msg/", "/") not in IMAGE_KINDS:
            raise SourceError(self.name, f"wanted a topic of {' or '.join(IMAGE_KINDS)}, got {found}")
        self._images = Subscriber(participant, found)
        self._depth = self._first_depth(self._images, found, stop, deadline)
        self.shape = self._depth.shape
        self.intrinsics = self._read_intrinsics(participant, self._depth, stop, deadline)
        _log.info("%s: %s, %dx%d pixels", self.name, found, *reversed(self.shape))

    def _first_depth(self, images: Subscriber, found: Publication, stop: Event, deadline: float) -> LiveDepth:
        """Wait for an image that is whole; all of a topic without depth are not."""
        problem: ValueError
        for _ in range(_TRIED_IMAGES):
            message = self._first(images, found, stop, deadline)
            try:
                return LiveDepth(self._topic, found.kind.replace("/msg/", "/"), message)
            except ValueError as error:
                problem = error
        raise SourceError(self.name, str(problem)) from problem

    def _read_intrinsics(
        self, participant: RosParticipant, depth: LiveDepth, stop: Event, deadline: float
    ) -> Intrinsics:
        if self._calibration is not None:
            intrinsics = self._calibration.intrinsics_for(*self.shape)
            if self._is_distorted(participant, depth, stop):
                tell_left_distorted(self.name, self._calibration)
            return intrinsics
        topic = live_camera_info(self._topic)
        try:
            found = self._find(Discovery(participant), topic, stop, deadline)
        except SourceError as error:
            raise SourceError(
                self.name, f"{str(error).removeprefix(f'{self.name}: ')}; give --camera PRESET|FILE"
            ) from error
        if found.kind != _CAMERA_INFO:
            raise SourceError(self.name, f"wanted {_CAMERA_INFO} beside it, got {found}; give --camera PRESET|FILE")
        message = self._first_alone(participant, found, stop, deadline)
        try:
            return depth.calibrate(message)
        except ValueError as error:
            raise SourceError(self.name, f"{topic}: {error}") from error

    def _is_distorted(self, participant: RosParticipant, depth: LiveDepth, stop: Event) -> bool:
        """Whether the calibration of the topic, where there is one, tells lens distortion."""
        topic = live_camera_info(self._topic)
        for found in Discovery(participant).publications():
            if (found.topic, found.kind) == (topic, _CAMERA_INFO):
                try:
                    message = self._first_alone(participant, found, stop, time.monotonic() + _REPLACED_WAIT_S)
                except SourceError:  # none came
                    return False
                return depth.is_distorted(message)
        return False

    def _find(self, discovery: Discovery, topic: str, stop: Event, deadline: float) -> Publication:
        """Wait for a publisher of a topic; the least reliable of several, as its quality suits all."""
        known: list[Publication] = []
        while not stop.is_set() and time.monotonic() < deadline:
            known = discovery.publications()
            found = [each for each in known if each.topic == topic]
            if found:
                return min(found, key=lambda each: each.reliable)
            stop.wait(_POLL_S)
        listed = ", ".join(map(str, known[:_MAX_LISTED])) or "none"
        raise SourceError(self.name, f"nobody publishes {topic}; topics on {self._host}: {listed}")

    def _first(self, subscriber: Subscriber, found: Publication, stop: Event, deadline: float) -> bytes:
        while not stop.is_set() and time.monotonic() < deadline:
            message = subscriber.take(_POLL_S)
            if message is not None:
                return message
        raise SourceError(self.name, f"no message came on {found}")

    def _first_alone(self, participant: RosParticipant, found: Publication, stop: Event, deadline: float) -> bytes:
        """Wait for one message of a topic; none is received afterwards."""
        subscriber = Subscriber(participant, found)
        try:
            return self._first(subscriber, found, stop, deadline)
        finally:
            subscriber.close()

    def read(self, timeout_s: float) -> CameraFrame | None:
        """Wait for the next frame; None after the timeout, and for a damaged image."""
        assert self._images is not None
        assert self._depth is not None
        message = self._images.take(timeout_s)
        if message is None:
            return None
        try:
            depth, stamp_ns = self._depth.decode(message)
        except ValueError as error:
            if not self._warned:
                _log.warning("%s: an image was left out: %s", self.name, error)
            self._warned = True
            return None
        # also the times of a simulation: what is published of a frame has its stamp, which other nodes look up
        return CameraFrame(depth, stamp_ns or None, since_epoch=stamp_ns > 0)

    def close(self) -> None:
        """Leave the domain, unless something else uses it."""
        images, self._images = self._images, None
        participant, self._participant = self._participant, None
        if images is not None:
            images.close()
        if participant is not None:
            participant.leave()
