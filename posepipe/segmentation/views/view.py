"""View of a candidate: the image as it is, or a window of it rotated by quarter turns, and the way back to the image.

A quarter turn is exact: readings are kept, and the intrinsics rotate with them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import window_of
from posepipe.parts import PartProbabilities
from posepipe.results import JointProposal, Pose, Proposals


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
        """Map points (..., 3) of this view, metres, to camera axes; contiguous, and of their dtype."""
        for _ in range(self.quarters):
            points_m = points_m[..., [1, 0, 2]] * np.array([1, -1, 1], points_m.dtype)
        return np.ascontiguousarray(points_m)  # kernels are compiled for this layout, in a second or more for another

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
