"""Depth in the messages of a live topic: decoded, checked like that of files, and undistorted."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.recording.containers.message_file import Topic
from posepipe.recording.ros.camera_info import checked_lens, is_distorted
from posepipe.recording.ros.depth_images import read_depth
from posepipe.recording.ros.message_fields import MessageFields, read_camera_info
from posepipe.recording.ros.topics import is_rectified, stream_of

LIVE_ENCODING = "cdr"
"""Serialisation of messages of ROS 2."""


class LiveDepth:
    """Decodes the depth images of one topic; their size is that of the first.

    Parameters
    ----------
    topic : name of the topic
    kind : message type, as ROS 1 writes it: one of IMAGE_KINDS
    first : an image of the topic, CDR bytes
    """

    def __init__(self, topic: str, kind: str, first: bytes) -> None:
        self._topic = Topic(topic, kind, LIVE_ENCODING, 0)
        self.shape: tuple[int, int] = read_depth(first, self._topic).shape  #: rows and columns
        self._undistortion: Undistortion | None = None

    def calibrate(self, camera_info: bytes) -> Intrinsics:
        """Take the calibration from a sensor_msgs/CameraInfo, CDR bytes; images are undistorted from then on.

        Raises
        ------
        ValueError
            When the message is damaged, of another size, or its lens is implausible or unsupported.
        """
        info = read_camera_info(camera_info, LIVE_ENCODING)
        intrinsics, distortion = checked_lens(info, self.shape, is_rectified(self._topic.name))
        self._undistortion = _undistortion(intrinsics, distortion, self.shape)
        return intrinsics

    def is_distorted(self, camera_info: bytes) -> bool:
        """Whether the images have the lens distortion that a sensor_msgs/CameraInfo, CDR bytes, tells."""
        try:
            return is_distorted(read_camera_info(camera_info, LIVE_ENCODING), is_rectified(self._topic.name))
        except ValueError:  # it is damaged
            return False

    def decode(self, message: bytes) -> tuple[np.ndarray, int]:
        """Decode an image: depth (H, W), uint16 millimetres or float32 metres, and its time, nanoseconds.

        Raises
        ------
        ValueError
            When the message is damaged, holds no depth, or has another size.
        """
        depth = read_depth(message, self._topic)
        if depth.shape != self.shape:
            raise ValueError(f"wanted a depth image {self.shape}, got {depth.shape}")
        stamp_ns = MessageFields(message, LIVE_ENCODING).header()
        return depth if self._undistortion is None else self._undistortion.undistort(depth), stamp_ns


def live_camera_info(topic: str) -> str:
    """Topic of the calibration that belongs to a depth topic: ``camera_info`` beside it."""
    return f"{stream_of(topic).rpartition('/')[0]}/camera_info"


def _undistortion(
    intrinsics: Intrinsics, distortion: LensDistortion | None, shape: tuple[int, int]
) -> Undistortion | None:
    return None if distortion is None else Undistortion(intrinsics, distortion, shape)
