"""A text file that takes the place of an older one with the first thing that is written to it, and not before."""

from __future__ import annotations

from pathlib import Path
from typing import TextIO

from posepipe.io.files import disk_errors


class LazyFile:
    """UTF-8 text with a header; everything is flushed, so that a killed run keeps what it wrote.

    Parameters
    ----------
    path : the file; its folder is made
    header : what it begins with
    """

    def __init__(self, path: str | Path, header: str) -> None:
        self.path = Path(path)
        self._header = header
        self._file: TextIO | None = None

    def append(self, text: str) -> None:
        """Write text, as it is, and flush it. Raises PosepipeError when the file cannot be written."""
        with disk_errors(self.path):
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                self._file = self.path.open("w", encoding="utf-8", newline="")
                text = self._header + text
            self._file.write(text)
            self._file.flush()

    def close(self) -> None:
        """Close the file; one to which nothing was written holds the header."""
        if self._file is None:
            self.append("")
        with disk_errors(self.path):
            if self._file is not None:
                self._file.close()

    def close_after(self, error: BaseException | None) -> None:
        """Close it, but leave an older file alone where an error came before anything to write."""
        if error is None or self._file is not None:
            self.close()
