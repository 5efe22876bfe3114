"""Connected surfaces: what a candidate was joined from.

Surfaces are joined because an arm may cut a body in two. Two people who stand close, or somebody on a bed, are joined
as well: then each surface shows by itself who it is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.camera import FINEST_PX, Intrinsics
from posepipe.frames import window_of
from posepipe.segmentation.pixel_grid import enlarged
from posepipe.segmentation.room_geometry.connected_components import find_components
from posepipe.stage import Share, Stateless


@dataclass(frozen=True, slots=True)
class ConnectedSurfaces(Stateless):
    """Divides a candidate into its depth-connected surfaces. Each of them is then a region of its own."""

    min_area_m2: float = 0.06  #: minimum surface of somebody, seen face on
    max_share: Share = 0.9  #: maximum share of the candidate: a larger surface shows what the whole shows

    def masks(self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics) -> list[np.ndarray]:
        """Find the surfaces that may show somebody.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics

        Returns
        -------
        Masks, bool (H, W), within the candidate, the largest surface first
        """
        step = intrinsics.step_to(FINEST_PX)
        window = window_of(mask)
        inside, inside_m = (np.ascontiguousarray(image[window][::step, ::step]) for image in (mask, depth_m))
        components, count = find_components(inside_m, inside)
        squared_m2 = np.bincount(components.ravel(), weights=np.square(inside_m).ravel(), minlength=count + 1)
        sizes_m2 = squared_m2 * (step**2 / (intrinsics.fx * intrinsics.fy))
        sizes_m2[0] = 0
        kept = (sizes_m2 >= self.min_area_m2) & (sizes_m2 <= self.max_share * sizes_m2.sum())
        surfaces = 1 + np.flatnonzero(kept[1:])  # number 0 is no surface, whatever the minimum
        found = []
        for component in surfaces[np.argsort(-sizes_m2[surfaces], kind="stable")]:
            surface = np.zeros_like(mask)
            surface[window] = mask[window] & enlarged(components == component, (step, step), mask[window].shape)
            found.append(surface)
        return found
