"""Files of users: disk errors as one line, regular files alone, one writer, atomic replacement, and JSON objects.

A file of a user is opened by `open_regular`: a named pipe would wait for a writer, and a device may have no end. Links
to regular files are followed.
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
import stat
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache
from io import BufferedReader, BufferedWriter, FileIO
from pathlib import Path

from posepipe.errors import DamagedMessageError, FormatError, PosepipeError

if sys.platform != "win32":
    import fcntl

MAX_FILE_BYTES = 1 << 30
"""Maximum size of a file that is read whole."""
LEFT_BEHIND_S = 3600
"""Age, by its last change, from which a temporary file is one that a killed program left: writers take seconds."""
_TEMPORARY = re.compile(r".+\.[0-9a-f]{8}\.posepipe-partial", re.DOTALL)  #: of nobody else
_KINDS = {
    stat.S_IFIFO: "a named pipe",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFDIR: "a folder",
}
_OPEN_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_NOCTTY", 0)


@contextmanager
def disk_errors(path: str | Path) -> Iterator[None]:
    """Convert an OSError (disk full, no permission, no such folder) to a PosepipeError that names ``path``."""
    try:
        yield
    except FileExistsError as error:  # from mkdir
        raise PosepipeError(f"{path}: wanted a folder at {error.filename}, a file is there") from error
    except OSError as error:
        raise PosepipeError(f"{path}: {error.strerror or error}") from error


@contextmanager
def reserved(path: Path) -> Iterator[None]:
    """Hold the name of a file that is written later, beside it, in a folder that is made if there is none.

    What is not used is removed at the end. Raises PosepipeError if the file cannot be written, or another program holds
    it: two of them would replace each other's.
    """
    partial = partial_name(path)
    missing = [folder for folder in path.parents if not folder.exists()]
    try:
        with disk_errors(path):
            if path.is_dir():
                raise IsADirectoryError(None, "is a folder; wanted the name of a file to write")
            path.parent.mkdir(parents=True, exist_ok=True)
            held = FileIO(os.fspath(partial), "ab")
        with held:
            lock(held, path)
            if sys.platform == "win32":  # which has no locks, and replaces no file by an open one
                held.close()
            try:
                yield
            finally:
                with suppress(OSError):
                    partial.unlink()
    finally:
        for folder in missing:
            with suppress(OSError):
                folder.rmdir()


def check_writable(path: Path) -> None:
    """Try to write beside a file, and leave nothing. Raises the errors of `reserved`."""
    with reserved(path):
        pass


def open_regular(path: str | Path) -> BufferedReader:
    """Open a file for reading.

    Raises
    ------
    FormatError
        When it is no regular file, or no file can have its name.
    PosepipeError
        When it is missing or may not be read.
    """
    try:
        with disk_errors(path):
            _check_kind(path, os.stat(path).st_mode)  # before opening: to open a device may change its state
            descriptor = os.open(path, _OPEN_FLAGS)
            try:
                _check_kind(path, os.fstat(descriptor).st_mode)  # the file may have been replaced in between
                return os.fdopen(descriptor, "rb")
            except BaseException:
                os.close(descriptor)
                raise
    except ValueError as error:  # a NUL, or a character that the file system cannot encode
        raise FormatError(ascii(str(path)), f"no file can have this name ({error})") from error


def read_regular(path: str | Path, max_bytes: int = MAX_FILE_BYTES) -> bytes:
    """Read a file whole. Raises the errors of `open_regular`, and FormatError for a file above ``max_bytes``."""
    with open_regular(path) as stream, disk_errors(path):
        size = os.fstat(stream.fileno()).st_size
        content = b"" if size > max_bytes else stream.read() or b""
    if max(size, len(content)) > max_bytes:
        raise FormatError(path, f"wanted a file of at most {max_bytes} bytes, got {max(size, len(content))}")
    return content


def open_emptied(path: str | Path) -> FileIO:
    """Open a file for writing, empty it, and lock it until it is closed.

    Raises
    ------
    OSError
        When it cannot be written.
    PosepipeError
        When it is locked, by this program or another; its content stays.
    """
    file = FileIO(os.fspath(path), "wb", opener=lambda name, flags: os.open(name, flags & ~os.O_TRUNC, 0o666))
    try:
        if stat.S_ISREG(os.fstat(file.fileno()).st_mode):  # many may write to a device
            lock(file, path)
            file.truncate(0)
    except BaseException:
        file.close()
        raise
    return file


def lock(file: FileIO | BufferedReader | int, path: str | Path) -> None:
    """Lock an open file for its one writer. Raises PosepipeError when it is locked; readers do not ask.

    Locks end with their process. Windows, where they would keep readers away, and file systems without locks have none.
    """
    if sys.platform != "win32":
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            kind = "folder" if Path(path).is_dir() else "file"
            raise PosepipeError(f"{path}: another program is writing this {kind}; give another name") from error
        except OSError:
            pass


@contextmanager
def locked_folder(folder: Path) -> Iterator[None]:
    """Lock a folder for its one writer, as `lock` does a file; nothing is left in it."""
    if sys.platform == "win32":  # which opens no folder
        yield
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        lock(descriptor, folder)
        yield
    finally:
        os.close(descriptor)


def listed_file(folder: Path, name: str, list_name: str) -> Path:
    """Return the path of a file that a list in the same folder names.

    Raises DamagedMessageError where there is none: other files of the list may be there.
    """
    path = folder / name
    with disk_errors(path):
        if not path.exists():
            raise DamagedMessageError(path, f"missing, but {list_name} lists it")
    return path


def is_absent(path: str | Path) -> bool:
    """Whether a path is nothing that could be read as a file: missing, or a folder. `open_regular` refuses a device."""
    return not Path(path).is_file() and special_kind(path) is None


def name_text(name: str | Path) -> str:
    """Text of a file's name. Linux permits bytes that are no UTF-8, which Python keeps as lone surrogates: "?" here."""
    return str(name).encode("utf-8", "replace").decode()


def is_utf8(name: str | Path) -> bool:
    """Whether the name of a file is text as it is, without what `name_text` replaces."""
    return name_text(name) == str(name)


def special_kind(path: str | Path) -> str | None:
    """Describe what a path is if it exists and is neither a regular file nor a folder, such as "a device"."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return None
    return None if stat.S_ISREG(mode) or stat.S_ISDIR(mode) else _kind(mode)


def _check_kind(path: str | Path, mode: int) -> None:
    if not stat.S_ISREG(mode):
        raise FormatError(path, f"wanted a regular file, got {_kind(mode)}")


def _kind(mode: int) -> str:
    return _KINDS.get(stat.S_IFMT(mode), "a special file")


def replace_file(path: str | Path, content: bytes) -> None:
    """Replace a file atomically, as `replacing` does. The folder is created."""
    path = Path(path)
    with disk_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(content)


def partial_name(path: Path) -> Path:
    """Return the name beside ``path`` under which its one writer keeps it until it is whole; nobody else's."""
    return path.with_name(path.name + ".posepipe-partial")


def temporary_name(path: Path) -> Path:
    """Return a new name beside ``path``; what killed programs left under such names, files and folders, is removed."""
    _remove_left_behind(path.parent)
    return path.with_name(f"{path.name}.{secrets.token_hex(4)}.posepipe-partial")


@contextmanager
def replacing(path: Path) -> Iterator[BufferedWriter]:
    """Open a temporary file beside ``path``, which takes its name at the end.

    A killed writer leaves the old file, and so does an error, after which nothing is left behind. Several programs may
    replace a file at once, because every temporary file has a name of its own: the last one to end wins. A link is
    followed, and who may read an older file may read the new one. Raises PosepipeError when the disk is full, the file
    cannot be written, or it is a device or a pipe.
    """
    path = Path(os.path.realpath(path))
    if kind := special_kind(path):
        raise PosepipeError(f"{path}: wanted the name of a file to write, got {kind}")
    partial = temporary_name(path)
    with disk_errors(path):
        try:
            with partial.open("xb") as file:
                yield file
            with suppress(FileNotFoundError):
                shutil.copymode(path, partial)
            os.replace(partial, path)
        except BaseException:
            with suppress(OSError):  # report the first error
                partial.unlink()
            raise


@cache  # once for each folder: one of images gets a file for each frame
def _remove_left_behind(folder: Path) -> None:
    """Remove the temporary files and folders of programs that were killed."""
    with suppress(OSError), os.scandir(folder) as entries:
        left = [entry for entry in entries if _TEMPORARY.fullmatch(entry.name)]
    for entry in left:
        with suppress(OSError):  # of another user
            if time.time() - entry.stat().st_mtime > LEFT_BEHIND_S:
                shutil.rmtree(entry) if entry.is_dir(follow_symlinks=False) else os.unlink(entry)


def read_json_object(path: str | Path) -> dict:
    """Read a JSON file whose top-level value is an object. Raises FormatError for anything else."""
    content = read_regular(path)
    try:
        value = json.loads(content)
    except (ValueError, RecursionError) as error:
        raise FormatError(path, f"is not JSON ({error})") from error
    if not isinstance(value, dict):
        raise FormatError(path, f"wanted a JSON object {{...}}, got {type(value).__name__}")
    return value
