"""Results as motion capture: one BVH file per person, for Blender and other animation programs.

Axes are y up and +z towards the camera; units are centimetres and degrees; a joint's channels are Z, X, Y. The bones
come from `posepipe.kinematics.skeleton_fitting`. Where bodies are fitted, bones also turn about their own axes.
Content of the files and handling of gaps: docs/reference/results.md.

References
----------
Meredith and Maddock, Motion capture file formats explained, University of Sheffield, 2001.
"""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import counted
from posepipe.io.files import replace_file, reserved
from posepipe.kinematics.skeleton_fitting import FittedSkeleton, bone_lengths, fit_skeleton
from posepipe.results import BodyFit, FrameResult
from posepipe.sinks.files.json_lines import ResultRow
from posepipe.sinks.files.person_files import told_left_out, write_each
from posepipe.sinks.files.resampling import first_frame, in_long_gaps, median_frame_s, resample
from posepipe.sinks.files.result_numbers import rounded

UNITS_PER_METRE = 100.0

TO_Y_UP = {
    "camera": np.array([[1.0, 0, 0], [0, -1, 0], [0, 0, -1]]),
    "world": np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]]),
}
"""Rotations from camera axes and from world axes to the axes of motion files, whose y is up."""
_TIP_RATIO = 0.2  # length of the end site after the last joint of a limb, relative to the last bone
_MIN_COSINE = 1e-7


@dataclass(frozen=True, slots=True)
class WrittenBvh:
    """Summary of one BVH file; ``str`` gives it as a line of text."""

    path: Path
    person: int
    first_frame: int  #: frames from the start of the run to the start of the file
    frames: int
    frame_s: float
    axes: str  #: "world" or "camera"
    mean_error_m: float  #: mean distance between the rigid skeleton and the found joints
    left_out: int = 0  #: frames with the person whose times are not after those before

    def __str__(self) -> str:
        start = f", from frame {self.first_frame} on" if self.first_frame else ""
        start += told_left_out(self.left_out)
        frames = counted(self.frames, "frame")
        return (
            f"person {self.person}: {frames} of {self.frame_s * 1000:.1f} ms{start}, {self.axes} axes, "
            f"rigid bones on average {self.mean_error_m * 100:.1f} cm from the joints found -> {self.path}"
        )


class _Motion:
    """Times and joint positions of one person."""

    def __init__(self) -> None:
        self.times_s = array("d")
        self.positions_m = {axes: array("f") for axes in TO_Y_UP}  # float32: a long run must fit into memory
        self.rotations_xyzw = {axes: array("f") for axes in TO_Y_UP}  # as long as every frame has them
        self.left_out = 0


class BvhSink:
    """Writes one BVH file per person; a `FrameSink`.

    A BVH file begins with the bone lengths, and they are known at the end of the run. Until then joints are kept in
    memory, 1.1 kB per frame and person, and no file is written. After a kill ``posepipe convert`` makes the same files
    from the run's results file.

    Parameters
    ----------
    path : the file for a single person; several people get ``NAME-ID.bvh`` each
    body : joints and parents
    whole : write nothing when the context ends with an error, instead of what came before it

    Raises
    ------
    PosepipeError
        If the file cannot be written, or another program writes it; checked when the sink is opened.
    """

    def __init__(self, path: str | Path, body: BodyDefinition, whole: bool = False) -> None:
        self.path = Path(path)
        self.written: tuple[WrittenBvh, ...] = ()  #: filled when the sink is closed
        self._body = body
        self._whole = whole
        self._times_s = array("d")
        self._motions: dict[int, _Motion] = {}
        self._axes = "world"  # as long as every person has world positions
        self._closed = False
        self._reserved = ExitStack()

    @property
    def has_people(self) -> bool:
        """Whether any person was found."""
        return any(motion.times_s for motion in self._motions.values())

    def write(self, result: FrameResult) -> None:
        """Keep the joints of one frame."""
        self.write_row(ResultRow.of(result))

    def write_row(self, row: ResultRow) -> None:
        """Keep the joints of a frame read from a file. Raises ValueError for a joint that the body does not have."""
        self._times_s.append(row.timestamp_s)
        turned = row.world_xyzw or ({},) * len(row.people)
        for (track, world_m), world_xyzw in zip(row.with_world(), turned, strict=True):
            camera_m = {name: joint.xyz_m for name, joint in track.pose.joints.items()}
            motion = self._motions.setdefault(track.id, _Motion())
            if not camera_m:
                continue
            if motion.times_s and row.timestamp_s <= motion.times_s[-1]:  # the clock does not advance
                motion.left_out += 1
                continue
            if not camera_m.keys() <= world_m.keys():
                self._axes = "camera"
            fit = track.fit
            camera_xyzw = {} if fit is None else dict(zip(fit.names, _as_written(fit), strict=True))
            # before the time: an unknown joint leaves no half a frame
            motion.positions_m["camera"].extend(self._as_row(camera_m, 3))
            motion.times_s.append(row.timestamp_s)
            motion.rotations_xyzw["camera"].extend(self._as_row(camera_xyzw, 4))
            if self._axes == "world":
                motion.positions_m["world"].extend(self._as_row(world_m, 3))
                motion.rotations_xyzw["world"].extend(self._as_row(world_xyzw, 4))

    def _as_row(self, values: Mapping[str, Sequence[float]], width: int) -> list[float]:
        row = np.full((len(self._body.joints), width), np.nan)
        for name, value in values.items():
            row[self._body.joint_index(name)] = value
        return row.ravel().tolist()

    def close(self) -> None:
        """Write the files. Each replaces an older file when it is complete; without people there is no file."""
        if not self._closed:
            self._closed = True
            people = [id for id, motion in self._motions.items() if motion.times_s]
            write_each(self.path, people, self._write_person)

    def _write_person(self, id: int, path: Path) -> None:
        motion = self._motions[id]
        frame_s, start_s = median_frame_s(np.array(self._times_s)), self._times_s[0]
        times_s = np.array(motion.times_s)
        shape = (len(times_s), len(self._body.joints), 3)
        found_m = np.array(motion.positions_m[self._axes]).reshape(shape) @ TO_Y_UP[self._axes].T
        even_m = resample(times_s, found_m, frame_s, start_s)
        turns = self._turns(motion, times_s, frame_s, np.isfinite(even_m).all(axis=(0, 2)))
        absent = in_long_gaps(times_s, found_m, frame_s, start_s)
        skeleton = fit_skeleton(self._body, even_m, bone_lengths(found_m), turns, absent)
        replace_file(path, bvh_text(skeleton, frame_s).encode())
        rows = [self._body.joint_index(joint) for joint in skeleton.joints]
        errors_m = np.linalg.norm(skeleton.positions_m() - even_m[:, rows], axis=-1)
        error_m = float(errors_m[~absent[:, rows]].mean())
        first = first_frame(times_s, frame_s, start_s)
        about = id, first, len(even_m), frame_s, self._axes, error_m, motion.left_out
        self.written += (WrittenBvh(path, *about),)

    def _turns(self, motion: _Motion, times_s: np.ndarray, frame_s: float, known: np.ndarray) -> np.ndarray | None:
        """Rotations of the joints at even times, y up, float64 (T, J, 3, 3); None where a known joint has none."""
        from scipy.spatial.transform import Rotation  # slow to import

        xyzw = np.array(motion.rotations_xyzw[self._axes], float).reshape(len(times_s), len(self._body.joints), 4)
        if not np.isfinite(xyzw[:, known]).all(axis=-1).any(axis=0).all():
            return None
        even = resample(times_s, _same_signs(xyzw), frame_s, self._times_s[0])
        turns = np.broadcast_to(np.eye(3), (*even.shape[:2], 3, 3)).copy()
        turns[:, known] = Rotation.from_quat(even[:, known].reshape(-1, 4)).as_matrix().reshape(len(even), -1, 3, 3)
        return TO_Y_UP[self._axes] @ turns

    def __enter__(self) -> BvhSink:
        self._reserved.enter_context(reserved(self.path))  # an error at the end of a long run would lose its results
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with self._reserved:
            if error is None or not self._whole:
                self.close()


def _as_written(fit: BodyFit) -> list[list[float]]:
    """Rotations of the joints as a results file has them, so that both give the same BVH file."""
    return [[rounded(value) for value in rotation] for rotation in fit.rotations_xyzw]


def _same_signs(xyzw: np.ndarray) -> np.ndarray:
    """Quaternions (T, J, 4) whose signs follow from frame to frame: q and -q are one rotation, but not between them."""
    found = xyzw.copy()
    for now, before in zip(found[1:], found[:-1], strict=True):
        now[(now * before).sum(axis=-1) < 0] *= -1
        absent = ~np.isfinite(now).all(axis=-1)
        now[absent] = before[absent]  # the sign to follow after a gap
    found[~np.isfinite(xyzw)] = np.nan
    return found


def bvh_text(skeleton: FittedSkeleton, frame_s: float) -> str:
    """Return the content of a BVH file. Raises ValueError for a skeleton without frames."""
    if not len(skeleton.root_m):
        raise ValueError("a BVH file needs at least one frame, got none")
    lines = ["HIERARCHY"]
    _write_joint(lines, skeleton, 0, 0)
    lines += ["MOTION", f"Frames: {len(skeleton.root_m)}", f"Frame Time: {frame_s:.9f}"]
    angles = _unwrap(_angles_zxy_deg(skeleton.local_rotations()))
    values = np.concatenate([skeleton.root_m * UNITS_PER_METRE, angles.reshape(len(angles), -1)], axis=1)
    values = np.round(values, 4) + 0.0  # no -0.0
    lines += [" ".join(map("{:.4f}".format, row)) for row in values.tolist()]
    return "\n".join(lines) + "\n"


def _write_joint(lines: list[str], skeleton: FittedSkeleton, joint: int, depth: int) -> None:
    pad, root = "\t" * depth, joint == 0
    offset = skeleton.offsets_m[joint]
    name = "_".join(skeleton.joints[joint].split())  # a space would end the name
    channels = "6 Xposition Yposition Zposition" if root else "3"
    lines += [
        f"{pad}{'ROOT' if root else 'JOINT'} {name}",
        pad + "{",
        f"{pad}\tOFFSET {_centimetres(offset)}",
        f"{pad}\tCHANNELS {channels} Zrotation Xrotation Yrotation",
    ]
    children = [child for child, parent in enumerate(skeleton.parents) if parent == joint]
    for child in children:
        _write_joint(lines, skeleton, child, depth + 1)
    if not children:
        lines += [f"{pad}\tEnd Site", pad + "\t{", f"{pad}\t\tOFFSET {_centimetres(offset * _TIP_RATIO)}", pad + "\t}"]
    lines.append(pad + "}")


def _centimetres(offset_m: np.ndarray) -> str:
    return " ".join(f"{value:.4f}" for value in np.round(offset_m * UNITS_PER_METRE, 4) + 0.0)


def _angles_zxy_deg(rotations: np.ndarray) -> np.ndarray:
    """Euler angles z, x, y of rotations Rz Rx Ry (..., 3, 3), degrees."""
    x = np.arcsin(np.clip(rotations[..., 2, 1], -1, 1))
    z = np.arctan2(-rotations[..., 0, 1], rotations[..., 1, 1])
    y = np.arctan2(-rotations[..., 2, 0], rotations[..., 2, 2])
    # gimbal lock (x = +-90 degrees): only z + y or z - y is defined, so y is set to 0
    locked = np.hypot(rotations[..., 0, 1], rotations[..., 1, 1]) < _MIN_COSINE
    z = np.where(locked, np.arctan2(rotations[..., 1, 0], rotations[..., 0, 0]), z)
    return np.degrees(np.stack([z, x, np.where(locked, 0.0, y)], axis=-1))


def _unwrap(angles_deg: np.ndarray) -> np.ndarray:
    """Equivalent Euler angles (T, J, 3) without jumps, because animation programs interpolate between frames."""
    smooth = angles_deg.copy()
    for now, before in zip(smooth[1:], smooth[:-1], strict=True):
        other = now * [1, -1, 1] + 180  # the second set of angles of the same rotation
        both = np.stack([now, other])
        both -= 360 * np.round((both - before) / 360)
        nearer = np.abs(both - before).sum(axis=-1).argmin(axis=0)
        now[:] = np.take_along_axis(both, nearer[None, :, None], axis=0)[0]
    return smooth
