"""How good parts and joints are: part accuracy, joint average precision, shares within 10 and 15 cm, flips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import pairwise

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.results import RIGHT_M, JointProposal, Pose

NEAR_M = 0.15
TWISTED_M = 0.1
"""A pair is swapped when exchanging left and right brings it this much nearer to the truth, on average."""


@dataclass(slots=True, eq=False)
class PartScores:
    """Confusion of parts over person pixels. Class 0 is left out of the accuracy."""

    body: BodyDefinition
    confusion: np.ndarray = field(init=False)  #: int64 (C, C), true class, predicted class

    def __post_init__(self) -> None:
        self.confusion = np.zeros((self.body.n_classes,) * 2, np.int64)

    def add(self, truth: np.ndarray, predicted: np.ndarray) -> None:
        """Count pixels: two uint8 arrays of one shape; where the truth is 0 they are passed over."""
        person = truth > 0
        pairs = truth[person].astype(np.int64) * self.body.n_classes + predicted[person]
        self.confusion += np.bincount(pairs, minlength=self.confusion.size).reshape(self.confusion.shape)

    def recall(self) -> dict[str, float]:
        """Share of each part's true pixels that were labelled so; parts never seen are absent."""
        truth = self.confusion.sum(axis=1)
        return {
            part: float(self.confusion[code, code] / truth[code])
            for code, part in enumerate(self.body.parts, start=1)
            if truth[code]
        }

    def mean_accuracy(self) -> float:
        """Mean of the parts' recalls, so that small parts weigh as much as large ones; NaN without pixels."""
        recall = self.recall()
        return float(np.mean(list(recall.values()))) if recall else float("nan")


@dataclass(slots=True, eq=False)
class DetectionScores:
    """Who was found in whole frames, and what was taken for a person."""

    frames: int = 0
    people: int = 0  #: true ones who show enough to be asked for
    missed: int = 0
    false_people: int = 0
    room_pixels: int = 0  #: with a reading, and nobody's
    room_taken: int = 0  #: of those, the ones labelled with a body part

    def add(self, missed: int, people: int, false_people: int, room: np.ndarray, parts: np.ndarray) -> None:
        """Count one frame; ``room`` bool and ``parts`` uint8, both (H, W)."""
        self.frames += 1
        self.people += people
        self.missed += missed
        self.false_people += false_people
        self.room_pixels += int(np.count_nonzero(room))
        self.room_taken += int(np.count_nonzero(parts[room]))

    def figures(self) -> dict[str, float]:
        """Share of people missed, false people a frame, share of room pixels taken for people; NaN without any."""
        return {
            "people missed": self.missed / self.people if self.people else float("nan"),
            "false people a frame": self.false_people / self.frames if self.frames else float("nan"),
            "room pixels taken for people": self.room_taken / self.room_pixels if self.room_pixels else float("nan"),
        }


@dataclass(slots=True)
class _JointTally:
    visible: int = 0
    hidden: int = 0
    errors_visible: list[float] = field(default_factory=list)  #: metres; infinity = missing
    errors_hidden: list[float] = field(default_factory=list)
    proposals: list[tuple[float, bool]] = field(default_factory=list)  #: (confidence, right)


@dataclass(slots=True, eq=False)
class JointScores:
    """Errors, proposals and flips of the joints over many people."""

    body: BodyDefinition
    _tally: dict[str, _JointTally] = field(init=False)
    views: list[tuple[float, float, float]] = field(default_factory=list)  #: (distance m, yaw rad, share within 10 cm)
    people: int = 0
    stated: list[tuple[float, bool]] = field(default_factory=list)  #: (confidence, right) of every joint of a pose
    twisted: int = 0  #: people whose left and right are exchanged
    turned: int = 0  #: people taken to face the wrong way

    def __post_init__(self) -> None:
        self._tally = {joint: _JointTally() for joint in self.body.joints}

    def add(
        self,
        joints_m: np.ndarray,
        visible: np.ndarray,
        pose: Pose,
        proposals: Sequence[JointProposal] = (),
    ) -> None:
        """Score one person; of whom no joint is known is passed over.

        Parameters
        ----------
        joints_m : float (J, 3), true joints, metres, camera axes; NaN = nobody knows where it is, and it is left out
        visible : bool (J,)
        pose : the joints found; a joint that is missing counts as an error
        proposals : every proposal made; for average precision, those that the pose was not made from count too
        """
        known = np.isfinite(joints_m).all(axis=1)
        if not known.any():
            return
        self.people += 1
        found = np.full(joints_m.shape, np.nan)
        chosen = set(pose.source_proposals)
        passed_over = [proposal for proposal in proposals if proposal not in chosen]
        for row in np.flatnonzero(known):
            joint = self.body.joints[row]
            tally = self._tally[joint]
            if joint in pose.joints:
                found[row] = pose.joints[joint].xyz_m
            error = float(np.nan_to_num(np.linalg.norm(found[row] - joints_m[row]), nan=np.inf))
            if joint in pose.joints:
                self.stated.append((pose.joints[joint].confidence, error < RIGHT_M))
            if visible[row]:
                tally.visible += 1
                tally.errors_visible.append(error)
            else:
                tally.hidden += 1
                tally.errors_hidden.append(error)
            alternatives = [proposal for proposal in passed_over if proposal.joint == joint]
            if joint in pose.joints:
                alternatives.append(pose.joints[joint])
            _add_proposals(tally, joints_m[row], bool(visible[row]), alternatives)
        shown = np.asarray(visible, bool) & known
        if shown.any():
            right = np.nan_to_num(np.linalg.norm(found - joints_m, axis=1), nan=np.inf)[shown] < RIGHT_M
            self.views.append((float(joints_m[known, 2].mean()), _yaw(joints_m, self.body), float(right.mean())))
        self.twisted += _is_twisted(found, joints_m, self.body)
        self.turned += _is_turned(found, joints_m, self.body)

    def table(self) -> dict[str, dict[str, float]]:
        """Figures of every joint: ap, within_10cm and within_15cm (visible, all), hidden_within_15cm, median_m."""
        return {joint: _figures(tally) for joint, tally in self._tally.items()}

    def means(self) -> dict[str, float]:
        """Mean of every column over the joints that have it; `ap` becomes `map`; and the flip rates."""
        table = self.table()
        columns = next(iter(table.values())).keys() if table else ()
        means = {c: _nanmean([row[c] for row in table.values()]) for c in columns}
        if "ap" in means:
            means["map"] = means.pop("ap")
        people = max(self.people, 1)
        return {**means, "left_right_flips": self.twisted / people, "front_back_flips": self.turned / people}

    def calibration(self, bins: int = 10) -> list[dict[str, float]]:
        """Stated confidence against the share that lies within 10 cm, seen joints and hidden ones.

        One row for each of ``bins`` equal ranges of confidence that has joints: mean ``confidence``, share ``right``,
        ``joints``.
        """
        if not self.stated:
            return []
        confidence, right = np.array(self.stated, float).T
        row = np.minimum((confidence * bins).astype(int), bins - 1)
        return [
            {
                "confidence": confidence[row == k].mean(),
                "right": right[row == k].mean(),
                "joints": int((row == k).sum()),
            }
            for k in range(bins)
            if (row == k).any()
        ]

    def calibration_error(self) -> float:
        """Mean gap between stated confidence and share right, over joints; NaN without any.

        References
        ----------
        Expected calibration error, Naeini et al., AAAI 2015.
        """
        rows = self.calibration()
        if not rows:
            return float("nan")
        gaps = [abs(row["confidence"] - row["right"]) * row["joints"] for row in rows]
        return float(sum(gaps) / len(self.stated))

    def by_distance(self, edges_m: Sequence[float] = (0, 1.5, 2, 2.5, 3, 3.5, 4, 10)) -> dict[str, float]:
        """Share of visible joints within 10 cm of people at each distance; NaN where there is nobody."""
        return _binned(np.array([(d, share) for d, _, share in self.views]), edges_m, "{:g}-{:g} m")

    def by_yaw(self, edges_deg: Sequence[float] = (0, 30, 60, 90, 120, 150, 180)) -> dict[str, float]:
        """The same by how far people are turned away from the camera: 0 faces it, 180 shows the back."""
        turned = np.array([(abs(np.degrees(yaw)), share) for _, yaw, share in self.views])
        return _binned(turned, (*edges_deg[:-1], edges_deg[-1] + 1e-6), "{:.0f}-{:.0f} deg")


def _add_proposals(tally: _JointTally, truth: np.ndarray, visible: bool, proposals: list[JointProposal]) -> None:
    """The first right proposal is a true positive, all others are false; right ones of a hidden joint count as nothing.

    References
    ----------
    Shotton et al., CVPR 2011, section 4: all proposals count, not only the best.
    """
    hit = False
    for proposal in sorted(proposals, key=lambda p: -p.confidence):
        near = bool(np.linalg.norm(np.subtract(proposal.xyz_m, truth)) < RIGHT_M)
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
    """How far a person is turned from facing the camera, radians: 0 when left lies straight to the image's right."""
    x, z = _across(joints_m, body)
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
        "within_10cm": within(visible, RIGHT_M),
        "within_15cm": within(visible, NEAR_M),
        "all_within_10cm": within(both, RIGHT_M),
        "all_within_15cm": within(both, NEAR_M),
        "hidden_within_15cm": within(hidden, NEAR_M),
        "median_m": float(np.median(visible[np.isfinite(visible)])) if np.isfinite(visible).any() else float("nan"),
    }


def average_precision(proposals: Sequence[tuple[float, bool]], n_true: int) -> float:
    """Area under precision over recall, proposals ranked by confidence.

    Parameters
    ----------
    proposals : (confidence, right) pairs
    n_true : how many there were to find; NaN is returned for 0

    References
    ----------
    Everingham et al., IJCV 2010: precision at a recall is the best precision at that recall or more.
    """
    if n_true == 0:
        return float("nan")
    if not proposals:
        return 0.0
    confidence, right = (np.array(column) for column in zip(*proposals, strict=True))
    right = right[np.argsort(-confidence, kind="stable")]
    hits = np.cumsum(right)
    precision = hits / np.arange(1, len(right) + 1)
    best_from_here = np.maximum.accumulate(precision[::-1])[::-1]
    return float(best_from_here[right].sum() / n_true)


def _is_twisted(found: np.ndarray, truth: np.ndarray, body: BodyDefinition) -> bool:
    mirror = body.mirrored_joints()
    paired = mirror != np.arange(len(mirror))
    straight = np.linalg.norm(found - truth, axis=1)[paired]
    crossed = np.linalg.norm(found - truth[mirror], axis=1)[paired]
    known = np.isfinite(straight) & np.isfinite(crossed)
    return bool(known.any() and (straight[known] - crossed[known]).mean() > TWISTED_M)


def _is_turned(found: np.ndarray, truth: np.ndarray, body: BodyDefinition) -> bool:
    """Whether the mean line from right to left, over all mirror pairs, points the wrong way."""
    across = [_across(places, body) for places in (found, truth)]
    return bool(np.isfinite(across).all() and float(across[0] @ across[1]) < 0)


def _across(places: np.ndarray, body: BodyDefinition) -> np.ndarray:
    """Mean of left minus right over all mirror pairs, level (x and z): (2,); NaN where nothing is paired."""
    mirror = body.mirrored_joints()
    left = np.array([j for j, name in enumerate(body.joints) if name.startswith("left_")], int)
    gap = (places[left] - places[mirror[left]])[:, [0, 2]]
    gap = gap[np.isfinite(gap).all(axis=1)]
    return gap.mean(axis=0) if len(gap) else np.full(2, np.nan)
