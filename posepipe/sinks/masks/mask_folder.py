"""Labels of every pixel as PNGs: ``people/000000.png`` and ``parts/000000.png``, named after the frame's index.

People are 16-bit, the person's id; parts are 8-bit, the code of the part. 0 is the background. ``parts.json`` names
the codes.
"""

from __future__ import annotations

import json
from pathlib import Path
from types import TracebackType
from typing import Self

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.io.files import disk_errors, replace_file
from posepipe.results import FrameResult

PEOPLE, PARTS, NAMES = "people", "parts", "parts.json"


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
        self._body = body

    def __enter__(self) -> Self:
        with disk_errors(self.path):
            for name in (PEOPLE, PARTS):
                (self.path / name).mkdir(parents=True, exist_ok=True)
        codes = {"background": 0} | {part: code for code, part in enumerate(self._body.parts, 1)}
        replace_file(self.path / NAMES, json.dumps(codes, indent=1).encode() + b"\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Do nothing: every image is closed as soon as it is written."""

    def write(self, result: FrameResult) -> None:
        """Write the images of one frame."""
        self._write(PEOPLE, result.frame.index, result.person_ids())
        self._write(PARTS, result.frame.index, result.parts)

    def _write(self, name: str, index: int, labels: np.ndarray) -> None:
        path = self.path / name / f"{index:06d}.png"
        _, content = cv2.imencode(".png", labels)
        with disk_errors(path):
            path.write_bytes(content.tobytes())
