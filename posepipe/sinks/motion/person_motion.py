"""The joints of each person over a whole run, with y up and at a constant frame rate."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.kinematics.skeleton_fitting import FittedSkeleton, bone_lengths, fit_skeleton
from posepipe.results import BodyFit
from posepipe.sinks.files.json_lines import ResultRow
from posepipe.sinks.files.resampling import first_frame, frame_interval_s, in_long_gaps, resample
from posepipe.sinks.files.result_numbers import rounded

TO_Y_UP = {
    "camera": np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]]),
    "world": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
}
"""Rotations from camera axes and from world axes to the axes of motion files, whose y is up."""


@dataclass(frozen=True, eq=False)
class PersonMotion:
    """Joints of one person: T even times, J joints."""

    person: int
    file_name: str  #: for formats that state it
    body: BodyDefinition
    axes: str  #: "world" or "camera", y up in both; z towards the camera
    frame_s: float  #: time between frames, seconds
    first_frame: int  #: frames from the start of the run
    first_s: float  #: time of the first frame with the person, as in the results
    joints_m: np.ndarray  #: float64 (T, J, 3), metres; gaps are filled, NaN = never found
    absent: np.ndarray  #: bool (T, J), whether a joint is in a long gap, or not found yet or any more
    lengths_m: np.ndarray  #: float64 (J, J), median distance of joints found together, metres; NaN = never
    turns: np.ndarray | None  #: float64 (T, J, 3, 3), rotations of the joints of a fitted body; None = not fitted
    left_out: int  #: frames with the person that are not in the motion: their times are not after those before

    def markers_m(self) -> np.ndarray:
        """Joint positions, float64 (T, J, 3), metres; NaN where a joint is absent."""
        return np.where(self.absent[..., None], np.nan, self.joints_m)

    @cached_property
    def skeleton(self) -> FittedSkeleton:
        """Rigid bones that follow the joints. Raises ValueError where no joint is known."""
        return fit_skeleton(self.body, self.joints_m, self.lengths_m, self.turns, self.absent)

    @property
    def rigid_error_m(self) -> float:
        """Mean distance between the rigid bones and the joints found, metres."""
        rows = [self.body.joint_index(joint) for joint in self.skeleton.joints]
        errors_m = np.linalg.norm(self.skeleton.positions_m() - self.joints_m[:, rows], axis=-1)
        return float(errors_m[~self.absent[:, rows]].mean())


@dataclass
class _Found:
    """Times, joint positions and rotations of one person, as they come."""

    times_s: array = field(default_factory=lambda: array("d"))
    # float32: a long run must fit into memory
    positions_m: dict[str, array] = field(default_factory=lambda: {axes: array("f") for axes in TO_Y_UP})
    rotations_xyzw: dict[str, array] = field(default_factory=lambda: {axes: array("f") for axes in TO_Y_UP})
    left_out: int = 0


class MotionCollector:
    """Gathers the joints of all people, 0.5 kB per frame and person; with rotations 1.1 kB.

    Parameters
    ----------
    body : joints of the rows
    with_rotations : also gather the rotations of fitted bodies
    """

    def __init__(self, body: BodyDefinition, with_rotations: bool) -> None:
        self._body = body
        self._with_rotations = with_rotations
        self._times_s = array("d")
        self._people: dict[int, _Found] = {}
        self._axes = "world"  # as long as every joint has a world position

    def add(self, row: ResultRow) -> None:
        """Keep the joints of one frame. Raises ValueError for a joint that the body does not have."""
        self._times_s.append(row.timestamp_s)
        turned = row.world_xyzw or ({},) * len(row.people)
        for (track, world_m), world_xyzw in zip(row.with_world(), turned, strict=True):
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
            found.positions_m["camera"].extend(self._as_row(camera_m, 3))
            found.times_s.append(row.timestamp_s)
            if self._with_rotations:
                found.rotations_xyzw["camera"].extend(self._as_row(_as_written(track.fit), 4))
            if self._axes == "world":
                found.positions_m["world"].extend(self._as_row(world_m, 3))
                if self._with_rotations:
                    found.rotations_xyzw["world"].extend(self._as_row(world_xyzw, 4))

    def _as_row(self, values: Mapping[str, Sequence[float]], width: int) -> list[float]:
        row = np.full((len(self._body.joints), width), np.nan)
        for name, value in values.items():
            row[self._body.joint_index(name)] = value
        return row.ravel().tolist()

    def people(self) -> list[int]:
        """Ids of all people who were found."""
        return [id for id, found in self._people.items() if found.times_s]

    def motion(self, id: int, file_name: str) -> PersonMotion:
        """Return the motion of one person, for a file. Raises ValueError for times that give too many frames."""
        found, to_y_up = self._people[id], TO_Y_UP[self._axes]
        times_s = np.array(found.times_s)
        frame_s, start_s = frame_interval_s(np.array(self._times_s)), self._times_s[0]
        joints_m = np.array(found.positions_m[self._axes]).reshape(len(times_s), len(self._body.joints), 3) @ to_y_up.T
        even_m = resample(times_s, joints_m, frame_s, start_s)
        turns = None
        if self._with_rotations:
            xyzw = np.array(found.rotations_xyzw[self._axes], float).reshape(*joints_m.shape[:2], 4)
            turns = _turns(xyzw, times_s, frame_s, start_s, np.isfinite(even_m).all(axis=(0, 2)))
        return PersonMotion(
            person=id,
            file_name=file_name,
            body=self._body,
            axes=self._axes,
            frame_s=frame_s,
            first_frame=first_frame(times_s, frame_s, start_s),
            first_s=float(times_s[0]),
            joints_m=even_m,
            absent=in_long_gaps(times_s, joints_m, frame_s, start_s),
            lengths_m=bone_lengths(joints_m),
            turns=None if turns is None else to_y_up @ turns,
            left_out=found.left_out,
        )


def _as_written(fit: BodyFit | None) -> dict[str, list[float]]:
    """Rotations of the joints as a results file has them, so that both give the same motion."""
    rotations = () if fit is None else zip(fit.names, fit.rotations_xyzw, strict=True)
    return {name: [rounded(value) for value in rotation] for name, rotation in rotations}


def _turns(
    xyzw: np.ndarray, times_s: np.ndarray, frame_s: float, start_s: float, known: np.ndarray
) -> np.ndarray | None:
    """Rotations of the joints at even times, float64 (T', J, 3, 3).

    Parameters
    ----------
    xyzw : float64 (T, J, 4), quaternions; NaN = not measured
    times_s, frame_s, start_s : as for `resample`
    known : bool (J,), joints that are ever found

    Returns
    -------
    None where one of these has no rotation
    """
    from scipy.spatial.transform import Rotation  # slow to import

    if not np.isfinite(xyzw[:, known]).all(axis=-1).any(axis=0).all():
        return None
    even = resample(times_s, _same_signs(xyzw), frame_s, start_s)
    turns = np.broadcast_to(np.eye(3), (*even.shape[:2], 3, 3)).copy()
    turns[:, known] = Rotation.from_quat(even[:, known].reshape(-1, 4)).as_matrix().reshape(len(even), -1, 3, 3)
    return turns


def _same_signs(xyzw: np.ndarray) -> np.ndarray:
    """Quaternions (T, J, 4) whose signs follow from frame to frame: q and -q are one rotation, but not between them."""
    found = xyzw.copy()
    for now, before in zip(found[1:], found[:-1], strict=True):
        now[(now * before).sum(axis=-1) < 0] *= -1
        absent = ~np.isfinite(now).all(axis=-1)
        now[absent] = before[absent]  # the sign to follow after a gap
    found[~np.isfinite(xyzw)] = np.nan
    return found
