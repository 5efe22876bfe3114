"""Results as pictures: a PNG a frame, or one MP4 video."""

from __future__ import annotations

import shutil
from pathlib import Path
from types import TracebackType
from typing import Self

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import PosepipeError
from posepipe.io.files import disk_errors
from posepipe.results import FrameResult
from posepipe.sinks.files.even_times import usual_frame_s
from posepipe.sinks.images.drawing import draw_result

RATE_FRAMES = 8
"""So many pictures are kept until a video's rate is known from their times."""


class PictureSink:
    """Writes ``000000.png`` and so on, named after the frame's index in the source."""

    def __init__(self, folder: str | Path, body: BodyDefinition) -> None:
        self.folder = Path(folder)
        self._body = body

    def __enter__(self) -> Self:
        with disk_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        pass

    def write(self, result: FrameResult) -> None:
        path = self.folder / f"{result.frame.index:06d}.png"
        if not cv2.imwrite(str(path), draw_result(result, self._body)):
            raise PosepipeError(f"{path}: could not be written; is the disk full or the folder read-only?")


class VideoSink:
    """Writes the pictures as an MP4 video (MPEG-4 part 2, which needs no further codec).

    Its rate is that of the first frames, which are kept until it is known.
    """

    def __init__(self, path: str | Path, body: BodyDefinition) -> None:
        self.path = Path(path)
        self._body = body
        self._writer: cv2.VideoWriter | None = None
        self._waiting: list[np.ndarray] = []
        self._times_s: list[float] = []
        self._frames = 0

    def __enter__(self) -> Self:
        if self.path.suffix.lower() != ".mp4":
            raise PosepipeError(f"{self.path}: a video is written as .mp4; name it so")
        with disk_errors(self.path):
            self.path.parent.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._waiting:
            self._open()
        if self._writer is not None:
            self._writer.release()
            if error is None:
                self._check_whole()

    def write(self, result: FrameResult) -> None:
        """Append one picture. Raises PosepipeError when the disk is full: OpenCV does not say so."""
        picture = draw_result(result, self._body)
        self._frames += 1
        if self._writer is not None:
            self._writer.write(picture)
            if shutil.disk_usage(self.path.parent).free == 0:
                raise PosepipeError(f"{self.path}: No space left on device; the video cannot be played")
            return
        self._waiting.append(picture)
        self._times_s.append(result.frame.timestamp_s)
        if len(self._waiting) == RATE_FRAMES:
            self._open()

    def _open(self) -> None:
        """Start with the pictures that waited for the rate."""
        height, width = self._waiting[0].shape[:2]
        # two decimals: the codec's clock has no room for more
        fps = round(float(np.clip(1 / usual_frame_s(np.array(self._times_s)), 1, 240)), 2)
        self._writer = cv2.VideoWriter(str(self.path), cv2.VideoWriter.fourcc(*"mp4v"), fps, (width, height))
        if not self._writer.isOpened():
            raise PosepipeError(f"{self.path}: the video could not be opened; is the folder writable?")
        for picture in self._waiting:
            self._writer.write(picture)
        self._waiting.clear()

    def _check_whole(self) -> None:
        """The index of a video is written last, and without a word where that fails."""
        video = cv2.VideoCapture(str(self.path))
        frames = round(video.get(cv2.CAP_PROP_FRAME_COUNT)) if video.isOpened() else 0
        video.release()
        if frames < self._frames:
            raise PosepipeError(f"{self.path}: of {self._frames} frames {frames} can be played; is the disk full?")
