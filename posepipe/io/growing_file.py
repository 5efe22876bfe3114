"""A file that grows by whole parts, and that is not there before its first one."""

from __future__ import annotations

import os
from contextlib import suppress
from io import FileIO
from pathlib import Path

from posepipe.errors import PosepipeError
from posepipe.io.files import lock, open_emptied, partial_name


class GrowingFile:
    """Writable file whose content reaches the disk in parts; it takes its name with the first part.

    A part waits in memory until `flush`. A killed writer leaves no file of this name (or the older one), or a file that
    lacks at most its last part. A part that finds no room on the disk is cut off again. A link is followed; a device
    or a named pipe is written to, never replaced.

    Parameters
    ----------
    path : the file; replaced if it exists, once the first part is written
    whole : replace it at `close` instead, with all parts; what cannot be made again is better kept in part

    Raises
    ------
    OSError
        When the file cannot be written there.
    PosepipeError
        When another program is writing it.
    """

    def __init__(self, path: str | Path, whole: bool = False) -> None:
        self.path = Path(os.path.realpath(path))
        self.size = 0  #: bytes of whole parts, on the disk
        self.failed = False  #: whether a part could not be written; the file then stays as it is
        self._part = bytearray()
        self._whole = whole
        is_new = self.path.is_file() or not self.path.exists()  # else opening it says what is wrong
        self._partial = partial_name(self.path) if is_new else None
        self._file = open_emptied(self._partial or self.path)
        if is_new:
            self._check_alone()

    @property
    def closed(self) -> bool:
        """Whether `close` was called."""
        return self._file.closed

    def write(self, content: bytes) -> int:
        """Add bytes to the part that is being made."""
        self._part += content
        return len(content)

    def tell(self) -> int:
        """Return the number of bytes of all parts, with that which is being made."""
        return self.size + len(self._part)

    def flush(self) -> None:
        """Write the part. Raises OSError when it finds no room; the file then ends with the part before."""
        part, self._part = self._part, bytearray()
        if not part or self.failed:
            return
        try:
            self._append(part)
            if self._partial is not None and not self._whole:
                self._take_name(self._partial)
        except OSError:
            self.failed = True
            with suppress(OSError):
                self._file.truncate(self.size)
            raise
        self.size += len(part)

    def close(self) -> None:
        """Close the file; what was not flushed is left out, and a file without any part leaves nothing."""
        try:
            if self._whole and self._partial is not None and self.size and not self.failed:
                self._file.close()  # Windows renames no open file
                os.replace(self._partial, self.path)
                self._partial = None
        finally:
            self.discard()

    def discard(self) -> None:
        """Close the file without giving it its name, if it has not got it yet."""
        self._file.close()
        if self._partial is not None:
            with suppress(OSError):
                self._partial.unlink()
            self._partial = None  # the name may be another program's from now on

    def _check_alone(self) -> None:
        """Leave a file alone that another program is still writing, instead of taking its name."""
        try:
            with suppress(OSError), self.path.open("rb") as older:
                lock(older, self.path)
        except PosepipeError:
            self.close()
            raise

    def _append(self, part: bytearray) -> None:
        rest = memoryview(part)
        while rest:  # a disk that is nearly full takes a piece
            rest = rest[self._file.write(rest) or 0 :]

    def _take_name(self, partial: Path) -> None:
        """Rename the file. It is closed meanwhile: Windows renames no open file."""
        self._file.close()
        os.replace(partial, self.path)
        self._partial = None
        self._file = FileIO(self.path, "ab")
        lock(self._file, self.path)
