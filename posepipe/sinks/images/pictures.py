"""Results as pictures: one annotated PNG per frame."""

from __future__ import annotations

from pathlib import Path
from types import TracebackType
from typing import Self

from posepipe.body import BodyDefinition
from posepipe.io.numbered_images import NumberedImages
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
        self._images, self._body = NumberedImages(self.folder), body

    def __enter__(self) -> Self:
        self._images.open()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._images.close()

    def write(self, result: FrameResult) -> None:
        """Write one picture. Raises PosepipeError if that fails."""
        self._images.write(result.frame.index, draw_result(result, self._body))
