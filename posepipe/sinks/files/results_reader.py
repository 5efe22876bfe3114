"""Read results as JSON lines, frame by frame or whole: what `JsonLinesSink` wrote, or other programs.

Format: docs/reference/formats.md.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from io import BufferedReader
from pathlib import Path
from types import TracebackType

from posepipe.camera import UpVector
from posepipe.errors import FormatError
from posepipe.io.files import disk_errors, open_regular
from posepipe.results import Track
from posepipe.sinks.files.fit_fields import read_fit, read_world_rotations
from posepipe.sinks.files.json_lines import FITTED_VERSION, FORMAT, VERSION, ResultRow, ResultsHeader, pose_of
from posepipe.sinks.files.result_numbers import finite, names, point, whole

MAX_LINE_BYTES = 64 << 20
"""Maximum size of a line: thousands of people in one frame."""


class ResultsReader:
    """The frames of a results file, one after another; memory holds a single line.

    Parameters
    ----------
    path : the file

    Raises
    ------
    FormatError
        If the file is no results file; while reading, for a damaged line. The message names its first byte.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)
        self.missing = ""  #: message about a truncated last line, after all frames were read; empty for a complete file
        self._file: BufferedReader = open_regular(path)
        try:
            line = self._line(0)
            if not line:
                raise FormatError(path, "the file is empty; wanted results of `posepipe run`")
            self.header = _header(path, line)
            self._offset = len(line)
        except BaseException:
            self.close()
            raise

    def __iter__(self) -> Iterator[ResultRow]:
        count = 0
        while line := self._line(self._offset):
            row = _parse(line)
            if row is None and not line.endswith(b"\n"):
                read = "1 frame was" if count == 1 else f"{count} frames were"
                self.missing = f"{self.path}: the last line was cut and dropped, {read} read"
                return
            offset, self._offset, count = self._offset, self._offset + len(line), count + 1
            yield _row(self.path, row, offset, self.header.joints)

    def _line(self, offset: int) -> bytes:
        with disk_errors(self.path):
            line = self._file.readline(MAX_LINE_BYTES + 1)
        if len(line) > MAX_LINE_BYTES:
            raise FormatError(self.path, f"wanted lines of at most {MAX_LINE_BYTES} bytes, got a longer one", offset)
        return line

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __enter__(self) -> ResultsReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


@dataclass(frozen=True, slots=True)
class Results:
    """Content of a results file."""

    header: ResultsHeader
    frames: tuple[ResultRow, ...]
    missing: str = ""  #: message about a truncated last line; empty for a complete file


def read_results(path: str | Path) -> Results:
    """Read a results file whole. A truncated last line is dropped and reported in `Results.missing`.

    Raises the errors of `ResultsReader`.
    """
    with ResultsReader(path) as reader:
        frames = tuple(reader)
    return Results(reader.header, frames, reader.missing)


def is_results(path: str | Path) -> bool:
    """Whether a file starts like a results file; the rest is not checked."""
    path = Path(path)
    if not path.is_file():
        return False
    with open_regular(path) as file, disk_errors(path):
        head = file.read(1 << 16)
    return (_parse(head.split(b"\n", 1)[0]) or {}).get("format") == FORMAT


def _parse(line: bytes) -> dict | None:
    """The JSON object in a line; None if there is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _header(path: str | Path, line: bytes) -> ResultsHeader:
    row = _parse(line)
    if row is None or row.get("format") != FORMAT:
        raise FormatError(path, f"the first line is no header of format {FORMAT!r}", 0)
    if row.get("version") not in (VERSION, FITTED_VERSION):
        wanted = f"wanted version {VERSION} or {FITTED_VERSION} of the results format"
        raise FormatError(path, f"{wanted}, got {row.get('version')!r}", 0)
    try:
        return ResultsHeader(
            joints=names(row["joints"]),
            source=str(row["source"]),
            model=str(row["model"]),
            frame_id=str(row["frame_id"]),
            start_time_ns=_start_time_ns(row["start_time_ns"]),
            fitted=row["version"] == FITTED_VERSION,
            cameras=tuple(map(str, row.get("cameras", ()))),
            axes=str(row["axes"]),
            tracked=row.get("tracking") is not False,
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(path, f"damaged header ({error!r})", 0) from error


def _start_time_ns(value: object) -> int:
    """Time of second 0; 0 = unknown. Raises ValueError for a time that no int64 holds, as of recordings and ROS."""
    number = whole(value)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"start_time_ns: wanted nanoseconds since 1970, got {value!r:.40}")
    return number


def _row(path: str | Path, row: dict | None, offset: int, joints: tuple[str, ...]) -> ResultRow:
    if row is None:
        raise FormatError(path, "a line is no JSON object", offset)
    if row.get("format") == FORMAT:
        raise FormatError(path, "a second header; these are results of several runs, give those of one", offset)
    try:
        people = tuple(_track(person) for person in row["people"])
        if len({person.id for person in people}) < len(people):
            raise ValueError("people: two have one id")
        if unknown := {name for person in people for name in person.pose.joints} - set(joints):
            raise ValueError(f"joint {min(unknown)!r} is not in the header")
        world_m = tuple(_world_positions(person) for person in row["people"])
        turned = tuple(read_world_rotations(person) for person in row["people"])
        seen_by = tuple(tuple(map(whole, person.get("cameras", ()))) for person in row["people"])
        timestamp_s = finite(row["timestamp_s"])
        return ResultRow(
            whole(row["frame"]),
            timestamp_s,
            people,
            world_m if any(world_m) else (),
            turned if any(turned) else (),
            seen_by if any(seen_by) else (),
            _up(row["up"]) if "up" in row else None,
        )
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(path, f"a line is no frame of results ({error!r})", offset) from error


def _up(row: list) -> UpVector:
    """Read a unit vector, as rounded. Raises ValueError for another length."""
    up = point(row)
    if not abs(math.hypot(*up) - 1) < 1e-3:
        raise ValueError(f"up: wanted a unit vector, got {up}")
    return up


def _track(person: dict) -> Track:
    pose = pose_of({name: _joint(name, row) for name, row in person["joints"].items()})
    return Track(whole(person["id"]), pose, read_fit(person["joints"], person["fit"]) if "fit" in person else None)


def _joint(name: str, row: dict) -> tuple[tuple[float, float, float], float]:
    confidence = finite(row["confidence"])
    if not 0 <= confidence <= 1:
        raise ValueError(f"{name}: wanted a confidence from 0 to 1, got {confidence}")
    return point(row["xyz_m"]), confidence


def _world_positions(person: dict) -> dict[str, tuple[float, float, float]]:
    joints = person["joints"].items()
    return {name: point(row["xyz_world_m"]) for name, row in joints if "xyz_world_m" in row}
