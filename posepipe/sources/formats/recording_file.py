"""Play the depth stream of a recording: MCAP, and what plays any file of ROS messages."""

from __future__ import annotations

import logging
from pathlib import Path

from posepipe.camera.camera_file import CameraFile
from posepipe.frames import DepthFrame
from posepipe.recording import IMAGE_KINDS, DepthStream, McapFile, MessageFile, Topic, camera_info_topic
from posepipe.sources.base.indexed_source import IndexedSource

__all__ = ["IMAGE_KINDS", "MessageSource", "RecordingSource"]

_log = logging.getLogger(__name__)


class MessageSource(IndexedSource):
    """Depth frames of one topic of a file of ROS messages, which is closed with it.

    A file whose recorder was killed logs one warning of what is missing, and plays what is complete.

    Parameters
    ----------
    camera : a calibration of straight images, to take instead of the file's camera_info
    topic : the depth stream, where there are several

    Raises
    ------
    FormatError
        Where there is no depth, several streams of it, no calibration, or a calibration of another size.
    """

    def __init__(self, name: str, file: MessageFile, camera: CameraFile | None, topic: str | None) -> None:
        self.name = name
        self._file = file
        try:
            self._depth = DepthStream(file, topic, None if camera is None else camera.intrinsics)
            self.shape = self._depth.shape
            if camera is not None:
                camera.intrinsics_for(*self.shape)  # refuses a calibration of another size
            self.lens_from = camera.name if camera is not None else self._lens_from()
            self.start_time_ns = self._depth.start_time_ns if file.start_time_ns is None else file.start_time_ns
        except BaseException:
            file.close()
            raise
        self.intrinsics = self._depth.intrinsics
        self.topic: Topic = self._depth.topic  #: the stream that is played ...
        self.topics: dict[str, Topic] = file.topics  #: ... and all there are
        first_ns = int(self._depth.times_ns[0]) if file.start_time_ns is None else file.start_time_ns
        self.timestamps_s = (self._depth.times_ns - first_ns) / 1e9
        if not file.complete:
            _log.warning("%s", file.missing(len(self)))

    def _lens_from(self) -> str:
        found = camera_info_topic(self._file, self._depth.topic.name)
        bend = f", its bend ({self._depth.bend}) undone" if self._depth.bend else ""
        return (found.name if found else "camera_info") + bend

    def __getitem__(self, index: int) -> DepthFrame:
        return DepthFrame(self._depth[index], self.intrinsics, float(self.timestamps_s[index]), index)

    def close(self) -> None:
        self._file.close()


class RecordingSource(MessageSource):
    """Depth frames of an MCAP recording, without its truth; parameters as of `MessageSource`."""

    def __init__(self, path: str | Path, camera: CameraFile | None = None, topic: str | None = None) -> None:
        super().__init__(str(path), McapFile(path), camera, topic)
