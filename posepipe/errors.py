"""Errors shown to users: one line each that says what was wanted, what came and what to do."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

_CONTROLS = {code: repr(chr(code))[1:-1] for code in (*range(32), *range(127, 160))}
"""Characters that would end the line or move the cursor, and how they are written: names in files may hold them."""


class PosepipeError(Exception):
    """Base of all errors that the command line prints as one line instead of a traceback."""

    def __init__(self, line: str) -> None:
        super().__init__(line.translate(_CONTROLS))

    def __reduce__(self) -> tuple[Callable[..., PosepipeError], tuple[object, ...], dict[str, object]]:
        # a subclass takes other arguments than the line that it makes; notes are in the dict
        return _restored, (type(self), *self.args), self.__dict__


class FormatError(PosepipeError):
    """The content of a file violates its format.

    Parameters
    ----------
    path : the file
    problem : what was wanted, what came and what to do
    offset : position in the file, bytes, where it helps
    """

    def __init__(self, path: str | Path, problem: str, offset: int | None = None) -> None:
        place = str(path) if offset is None else f"{path}, byte {offset}"
        super().__init__(f"{place}: {problem}")


class DamagedMessageError(FormatError):
    """One message or image of a source is damaged; others may be readable."""


class SourceError(PosepipeError):
    """A source of frames cannot be opened, or has failed.

    Parameters
    ----------
    source : name of the source, as the user gave it
    problem : what was wanted, what came and what to do
    """

    def __init__(self, source: str | Path, problem: str) -> None:
        super().__init__(f"{source}: {problem}")


def counted(number: int, noun: str, plural: str = "") -> str:
    """Return a number with its noun, for a message: "1 frame", "2 frames"; of irregular nouns ``plural`` is given."""
    return f"{number} {noun if number == 1 else plural or f'{noun}s'}"


def _restored(kind: type[PosepipeError], *args: object) -> PosepipeError:
    """Make an error of its line: it came from another process."""
    error = kind.__new__(kind)
    error.args = args
    return error
