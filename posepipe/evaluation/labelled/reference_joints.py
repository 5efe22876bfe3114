"""Real frames scored against another tracker's joints, whose definitions of the joints differ from ours.

A constant offset per joint between the definitions is fitted on some subjects and removed on the others. Rules:

- Every frame goes through the whole pipeline by itself, as `posepipe run --no-tracking` does. Of several people the one
  with the highest sum of confidences counts.
- A joint that is not found is wrong at any distance.
- *Trusted* joints are those that the pack's sanity mask accepts; without a mask, all known ones.
- Offsets are medians over trusted joints, along the camera's axes. The subject of a frame is the number N in ``_sN_``
  of its name. Figures of the subjects are averaged with equal weight, and so are those of the joints.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.evaluation.labelled.labelled_pack import column_of
from posepipe.io.npz import read_npz
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.results import FrameResult
from posepipe.sources.formats.npz_pack import NpzPack

SCORED = (
    *("head", "neck", "left_shoulder", "left_elbow", "left_hand", "right_shoulder", "right_elbow", "right_hand"),
    *("left_hip", "right_hip", "left_knee", "left_foot", "right_knee", "right_foot"),
)
"""Joints that are scored, as far as the pack has them: torso, pelvis, wrists and ankles are defined too differently."""
RIGID = (
    *(("head", "neck"), ("left_hip", "right_hip")),
    *(("left_shoulder", "left_elbow"), ("right_shoulder", "right_elbow")),
    *(("left_hip", "left_knee"), ("right_hip", "right_knee")),
)
"""Pairs of scored joints whose distance does not change while a person moves."""
MISSING_M = 9.0
"""Error of a joint that was not found, metres."""
RADII_M = {"within 10 cm": 0.10, "within 15 cm": 0.15}
_SUBJECT = re.compile(r"_s(\d+)_")


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceJoints:
    """Joints that another tracker found, and ours."""

    names: tuple[str, ...]  #: of the J joints that are scored
    reference_m: np.ndarray  #: float64 (N, J, 3), metres
    trusted: np.ndarray  #: bool (N, J)
    found_m: np.ndarray  #: float64 (N, J, 3), metres; NaN = not found
    subjects: np.ndarray  #: int (N,); all 0 where the pack does not name them

    @property
    def counted_subjects(self) -> np.ndarray:
        """Subjects with a trusted joint, int (S,): the others have no share to average."""
        return np.unique(self.subjects[self.trusted.any(axis=1)])

    def figures(self) -> dict[str, dict[str, float]]:
        """Share of joints within each radius: as found, with offsets removed, and so of all joints, trusted or not.

        Offsets are cross-validated over `counted_subjects`; there are none for a single one.
        """
        rows = np.arange(len(self.found_m))
        out = {"as found": self._shares(self._errors(rows, rows[:0]), self.trusted)}
        groups = [rows[self.subjects == subject] for subject in self.counted_subjects]
        if len(groups) > 1:
            folds = [(own, self._errors(own, np.setdiff1d(rows, own))) for own in groups]
            everywhere = np.ones_like(self.trusted)
            for title, mask in (("offsets removed", self.trusted), ("offsets removed, all joints", everywhere)):
                shares = [self._shares(errors, mask[own]) for own, errors in folds]
                out[title] = {name: float(np.mean([share[name] for share in shares])) for name in RADII_M}
        return out

    def bone_errors(self) -> dict[str, float]:
        """Estimate the error of a joint, metres RMS, of either tracker, from the bones that are rigid; at least that.

        With errors of deviation s along every axis, independent at both ends, the length of a person's bone has the
        variance 2 s^2, and a joint is off by sqrt(3) s. Errors that are constant or common to both ends stay unseen,
        and so do most errors of a fitted body, which keeps its bones near one build. Empty without a bone that a
        subject shows in two frames.
        """
        out = {}
        for title, joints_m in (("reference", self.reference_m), ("as found", self.found_m)):
            variances = [np.var(lengths_m, ddof=1) for lengths_m in self._rigid_lengths(joints_m)]
            if variances:
                out[title] = float(np.sqrt(1.5 * np.mean(variances)))
        return out

    def _rigid_lengths(self, joints_m: np.ndarray) -> Iterator[np.ndarray]:
        """Lengths, metres, of each rigid bone of each subject, where both its joints are trusted and were found."""
        rows = {name: row for row, name in enumerate(self.names)}
        for ends in (pair for pair in RIGID if set(pair) <= set(rows)):
            a, b = (rows[name] for name in ends)
            lengths_m = np.linalg.norm(joints_m[:, a] - joints_m[:, b], axis=1)
            known = self.trusted[:, a] & self.trusted[:, b] & np.isfinite(self.found_m[:, [a, b]]).all(axis=(1, 2))
            for subject in np.unique(self.subjects):
                own = lengths_m[known & (self.subjects == subject)]
                if len(own) > 1:
                    yield own

    def _errors(self, rows: np.ndarray, fit_rows: np.ndarray) -> np.ndarray:
        """Errors (R, J), metres, of some frames, with the offsets fitted on others removed."""
        offsets_m = np.zeros(self.found_m.shape[1:])
        for joint in range(len(self.names)):
            gap = (self.found_m - self.reference_m)[fit_rows, joint][self.trusted[fit_rows, joint]]
            gap = gap[np.isfinite(gap).all(axis=1)]
            if len(gap):
                offsets_m[joint] = np.median(gap, axis=0)
        errors = np.linalg.norm(self.found_m[rows] - offsets_m - self.reference_m[rows], axis=-1)
        return np.nan_to_num(errors, nan=MISSING_M)

    def _shares(self, errors: np.ndarray, mask: np.ndarray) -> dict[str, float]:
        """Mean over joints of the share of masked errors within each radius; joints without any are left out."""
        columns = [errors[mask[:, joint], joint] for joint in range(len(self.names)) if mask[:, joint].any()]
        return {name: float(np.mean([(own < radius).mean() for own in columns])) for name, radius in RADII_M.items()}


def compare_with_reference(
    model: PoseModel, pack: str | Path, on_frame: Callable[[], object] = lambda: None
) -> ReferenceJoints:
    """Find the joints in an NPZ pack of real frames that has another tracker's joints.

    Parameters
    ----------
    model : PoseModel
    pack : NPZ pack with ``joints_m`` (N, J, 3) and ``joint_names``; optional ``ok`` and ``name``
    on_frame : called after every frame

    Raises
    ------
    FormatError
        When the pack has no joints to compare with, or those of several people.
    """
    frames = NpzPack(pack)
    if frames.joints_m is None or frames.joints_m.ndim != 3:
        raise FormatError(pack, "wanted the joints of one person, joints_m (N, J, 3), and joint_names (J,)")
    columns = {joint: column for joint in SCORED if (column := column_of(frames, joint)) is not None}
    if not columns:
        raise FormatError(pack, f"joint_names: wanted some of {', '.join(SCORED)}")
    names, chosen = tuple(columns), list(columns.values())
    reference_m = frames.joints_m[:, chosen].astype(np.float64)
    trusted = np.asarray(np.isfinite(reference_m).all(axis=-1))
    if frames.trusted is not None:
        trusted &= frames.trusted[:, chosen]
    if not trusted.any():
        raise FormatError(pack, "no scored joint is known, or trusted by `ok` or `visible`: nothing to compare with")
    pipeline = Pipeline.from_model(model, tracking=False)
    found_m = np.full(reference_m.shape, np.nan)
    for row in range(len(frames)):
        found_m[row] = _found_joints(pipeline.step(frames[row]), names)
        on_frame()
    return ReferenceJoints(names, reference_m, trusted, found_m, _subjects(frames))


def _found_joints(result: FrameResult, names: tuple[str, ...]) -> np.ndarray:
    """Joints (J, 3), metres, of the person with the highest sum of confidences; NaN where there is none."""
    best = max(result.people, key=lambda person: float(person.pose.confidences.sum()), default=None)
    joints = {} if best is None else best.pose.joints
    return np.array([joints[name].xyz_m if name in joints else (np.nan,) * 3 for name in names])


def _subjects(pack: NpzPack) -> np.ndarray:
    names = read_npz(pack.path, "an NPZ pack", ("name",)).get("name")
    if names is None or names.dtype.kind != "U" or names.shape != (len(pack),):
        return np.zeros(len(pack), int)
    found = [_SUBJECT.search(name) for name in names.tolist()]
    return np.array([int(match.group(1)) if match else 0 for match in found])
