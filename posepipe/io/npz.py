"""Arrays in one `.npz`: read without unpickling, written atomically, hashed."""

from __future__ import annotations

import hashlib
import lzma
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.files import disk_errors

# errors of zipfile, zlib and NumPy's header parser for damaged files, found by damaging files
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, NotImplementedError, RuntimeError),
    *(ValueError, TypeError, KeyError, EOFError, OSError, MemoryError, SyntaxError, tokenize.TokenError),
)


def read_npz(path: str | Path, what: str, keys: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Read the arrays of a file.

    Parameters
    ----------
    path : the file
    what : expected content, for the message: "a posepipe model"
    keys : names of the arrays to read, where present; None = all

    Returns
    -------
    arrays by name

    Raises
    ------
    FormatError
        When the file is missing, cut, damaged, not an `.npz`, or holds Python objects.
    """
    path = Path(path)
    if not path.is_file():
        raise FormatError(path, f"no such file; wanted {what} (.npz)")
    with disk_errors(path):
        stream = path.open("rb")
    with stream:
        if not zipfile.is_zipfile(stream):
            raise FormatError(path, f"not {what}, or a cut one: wanted an .npz file, which is a zip archive")
        stream.seek(0)
        try:
            stored = np.load(stream, allow_pickle=False)
            arrays = {key: stored[key] for key in stored.files if keys is None or key in keys}
        except _DAMAGE as error:
            reason = "it holds Python objects" if "pickle" in str(error) else str(error) or type(error).__name__
            raise FormatError(path, f"not {what}, or a cut one ({reason})") from None
    strays = [key for key, value in arrays.items() if not isinstance(value, np.ndarray)]
    if strays:
        raise FormatError(path, f"not {what}: {strays[0]!r} is not a NumPy array")
    return arrays


def write_npz(path: str | Path, arrays: Mapping[str, np.ndarray], compress: bool = True) -> None:
    """Write arrays to a temporary file beside ``path`` and rename it: a killed writer leaves the old file."""
    path = Path(path)
    partial = path.with_name(path.name + ".partial")
    save = np.savez_compressed if compress else np.savez
    with disk_errors(path):
        try:
            with partial.open("wb") as stream:  # NumPy appends ".npz" to a path, but not to a stream
                save(stream, allow_pickle=False, **arrays)
            os.replace(partial, path)
        except BaseException:
            with suppress(OSError):  # report the first error
                partial.unlink()
            raise


def array_hash(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256, hexadecimal, of the arrays' names, types, shapes and values, independent of their order."""
    content = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        content.update(f"{name} {array.dtype.str} {arrays[name].shape}\n".encode())
        content.update(array.tobytes())
    return content.hexdigest()
