"""NPZ packs with joints measured by another system, as labelled frames."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import astuple
from itertools import pairwise
from pathlib import Path

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera.camera_file import CameraFile, find_camera
from posepipe.datasets.dataset import MANIFEST_NAME, FrameSequence, is_recording, open_datasets
from posepipe.datasets.frame_sequence import SequenceRows
from posepipe.errors import FormatError, PosepipeError
from posepipe.evaluation.labelled.labelled_itop import LabelledItop
from posepipe.frames import LabelledFrame
from posepipe.io.npz import array_hash, read_npz
from posepipe.sources.formats.itop.itop import is_itop
from posepipe.sources.formats.npz_pack import NpzPack

KINECT_NAMES = {"neck": "shoulder_center", "torso": "spine", "pelvis": "hip_center"}
"""posepipe's name of a joint -> the Kinect SDK's, where they differ."""
FAR_M, FAR_SHARE = 1.5, 0.2
"""When more than FAR_SHARE of the readings lie further than FAR_M from every joint, joints and depth do not match."""
_CHECKED_FRAMES, _PIXEL_STEP = 32, 4  # frames checked, and one pixel in 4 x 4


def open_labelled(paths: Sequence[str | Path], body: BodyDefinition, camera: str | Path | None = None) -> FrameSequence:
    """Open datasets, NPZ packs with true joints, or files of ITOP, as one sequence of frames.

    Parameters
    ----------
    paths : all of one kind
    body : of packs and of ITOP; a dataset has its own
    camera : of packs, name of a preset or path of a ``camera.json``; replaces their own, which may be missing

    Returns
    -------
    FrameSequence

    Raises
    ------
    FormatError, ValueError, PosepipeError
        When a file is malformed, bodies differ, kinds are mixed, or a camera is given for frames that have one.
    """
    packs = [path for path in map(Path, paths) if path.is_file() and not is_dataset(path)]
    if not packs:
        _refuse_camera(paths[0], camera)
        return open_datasets(paths)
    if len(packs) < len(paths):
        dataset = next(path for path in map(Path, paths) if path not in packs)
        raise PosepipeError(
            f"{packs[0]} is a file and {dataset} is none: figures are of datasets or of NPZ packs; score them apart"
        )
    other = [path for path in packs if not is_itop(path)]
    if 0 < len(other) < len(packs):
        raise PosepipeError(f"{other[0]} is none of ITOP's files, unlike the others; score them apart")
    if not other:
        _refuse_camera(packs[0], camera)
        return FrameSequence([LabelledItop(path, body) for path in packs])
    calibration = None if camera is None else find_camera(camera)
    return FrameSequence([LabelledPack(path, body, calibration) for path in packs])


def _refuse_camera(path: str | Path, camera: str | Path | None) -> None:
    if camera is not None:
        raise PosepipeError(f"{path}: its frames know their camera; a calibration is given for NPZ packs, leave it out")


def is_dataset(path: Path) -> bool:
    """Whether a file is the manifest of a dataset, or a recording."""
    return path.name == MANIFEST_NAME or is_recording(path)


class LabelledPack:
    """Frames of an NPZ pack with true joints, as labelled frames of a body; see docs/reference/formats.md.

    Parameters
    ----------
    path : the pack
    body : BodyDefinition
    camera : replaces the pack's ``K``, which may then be missing

    Raises
    ------
    FormatError
        When the pack shares no joint with the body, does not assign pixels to people, or has nothing to score.
    """

    source_revision = ""  # not made by posepipe

    def __init__(self, path: str | Path, body: BodyDefinition, camera: CameraFile | None = None) -> None:
        self.body = body
        self.recipe: dict = {}
        self.name = str(path)
        self._pack = NpzPack(path, camera)
        self._joints_m = _true_joints(self._pack, body)  # float32 (N, P, J, 3), metres, NaN = unknown
        _check_labels(self._pack, body, self._joints_m.shape[1])
        self._check_joints()
        if self._pack.trusted is not None:  # after the check: a limb with untrusted joints still belongs to its person
            self._joints_m[~_in_body_order(self._pack.trusted, self._pack, body, missing=False)] = np.nan
        if not self.has_parts and not np.isfinite(self._joints_m).all(axis=-1).any():
            raise FormatError(path, "no joint is known, or trusted by `ok` or `visible`, so there is nothing to score")

    @property
    def has_parts(self) -> bool:
        """Whether the pack labels pixels with body parts."""
        return self._pack.parts is not None

    @property
    def content(self) -> str:
        """Identifies the frames: a hash of depth, camera, labels and joints."""
        cameras = np.array([astuple(camera) for camera in self._pack.cameras])
        arrays = {
            "depth_mm": self._pack.depth_mm,
            "K": cameras[0] if len(cameras) == 1 else cameras,
            "joints_m": self._joints_m,
            "parts": self._pack.parts,
            "people": self._pack.people,
        }
        return array_hash({name: array for name, array in arrays.items() if array is not None}) + "\n"

    @property
    def sequences(self) -> tuple[SequenceRows, ...]:
        """Rows of each sequence, by `name` ("sequence:frame"); without names, all rows if times are given."""
        return pack_sequences(self._pack.path, len(self))

    def __len__(self) -> int:
        return len(self._pack)

    def __getitem__(self, index: int) -> LabelledFrame:
        depth = self._pack[index]
        parts, people = self._pack.parts, self._pack.people
        joints_m = self._joints_m[index]
        return LabelledFrame(
            depth=depth,
            parts=np.zeros(depth.depth_m.shape, np.uint8) if parts is None else parts[index],
            people=(depth.depth_m > 0).astype(np.uint8) if people is None else people[index],
            joints_m=joints_m,
            visible=np.isfinite(joints_m).all(axis=-1),
        )

    def _check_joints(self) -> None:
        """Raise FormatError for frames that are not cut out, and for joints in other units or axes."""
        distances_m = np.concatenate([np.zeros(0), *self._distances_to_joints()])
        far = float((distances_m > FAR_M).mean()) if len(distances_m) else 0.0
        if far > FAR_SHARE:
            raise FormatError(
                self._pack.path,
                f"{far:.0%} of the readings lie more than {FAR_M} m from every true joint; wanted joints_m in metres,"
                " camera axes, and depth that is cut out, or `people` (uint8) that says which pixels are whose",
            )

    def _distances_to_joints(self) -> Iterator[np.ndarray]:
        """Distances of some pixels of some frames to the nearest joint of their person, float (N,), metres."""
        for index in range(0, len(self), max(1, len(self) // _CHECKED_FRAMES)):
            frame = self[index]
            every = (slice(None, None, _PIXEL_STEP),) * 2
            points_m = frame.depth.intrinsics.deproject(frame.depth.depth_m)[every]
            for person, joints_m in enumerate(frame.joints_m, start=1):
                own = points_m[(frame.people[every] == person) & (points_m[..., 2] > 0)]
                known = joints_m[np.isfinite(joints_m).all(axis=-1)]
                if len(known):
                    with np.errstate(over="ignore"):  # joints beyond all measure are far
                        yield np.linalg.norm(own[:, None] - known, axis=-1).min(axis=1)


def pack_sequences(path: str | Path, frames: int) -> tuple[SequenceRows, ...]:
    """Read which of the frames of an NPZ pack follow one another; see `LabelledPack.sequences`.

    Raises FormatError for names that are not one for each frame.
    """
    arrays = read_npz(path, "an NPZ pack", ("name", "timestamp_s"))
    if "name" not in arrays:
        whole = SequenceRows(Path(path).stem, range(frames), exact_joints=False)
        return (whole,) if "timestamp_s" in arrays else ()
    names = arrays["name"]
    if names.dtype.kind != "U" or names.shape != (frames,):
        raise FormatError(path, f"name: wanted {frames} names, got {names.dtype} {names.shape}")
    sequences = [name.rpartition(":")[0] or name for name in names.tolist()]
    starts = [row for row, name in enumerate(sequences) if row == 0 or name != sequences[row - 1]]
    return tuple(
        SequenceRows(sequences[first], range(first, stop), exact_joints=False)
        for first, stop in pairwise([*starts, frames])
    )


def _true_joints(pack: NpzPack, body: BodyDefinition) -> np.ndarray:
    """Joints in the order of the body: float32 (N, P, J, 3), metres; NaN for those absent from the pack."""
    if pack.joints_m is None or not pack.joint_names:
        raise FormatError(
            pack.path, "no truth to compare with; wanted joints_m (N, J, 3) in metres, and joint_names (J,)"
        )
    if pack.joints_m.ndim > 4:
        raise FormatError(pack.path, f"joints_m: wanted (N, J, 3) or (N, P, J, 3), got {pack.joints_m.shape}")
    if not any(column is not None for column in _columns(pack, body)):
        raise FormatError(
            pack.path,
            f"joint_names: the body {body.name!r} has none of {', '.join(pack.joint_names)};"
            f" wanted some of {', '.join(body.joints)}",
        )
    with np.errstate(over="ignore"):  # an infinite coordinate is unknown
        joints_m = pack.joints_m.astype(np.float32)
    return _in_body_order(joints_m, pack, body, missing=np.nan)


def _in_body_order(values: np.ndarray, pack: NpzPack, body: BodyDefinition, missing: float) -> np.ndarray:
    """Reorder values (N, J, ...) or (N, P, J, ...) from the pack's joints to (N, P, J, ...) of the body's."""
    assert pack.joints_m is not None
    if pack.joints_m.ndim == 3:
        values = values[:, None]
    ordered = np.full((*values.shape[:2], len(body.joints), *values.shape[3:]), missing, values.dtype)
    for row, column in enumerate(_columns(pack, body)):
        if column is not None:
            ordered[:, :, row] = values[:, :, column]
    return ordered


def _columns(pack: NpzPack, body: BodyDefinition) -> list[int | None]:
    """Column in the pack of each joint of the body; None = absent."""
    return [column_of(pack, joint) for joint in body.joints]


def column_of(pack: NpzPack, joint: str) -> int | None:
    """Column of a joint in a pack, under our name or the Kinect SDK's; None = absent."""
    names = pack.joint_names
    return next((names.index(name) for name in (joint, KINECT_NAMES.get(joint)) if name in names), None)


def _check_labels(pack: NpzPack, body: BodyDefinition, people: int) -> None:
    if pack.people is None and people > 1:
        raise FormatError(pack.path, f"joints of {people} people; wanted also `people` (uint8), which pixels are whose")
    if pack.people is not None and not ((pack.people > 0) & (pack.people <= people)).any():
        raise FormatError(
            pack.path, f"people: wanted pixels of person 1 to {people}, as in joints_m, and there are none"
        )
    if pack.parts is not None and pack.parts.max() > len(body.parts):
        raise FormatError(
            pack.path,
            f"parts: wanted label codes 0 to {len(body.parts)} of the body {body.name!r}, got {pack.parts.max()}",
        )
