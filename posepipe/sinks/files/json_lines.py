"""Results as JSON lines: a header, then one line per frame. Each line is flushed, so a killed run keeps its results.

Format: docs/reference/formats.md.
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from posepipe.camera import UpVector
from posepipe.errors import FormatError
from posepipe.io.files import disk_errors, name_text, open_regular
from posepipe.results import FrameResult, Joint, Pose, Track
from posepipe.sinks.files.fit_fields import (
    ROTATIONS,
    add_fit,
    fit_row,
    read_fit,
    read_world_rotations,
    world_rotations,
)
from posepipe.sinks.files.lazy_file import LazyFile
from posepipe.sinks.files.result_numbers import finite, names, point, rounded, rounded_point, whole

FORMAT = "posepipe-results"
VERSION = 1
FITTED_VERSION = 2
"""Of results with fitted bodies; readers of version 1 may ignore what it adds."""
AXES = "x right, y down, z forward, metres"

_TIME_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class ResultsHeader:
    """Description of results, written before the first frame."""

    joints: tuple[str, ...]  #: every joint that may appear, in the skeleton's order
    source: str  #: name of the source of frames
    model: str  #: name and hash
    frame_id: str = "depth_camera"  #: the camera's frame of reference, for ROS
    start_time_ns: int = 0  #: time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown
    fitted: bool = False  #: bodies are fitted: joints have orientations
    cameras: tuple[str, ...] = ()  #: names of the sources of several cameras; empty = there is one

    def as_line(self) -> str:
        """Return the first line of a results file."""
        row = {
            "format": FORMAT,
            "version": FITTED_VERSION if self.fitted else VERSION,
            "joints": list(self.joints),
            "axes": AXES,
            "frame_id": self.frame_id,
            "start_time_ns": self.start_time_ns,
            "model": self.model,
            "source": self.source,
        }
        row |= {"cameras": list(self.cameras)} if self.cameras else {}
        return name_text(_line(row | {"rotations": ROTATIONS} if self.fitted else row))


@dataclass(frozen=True, slots=True)
class ResultRow:
    """The people of one frame, rounded as in a results file."""

    frame: int  #: index in the source
    timestamp_s: float
    people: tuple[Track, ...]
    #: world positions of each person's joints, metres; empty if the camera's pose in the world is unknown
    world_m: tuple[dict[str, tuple[float, float, float]], ...] = ()
    #: rotations of each person's joints from the rest pose to world axes, x y z w; empty as ``world_m``, or not fitted
    world_xyzw: tuple[dict[str, tuple[float, ...]], ...] = ()
    #: cameras that saw each person, from 1; empty where there is one camera
    seen_by: tuple[tuple[int, ...], ...] = ()
    #: away from the ground, camera axes, by the camera's accelerometer; None = unknown
    up: UpVector | None = None

    @classmethod
    def of(cls, result: FrameResult) -> ResultRow:
        """Round a result to 0.1 mm and microseconds."""
        people = tuple(_rounded_track(track) for track in result.people)
        world: list[dict[str, tuple[float, float, float]]] = []
        turned: list[dict[str, tuple[float, ...]]] = []
        axes = result.world
        if axes is not None:
            for track in result.people:
                positions = {name: np.array(joint.xyz_m, float) for name, joint in track.pose.joints.items()}
                world.append({name: rounded_point(axes.world_points(xyz)) for name, xyz in positions.items()})
                turned.append({} if track.fit is None else world_rotations(track.fit, axes))
        time_s = round(float(result.frame.timestamp_s), _TIME_DECIMALS)
        rotations = tuple(turned) if any(turned) else ()
        up = None if result.frame.up is None else rounded_point(result.frame.up)
        return cls(int(result.frame.index), time_s, people, tuple(world), rotations, result.seen_by, up)

    def with_world(self) -> list[tuple[Track, dict[str, tuple[float, float, float]]]]:
        """Pair each person with the world positions of their joints; empty if those are unknown."""
        return list(zip(self.people, self.world_m or ({},) * len(self.people), strict=True))

    def as_line(self, people: slice = slice(None)) -> str:
        """Return one line of a results file, with all people or a slice of them."""
        turned = self.world_xyzw or ({},) * len(self.people)
        seen_by = self.seen_by or ((),) * len(self.people)
        each_person = zip(self.people, self.world_m or ({},) * len(self.people), turned, seen_by, strict=True)
        rows = [_person_row(*each) for each in list(each_person)[people]]
        about = {} if self.up is None else {"up": list(self.up)}
        return _line({"frame": self.frame, "timestamp_s": self.timestamp_s, **about, "people": rows})


class JsonLinesSink:
    """Writes results as JSON lines; a `FrameSink`.

    Parameters
    ----------
    path : the file to write; an older one is replaced at the first frame
    joints, source, model, frame_id, start_time_ns, fitted, cameras : as in `ResultsHeader`

    Raises
    ------
    PosepipeError
        If the file cannot be written.
    """

    def __init__(
        self,
        path: str | Path,
        joints: tuple[str, ...],
        source: str,
        model: str,
        frame_id: str = "depth_camera",
        start_time_ns: int = 0,
        fitted: bool = False,
        cameras: tuple[str, ...] = (),
    ) -> None:
        self.path = Path(path)
        header = ResultsHeader(joints, source, model, frame_id, start_time_ns, fitted, cameras)
        self._file = LazyFile(path, header.as_line())

    def write(self, result: FrameResult) -> None:
        """Append one frame and flush it."""
        self._file.append(ResultRow.of(result).as_line())

    def close(self) -> None:
        """Close the file; without frames it holds the header."""
        self._file.close()

    def __enter__(self) -> JsonLinesSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close_after(error)


def _line(row: dict) -> str:
    return json.dumps(row, allow_nan=False, ensure_ascii=False) + "\n"


def _person_row(
    track: Track,
    world_m: dict[str, tuple[float, float, float]],
    world_xyzw: dict[str, tuple[float, ...]],
    seen_by: tuple[int, ...],
) -> dict:
    about: dict = {"id": track.id, "cameras": list(seen_by)} if seen_by else {"id": track.id}
    joints: dict[str, dict] = {}
    for name, joint in track.pose.joints.items():
        joints[name] = {"xyz_m": list(joint.xyz_m), "confidence": joint.confidence}
        if name in world_m:
            joints[name]["xyz_world_m"] = list(world_m[name])
    if track.fit is None:
        return {**about, "joints": joints}
    for name in joints.keys() & world_xyzw.keys():
        joints[name]["rotation_world_xyzw"] = list(world_xyzw[name])
    return {**about, "joints": add_fit(joints, track.fit), "fit": fit_row(track.fit)}


def _rounded_track(track: Track) -> Track:
    joints = {
        name: (rounded_point(joint.xyz_m), rounded(joint.confidence)) for name, joint in track.pose.joints.items()
    }
    return Track(int(track.id), _pose(joints), track.fit)


def _pose(joints: dict[str, tuple[tuple[float, float, float], float]]) -> Pose:
    """Make a pose from joint name -> (position, confidence)."""
    return Pose.of({name: Joint(name, xyz_m, confidence) for name, (xyz_m, confidence) in joints.items()})


@dataclass(frozen=True, slots=True)
class Results:
    """Content of a results file."""

    joints: tuple[str, ...]
    axes: str
    frame_id: str
    start_time_ns: int
    model: str
    source: str
    frames: tuple[ResultRow, ...]
    missing: str = ""  #: message about a truncated last line; empty for a complete file
    cameras: tuple[str, ...] = ()  #: names of the sources of several cameras; empty = there is one
    fitted: bool = False  #: bodies were fitted, even if nobody was in view

    @property
    def header(self) -> dict:
        """Everything but the frames, as a dict."""
        names = ("joints", "axes", "frame_id", "start_time_ns", "model", "source", "fitted", "cameras")
        return {name: getattr(self, name) for name in names}


def is_results(path: str | Path) -> bool:
    """Whether a file starts like a results file; the rest is not checked."""
    path = Path(path)
    if not path.is_file():
        return False
    with open_regular(path) as file, disk_errors(path):
        head = file.read(1 << 16)
    return (_parse(head.split(b"\n", 1)[0]) or {}).get("format") == FORMAT


def read_results(path: str | Path) -> Results:
    """Read a results file. A truncated last line is dropped and reported in `Results.missing`.

    Raises
    ------
    FormatError
        If the file is no results file; the message names the byte of the first error.
    """
    with open_regular(path) as file, disk_errors(path):
        content = file.read()
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
        frames.append(_read_row(path, row, offset, header[0]))
        offset += len(line)
    cameras, fitted = header[-2:]
    fitted = fitted or any(track.fit is not None for row in frames for track in row.people)
    return Results(*header[:-2], frames=tuple(frames), missing=missing, cameras=cameras, fitted=fitted)


def _parse(line: bytes) -> dict | None:
    """The JSON object in a line; None if there is none."""
    try:
        row = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return row if isinstance(row, dict) else None


def _read_header(
    path: str | Path, line: bytes
) -> tuple[tuple[str, ...], str, str, int, str, str, tuple[str, ...], bool]:
    row = _parse(line)
    if row is None or row.get("format") != FORMAT:
        raise FormatError(path, f"the first line is no header of format {FORMAT!r}", 0)
    if row.get("version") not in (VERSION, FITTED_VERSION):
        wanted = f"wanted version {VERSION} or {FITTED_VERSION} of the results format"
        raise FormatError(path, f"{wanted}, got {row.get('version')!r}", 0)
    try:
        return (
            names(row["joints"]),
            str(row["axes"]),
            str(row["frame_id"]),
            _start_time_ns(row["start_time_ns"]),
            str(row["model"]),
            str(row["source"]),
            tuple(map(str, row.get("cameras", ()))),
            row["version"] == FITTED_VERSION,
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise FormatError(path, f"damaged header ({error!r})", 0) from error


def _start_time_ns(value: object) -> int:
    """Time of second 0; 0 = unknown. Raises ValueError for a time that no int64 holds, as of recordings and ROS."""
    number = whole(value)
    if not 0 <= number < 1 << 63:
        raise ValueError(f"start_time_ns: wanted nanoseconds since 1970, got {value!r:.40}")
    return number


def _read_row(path: str | Path, row: dict | None, offset: int, joints: tuple[str, ...]) -> ResultRow:
    if row is None:
        raise FormatError(path, "a line is no JSON object", offset)
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
    pose = _pose({name: _joint(name, row) for name, row in person["joints"].items()})
    return Track(whole(person["id"]), pose, read_fit(person["joints"], person["fit"]) if "fit" in person else None)


def _joint(name: str, row: dict) -> tuple[tuple[float, float, float], float]:
    confidence = finite(row["confidence"])
    if not 0 <= confidence <= 1:
        raise ValueError(f"{name}: wanted a confidence from 0 to 1, got {confidence}")
    return point(row["xyz_m"]), confidence


def _world_positions(person: dict) -> dict[str, tuple[float, float, float]]:
    joints = person["joints"].items()
    return {name: point(row["xyz_world_m"]) for name, row in joints if "xyz_world_m" in row}
