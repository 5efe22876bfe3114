"""An array on disk, for data that memory may not hold."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from posepipe.io.files import disk_errors


class ScratchArray:
    """One-dimensional int16 array in a file that has no name and vanishes with the process.

    Parameters
    ----------
    folder : where there is room for the file, created if needed; None = the system's folder of temporary files

    Raises
    ------
    PosepipeError
        When the file cannot be created; by `append`, also when the disk is full.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(tempfile.gettempdir())
        with disk_errors(self._folder):
            self._folder.mkdir(parents=True, exist_ok=True)
            self._file = tempfile.TemporaryFile(dir=self._folder)  # noqa: SIM115 (closed with the array)

    def append(self, values: np.ndarray) -> None:
        """Write int16 values after those written before."""
        with disk_errors(self._folder):
            self._file.write(np.ascontiguousarray(values, np.int16).data)

    def read(self, first: int, end: int) -> np.ndarray:
        """Read elements ``first`` up to ``end``: int16 (end - first,)."""
        values = np.empty(end - first, np.int16)
        with disk_errors(self._folder):
            self._file.seek(2 * first)
            self._file.readinto(values.data)
        return values
