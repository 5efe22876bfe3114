"""The joints of each person over a whole run, with y up and at a constant frame rate."""

from __future__ import annotations

from array import array
from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.kinematics.skeleton_fitting import bone_lengths
from posepipe.sinks.files.bvh import TO_Y_UP
from posepipe.sinks.files.json_lines import ResultRow
from posepipe.sinks.files.resampling import first_frame, in_long_gaps, median_frame_s, resample


@dataclass(frozen=True, slots=True, eq=False)
class PersonMotion:
    """Joints of one person: T even times, J joints."""

    person: int
    body: BodyDefinition
    axes: str  #: "world" or "camera", y up in both; z towards the camera
    frame_s: float  #: time between frames, seconds
    first_frame: int  #: frames from the start of the run
    joints_m: np.ndarray  #: float64 (T, J, 3), metres; gaps are filled, NaN = never found
    absent: np.ndarray  #: bool (T, J), whether a joint is in a long gap, or not found yet or any more
    lengths_m: np.ndarray  #: float64 (J, J), median distance of joints found together, metres; NaN = never
    left_out: int  #: frames with the person that are not in the motion: their times are not after those before

    def markers_m(self) -> np.ndarray:
        """Joint positions, float64 (T, J, 3), metres; NaN where a joint is absent."""
        return np.where(self.absent[..., None], np.nan, self.joints_m)


@dataclass
class _Found:
    """Times and joint positions of one person, as they come."""

    times_s: array = field(default_factory=lambda: array("d"))
    # float32: a long run must fit into memory
    positions_m: dict[str, array] = field(default_factory=lambda: {axes: array("f") for axes in TO_Y_UP})
    left_out: int = 0


class MotionCollector:
    """Gathers the joints of all people, 0.5 kB per frame and person.

    Parameters
    ----------
    body : joints of the rows
    """

    def __init__(self, body: BodyDefinition) -> None:
        self._body = body
        self._times_s = array("d")
        self._people: dict[int, _Found] = {}
        self._axes = "world"  # as long as every joint has a world position

    def add(self, row: ResultRow) -> None:
        """Keep the joints of one frame. Raises ValueError for a joint that the body does not have."""
        self._times_s.append(row.timestamp_s)
        for track, world_m in row.with_world():
            camera_m = {name: joint.xyz_m for name, joint in track.pose.joints.items()}
            found = self._people.setdefault(track.id, _Found())
            if not camera_m:
                continue
            if found.times_s and row.timestamp_s <= found.times_s[-1]:  # the clock does not advance
                found.left_out += 1
                continue
            if not camera_m.keys() <= world_m.keys():
                self._axes = "camera"
            # before the time: an unknown joint leaves no half a frame
            found.positions_m["camera"].extend(self._as_row(camera_m))
            found.times_s.append(row.timestamp_s)
            if self._axes == "world":
                found.positions_m["world"].extend(self._as_row(world_m))

    def _as_row(self, positions_m: dict[str, tuple[float, float, float]]) -> list[float]:
        row = np.full((len(self._body.joints), 3), np.nan)
        for name, position in positions_m.items():
            row[self._body.joint_index(name)] = position
        return row.ravel().tolist()

    def people(self) -> list[int]:
        """Ids of all people who were found."""
        return [id for id, found in self._people.items() if found.times_s]

    def motion(self, id: int) -> PersonMotion:
        """Return the motion of one person. Raises ValueError for times that give too many frames."""
        found = self._people[id]
        times_s = np.array(found.times_s)
        frame_s, start_s = median_frame_s(np.array(self._times_s)), self._times_s[0]
        shape = (len(times_s), len(self._body.joints), 3)
        joints_m = np.array(found.positions_m[self._axes]).reshape(shape) @ TO_Y_UP[self._axes].T
        even_m = resample(times_s, joints_m, frame_s, start_s)
        absent = in_long_gaps(times_s, joints_m, frame_s, start_s)
        first = first_frame(times_s, frame_s, start_s)
        lengths_m = bone_lengths(joints_m)
        return PersonMotion(id, self._body, self._axes, frame_s, first, even_m, absent, lengths_m, found.left_out)
