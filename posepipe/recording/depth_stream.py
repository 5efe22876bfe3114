"""Depth images of one topic of a file of ROS messages, undistorted, with their intrinsics."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics, UpVector
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.errors import FormatError
from posepipe.frames import EARLIEST_DATE_NS
from posepipe.recording.containers.message_file import MessageFile
from posepipe.recording.ros import realsense
from posepipe.recording.ros.accelerometer import Accelerometer
from posepipe.recording.ros.camera_info import checked_lens, is_distorted
from posepipe.recording.ros.depth_images import read_depth, read_head
from posepipe.recording.ros.message_fields import read_camera_info
from posepipe.recording.ros.topics import camera_info_topic, choose_depth_topic, is_rectified


class DepthStream:
    """Depth images of one topic, with random access.

    Parameters
    ----------
    file : MessageFile; the caller closes it
    topic : depth stream to read; None = the only one
    intrinsics : replaces the file's camera_info; images are then not undistorted

    Raises
    ------
    FormatError
        When there is no depth stream, more than one, no calibration, an implausible lens or an unsupported distortion.
    """

    def __init__(self, file: MessageFile, topic: str | None = None, intrinsics: Intrinsics | None = None) -> None:
        self._file = file
        self.topic = choose_depth_topic(file, topic)
        self.times_ns = file.times_ns(self.topic.name)  #: int64 (N,), when the recorder received each image
        if not len(self.times_ns):
            raise FormatError(file.path, "no complete depth frame in the recording")
        self._unit_m = realsense.depth_unit_m(file, self.topic.name)
        self.shape: tuple[int, int] = self._decoded(*file.first(self.topic.name)).shape  #: rows and columns
        own, distortion = (intrinsics, None) if intrinsics is not None else self._read_calibration()
        self.intrinsics: Intrinsics = own
        self.distortion_model = "" if distortion is None else distortion.model  #: that is removed; "" = none
        self._undistortion = None if distortion is None else Undistortion(own, distortion, self.shape)
        self.accelerometer = Accelerometer(file, self.topic)

    def __len__(self) -> int:
        return len(self.times_ns)

    def __getitem__(self, index: int) -> np.ndarray:
        """Depth image (H, W), uint16 millimetres or float32 metres.

        Raises
        ------
        DamagedMessageError
            When the file is damaged there.
        FormatError
            When the image has another size.
        """
        depth = self._decoded(index, self._file.message(self.topic.name, index))
        if depth.shape != self.shape:
            problem = f"{self.topic.name}, message {index}: wanted a depth image {self.shape}, got {depth.shape}"
            raise FormatError(self._file.path, problem)
        return depth if self._undistortion is None else self._undistortion.undistort(depth)

    def up(self, index: int) -> UpVector | None:
        """Direction of up at an image, in camera axes, by the accelerometer of the recording; None = unknown."""
        return self.accelerometer.up(int(self.times_ns[index]))

    @property
    def undistorted(self) -> bool:
        """Whether images are undistorted, and no longer match the pixels of the file."""
        return self._undistortion is not None

    @property
    def left_distorted(self) -> bool:
        """Whether given intrinsics replace a calibration of the file by which the images are distorted."""
        if self.undistorted:
            return False
        topic = camera_info_topic(self._file, self.topic.name)
        if topic is None:
            return False
        try:
            index, data = self._file.first(topic.name)
            with self._file.errors_of(topic.name, index):
                return is_distorted(read_camera_info(data, topic.encoding), is_rectified(self.topic.name))
        except FormatError:  # it is damaged
            return False

    @property
    def start_time_ns(self) -> int:
        """Time of the first image, nanoseconds since the Unix epoch; 0 = unknown.

        It is the recorder's time, or else the camera's. Simulations and the RealSense SDK count from the start of the
        recording.
        """
        candidates = int(self.times_ns[0]), read_head(self._file, self.topic).stamp_ns
        return next((time for time in candidates if time >= EARLIEST_DATE_NS), 0)

    def _decoded(self, index: int, data: bytes) -> np.ndarray:
        with self._file.errors_of(self.topic.name, index):
            depth = read_depth(data, self.topic)
        if self._unit_m is None or depth.dtype != np.uint16:
            return depth
        return depth * np.float32(self._unit_m)

    def _read_calibration(self) -> tuple[Intrinsics, LensDistortion | None]:
        name = self.topic.name
        topic = camera_info_topic(self._file, name)
        if topic is None:
            raise FormatError(self._file.path, f"no camera_info beside {name}; give --camera PRESET|FILE")
        index, data = self._file.first(topic.name)
        with self._file.errors_of(topic.name, index):
            info = read_camera_info(data, topic.encoding)
            model = realsense.distortion_model(self._file, name)
            return checked_lens(info, self.shape, is_rectified(name), model)
