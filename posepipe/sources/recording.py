"""Play the depth stream of an MCAP recording."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType

from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.recording import RecordingReader
from posepipe.sources.camera_file import intrinsics_for, read_camera_file

_log = logging.getLogger(__name__)


class RecordingSource:
    """Depth frames of a recording, without its truth; a `FrameSource`.

    A recording whose writer was killed plays what is complete, then logs one warning of what is missing.

    Parameters
    ----------
    camera : a calibration to take instead of the recording's camera_info
    """

    def __init__(self, path: str | Path, camera: str | Path | None = None) -> None:
        self.name = str(path)
        self._reader = RecordingReader(path, None if camera is None else read_camera_file(camera).intrinsics)
        if camera is not None:
            intrinsics_for(camera, *self._reader.shape)  # refuses a calibration of another size
        self.intrinsics: Intrinsics = self._reader.intrinsics
        self.frame_count: int | None = self._reader.frame_count
        self.start_time_ns = self._reader.start_time_ns
        self._warned = False

    def __iter__(self) -> Iterator[DepthFrame]:
        for frame in self._reader:
            yield frame.depth if isinstance(frame, LabelledFrame) else frame
        if not self._reader.complete and not self._warned:
            self._warned = True
            _log.warning("%s", self._reader.missing)

    def __enter__(self) -> RecordingSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._reader.close()
