"""Results as pictures: one annotated PNG per frame."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

import cv2

from posepipe.body import BodyDefinition
from posepipe.io.files import disk_errors
from posepipe.results import FrameResult
from posepipe.sinks.images.drawing import draw_result


class PictureSink:
    """Writes ``000000.png`` and so on, named after the frame's index in the source; a `FrameSink`.

    Parameters
    ----------
    folder : where to write; it is made
    body : parts and bones to draw
    """

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
        """Write one picture. Raises PosepipeError if that fails."""
        path = self.folder / f"{result.frame.index:06d}.png"
        _, content = cv2.imencode(".png", draw_result(result, self._body))
        with disk_errors(path):
            path.write_bytes(content.tobytes())
