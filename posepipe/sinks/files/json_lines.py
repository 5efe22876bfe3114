"""Write results as JSON lines: a header, then a line per frame. Each is flushed, so a killed run keeps its results.

Format: docs/reference/formats.md.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from posepipe.camera import UpVector
from posepipe.io.files import name_text
from posepipe.results import FrameResult, Joint, Pose, Track
from posepipe.sinks.files.fit_fields import ROTATIONS, add_fit, fit_row, world_rotations
from posepipe.sinks.files.lazy_file import LazyFile
from posepipe.sinks.files.result_numbers import rounded, rounded_point

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
    axes: str = AXES
    tracked: bool = True  #: ids tell people apart over time; False = they count the people of each frame

    def as_line(self) -> str:
        """Return the first line of a results file."""
        row = {
            "format": FORMAT,
            "version": FITTED_VERSION if self.fitted else VERSION,
            "joints": list(self.joints),
            "axes": self.axes,
            "frame_id": self.frame_id,
            "start_time_ns": self.start_time_ns,
            "model": self.model,
            "source": self.source,
        }
        row |= {"cameras": list(self.cameras)} if self.cameras else {}
        row |= {} if self.tracked else {"tracking": False}
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
    header : its first line

    Raises
    ------
    PosepipeError
        If the file cannot be written.
    """

    def __init__(self, path: str | Path, header: ResultsHeader) -> None:
        self.path = Path(path)
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
    return Track(int(track.id), pose_of(joints), track.fit)


def pose_of(joints: dict[str, tuple[tuple[float, float, float], float]]) -> Pose:
    """Make a pose from joint name -> (position, confidence)."""
    return Pose.of({name: Joint(name, xyz_m, confidence) for name, (xyz_m, confidence) in joints.items()})
