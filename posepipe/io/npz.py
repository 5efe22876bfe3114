"""Arrays in one `.npz`: read without unpickling, written atomically, hashed."""

from __future__ import annotations

import hashlib
import lzma
import math
import os
import struct
import sys
import tokenize
import zipfile
import zlib
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import IO

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.files import is_absent, open_regular, replacing
from posepipe.io.limits import max_unpacked_bytes

# errors of zipfile, zlib and NumPy's header parser for damaged files, found by damaging files
_DAMAGE = (
    *(zipfile.BadZipFile, zlib.error, lzma.LZMAError, struct.error, NotImplementedError, RuntimeError),
    *(ValueError, TypeError, KeyError, EOFError, OSError, MemoryError, SyntaxError, tokenize.TokenError),
)


def read_npz(
    path: str | Path,
    what: str,
    keys: Collection[str] | None = None,
    limit: Callable[[int], int] = max_unpacked_bytes,
) -> dict[str, np.ndarray]:
    """Read the arrays of a file.

    Parameters
    ----------
    path : the file
    what : expected content, for the message: "a posepipe model"
    keys : names of the arrays to read, where present; None = all
    limit : from the size of the file, bytes, to the maximum size of its arrays; of `posepipe.io.limits`

    Returns
    -------
    arrays by name, row-major: kernels are compiled for that layout only

    Raises
    ------
    FormatError
        When the file is missing, cut, damaged, not an `.npz`, or holds Python objects.
    """
    path = Path(path)
    if is_absent(path):
        raise FormatError(path, f"no such file; wanted {what} (.npz)")
    with open_regular(path) as stream:
        if not zipfile.is_zipfile(stream):
            raise FormatError(path, f"not {what}, or a cut one: wanted an .npz file, which is a zip archive")
        stream.seek(0)
        try:
            _check_sizes(path, stream, keys, limit)
            stored = np.load(stream, allow_pickle=False)
            arrays = {key: stored[key] for key in dict.fromkeys(stored.files) if keys is None or key in keys}
        except _DAMAGE as error:
            reason = "it holds Python objects" if "pickle" in str(error) else str(error) or type(error).__name__
            raise FormatError(path, f"not {what}, or a cut one ({reason})") from None
    strays = [key for key, value in arrays.items() if not isinstance(value, np.ndarray)]
    if strays:
        raise FormatError(path, f"not {what}: {strays[0]!r} is not a NumPy array")
    arrays = {key: np.asarray(value, order="C") for key, value in arrays.items()}
    if garbled := [key for key, value in arrays.items() if not _is_unicode(value)]:
        raise FormatError(path, f"not {what}, or a damaged one: {garbled[0]!r} holds characters beyond Unicode")
    return arrays


def npz_names(path: str | Path) -> frozenset[str]:
    """Names of the arrays of a file, which are not read; none where it is no zip, or its directory is damaged."""
    try:
        if not zipfile.is_zipfile(path):  # it looks at the end of the file alone
            return frozenset()
        with zipfile.ZipFile(path) as archive:
            return frozenset(name.removesuffix(".npy") for name in archive.namelist())
    except _DAMAGE:
        return frozenset()


def _is_unicode(array: np.ndarray) -> bool:
    """Whether all characters of an array exist; NumPy stores any number of 32 bits, and Python makes no text of it."""
    if array.dtype.kind != "U" or not array.nbytes:
        return True
    codes = np.atleast_1d(array).view(np.dtype(np.uint32).newbyteorder(array.dtype.byteorder))
    return bool(codes.max() <= sys.maxunicode)


def _check_sizes(path: Path, stream: IO[bytes], keys: Collection[str] | None, max_bytes: Callable[[int], int]) -> None:
    """Compare the sizes that an archive and its arrays declare with the size of the file, before anything is read.

    Raises FormatError where they are larger than the file justifies, ValueError where an array exceeds its place.
    """
    limit = max_bytes(stream.seek(0, os.SEEK_END))
    stream.seek(0)
    with zipfile.ZipFile(stream) as archive:
        wanted = [i for i in archive.infolist() if keys is None or i.filename.removesuffix(".npy") in keys]
        unpacked = sum(info.file_size for info in wanted)
        if unpacked > limit:
            problem = f"unpacks to {unpacked >> 20} MB, allowed are {limit >> 20} MB for a file of its size"
            raise FormatError(path, f"{problem}; store it without compression")
        for info in wanted:
            with archive.open(info) as member:
                _check_array(info, member)
    stream.seek(0)


def _check_array(info: zipfile.ZipInfo, member: IO[bytes]) -> None:
    """Raise ValueError when the header of an array claims more than the archive holds of it."""
    if member.read(len(np.lib.format.MAGIC_PREFIX)) != np.lib.format.MAGIC_PREFIX:
        return  # no array; refused after reading
    member.seek(0)
    version = np.lib.format.read_magic(member)
    read_header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read_header(member)
    count = math.prod(shape)
    left = info.file_size - member.tell()
    if not dtype.hasobject and max(count, count * dtype.itemsize) > max(left, 1):
        raise ValueError(f"{info.filename}: an array {dtype} {shape} in {left} bytes")


def write_npz(path: str | Path, arrays: Mapping[str, np.ndarray], compress: bool = True) -> None:
    """Write arrays to a file, which is replaced atomically: a killed writer leaves the old one."""
    save = np.savez_compressed if compress else np.savez
    with replacing(Path(path)) as stream:  # NumPy appends ".npz" to a path, but not to a stream
        save(stream, allow_pickle=False, **arrays)


def array_hash(arrays: Mapping[str, np.ndarray]) -> str:
    """SHA-256, hexadecimal, of the arrays' names, types, shapes and values, independent of their order."""
    content = hashlib.sha256()
    for name in sorted(arrays):
        array = np.ascontiguousarray(arrays[name])
        content.update(f"{name} {array.dtype.str} {arrays[name].shape}\n".encode())
        content.update(array.tobytes())
    return content.hexdigest()
