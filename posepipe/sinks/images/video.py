"""Results as one annotated MP4 video."""

from __future__ import annotations

import shutil
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import Self

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import PosepipeError
from posepipe.io.files import is_utf8, name_text, reserved
from posepipe.results import FrameResult
from posepipe.sinks.files.resampling import frame_interval_s
from posepipe.sinks.images.drawing import draw_result

CODECS = ("vp09", "mp4v")
"""VP9, and MPEG-4 part 2 for an OpenCV that was built without it; browsers do not play the latter."""
RATE_FRAMES = 8
"""Number of frames that define the frame rate of a video."""


class VideoSink:
    """Writes results as an MP4 video that browsers play; a `FrameSink`.

    The frame rate is that of the first RATE_FRAMES frames, from 1 to 240 a second. Their pictures are kept in memory
    until it is known.

    Parameters
    ----------
    path : the file to write; it ends in ``.mp4``
    body : parts and bones to draw

    Raises
    ------
    PosepipeError
        On opening, if the file cannot be written, or another program writes it.
    """

    def __init__(self, path: str | Path, body: BodyDefinition) -> None:
        self.path = Path(path)
        self._body = body
        self._writer: cv2.VideoWriter | None = None
        self._pending: list[np.ndarray] = []
        self._times_s: list[float] = []
        self._frames = 0
        self._shape: tuple[int, ...] = ()  #: of all pictures
        self._reserved = ExitStack()

    def __enter__(self) -> Self:
        if self.path.suffix.lower() != ".mp4":
            raise PosepipeError(f"{self.path}: a video is written as .mp4; name it so")
        if not is_utf8(self.path):  # OpenCV crashes at a lone surrogate
            raise PosepipeError(f"{name_text(self.path)}: a video needs a path in UTF-8; give another name")
        self._reserved.enter_context(reserved(self.path))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._reserved:
            if self._pending:
                self._open()
            if self._writer is not None:
                self._writer.release()
                if error is None:
                    self._check_complete()

    def write(self, result: FrameResult) -> None:
        """Append one picture. Raises PosepipeError if the disk is full; OpenCV does not report that."""
        picture = self._as_wide_as_the_first(draw_result(result, self._body))
        self._frames += 1
        if self._writer is not None:
            self._writer.write(picture)
            if shutil.disk_usage(self.path.parent).free == 0:
                raise PosepipeError(f"{self.path}: No space left on device; the video cannot be played")
            return
        self._pending.append(picture)
        self._times_s.append(result.frame.timestamp_s)
        if len(self._pending) == RATE_FRAMES:
            self._open()

    def _as_wide_as_the_first(self, picture: np.ndarray) -> np.ndarray:
        """Picture cut or filled with black at its right: colour may come later, or end, and a video has one size."""
        self._shape = self._shape or picture.shape
        if picture.shape == self._shape:
            return picture
        fitted = np.zeros(self._shape, np.uint8)
        width = min(picture.shape[1], self._shape[1])
        fitted[:, :width] = picture[:, :width]
        return fitted

    def _open(self) -> None:
        """Open the video and write the pending pictures."""
        height, width = self._pending[0].shape[:2]
        # the codec's clock resolves two decimals
        fps = round(float(np.clip(1 / frame_interval_s(np.array(self._times_s)), 1, 240)), 2)
        for codec in CODECS:
            self._writer = cv2.VideoWriter(str(self.path), cv2.VideoWriter.fourcc(*codec), fps, (width, height))
            if self._writer.isOpened():
                break
        else:
            raise PosepipeError(f"{self.path}: the video could not be opened; is the folder writable?")
        for picture in self._pending:
            self._writer.write(picture)
        self._pending.clear()

    def _check_complete(self) -> None:
        """Read the video back: OpenCV does not report that its index, which is written last, is missing."""
        video = cv2.VideoCapture(str(self.path))
        frames = round(video.get(cv2.CAP_PROP_FRAME_COUNT)) if video.isOpened() else 0
        video.release()
        if frames < self._frames:
            raise PosepipeError(f"{self.path}: of {self._frames} frames {frames} can be played; is the disk full?")
