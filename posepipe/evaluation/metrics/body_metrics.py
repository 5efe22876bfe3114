"""Metrics of bodies: directions, twists and lengths of bones, and angles of knees and elbows.

Frames count whose true orientations and bone lengths are stored (`LabelledFrame.bodies`). Scored are bones of limbs:
left or right, rigid, with both joints visible and found, and the only ones that start at their joint.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, fields

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.body import BodyDefinition, mirror_name
from posepipe.frames import BodyTruth
from posepipe.kinematics.joint_angles import joint_angles
from posepipe.results import BodyFit

SETTLED_S = 2.0
"""Time after which the bone lengths of a track are compared with the truth."""
RIGID_SHARE = 0.01
"""Maximum difference between true joints and the length at rest of a bone that does not stretch, over that length."""
ANGLES = {"knee": ("hip", "knee", "ankle"), "elbow": ("shoulder", "elbow", "wrist")}
"""Angle that is scored -> the joints of one side that must be visible."""
MIN_FRAMES = 5
"""Minimum number of frames for the length of a bone in a track."""


@dataclass(slots=True, eq=False)
class BodyScores:
    """Errors of visible limbs over many people; those of several are added."""

    people: int = 0  #: number of people whose truth is known
    directions_deg: list[float] = field(default_factory=list)  #: of bones
    twists_deg: list[float] = field(default_factory=list)  #: of segments about their own axis; of fitted bodies alone
    lengths: list[float] = field(default_factory=list)  #: |found / true - 1|, of bones in single frames
    knees_deg: list[float] = field(default_factory=list)
    elbows_deg: list[float] = field(default_factory=list)

    def __add__(self, other: BodyScores) -> BodyScores:
        return BodyScores(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))

    def add(
        self,
        body: BodyDefinition,
        truth: tuple[np.ndarray, np.ndarray, BodyTruth, int],
        found_m: np.ndarray,
        fit: BodyFit | None = None,
    ) -> None:
        """Score one person.

        Parameters
        ----------
        body : BodyDefinition
        truth : true joints (J, 3), metres, whether each is visible, bool (J,), and the row of the person in a BodyTruth
        found_m : float (J, 3), metres; NaN = not found
        fit : with the orientations of all joints; None = no body was fitted
        """
        true_m, visible, bodies, person = truth
        self.people += 1
        seen = np.asarray(visible, bool) & np.isfinite(found_m).all(axis=1)
        for joint, parent in limb_bones(body, true_m, bodies.bone_lengths_m[person]):
            if not (seen[joint] and seen[parent]):
                continue
            bone, wanted = found_m[joint] - found_m[parent], true_m[joint] - true_m[parent]
            self.directions_deg.append(_between_deg(bone, wanted))
            self.lengths.append(abs(float(np.linalg.norm(bone) / bodies.bone_lengths_m[person, joint]) - 1))
            if fit is not None:
                pair = fit.rotations_xyzw[parent], bodies.rotations_xyzw[person, parent]
                self.twists_deg.append(twist_deg(*pair, wanted))
        self._add_angles(body, true_m, found_m, seen)

    def _add_angles(self, body: BodyDefinition, true_m: np.ndarray, found_m: np.ndarray, seen: np.ndarray) -> None:
        true_deg, found_deg = (_angles(body, joints_m) for joints_m in (true_m, found_m))
        for errors, (name, joints) in zip((self.knees_deg, self.elbows_deg), ANGLES.items(), strict=True):
            for side in ("left", "right"):
                angle = f"{side}_{name}_flexion"
                if angle in true_deg and all(seen[body.joint_index(f"{side}_{joint}")] for joint in joints):
                    errors.append(abs(float(found_deg[angle] - true_deg[angle])))

    def figures(self) -> dict[str, float]:
        """Medians by name, NaN where there is nothing to measure; empty where no truth is known."""
        if not self.people:
            return {}
        return {
            "bone direction error, degrees": _median(self.directions_deg),
            "twist error, degrees": _median(self.twists_deg),
            "bone length error": _median(self.lengths),
            "knee angle error, degrees": _median(self.knees_deg),
            "elbow angle error, degrees": _median(self.elbows_deg),
        }


@dataclass(frozen=True, slots=True, eq=False)
class LengthScores:
    """Bone lengths over tracks; those of several people are added."""

    errors: tuple[float, ...] = ()  #: |median after SETTLED_S / true - 1|, of each bone
    spreads: tuple[float, ...] = ()  #: standard deviation over the whole track, over the mean, of each bone

    def __add__(self, other: LengthScores) -> LengthScores:
        return LengthScores(self.errors + other.errors, self.spreads + other.spreads)

    def figures(self) -> dict[str, float]:
        """Medians over bones and people; empty where there is nothing to measure."""
        if not self.spreads:
            return {}
        return {"bone length error after 2 s": _median(self.errors), "bone length spread": _median(self.spreads)}


def score_lengths(
    body: BodyDefinition, found_m: np.ndarray, true_m: np.ndarray, lengths_m: np.ndarray, times_s: np.ndarray
) -> LengthScores:
    """Score the bone lengths of one track, visible or not.

    Parameters
    ----------
    body : BodyDefinition
    found_m, true_m : float (T, J, 3), metres; NaN = not found
    lengths_m : float (J,), true distance of each joint from its parent at rest
    times_s : float (T,), seconds, increasing
    """
    errors, spreads = [], []
    known = np.flatnonzero(np.isfinite(true_m).all(axis=(1, 2)))
    for joint, parent in limb_bones(body, true_m[known[0]], lengths_m) if len(known) else ():
        lengths = np.linalg.norm(found_m[:, joint] - found_m[:, parent], axis=1)
        found = np.isfinite(lengths)
        if np.count_nonzero(found) < MIN_FRAMES:
            continue
        spreads.append(float(lengths[found].std() / lengths[found].mean()))
        settled = found & (times_s >= times_s[found][0] + SETTLED_S)
        if np.count_nonzero(settled) >= MIN_FRAMES:
            errors.append(abs(float(np.median(lengths[settled]) / lengths_m[joint]) - 1))
    return LengthScores(tuple(errors), tuple(spreads))


def limb_bones(body: BodyDefinition, true_m: np.ndarray, lengths_m: np.ndarray) -> list[tuple[int, int]]:
    """Joint and parent of the rigid bones of limbs, left or right, that are the only ones to start at their joint."""
    bones, parents = body.bones(), [parent for _, parent in body.bones()]
    return [
        (joint, parent)
        for joint, parent in bones
        if parents.count(parent) == 1
        and mirror_name(body.joints[joint]) != body.joints[joint]
        and abs(np.linalg.norm(true_m[joint] - true_m[parent]) - lengths_m[joint]) <= RIGID_SHARE * lengths_m[joint]
    ]


def twist_deg(found_xyzw: np.ndarray, true_xyzw: np.ndarray, axis: np.ndarray) -> float:
    """Angle about an axis by which one orientation differs from another, 0 to 180 degrees.

    The difference is a swing of the axis after a turn about it (swing-twist decomposition).
    """
    difference = (Rotation.from_quat(found_xyzw) * Rotation.from_quat(true_xyzw).inv()).as_quat()
    about = float(difference[:3] @ axis) / float(np.linalg.norm(axis))
    turn = math.degrees(2 * math.atan2(about, difference[3])) % 360
    return min(turn, 360 - turn)


def _angles(body: BodyDefinition, joints_m: np.ndarray) -> Mapping[str, np.ndarray]:
    return joint_angles(dict(zip(body.joints, np.asarray(joints_m, float), strict=True)))


def _between_deg(one: np.ndarray, other: np.ndarray) -> float:
    across = float(np.linalg.norm(np.cross(one, other)))
    return math.degrees(math.atan2(across, float(one @ other)))


def _median(values: list[float] | tuple[float, ...]) -> float:
    return float(np.median(values)) if len(values) else math.nan
