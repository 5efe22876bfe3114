"""Test-time rotation: a person in the image as recorded, and rotated by quarter turns.

Training frames mostly show upright people. A person who lies across the image, or is upside down, is upright in a
rotated view. A quarter turn is exact: readings are kept, and the intrinsics rotate with them.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import window_of
from posepipe.parts import PartProbabilities
from posepipe.results import JointProposal, Pose, Proposals
from posepipe.stage import Stateless

SIDEWAYS = (1, 3)
"""Rotations for people who lie across the image, quarter turns clockwise."""
UPSIDE_DOWN = (2,)
POOR_POSE = 0.3
"""Expected share of correct joints below which a person who is cut out may be upside down. In rooms too many who are
hidden in part would be taken to be."""


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
        intrinsics = self.intrinsics.cropped(rows.start, cols.start)
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

    def parts_to_image(self, parts: PartProbabilities) -> PartProbabilities:
        """Map parts of this view to the pixels of the whole image, in the order of the view."""
        if not self.quarters:
            return parts
        (rows, cols), pixels, (height, width) = self.window, parts.pixels, self.mask.shape
        for _ in range(self.quarters):  # back, counter-clockwise
            pixels = np.column_stack([width - 1 - pixels[:, 1], pixels[:, 0]])
            height, width = width, height
        return replace(parts, pixels=pixels + np.array([rows.start, cols.start], np.int32))

    def to_camera(self, points_m: np.ndarray) -> np.ndarray:
        """Map points (..., 3) of this view, metres, to camera axes."""
        for _ in range(self.quarters):
            points_m = points_m[..., [1, 0, 2]] * [1, -1, 1]
        return points_m

    def proposals_to_camera(self, proposals: Proposals) -> Proposals:
        """Map proposals of this view to camera axes; the moments of rotated parts are left out."""
        if not self.quarters:
            return proposals
        return replace(proposals, places_m=self.to_camera(proposals.places_m), moments=None)

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
    """Decides in which rotated views a person is classified again, and whether to use the pose of one.

    Rotated views often confuse head and feet; the unrotated view seldom does, even at low confidence. The score of a
    rotated pose is therefore its expected number of correct joints, plus that of the first pose where the two agree.
    Few people are upside down: the first pose must be poor, and the other much better.
    """

    n_joints: int  #: of the body
    enough: float = 0.8  #: expected share of correct joints above which no view is rotated
    min_spread: float = 0.8  #: minimum ratio of horizontal to vertical spread for people who lie across the image
    poor: float = POOR_POSE  #: expected share of correct joints below which a person may be upside down; 0 = nobody is
    margin: float = 0.15  #: minimum gain of a rotated view in the expected share of correct joints, twice upside down
    agreed_weight: float = 2.0  #: weight of the first pose's confidence relative to the rotated pose's
    agreed_m: float = 0.3  #: maximum distance between joints that agree

    def wanted(self, view: View, pose: Pose) -> tuple[int, ...]:
        """Rotations, quarter turns clockwise, in which to classify the person of a view, with this pose."""
        expected = pose.expected_correct / self.n_joints
        lies = expected < self.enough and view.spread() >= self.min_spread
        return (SIDEWAYS if lies else ()) + (UPSIDE_DOWN if expected < self.poor else ())

    def choose(self, first: Pose, rotated: Mapping[int, Pose]) -> int | None:
        """Rotation whose pose, in camera axes, replaces the first one; None = keep the first one."""
        expected = first.expected_correct
        better = {
            quarters: pose.expected_correct + self.agreed_weight * self._agreed(first, pose)
            for quarters, pose in rotated.items()
            if pose.expected_correct >= expected + self._margin(quarters) * self.n_joints
        }
        return max(better, key=better.__getitem__) if better else None

    def _margin(self, quarters: int) -> float:
        return self.margin * (2 if quarters in UPSIDE_DOWN else 1)

    def _agreed(self, first: Pose, other: Pose) -> float:
        """Expected number of correct joints of the first pose among those that agree with another pose."""
        both = first.joints.keys() & other.joints.keys()
        pairs = [(first.joints[name], other.joints[name]) for name in sorted(both)]
        return sum(one.confidence for one, two in pairs if math.dist(one.xyz_m, two.xyz_m) < self.agreed_m)
