"""Remainder: what a person's pose does not explain of their candidate may be somebody else, or furniture.

People who touch form one candidate, and only heads that are in view divide it. Somebody who is mostly hidden shows as
a surface that is far from all limbs of the person in front. A wall or a cupboard that adjoins somebody is far from all
of their limbs as well: without it they show who they are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.parts import PartProbabilities, Stride
from posepipe.results import Pose
from posepipe.segmentation.evidence.pixel_evidence import distance_to_joints
from posepipe.segmentation.pixel_grid import enlarged, grid_shape, pixels_of, stride_for
from posepipe.segmentation.regions.pose_distances import skeleton_m
from posepipe.segmentation.regions.region_evidence import REACH_M
from posepipe.segmentation.room_geometry.connected_components import find_components
from posepipe.stage import Share, Stateless


@dataclass(frozen=True, slots=True, eq=False)
class Remainder(Stateless):
    """Divides a candidate into what a pose explains of it and surfaces that may show somebody else.

    Each of them is then a region of its own.
    """

    body: BodyDefinition
    reach_m: float = REACH_M  #: maximum distance of a person's surface from the joints and the middles of the bones
    min_area_m2: float = 0.06  #: minimum surface of somebody else, seen face on
    min_confidence: Share = 0.3  #: minimum mean confidence of the joints of somebody whom furniture adjoins
    max_share: Share = 0.95  #: maximum share that is explained of a candidate to which furniture was joined

    def masks(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities, pose: Pose
    ) -> list[np.ndarray]:
        """Find the depth-connected surfaces that a pose does not explain.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics
        parts : PartProbabilities of the candidate: its pixels are looked at
        pose : Pose of the person in it, camera axes

        Returns
        -------
        Masks, bool (H, W), within the candidate, the largest surface first
        """
        if not pose.names:
            return []
        z, far = depth_m[tuple(parts.pixels.T)], ~self._near(depth_m, intrinsics, parts.pixels, pose)
        area_m2 = z**2 * np.float32(parts.stands_for / (intrinsics.fx * intrinsics.fy))
        if area_m2[far].sum() < self.min_area_m2:
            return []
        grid_m, grid_m2 = np.zeros((2, *grid_shape(mask.shape, parts.stride)), np.float32)
        cells = tuple((parts.pixels[far] // parts.stride).T)
        grid_m[cells], grid_m2[cells] = z[far], area_m2[far]
        components, count = find_components(grid_m, grid_m > 0)
        sizes_m2 = np.bincount(components.ravel(), weights=grid_m2.ravel(), minlength=count + 1)
        large = 1 + np.flatnonzero(sizes_m2[1:] >= self.min_area_m2)  # number 0 is no surface, whatever the minimum
        large = large[np.argsort(-sizes_m2[large], kind="stable")]
        return [mask & enlarged(components == component, parts.stride, mask.shape) for component in large]

    def explained(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities, pose: Pose
    ) -> np.ndarray | None:
        """Find what a pose explains of a candidate to which furniture may have been joined.

        Parameters are those of `masks`.

        Returns
        -------
        bool (H, W), within the candidate; None for a pose that is not sure, or that explains all there is
        """
        if not pose.names or pose.confidence < self.min_confidence:
            return None
        near = self._near(depth_m, intrinsics, parts.pixels, pose)
        if not near.any() or near.mean() > self.max_share:
            return None
        return mask & _filled(parts.pixels[near], parts.stride, mask.shape)

    def around(self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, pose: Pose) -> np.ndarray:
        """Find what a pose explains of a mask, bool (H, W), which need not have been classified: bool (H, W)."""
        if not pose.names:
            return np.zeros_like(mask)
        stride = stride_for(mask)
        pixels = pixels_of(mask, stride)
        return mask & _filled(pixels[self._near(depth_m, intrinsics, pixels, pose)], stride, mask.shape)

    def _near(self, depth_m: np.ndarray, intrinsics: Intrinsics, pixels: np.ndarray, pose: Pose) -> np.ndarray:
        """Whether a pose explains each of some pixels (N, 2): bool (N,)."""
        rows, cols = pixels.T
        points_m = intrinsics.deproject_pixels(rows, cols, depth_m[rows, cols])
        return distance_to_joints(points_m, skeleton_m(self.body, pose)) <= self.reach_m


def _filled(pixels: np.ndarray, stride: Stride, shape: tuple[int, ...]) -> np.ndarray:
    """Pixels (N, 2) of a grid, each with the area that it stands for: bool (H, W)."""
    grid = np.zeros(grid_shape(shape, stride), bool)
    grid[tuple((pixels // stride).T)] = True
    return enlarged(grid, stride, shape)
