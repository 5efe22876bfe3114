"""Labels of every pixel as PNGs: ``people/000000.png`` and ``parts/000000.png``, named after the frame's index.

People are 16-bit, the person's id; parts are 8-bit, the code of the part. 0 is the background. ``parts.json`` names
the codes.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Self

from posepipe.body import BodyDefinition
from posepipe.io.files import replace_file
from posepipe.io.numbered_images import NumberedImages
from posepipe.results import FrameResult

PEOPLE, PARTS, NAMES = "people", "parts", "parts.json"


def is_mask_folder(path: Path) -> bool:
    """Whether a folder holds label images."""
    return (path / NAMES).is_file() and (path / PEOPLE).is_dir()


class MaskFolder:
    """Writes two label images of every frame; a `FrameSink`.

    Parameters
    ----------
    folder : where to write; it is made
    body : names of the parts

    Raises
    ------
    PosepipeError
        If an image cannot be written.
    """

    def __init__(self, folder: str | Path, body: BodyDefinition) -> None:
        self.path = Path(folder)
        self._people, self._parts = (NumberedImages(self.path / name) for name in (PEOPLE, PARTS))
        self._body = body

    def __enter__(self) -> Self:
        self._people.open()
        self._parts.open()
        codes = {"background": 0} | {part: code for code, part in enumerate(self._body.parts, 1)}
        replace_file(self.path / NAMES, json.dumps(codes, indent=1).encode() + b"\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._people.close()
        self._parts.close()

    def write(self, result: FrameResult) -> None:
        """Write the images of one frame."""
        self._people.write(result.frame.index, result.person_ids())
        self._parts.write(result.frame.index, result.parts)
