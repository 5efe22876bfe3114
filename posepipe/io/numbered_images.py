"""Images of a folder, one for each frame: ``000000.png`` and so on."""

from __future__ import annotations

import logging
from contextlib import ExitStack
from pathlib import Path

import cv2
import numpy as np

from posepipe.io.files import disk_errors, locked_folder, replace_file

_log = logging.getLogger(__name__)


class NumberedImages:
    """Writes images that are named after the frame's index in the source.

    Images of an earlier run are replaced where this one has the frame. A warning tells of the others, which stay.

    Parameters
    ----------
    folder : where to write; it is made

    Raises
    ------
    PosepipeError
        If the folder cannot be made, another program is writing it, or an image cannot be written.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._earlier: set[str] = set()
        self._lock = ExitStack()

    def open(self) -> None:
        """Make the folder, and lock it until it is closed."""
        with disk_errors(self.folder):
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock.enter_context(locked_folder(self.folder))
            self._earlier = {path.name for path in self.folder.glob("*.png")}

    def write(self, index: int, image: np.ndarray) -> None:
        """Write the image of a frame whole, or not at all: uint8 or uint16 (H, W), or uint8 (H, W, 3) BGR."""
        path = self.folder / f"{index:06d}.png"
        _, content = cv2.imencode(".png", image)
        replace_file(path, content.tobytes())
        self._earlier.discard(path.name)

    def close(self) -> None:
        """Unlock the folder, and tell of images that are not of this run."""
        self._lock.close()
        if self._earlier:
            count, first = len(self._earlier), min(self._earlier)
            _log.warning("%s also holds %d images that are not of this run, such as %s", self.folder, count, first)
