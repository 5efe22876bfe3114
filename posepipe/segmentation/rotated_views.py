"""Test-time rotation: a person in the image as recorded, and rotated by a quarter turn.

Training frames mostly show upright people. A person who lies across the image is upright in one of the two rotated
views. A quarter turn is exact: readings are kept, and the intrinsics rotate with them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import window_of
from posepipe.results import JointProposal, Pose, Proposals
from posepipe.stage import Stateless

ROTATIONS = (1, 3)
"""Rotations that are tried, quarter turns clockwise."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A person in the image, or in a rotated window of it."""

    depth_m: np.ndarray  #: float32 (H, W), metres, 0 = no reading
    mask: np.ndarray  #: bool (H, W), the person
    intrinsics: Intrinsics
    quarters: int = 0  #: quarter turns of the window, clockwise; 0 = the whole image
    window: tuple[slice, slice] = (slice(None), slice(None))  #: rows and columns of the image
    whole: tuple[int, ...] = ()  #: shape of the image that holds the window

    def rotated(self, quarters: int) -> View:
        """Crop an unrotated view to the person and rotate it clockwise by one to three quarter turns."""
        rows, cols = window_of(self.mask)
        height, width = rows.stop - rows.start, cols.stop - cols.start
        intrinsics = replace(self.intrinsics, cx=self.intrinsics.cx - cols.start, cy=self.intrinsics.cy - rows.start)
        for _ in range(quarters):
            intrinsics, height, width = intrinsics.rotated(height), width, height
        depth_m, mask = (
            np.ascontiguousarray(np.rot90(image[rows, cols], -quarters)) for image in (self.depth_m, self.mask)
        )
        return View(depth_m, mask, intrinsics, quarters, (rows, cols), self.mask.shape)

    def spread(self) -> float:
        """Ratio of the surface's standard deviations across and along the image's vertical, in space."""
        rows, cols = np.nonzero(self.mask)
        x, y, _ = self.intrinsics.deproject_pixels(rows, cols, self.depth_m[rows, cols]).T
        return float(x.std() / max(y.std(), 1e-6)) if len(rows) else 0.0

    def to_image(self, values: np.ndarray) -> np.ndarray:
        """Map values of this view, (H, W), to the whole image; 0 outside the window."""
        if not self.quarters:
            return values
        whole = np.zeros(self.whole, values.dtype)
        whole[self.window] = np.rot90(values, self.quarters)
        return whole

    def to_camera(self, points_m: np.ndarray) -> np.ndarray:
        """Map points (..., 3) of this view, metres, to camera axes."""
        for _ in range(self.quarters):
            points_m = points_m[..., [1, 0, 2]] * [1, -1, 1]
        return points_m

    def proposals_to_camera(self, proposals: Proposals) -> Proposals:
        """Map proposals of this view to camera axes."""
        return replace(proposals, places_m=self.to_camera(proposals.places_m)) if self.quarters else proposals

    def pose_to_camera(self, pose: Pose) -> Pose:
        """Map a pose of this view to camera axes."""
        if not self.quarters:
            return pose
        sources = tuple(self._proposal_to_camera(proposal) for proposal in pose.source_proposals)
        return Pose(pose.names, self.to_camera(pose.joints_m), pose.confidences, sources)

    def _proposal_to_camera(self, proposal: JointProposal) -> JointProposal:
        x, y, z = self.to_camera(np.array(proposal.xyz_m)).tolist()
        return replace(proposal, xyz_m=(x, y, z))


@dataclass(frozen=True, slots=True)
class RotatedViews(Stateless):
    """Decides when a person is classified again in rotated views, and whether to use a rotated view's pose.

    Rotated views often confuse head and feet; the unrotated view seldom does, even at low confidence. The score of a
    rotated pose is therefore its expected number of right joints, plus that of the first pose where the two agree.
    """

    n_joints: int  #: of the body
    enough: float = 0.5  #: expected share of right joints above which no view is rotated
    min_spread: float = 1.5  #: minimum ratio of horizontal to vertical spread for rotated views
    margin: float = 0.15  #: minimum gain of a rotated view in the expected share of right joints
    agreed_weight: float = 2.0  #: weight of the first pose's confidence relative to the rotated pose's
    agreed_m: float = 0.3  #: maximum distance between joints that agree

    def wanted(self, view: View, pose: Pose) -> bool:
        """Whether to classify the person of a view, with this pose, in rotated views."""
        return _expected_correct(pose) < self.enough * self.n_joints and view.spread() >= self.min_spread

    def choose(self, first: Pose, rotated: Sequence[Pose]) -> int | None:
        """Index of the rotated pose, in camera axes, that replaces the first one; None = keep the first one."""
        if not rotated:
            return None
        scores = [_expected_correct(other) + self.agreed_weight * self._agreed(first, other) for other in rotated]
        best = scores.index(max(scores))
        enough = _expected_correct(first) + self.margin * self.n_joints
        return best if _expected_correct(rotated[best]) >= enough else None

    def _agreed(self, first: Pose, other: Pose) -> float:
        """Expected number of right joints of the first pose among those that agree with another pose."""
        both = first.joints.keys() & other.joints.keys()
        pairs = [(first.joints[name], other.joints[name]) for name in sorted(both)]
        return sum(one.confidence for one, two in pairs if math.dist(one.xyz_m, two.xyz_m) < self.agreed_m)


def _expected_correct(pose: Pose) -> float:
    """Expected number of a pose's joints that are right."""
    return sum(pose.confidences.tolist())
