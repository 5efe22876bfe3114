"""Results as pictures: a PNG a frame, or one MP4 video."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import cv2

from posepipe.body import BodyDefinition
from posepipe.errors import PosepipeError
from posepipe.results import FrameResult
from posepipe.sinks.drawing import draw_result


class PictureSink:
    """Writes ``000000.png`` and so on, named after the frame's index in the source."""

    def __init__(self, folder: str | Path, body: BodyDefinition) -> None:
        self.folder = Path(folder)
        self._body = body

    def __enter__(self) -> Self:
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
    """Writes the pictures as an MP4 video (MPEG-4 part 2, which needs no further codec)."""

    def __init__(self, path: str | Path, body: BodyDefinition, fps: float = 30.0) -> None:
        self.path = Path(path)
        self._body = body
        self._fps = fps
        self._writer: cv2.VideoWriter | None = None

    def __enter__(self) -> Self:
        if self.path.suffix.lower() != ".mp4":
            raise PosepipeError(f"{self.path}: a video is written as .mp4; name it so")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._writer is not None:
            self._writer.release()

    def write(self, result: FrameResult) -> None:
        picture = draw_result(result, self._body)
        if self._writer is None:
            size = (picture.shape[1], picture.shape[0])
            self._writer = cv2.VideoWriter(str(self.path), cv2.VideoWriter.fourcc(*"mp4v"), self._fps, size)
            if not self._writer.isOpened():
                raise PosepipeError(f"{self.path}: the video could not be opened; is the folder writable?")
        self._writer.write(picture)
