"""Files of single people, for formats that hold one person."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable, Iterable
from pathlib import Path

from posepipe.errors import PosepipeError

_log = logging.getLogger(__name__)


def person_file(path: Path, person: int, alone: bool) -> Path:
    """Path of the file of one person; several people get ``NAME-ID.SUFFIX`` each."""
    return path if alone else path.with_name(f"{path.stem}-{person}{path.suffix}")


def told_left_out(frames: int) -> str:
    """Part of a summary that tells of a person's frames that are in no file; empty without any."""
    late = "1 frame whose time does" if frames == 1 else f"{frames} frames whose times do"
    return f", without {late} not advance" if frames else ""


def write_each(path: Path, people: Iterable[int], write: Callable[[int, Path], None]) -> None:
    """Write the file of each person; one who cannot be written does not cost the others their files.

    Files of an earlier run that had more people, or fewer, stay, and are named.

    Parameters
    ----------
    path : the file for a single person
    people : their ids
    write : writes a person to a file; raises ValueError where the format cannot hold them

    Raises
    ------
    PosepipeError
        After all others are written, if anybody could not be.
    """
    people, failures = list(people), []
    files = {person: person_file(path, person, alone=len(people) == 1) for person in people}
    for person, file in files.items():
        try:
            write(person, file)
        except ValueError as error:
            failures.append(f"{file}: {error}")
        except PosepipeError as error:  # names the file
            failures.append(str(error))
    if earlier := [other.name for other in _files_of_people(path) if other not in files.values()]:
        _log.warning("%s: beside it lies, from an earlier run: %s", path, ", ".join(earlier))
    if failures:
        raise PosepipeError("; ".join(failures))


def _files_of_people(path: Path) -> list[Path]:
    """Files beside ``path`` that have the name of a single person's, or of one of several, in order."""
    name = re.compile(rf"{re.escape(path.stem)}(-\d+)?{re.escape(path.suffix)}")
    return sorted(other for other in path.parent.iterdir() if name.fullmatch(other.name))
