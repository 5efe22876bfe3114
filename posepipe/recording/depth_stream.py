"""The depth images of one topic, straight and with their lens, whatever file they stand in."""

from __future__ import annotations

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.errors import FormatError
from posepipe.recording.containers.message_file import MessageFile
from posepipe.recording.ros import realsense
from posepipe.recording.ros.camera_info import lens_of
from posepipe.recording.ros.depth_images import read_depth, read_head
from posepipe.recording.ros.message_fields import read_camera_info
from posepipe.recording.ros.topics import camera_info_topic, choose_depth_topic, is_rectified

_YEAR_2000_NS = 946_684_800_000_000_000


class DepthStream:
    """Depth of one topic; any image at once.

    Parameters
    ----------
    file : MessageFile, which stays the caller's to close
    topic : the depth stream, where there are several
    intrinsics : of straight images, instead of the file's camera_info

    Raises
    ------
    FormatError
        Where there is no depth, several streams of it, no calibration, or a lens that cannot be straightened.
    """

    def __init__(self, file: MessageFile, topic: str | None = None, intrinsics: Intrinsics | None = None) -> None:
        self._file = file
        self.topic = choose_depth_topic(file, topic)
        self.times_ns = file.times_ns(self.topic.name)  #: int64 (N,), when the recorder took each image
        if not len(self.times_ns):
            raise FormatError(file.path, "no complete depth frame in the recording")
        self._unit_m = realsense.depth_unit_m(file, self.topic.name)
        self.shape: tuple[int, int] = self._decoded(*file.first(self.topic.name)).shape  #: rows and columns
        lens, distortion = (intrinsics, None) if intrinsics is not None else self._read_lens()
        self.intrinsics: Intrinsics = lens
        self.bend = "" if distortion is None else distortion.model  #: that is undone; empty for straight images
        self._straighten = None if distortion is None else Undistortion(lens, distortion, self.shape)

    def __len__(self) -> int:
        return len(self.times_ns)

    def __getitem__(self, index: int) -> np.ndarray:
        """Depth (H, W), uint16 millimetres or float32 metres.

        Raises DamagedMessageError where the file is damaged there, FormatError for an image of another size.
        """
        depth = self._decoded(index, self._file.message(self.topic.name, index))
        if depth.shape != self.shape:
            problem = f"{self.topic.name}, message {index}: wanted a depth image {self.shape}, got {depth.shape}"
            raise FormatError(self._file.path, problem)
        return depth if self._straighten is None else self._straighten.straighten(depth)

    @property
    def straightened(self) -> bool:
        """Whether images are changed on their way, so that nothing else fits the file's own pixels."""
        return self._straighten is not None

    @property
    def start_time_ns(self) -> int:
        """Time of the first image since the Unix epoch: the recorder's, else the camera's; 0 where neither knows.

        Simulations, and RealSense's SDK, count from the beginning of the recording.
        """
        candidates = int(self.times_ns[0]), read_head(self._file, self.topic).stamp_ns
        return next((time for time in candidates if time >= _YEAR_2000_NS), 0)

    def _decoded(self, index: int, data: bytes) -> np.ndarray:
        with self._file.errors_of(self.topic.name, index):
            depth = read_depth(data, self.topic)
            if depth.size == 0:
                raise ValueError("an image without pixels")
        if self._unit_m is None or depth.dtype != np.uint16:
            return depth
        return depth * np.float32(self._unit_m)

    def _read_lens(self) -> tuple[Intrinsics, LensDistortion | None]:
        name = self.topic.name
        topic = camera_info_topic(self._file, name)
        if topic is None:
            raise FormatError(self._file.path, f"no camera_info beside {name}; give --camera PRESET|FILE")
        index, data = self._file.first(topic.name)
        with self._file.errors_of(topic.name, index):
            info = read_camera_info(data, topic.encoding)
            if (info.height, info.width) != self.shape:
                raise ValueError(
                    f"camera_info is for images {(info.height, info.width)}, the depth images are {self.shape}"
                )
            return lens_of(info, is_rectified(name), realsense.lens_model(self._file, name))
