"""A text file that is opened, and replaces an older file, only when something is written to it."""

from __future__ import annotations

from io import BufferedWriter, FileIO
from pathlib import Path

from posepipe.io.files import disk_errors, open_emptied
from posepipe.io.growing_file import GrowingFile


class LazyFile:
    """UTF-8 text with a header. Every write is flushed, so a killed run keeps what it wrote.

    Parameters
    ----------
    path : the file; its folder is made
    header : the first text in the file
    whole : let the file appear, or replace an older one, at the end and without an error, and not before
    """

    def __init__(self, path: str | Path, header: str, whole: bool = False) -> None:
        self.path = Path(path)
        self._header = header
        self._whole = whole
        self._file: BufferedWriter[FileIO] | GrowingFile | None = None

    def append(self, text: str) -> None:
        """Write text unchanged and flush it. Raises PosepipeError if it cannot be written, or another writes it."""
        with disk_errors(self.path):
            if self._file is None:
                self.path.parent.mkdir(parents=True, exist_ok=True)
                if self._whole:
                    self._file = GrowingFile(self.path, whole=True)
                else:
                    self._file = BufferedWriter(open_emptied(self.path))
                text = self._header + text
            self._file.write(text.encode())
            self._file.flush()

    def close(self) -> None:
        """Close the file; if nothing was written it holds the header."""
        if self._file is None:
            self.append("")
        with disk_errors(self.path):
            if self._file is not None:
                self._file.close()

    def close_after(self, error: BaseException | None) -> None:
        """Close the file, but keep an older file if an error came before the first write, or a whole one was wanted."""
        if error is not None and isinstance(self._file, GrowingFile):
            self._file.discard()
        elif error is None or self._file is not None:
            self.close()
