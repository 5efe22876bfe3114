"""A person as he is seen, and with the picture turned by a quarter: who lies across it stands in one of the two turned.

A forest knows best what it saw most of, people who stand, walk and sit. Nothing is lost by a turn of a quarter: every
reading stays as it is, and the lens turns with the picture.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import window_of
from posepipe.results import JointProposal, Pose, Proposals

ROTATIONS = (1, 3)
"""Quarters, clockwise."""


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """A person in the picture, or in a component of the picture that was turned."""

    depth_m: np.ndarray  #: float32 (H, W), metres, 0 = no reading
    mask: np.ndarray  #: bool (H, W), the person
    intrinsics: Intrinsics
    quarters: int = 0  #: clockwise, by which the component was turned; 0 = the whole picture, as it is
    window: tuple[slice, slice] = (slice(None), slice(None))  #: rows and columns of the picture that the component is
    whole: tuple[int, ...] = ()  #: shape of the picture that it is a component of

    def turned(self, quarters: int) -> View:
        """The component round the person, of a view that was not turned, turned clockwise by one to three quarters."""
        rows, cols = window_of(self.mask)
        height, width = rows.stop - rows.start, cols.stop - cols.start
        lens = replace(self.intrinsics, cx=self.intrinsics.cx - cols.start, cy=self.intrinsics.cy - rows.start)
        for _ in range(quarters):
            lens, height, width = lens.turned(height), width, height
        depth_m, mask = (
            np.ascontiguousarray(np.rot90(image[rows, cols], -quarters)) for image in (self.depth_m, self.mask)
        )
        return View(depth_m, mask, lens, quarters, (rows, cols), self.mask.shape)

    def spread(self) -> float:
        """How much further the person's surface spreads to the sides than up and down, in space."""
        rows, cols = np.nonzero(self.mask)
        x, y, _ = self.intrinsics.deproject_pixels(rows, cols, self.depth_m[rows, cols]).T
        return float(x.std() / max(y.std(), 1e-6)) if len(rows) else 0.0

    def in_picture(self, image: np.ndarray) -> np.ndarray:
        """An image of this view, (H, W), as one of the whole picture; 0 where the view shows nothing."""
        if not self.quarters:
            return image
        whole = np.zeros(self.whole, image.dtype)
        whole[self.window] = np.rot90(image, self.quarters)
        return whole

    def in_camera(self, points_m: np.ndarray) -> np.ndarray:
        """Points (..., 3) of this view, metres, along the camera's own axes."""
        for _ in range(self.quarters):
            points_m = points_m[..., [1, 0, 2]] * [1, -1, 1]
        return points_m

    def proposals_in_camera(self, found: Proposals) -> Proposals:
        """What was proposed in this view, along the camera's own axes."""
        return Proposals(found.landmarks, self.in_camera(found.places_m), found.confidence) if self.quarters else found

    def pose_in_camera(self, pose: Pose) -> Pose:
        """A pose of this view, along the camera's own axes."""
        if not self.quarters:
            return pose
        joints = {name: self._joint_in_camera(joint) for name, joint in pose.joints.items()}
        return Pose(joints, tuple(self._joint_in_camera(proposal) for proposal in pose.source_proposals))

    def _joint_in_camera(self, joint: JointProposal) -> JointProposal:
        x, y, z = self.in_camera(np.array(joint.xyz_m)).tolist()
        return replace(joint, xyz_m=(x, y, z))


@dataclass(frozen=True, slots=True)
class RotatedViews:
    """When a person is looked at again, turned, and when such a look is believed.

    Which end is the head is easily mistaken in a turned view, and seldom in the picture as it is, uncertain as that
    pose may be. So of the turned poses that one is chosen of whose joints most are likely to lie right, by their own
    confidence and by that of the first pose where the two agree.
    """

    n_joints: int  #: of the body
    enough: float = 0.5  #: share of the joints likely to lie right, from which on nobody is turned
    min_spread: float = 1.5  #: a person who spreads less to the sides, against up and down, is not turned
    margin: float = 0.15  #: so much larger must that share be than in the picture as it is
    agreed_weight: float = 2.0  #: of the first pose's confidence against the turned pose's own
    agreed_m: float = 0.3  #: joints of two poses so near to each other agree

    def wanted(self, view: View, pose: Pose) -> bool:
        """Whether the person of a view, who seems to have this pose, is worth a turned look."""
        return _right(pose) < self.enough * self.n_joints and view.spread() >= self.min_spread

    def choose(self, seen: Pose, turned: Sequence[Pose]) -> int | None:
        """Which of the turned poses, along the camera's axes, is believed in the place of the one seen first."""
        if not turned:
            return None
        worth = [_right(other) + self.agreed_weight * self._agreed(seen, other) for other in turned]
        best = worth.index(max(worth))
        return best if _right(turned[best]) >= _right(seen) + self.margin * self.n_joints else None

    def _agreed(self, seen: Pose, other: Pose) -> float:
        """How many of the joints seen are likely to lie right and lie in the same place in another pose."""
        both = seen.joints.keys() & other.joints.keys()
        pairs = [(seen.joints[name], other.joints[name]) for name in sorted(both)]
        return sum(one.confidence for one, two in pairs if math.dist(one.xyz_m, two.xyz_m) < self.agreed_m)


def _right(pose: Pose) -> float:
    """How many of a pose's joints are likely to lie right."""
    return sum(joint.confidence for joint in pose.joints.values())
