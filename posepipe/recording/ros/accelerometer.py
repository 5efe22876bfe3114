"""Direction of up in camera axes, by the accelerometer in a recording: ``sensor_msgs/Imu``."""

from __future__ import annotations

import re

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.camera import UpVector, up_of
from posepipe.recording.containers.message_file import DamagedMessageError, MessageFile, Topic
from posepipe.recording.ros.depth_images import ENCODINGS
from posepipe.recording.ros.message_fields import (
    Imu,
    StaticTransform,
    frame_of,
    read_imu,
    read_static_transforms,
)

IMU = "sensor_msgs/Imu"
SAMPLES = 16
"""Measurements of a second that are averaged, evenly spaced."""

_NS_PER_S = 1_000_000_000
_SDK = re.compile(r"/device_\d+/sensor_\d+/\w+_\d+/imu/data")
"""Topics of the RealSense SDK, whose axes are those of its depth image."""
_OPTICAL = "_optical_frame"
"""End of the names of frames with camera axes (REP 103)."""
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
        for topic in _imu_topics(file):
            rotation = _rotation_to_camera(file, topic, depth_topic)
            if rotation is not None:
                self.topic, self._rotation = topic, rotation
                self._times_ns = file.times_ns(topic.name)
                break

    def up(self, time_ns: int) -> UpVector | None:
        """Direction of up at a time, in camera axes: the mean over a second; None = unknown, or the camera shakes."""
        if self.topic is None:
            return None
        second = time_ns // _NS_PER_S
        if self._second is None or self._second[0] != second:
            self._second = second, self._mean(second)
        return self._second[1]

    def _mean(self, second: int) -> UpVector | None:
        assert self.topic is not None
        first, end = np.searchsorted(self._times_ns, [second * _NS_PER_S, (second + 1) * _NS_PER_S])
        if first == end:
            return None
        found = []
        for index in np.unique(np.linspace(first, end - 1, SAMPLES).astype(np.int64)).tolist():
            try:
                measured = _read(self._file, self.topic, index).acceleration_m_s2
            except DamagedMessageError:
                continue
            if np.isfinite(measured).all():
                found.append(measured)
        if not found:
            return None
        return up_of(self._rotation @ np.mean(found, axis=0))


def _imu_topics(file: MessageFile) -> list[Topic]:
    """Topics that may hold accelerations, those named for it first."""
    found = [t for t in file.topics.values() if t.kind == IMU and t.count and t.encoding in ENCODINGS]
    found = [topic for topic in found if "gyro" not in topic.name.lower()]
    return sorted(found, key=lambda topic: ("accel" not in topic.name.lower(), topic.name))


def _read(file: MessageFile, topic: Topic, index: int) -> Imu:
    with file.errors_of(topic.name, index):
        return read_imu(file.message(topic.name, index), topic.encoding)


def _rotation_to_camera(file: MessageFile, topic: Topic, depth_topic: Topic) -> np.ndarray | None:
    """Rotation from the axes of an accelerometer to camera axes, (3, 3); None = not known, or no message is whole."""
    if _SDK.fullmatch(topic.name):
        return np.eye(3)
    try:
        index, data = file.first(topic.name)
        with file.errors_of(topic.name, index):
            own = read_imu(data, topic.encoding).frame_id
        index, data = file.first(depth_topic.name)
        with file.errors_of(depth_topic.name, index):
            camera = frame_of(data, depth_topic.encoding)
    except DamagedMessageError:
        return None
    if own == camera:
        return np.eye(3)
    linked = _linked_rotation(_static_transforms(file), own, camera)
    if linked is None and own.endswith(_OPTICAL) and camera.endswith(_OPTICAL):
        return np.eye(3)  # of one camera: its sensors look the same way
    return linked


def _static_transforms(file: MessageFile) -> list[StaticTransform]:
    topic = file.topics.get("/tf_static")
    if topic is None or topic.kind not in _TRANSFORMS or topic.encoding not in ENCODINGS:
        return []
    found: list[StaticTransform] = []
    for index in range(topic.count):
        try:
            with file.errors_of(topic.name, index):
                found += read_static_transforms(file.message(topic.name, index), topic.encoding)
        except DamagedMessageError:
            continue
    return found


def _linked_rotation(transforms: list[StaticTransform], source: str, target: str) -> np.ndarray | None:
    """Rotation from one frame to another along static transforms, (3, 3); None = nothing links them."""
    links: dict[str, list[tuple[str, np.ndarray]]] = {}
    for each in transforms:
        if not np.isfinite(each.rotation_xyzw).all() or not np.linalg.norm(each.rotation_xyzw) > 0:
            continue
        to_parent = Rotation.from_quat(each.rotation_xyzw).as_matrix()
        links.setdefault(each.child, []).append((each.parent, to_parent))
        links.setdefault(each.parent, []).append((each.child, to_parent.T))
    reached = {source: np.eye(3)}
    waiting = [source]
    while waiting:
        name = waiting.pop()
        for neighbour, rotation in links.get(name, ()):
            if neighbour not in reached:
                reached[neighbour] = rotation @ reached[name]
                waiting.append(neighbour)
    return reached.get(target)
