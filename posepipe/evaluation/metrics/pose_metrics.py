"""Metrics of joints: average precision, shares within 10 and 15 cm, flips."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from itertools import pairwise

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.results import CORRECT_M, Joint, JointProposal, Pose

NEAR_M = 0.15
"""Radius of the shares within 15 cm."""
SWAP_GAIN_M = 0.1
"""Minimum gain, by exchanging left and right, of the mean error of a person whose sides are swapped."""
CURVE_POINTS = 100
"""Maximum length of a curve of precision over recall."""
CALIBRATION_BINS = 10
"""Equal ranges of confidence."""
DISTANCES_M = (0, 1.5, 2, 2.5, 3, 3.5, 4, 10)
"""Bounds of the ranges of distance that people are told apart by."""
YAWS_DEG = (0, 30, 60, 90, 120, 150, 180)
"""Bounds of the ranges of absolute yaw."""


@dataclass(slots=True)
class _JointTally:
    """Counts and errors of one joint."""

    visible: int = 0
    hidden: int = 0
    errors_visible: list[float] = field(default_factory=list)  #: metres; infinity = missing
    errors_hidden: list[float] = field(default_factory=list)
    proposals: list[tuple[float, bool]] = field(default_factory=list)  #: (confidence, right)

    def __add__(self, other: _JointTally) -> _JointTally:
        return _JointTally(*(getattr(self, each.name) + getattr(other, each.name) for each in fields(self)))


@dataclass(slots=True, eq=False)
class JointScores:
    """Errors, proposals and flips of joints over many people."""

    body: BodyDefinition
    _tally: dict[str, _JointTally] = field(init=False)
    views: list[tuple[float, float, float]] = field(default_factory=list)  #: (distance m, yaw rad, share within 10 cm)
    people: int = 0
    stated: list[tuple[float, bool]] = field(default_factory=list)  #: (confidence, right) of every joint of a pose
    left_right_swapped: int = 0  #: number of people with left and right exchanged
    facing_reversed: int = 0  #: number of people whose pose faces the wrong way

    def __post_init__(self) -> None:
        self._tally = {joint: _JointTally() for joint in self.body.joints}

    def add(
        self,
        joints_m: np.ndarray,
        visible: np.ndarray,
        pose: Pose,
        proposals: Sequence[JointProposal] = (),
    ) -> None:
        """Score one person; a person without known joints is left out.

        Parameters
        ----------
        joints_m : float (J, 3), true joints, metres, camera axes; NaN = unknown, left out
        visible : bool (J,)
        pose : the joints found; a missing joint counts as an error
        proposals : all proposals; for average precision, those that were not chosen for the pose count too
        """
        known = np.isfinite(joints_m).all(axis=1)
        if not known.any():
            return
        self.people += 1
        found = np.full(joints_m.shape, np.nan)
        scored = _scored_proposals(pose, proposals)
        for row in np.flatnonzero(known):
            joint = self.body.joints[row]
            tally = self._tally[joint]
            if joint in pose.joints:
                found[row] = pose.joints[joint].xyz_m
            error = float(np.nan_to_num(np.linalg.norm(found[row] - joints_m[row]), nan=np.inf))
            if joint in pose.joints:
                self.stated.append((pose.joints[joint].confidence, error < CORRECT_M))
            if visible[row]:
                tally.visible += 1
                tally.errors_visible.append(error)
            else:
                tally.hidden += 1
                tally.errors_hidden.append(error)
            _add_proposals(tally, joints_m[row], bool(visible[row]), scored.get(joint, ()))
        shown = np.asarray(visible, bool) & known
        if shown.any():
            right = np.nan_to_num(np.linalg.norm(found - joints_m, axis=1), nan=np.inf)[shown] < CORRECT_M
            self.views.append((float(joints_m[known, 2].mean()), _yaw(joints_m, self.body), float(right.mean())))
        self.left_right_swapped += _is_swapped(found, joints_m, self.body)
        self.facing_reversed += _is_reversed(found, joints_m, self.body)

    def add_false(self, pose: Pose, proposals: Sequence[JointProposal] = ()) -> None:
        """Count the proposals of a person who is not there, as in `add`, as false: average precision alone changes."""
        scored = _scored_proposals(pose, proposals)
        for joint, tally in self._tally.items():
            tally.proposals += [(proposal.confidence, False) for proposal in scored.get(joint, ())]

    def __add__(self, other: JointScores) -> JointScores:
        """Scores of the people of both, in this order: the same as if they had been added one by one."""
        total = JointScores(self.body)
        total._tally = {joint: self._tally[joint] + other._tally[joint] for joint in self._tally}
        for name in ("views", "people", "stated", "left_right_swapped", "facing_reversed"):
            setattr(total, name, getattr(self, name) + getattr(other, name))
        return total

    def table(self) -> dict[str, dict[str, float]]:
        """Figures of every joint: average precision, shares within 10 and 15 cm, median visible error in metres."""
        return {joint: _figures(tally) for joint, tally in self._tally.items()}

    def means(self) -> dict[str, float]:
        """Mean of every column of `table` over the joints that have it, with `ap` as `map`, and the flip rates.

        NaN where there is nothing to measure: flips are of bodies with left and right joints.
        """
        table = self.table()
        columns = next(iter(table.values())).keys() if table else ()
        means = {c: _nanmean([row[c] for row in table.values()]) for c in columns}
        if "ap" in means:
            means["map"] = means.pop("ap")
        mirror = self.body.mirrored_joints()
        people = self.people if self.people and (mirror != np.arange(len(mirror))).any() else float("nan")
        return {
            **means,
            "left_right_flips": self.left_right_swapped / people,
            "front_back_flips": self.facing_reversed / people,
        }

    def precision_recall(self) -> tuple[np.ndarray, np.ndarray]:
        """Precision over recall of all proposals of all joints, ranked by confidence.

        Returns
        -------
        recall, precision : float64 (K,), K at most CURVE_POINTS; empty without visible joints or proposals
        """
        proposals = [p for tally in self._tally.values() for p in tally.proposals]
        visible = sum(tally.visible for tally in self._tally.values())
        if not proposals or not visible:
            return np.zeros(0), np.zeros(0)
        hits, counts = _ranked(proposals)
        rows = np.unique(np.linspace(0, len(hits) - 1, CURVE_POINTS).round().astype(int))
        return hits[rows] / visible, hits[rows] / counts[rows]

    def calibration(self) -> list[dict[str, float]]:
        """Confidence compared with the share of joints within 10 cm, over visible and hidden joints.

        Returns
        -------
        One row for each of CALIBRATION_BINS ranges that has joints: mean ``confidence``, share ``right``, number of
        ``joints``
        """
        if not self.stated:
            return []
        confidence, right = np.array(self.stated, float).T
        row = np.minimum((confidence * CALIBRATION_BINS).astype(int), CALIBRATION_BINS - 1)
        return [
            {
                "confidence": confidence[row == k].mean(),
                "right": right[row == k].mean(),
                "joints": int((row == k).sum()),
            }
            for k in range(CALIBRATION_BINS)
            if (row == k).any()
        ]

    def calibration_error(self) -> float:
        """Mean difference between confidence and share right, over joints; NaN without any.

        References
        ----------
        Expected calibration error, Naeini et al., AAAI 2015.
        """
        rows = self.calibration()
        if not rows:
            return float("nan")
        gaps = [abs(row["confidence"] - row["right"]) * row["joints"] for row in rows]
        return float(sum(gaps) / len(self.stated))

    def by_distance(self) -> dict[str, float]:
        """Mean over people of the share of their visible joints within 10 cm, by distance; NaN for an empty bin."""
        return _binned(np.array([(d, share) for d, _, share in self.views]), DISTANCES_M, "{:g}-{:g} m")

    def by_yaw(self) -> dict[str, float]:
        """The same mean over people, by absolute yaw: 0 faces the camera, 180 shows the back."""
        rows = np.array([(abs(np.degrees(yaw)), share) for _, yaw, share in self.views])
        return _binned(rows, (*YAWS_DEG[:-1], YAWS_DEG[-1] + 1e-6), "{:.0f}-{:.0f} deg")


def _scored_proposals(pose: Pose, proposals: Sequence[JointProposal]) -> defaultdict[str, list[JointProposal | Joint]]:
    """By joint, what counts for average precision: the joint of the pose for those it was made from, and the others."""
    chosen = set(pose.source_proposals)
    scored: defaultdict[str, list[JointProposal | Joint]] = defaultdict(list)
    for proposal in proposals:
        if proposal not in chosen:
            scored[proposal.joint].append(proposal)
    for name, joint in pose.joints.items():
        scored[name].append(joint)
    return scored


def _add_proposals(
    tally: _JointTally, truth: np.ndarray, visible: bool, proposals: Sequence[JointProposal | Joint]
) -> None:
    """Count the first right proposal as a true positive, all others as false; ignore right ones of a hidden joint.

    References
    ----------
    Shotton et al., CVPR 2011, section 4.
    """
    hit = False
    for proposal in sorted(proposals, key=lambda p: -p.confidence):
        near = bool(np.linalg.norm(np.subtract(proposal.xyz_m, truth)) < CORRECT_M)
        if near and not visible:
            continue
        tally.proposals.append((proposal.confidence, near and not hit))
        hit = hit or near


def _binned(rows: np.ndarray, edges: Sequence[float], label: str) -> dict[str, float]:
    out = {}
    for low, high in pairwise(edges):
        inside = (rows[:, 0] >= low) & (rows[:, 0] < high) if len(rows) else np.zeros(0, bool)
        out[label.format(low, high)] = float(rows[inside, 1].mean()) if inside.any() else float("nan")
    return out


def _yaw(joints_m: np.ndarray, body: BodyDefinition) -> float:
    """Yaw of a person relative to facing the camera, radians: 0 when left is at the right of the image."""
    x, _, z = body.across(joints_m)
    return float(np.arctan2(z, x))


def _nanmean(values: list[float]) -> float:
    known = [v for v in values if np.isfinite(v)]
    return float(np.mean(known)) if known else float("nan")


def _figures(tally: _JointTally) -> dict[str, float]:
    visible, hidden = np.array(tally.errors_visible), np.array(tally.errors_hidden)
    both = np.concatenate([visible, hidden])

    def within(errors: np.ndarray, radius: float) -> float:
        return float((errors < radius).mean()) if len(errors) else float("nan")

    return {
        "ap": average_precision(tally.proposals, tally.visible),
        "within_10cm": within(visible, CORRECT_M),
        "within_15cm": within(visible, NEAR_M),
        "all_within_10cm": within(both, CORRECT_M),
        "all_within_15cm": within(both, NEAR_M),
        "hidden_within_15cm": within(hidden, NEAR_M),
        "median_m": float(np.median(visible[np.isfinite(visible)])) if np.isfinite(visible).any() else float("nan"),
    }


def average_precision(proposals: Sequence[tuple[float, bool]], n_true: int) -> float:
    """Area under precision over recall, proposals ranked by confidence.

    Parameters
    ----------
    proposals : (confidence, right) pairs
    n_true : number of true joints

    Returns
    -------
    float, NaN when ``n_true`` is 0

    References
    ----------
    Everingham et al., IJCV 2010: precision at a recall is the maximum precision at that recall or more.
    """
    if n_true == 0:
        return float("nan")
    if not proposals:
        return 0.0
    hits, counts = _ranked(proposals)
    best_from_here = np.maximum.accumulate((hits / counts)[::-1])[::-1]
    return float(np.diff(hits, prepend=0) @ best_from_here / n_true)


def _ranked(proposals: Sequence[tuple[float, bool]]) -> tuple[np.ndarray, np.ndarray]:
    """Number of right proposals, and of all, down to each different confidence; equal confidences count at once.

    Parameters
    ----------
    proposals : (confidence, right) pairs, at least one

    Returns
    -------
    right, all : int64 (K,) each, from the highest confidence
    """
    confidence, right = (np.array(column) for column in zip(*proposals, strict=True))
    order = np.argsort(-confidence, kind="stable")
    ends = np.flatnonzero(np.append(np.diff(confidence[order]) != 0, True))
    return np.cumsum(right[order])[ends], ends + 1


def _is_swapped(found: np.ndarray, truth: np.ndarray, body: BodyDefinition) -> bool:
    """Whether exchanging left and right lowers the mean error by more than SWAP_GAIN_M."""
    mirror = body.mirrored_joints()
    paired = mirror != np.arange(len(mirror))
    direct = np.linalg.norm(found - truth, axis=1)[paired]
    crossed = np.linalg.norm(found - truth[mirror], axis=1)[paired]
    known = np.isfinite(direct) & np.isfinite(crossed)
    return bool(known.any() and (direct[known] - crossed[known]).mean() > SWAP_GAIN_M)


def _is_reversed(found: np.ndarray, truth: np.ndarray, body: BodyDefinition) -> bool:
    """Whether the mean vector from right to left, over all mirror pairs, is reversed."""
    across_m = [body.across(places)[[0, 2]] for places in (found, truth)]
    return bool(np.isfinite(across_m).all() and float(across_m[0] @ across_m[1]) < 0)
