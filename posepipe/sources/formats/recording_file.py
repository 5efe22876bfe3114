"""MCAP recordings as sources, and the base of all formats with ROS messages."""

from __future__ import annotations

import logging
from abc import abstractmethod
from pathlib import Path

from posepipe.camera.camera_file import CameraFile
from posepipe.frames import DepthFrame
from posepipe.recording import IMAGE_KINDS, ColourStream, DepthStream, McapFile, MessageFile, Topic, camera_info_topic
from posepipe.sources.base.indexed_source import IndexedSource

__all__ = ["IMAGE_KINDS", "MessageSource", "RecordingSource"]

MCAP_MAGIC = b"\x89MCAP0\r\n"

_log = logging.getLogger(__name__)


class MessageSource(IndexedSource):
    """Depth frames of one topic of a file of ROS messages. Formats say how their files are opened.

    A cut file plays its complete frames, with one logged warning.

    Parameters
    ----------
    path : the recording
    camera : replaces the file's camera_info; images are then not undistorted
    topic : depth stream to play; None = the only one
    colour : colour stream whose images frames carry, "auto" = the only one; None = none

    Raises
    ------
    FormatError
        When there is no depth stream, more than one, no calibration, or one for another image size; likewise of colour.
    """

    def __init__(
        self,
        path: str | Path,
        camera: CameraFile | None = None,
        topic: str | None = None,
        colour: str | None = None,
    ) -> None:
        self.name = str(path)
        self._closed = False
        file = self._file = self._open(Path(path))
        try:
            self._depth = DepthStream(file, topic, None if camera is None else camera.intrinsics)
            self.shape = self._depth.shape
            if camera is not None:
                camera.intrinsics_for(*self.shape)  # raises for a calibration of another size
                if self._depth.left_distorted:
                    _log.warning("%s: calibration from %s; images are not undistorted", self.name, camera.name)
            self._colour = None if colour is None else ColourStream(file, colour)
            self.intrinsics_from = camera.name if camera is not None else self._describe_calibration()
            first_ns = int(self._depth.times_ns[0])
            # a recording may begin long after its second 0: of part of another one
            dated_ns = first_ns if file.start_time_ns else 0
            self.start_time_ns = self._depth.start_time_ns if file.start_time_ns is None else dated_ns
        except BaseException:
            file.close()
            raise
        self.intrinsics = self._depth.intrinsics
        self.topic: Topic = self._depth.topic  #: the stream that is played
        self.topics: dict[str, Topic] = file.topics  #: all streams of the file
        self.accelerometer: Topic | None = self._depth.accelerometer.topic  #: that tells up; None = there is none
        self.timestamps_s = (self._depth.times_ns - first_ns) / 1e9
        if not file.complete:
            _log.warning("%s", file.missing(len(self)))

    @abstractmethod
    def _open(self, path: Path) -> MessageFile:
        """Open a recording of this format."""

    def _describe_calibration(self) -> str:
        found = camera_info_topic(self._file, self._depth.topic.name)
        model = self._depth.distortion_model
        return (found.name if found else "camera_info") + (f", undistorted ({model})" if model else "")

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        self.refuse_closed(self._closed)
        colour = None if self._colour is None else self._colour.near(int(self._depth.times_ns[index]))
        return self.frame(index, self._depth[index], up=self._depth.up(index), colour=colour)

    def close(self) -> None:
        """Close the file."""
        self._closed = True
        self._file.close()


class RecordingSource(MessageSource):
    """Depth frames of an MCAP recording, without ground truth."""

    def _open(self, path: Path) -> MessageFile:
        return McapFile(path)
