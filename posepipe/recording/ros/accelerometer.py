"""Direction of up in camera axes, by the accelerometer in a recording: ``sensor_msgs/Imu``.

A file is played without its accelerometer where that is damaged, too large, or its axes are unknown.
"""

from __future__ import annotations

import re
from collections import deque

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.camera import UpVector, up_of
from posepipe.errors import FormatError
from posepipe.recording.containers.message_file import MessageFile, Topic
from posepipe.recording.ros.depth_images import ENCODINGS
from posepipe.recording.ros.message_fields import StaticTransform, frame_of, read_imu, read_static_transforms

IMU = "sensor_msgs/Imu"
SAMPLES = 16
"""Measurements that are averaged: the first ones of every second, which lie side by side in the file."""
MAX_ACCELERATION_M_S2 = 1000.0
MAX_AGE_NS = 2_000_000_000
"""Maximum time from a measurement to a second without any."""
MAX_TOPICS, MAX_TF_MESSAGES, MAX_LINKS = 8, 50, 5000
"""Accelerometers, messages of static transforms, and transforms that are looked at."""

_NS_PER_S = 1_000_000_000
_SDK = re.compile(r"(/device_\d+)/sensor_\d+/\w+_\d+/(?:imu|image)/data")
"""Streams of the RealSense SDK, whose accelerometer has the axes of the depth image of the same device."""
_OPTICAL = re.compile(r"(.+)_\w+?_optical_frame")
"""Frames with camera axes (REP 103): one camera's differ in the word for the sensor."""
_TRANSFORMS = ("tf2_msgs/TFMessage", "tf/tfMessage")


class Accelerometer:
    """The accelerometer beside a depth stream, if a recording has one whose axes are known.

    Parameters
    ----------
    file : MessageFile; the caller closes it
    depth_topic : the depth stream, whose axes are meant
    """

    def __init__(self, file: MessageFile, depth_topic: Topic) -> None:
        self._file = file
        self._second: tuple[int, UpVector | None] | None = None
        self.topic: Topic | None = None  #: None = there is none
        found = _in_camera_axes(file, depth_topic)
        if found is not None:
            self.topic, self._rotation = found
            self._times_ns = file.times_ns(self.topic.name)

    def up(self, time_ns: int) -> UpVector | None:
        """Direction of up at a time, in camera axes; None = unknown, or the camera shakes."""
        if self.topic is None:
            return None
        second = time_ns // _NS_PER_S
        if self._second is None or self._second[0] != second:
            self._second = second, self._mean(second * _NS_PER_S)
        return self._second[1]

    def _mean(self, start_ns: int) -> UpVector | None:
        """Mean of the first measurements of a second, or else of the last ones before it."""
        first, end, recent = np.searchsorted(
            self._times_ns, [start_ns, start_ns + _NS_PER_S, start_ns - MAX_AGE_NS]
        ).tolist()
        for chosen in (range(first, min(first + SAMPLES, end)), range(max(first - SAMPLES, recent), first)):
            known = [found for index in chosen if (found := self._measured(index)) is not None]
            if known:
                return up_of(self._rotation @ np.mean(known, axis=0))
        return None

    def _measured(self, index: int) -> np.ndarray | None:
        assert self.topic is not None
        try:
            data = self._file.beside(self.topic.name, index)
            with self._file.errors_of(self.topic.name, index):
                found = read_imu(data, self.topic.encoding).acceleration_m_s2
        except FormatError:
            return None
        return found if (np.abs(found) < MAX_ACCELERATION_M_S2).all() else None  # False for NaN


def _in_camera_axes(file: MessageFile, depth_topic: Topic) -> tuple[Topic, np.ndarray] | None:
    """An accelerometer and the rotation from its axes to camera axes, (3, 3); None = none is known.

    The rules of `docs/guides/cameras.md`, the most reliable one first.
    """
    topics = _imu_topics(file)
    device = _SDK.fullmatch(depth_topic.name)
    for topic in topics:
        own = _SDK.fullmatch(topic.name)
        if own and device and own[1] == device[1]:
            return topic, np.eye(3)
    camera = _frame(file, depth_topic) if topics else ""
    if not camera:
        return None
    frames = {topic: frame for topic in topics if (frame := _frame(file, topic))}
    for topic, frame in frames.items():
        if frame == camera:
            return topic, np.eye(3)
    links = _static_links(file) if frames else {}
    for topic, frame in frames.items():
        rotation = _linked_rotation(links, frame, camera)
        if rotation is not None:
            return topic, rotation
    for topic, frame in frames.items():
        own, other = _OPTICAL.fullmatch(frame), _OPTICAL.fullmatch(camera)
        if own and other and own[1] == other[1]:  # of one camera: its sensors look the same way
            return topic, np.eye(3)
    return None


def _imu_topics(file: MessageFile) -> list[Topic]:
    """Topics that may hold accelerations, those named for it first."""
    found = [t for t in file.topics.values() if t.kind == IMU and t.count and t.encoding in ENCODINGS]
    found = [topic for topic in found if "gyro" not in topic.name.lower()]
    return sorted(found, key=lambda topic: ("accel" not in topic.name.lower(), topic.name))[:MAX_TOPICS]


def _frame(file: MessageFile, topic: Topic) -> str:
    """frame_id of the first message; "" = unknown."""
    try:
        data = file.beside(topic.name, 0)
        with file.errors_of(topic.name, 0):
            return frame_of(data, topic.encoding)
    except FormatError:
        return ""


def _static_links(file: MessageFile) -> dict[tuple[str, str], StaticTransform]:
    """Static transforms by parent and child, the last ones of the messages that are read."""
    topic = file.topics.get("/tf_static")
    found: dict[tuple[str, str], StaticTransform] = {}
    if topic is None or topic.kind not in _TRANSFORMS or topic.encoding not in ENCODINGS:
        return found
    for index in range(min(topic.count, MAX_TF_MESSAGES)):
        try:
            data = file.beside(topic.name, index)
            with file.errors_of(topic.name, index):
                links = read_static_transforms(data, topic.encoding, MAX_LINKS)
        except FormatError:
            continue
        found |= {(each.parent, each.child): each for each in links}
        if len(found) > MAX_LINKS:
            break
    return found


def _linked_rotation(links: dict[tuple[str, str], StaticTransform], source: str, target: str) -> np.ndarray | None:
    """Rotation from one frame to another along static transforms, (3, 3); None = nothing links them."""
    neighbours: dict[str, list[tuple[str, str, str]]] = {}  # of a frame: the other end, parent and child of the link
    for parent, child in links:
        neighbours.setdefault(child, []).append((parent, parent, child))
        neighbours.setdefault(parent, []).append((child, parent, child))
    came_from: dict[str, tuple[str, str, str] | None] = {source: None}
    waiting = deque([source])
    while waiting and target not in came_from:
        name = waiting.popleft()
        for other, parent, child in neighbours.get(name, ()):
            if other not in came_from:
                came_from[other] = name, parent, child
                waiting.append(other)
    if target not in came_from:
        return None
    rotation, name = np.eye(3), target
    while (step := came_from[name]) is not None:
        before, parent, child = step
        quaternion = links[parent, child].rotation_xyzw
        if (
            not 0.5 < float(np.abs(quaternion).max()) * 2 < 4
        ):  # False for NaN; a unit quaternion has one of at least 0.5
            return None
        to_parent = Rotation.from_quat(quaternion).as_matrix()
        rotation = rotation @ (to_parent if before == child else to_parent.T)
        name = before
    return rotation
