"""Disk errors as one line, atomic replacement of files, and JSON objects."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from posepipe.errors import FormatError, PosepipeError


@contextmanager
def disk_errors(path: str | Path) -> Iterator[None]:
    """Convert an OSError (disk full, no permission, no such folder) to a PosepipeError that names ``path``."""
    try:
        yield
    except FileExistsError as error:  # from mkdir
        raise PosepipeError(f"{path}: wanted a folder at {error.filename}, a file is there") from error
    except OSError as error:
        raise PosepipeError(f"{path}: {error.strerror or error}") from error


def replace_file(path: str | Path, content: bytes) -> None:
    """Replace a file atomically: write a temporary file beside ``path``, then rename it.

    A killed writer leaves the old file. The folder is created. Nothing is left behind when the disk is full.
    """
    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            partial.write_bytes(content)
            os.replace(partial, path)
        except BaseException:
            with suppress(OSError):  # report the first error
                partial.unlink()
            raise


def read_json_object(path: str | Path) -> dict:
    """Read a JSON file whose top-level value is an object. Raises FormatError for anything else."""
    with disk_errors(path):
        content = Path(path).read_bytes()
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise FormatError(path, f"wanted a JSON object {{...}}, got {type(value).__name__}")
    return value
