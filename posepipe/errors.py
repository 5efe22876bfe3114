"""The errors a user meets: one line each, saying what was wanted, what came and what to do."""

from __future__ import annotations

from pathlib import Path


class PosepipeError(Exception):
    """Base of every error that the command line prints as one line instead of a traceback."""


class FormatError(PosepipeError):
    """A file is not what its format promises. Names the path and, where it helps, the offset."""

    def __init__(self, path: str | Path, problem: str, offset: int | None = None) -> None:
        place = str(path) if offset is None else f"{path}, byte {offset}"
        super().__init__(f"{place}: {problem}")


class SourceError(PosepipeError):
    """A source of frames cannot be opened or has failed. Names the source."""

    def __init__(self, source: str | Path, problem: str) -> None:
        super().__init__(f"{source}: {problem}")
