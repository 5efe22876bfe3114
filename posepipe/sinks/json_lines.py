"""Results as JSON lines: a header, then a line a frame, each flushed, so that a killed run keeps what it found.

The contract is in docs/formats.md.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TextIO

import numpy as np

from posepipe.camera import Extrinsics
from posepipe.disk import disk_errors
from posepipe.errors import FormatError
from posepipe.results import FrameResult, JointProposal, Pose, Track

FORMAT = "posepipe-results"
VERSION = 1
AXES = "x right, y down, z forward, metres"

_DECIMALS = 4  # a tenth of a millimetre: far below what a depth camera resolves
_TIME_DECIMALS = 6


class JsonLinesSink:
    """Write results to a file; a `FrameSink`.

    Parameters
    ----------
    path : the file to write; an older one is replaced
    joints : every joint that may appear, in the skeleton's order
    source : where the frames came from
    model : name and hash of the model
    frame_id : name of the camera's frame of reference, for ROS
    start_time_ns : time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown

    Raises
    ------
    PosepipeError
        When the file cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        joints: tuple[str, ...],
        source: str,
        model: str,
        frame_id: str = "depth_camera",
        start_time_ns: int = 0,
    ) -> None:
        self.path = Path(path)
        self._file: TextIO | None = None
        self._header = {
            "format": FORMAT,
            "version": VERSION,
            "joints": list(joints),
            "axes": AXES,
            "frame_id": frame_id,
            "start_time_ns": start_time_ns,
            "model": model,
            "source": source,
        }

    def write(self, result: FrameResult) -> None:
        """Append one frame and flush it."""
        floor = result.floor
        world = Extrinsics.above_floor(floor) if floor is not None else None
        self._put(
            {
                "frame": result.frame.index,
                "timestamp_s": round(result.frame.timestamp_s, _TIME_DECIMALS),
                "people": [_person_row(track, world) for track in result.people],
            }
        )

    def _put(self, row: dict) -> None:
        with disk_errors(self.path):
            file = self._file or self._open()
            _write_line(file, row)

    def _open(self) -> TextIO:
        """An older file is replaced only now: a source that fails at its first frame leaves it alone."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file = self.path.open("w", encoding="utf-8", newline="\n")
        _write_line(self._file, self._header)
        return self._file

    def close(self) -> None:
        """Close the file; without a frame it holds the header."""
        with disk_errors(self.path):
            (self._file or self._open()).close()

    def __enter__(self) -> JsonLinesSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None or self._file is not None:
            self.close()


def _write_line(file: TextIO, row: dict) -> None:
    file.write(json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n")
    file.flush()


def _person_row(track: Track, world: Extrinsics | None) -> dict:
    joints: dict[str, dict] = {}
    for name, joint in track.pose.joints.items():
        row: dict = {"xyz_m": [_rounded(value) for value in joint.xyz_m], "confidence": _rounded(joint.confidence)}
        if world is not None:
            row["xyz_world_m"] = [_rounded(value) for value in world.world_points(np.array(joint.xyz_m))]
        joints[name] = row
    return {"id": int(track.id), "joints": joints}


def _rounded(value: float) -> float:
    return round(float(value), _DECIMALS) + 0.0  # + 0.0 turns -0.0 into 0.0


@dataclass(frozen=True, slots=True)
class ResultRow:
    """The people of one frame, as read back."""

    frame: int  #: index in the source
    timestamp_s: float
    people: tuple[Track, ...]


@dataclass(frozen=True, slots=True)
class Results:
    """A results file."""

    joints: tuple[str, ...]
    axes: str
    frame_id: str
    start_time_ns: int
    model: str
    source: str
    frames: tuple[ResultRow, ...]
    missing: str = ""  #: what was dropped from a cut file, in words; empty for a whole one

    @property
    def header(self) -> dict:
        """All but the frames, as plain data."""
        names = ("joints", "axes", "frame_id", "start_time_ns", "model", "source")
        return {name: getattr(self, name) for name in names}


def read_results(path: str | Path) -> Results:
    """Read a results file; a last line that was cut is dropped and told of in `Results.missing`.

    Raises
    ------
    FormatError
        For a file that is no results file, naming the byte where the trouble starts.
    """
    with disk_errors(path):
        content = Path(path).read_bytes()
    lines = content.splitlines(keepends=True)
    if not lines:
        raise FormatError(path, "the file is empty; wanted results of `posepipe run`")
    header = _read_header(path, lines[0])
    frames: list[ResultRow] = []
    offset, missing = len(lines[0]), ""
    for line in lines[1:]:
        row = _parse(line)
        if row is None and not line.endswith(b"\n"):
            missing = f"{path}: the last line was cut and dropped, {len(frames)} frames were read"
            break
        frames.append(_read_row(path, row, offset))
        offset += len(line)
    return Results(*header, frames=tuple(frames), missing=missing)


def _parse(line: bytes) -> dict | None:
    """The JSON object of a line, or None."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _read_header(path: str | Path, line: bytes) -> tuple[tuple[str, ...], str, str, int, str, str]:
    row = _parse(line)
    if row is None or row.get("format") != FORMAT:
        raise FormatError(path, f"the first line is no header of format {FORMAT!r}", 0)
    if row.get("version") != VERSION:
        raise FormatError(path, f"wanted version {VERSION} of the results format, got {row.get('version')!r}", 0)
    try:
        return (
            tuple(map(str, row["joints"])),
            str(row["axes"]),
            str(row["frame_id"]),
            int(row["start_time_ns"]),
            str(row["model"]),
            str(row["source"]),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(path, f"damaged header ({error!r})", 0) from error


def _read_row(path: str | Path, row: dict | None, offset: int) -> ResultRow:
    if row is None:
        raise FormatError(path, "a line is no JSON object", offset)
    try:
        people = tuple(_track(person) for person in row["people"])
        return ResultRow(int(row["frame"]), float(row["timestamp_s"]), people)
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise FormatError(path, f"a line is no frame of results ({error!r})", offset) from error


def _track(person: dict) -> Track:
    return Track(int(person["id"]), Pose({name: _joint(name, row) for name, row in person["joints"].items()}))


def _joint(name: str, row: dict) -> JointProposal:
    x, y, z = map(float, row["xyz_m"])
    confidence = float(row["confidence"])
    if not all(map(math.isfinite, (x, y, z))) or not 0 <= confidence <= 1:
        raise ValueError(f"{name}: wanted finite metres and a confidence from 0 to 1, got {row}")
    return JointProposal(name, (x, y, z), confidence)
