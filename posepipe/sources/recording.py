"""Play the depth stream of an MCAP recording."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.recording import RecordingReader
from posepipe.sources.camera_file import CameraFile
from posepipe.sources.indexed import IndexedSource

_log = logging.getLogger(__name__)


class RecordingSource(IndexedSource):
    """Depth frames of a recording, without its truth.

    A recording whose writer was killed plays what is complete, then logs one warning of what is missing.

    Parameters
    ----------
    camera : a calibration to take instead of the recording's camera_info
    topic : the depth stream, where another program recorded several
    """

    def __init__(self, path: str | Path, camera: CameraFile | None = None, topic: str | None = None) -> None:
        self.name = str(path)
        self._reader = RecordingReader(path, None if camera is None else camera.intrinsics, topic)
        if camera is not None:
            camera.intrinsics_for(*self._reader.shape)  # refuses a calibration of another size
        self.intrinsics = self._reader.intrinsics
        self.shape = self._reader.shape
        self.timestamps_s = self._reader.timestamps_s
        self.start_time_ns = self._reader.start_time_ns
        self._warned = False

    def __getitem__(self, index: int) -> DepthFrame:
        return _depth(self._reader[index])

    def __iter__(self) -> Iterator[DepthFrame]:
        yield from map(_depth, self._reader)
        if not self._reader.complete and not self._warned:
            self._warned = True
            _log.warning("%s", self._reader.missing)

    def close(self) -> None:
        self._reader.close()


def _depth(frame: DepthFrame | LabelledFrame) -> DepthFrame:
    return frame.depth if isinstance(frame, LabelledFrame) else frame
