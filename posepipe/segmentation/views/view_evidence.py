"""Evidence for one view of a person: numbers that tell which of several rotated views shows the pose best.

The confidence of labels and joints, how well the pose fits the surface, and how far the poses of all views agree. None
of them changes when the image is mirrored.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.segmentation.evidence.pose_evidence import (
    POSE_EVIDENCE,
    BoneLengths,
    evenly_spaced,
    pose_evidence,
)
from posepipe.segmentation.evidence.surface_curvature import UNKNOWN
from posepipe.segmentation.views.view import View

AGREED_M = 0.3
"""Maximum distance between joints that agree."""
OPPOSITE = 2
"""Quarter turns between a view and the one that shows it upside down."""
NAMES = (
    *("expected correct", "top part", "background"),
    *("unrotated", "upside down", "spread", "expected correct unrotated"),
    *("expected correct over the others", "top part over the others"),
    *("agreed with unrotated", "agreed by unrotated", "agreed with opposite", "agreed by opposite"),
    *("agreed with others", "agreed by others"),
    *("head below the middle", "head behind the middle"),
    *POSE_EVIDENCE,
)
"""Names of the numbers of `ViewEvidence.measure`, in their order."""


class SeenView(NamedTuple):
    """What one view of a person shows."""

    view: View
    parts: PartProbabilities  #: of the pixels of the view
    view_pose: Pose  #: in the axes of the view

    @property
    def pose(self) -> Pose:
        """The pose in camera axes, without the proposals that it was made from."""
        own = self.view_pose
        return Pose(own.names, self.view.to_camera(own.joints_m), own.confidences)

    def points_m(self) -> np.ndarray:
        """Some points of the surface, (N, 3) metres, in the axes of the view."""
        rows, cols = self.parts.pixels[evenly_spaced(len(self.parts.pixels))].T
        return self.view.intrinsics.deproject_pixels(rows, cols, self.view.depth_m[rows, cols])


@dataclass(frozen=True, slots=True, eq=False)
class ViewEvidence:
    """Measures the evidence for every view of a person."""

    body: BodyDefinition  #: of parts and poses
    lengths: BoneLengths

    def measure(self, seen: Mapping[int, SeenView]) -> np.ndarray:
        """Measure all views of one person.

        Parameters
        ----------
        seen : two views or more, by their quarter turns; the unrotated one, 0, is among them

        Returns
        -------
        float32 (V, E), views in the order of ``seen``, numbers in the order of NAMES. Agreement is the sum of the
        confidences of joints within AGREED_M of the same joint of another view, as a share of all joints: of the
        view's own joints (*with*), and of the other's (*by*)
        """
        poses = {quarters: each.pose for quarters, each in seen.items()}
        labels = {quarters: self._of_labels(each) for quarters, each in seen.items()}
        expected = {quarters: pose.expected_correct / len(self.body.joints) for quarters, pose in poses.items()}
        points_m = {quarters: each.points_m() for quarters, each in seen.items()}
        spread, rows = _spread(points_m[0]), []
        for quarters, each in seen.items():
            top, background = labels[quarters]
            others = [other for other in seen if other != quarters]
            agreed = {other: self._agreement(poses[quarters], poses[other]) for other in others}
            rows.append(
                (
                    *(expected[quarters], top, background),
                    *(quarters == 0, quarters == OPPOSITE, spread, expected[0]),
                    expected[quarters] - max(expected[other] for other in others),
                    top - max(labels[other][0] for other in others),
                    *agreed.get(0, (UNKNOWN, UNKNOWN)),
                    *agreed.get((quarters + OPPOSITE) % 4, (UNKNOWN, UNKNOWN)),
                    *(sum(shares) for shares in zip(*agreed.values(), strict=True)),
                    *_of_head(poses[quarters]),
                    *self._of_pose(each, points_m[quarters]),
                )
            )
        return np.array(rows, np.float32)

    def _of_labels(self, seen: SeenView) -> tuple[float, float]:
        """Mean probability of the most probable part, and of class 0."""
        values = seen.parts.probabilities[evenly_spaced(len(seen.parts.pixels))]
        return float(values[:, 1:].max(axis=1).mean()), float(values[:, 0].mean())

    def _of_pose(self, seen: SeenView, points_m: np.ndarray) -> tuple[float, ...]:
        view = seen.view
        return pose_evidence(seen.view_pose, view.mask, points_m, view.intrinsics, self.body, self.lengths)

    def _agreement(self, own: Pose, other: Pose) -> tuple[float, float]:
        mine, theirs = own.in_common(other)
        near = np.linalg.norm(own.joints_m[mine] - other.joints_m[theirs], axis=1) < AGREED_M
        shares = (pose.confidences[rows][near].sum() for pose, rows in ((own, mine), (other, theirs)))
        with_other, by_other = (float(share) / len(self.body.joints) for share in shares)
        return with_other, by_other


def _of_head(pose: Pose) -> tuple[float, float]:
    """How far the head lies below and behind the mean of all joints, metres; UNKNOWN for a pose without a head."""
    if "head" not in pose.names:
        return UNKNOWN, UNKNOWN
    _, below_m, behind_m = (pose.joints_m[pose.names.index("head")] - pose.joints_m.mean(axis=0)).tolist()
    return below_m, behind_m


def _spread(points_m: np.ndarray) -> float:
    """Ratio of the standard deviations of points (N, 3), across and along the vertical of their view."""
    across_m, along_m, _ = points_m.std(axis=0).tolist()
    return across_m / max(along_m, 1e-6)
