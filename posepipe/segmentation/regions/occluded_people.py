"""Occluded people: behind furniture or another person somebody shows in pieces, each too small or too odd to be found.

Pieces that may belong to one body are a candidate together: they lie above one another or side by side, as seen from
above, and fit into the space of a person.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.camera import CAMERA_UP, FINEST_PX, Intrinsics
from posepipe.frames import window_of
from posepipe.segmentation.pixel_grid import enlarged
from posepipe.segmentation.room_geometry.connected_components import find_components
from posepipe.stage import Stateless


@dataclass(frozen=True, slots=True)
class OccludedPeople(Stateless):
    """Groups the pieces of a frame, depth-connected surfaces, that may be of one person."""

    max_gap_m: float = 0.35  #: maximum level distance between the boxes of a piece and of the pieces it joins
    max_width_m: float = 1.2  #: maximum level extent of a group
    max_height_m: float = 2.2  #: maximum vertical extent of a group
    min_piece_m2: float = 0.01  #: minimum surface of a piece, seen face on
    min_area_m2: float = 0.06  #: minimum surface of a group
    max_pieces: int = 40  #: maximum number of pieces of a frame; the largest are taken

    def masks(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, up: Sequence[float] = CAMERA_UP
    ) -> list[np.ndarray]:
        """Group the pieces that may show somebody.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        mask : bool (H, W), readings that are likely to be people, of whom none was found there
        intrinsics : Intrinsics
        up : unit vector, camera axes

        Returns
        -------
        Masks, bool (H, W), of two pieces or more each, disjoint, that of the largest piece first
        """
        step, window = intrinsics.step_to(FINEST_PX), window_of(mask)
        inside, inside_m = (np.ascontiguousarray(image[window][::step, ::step]) for image in (mask, depth_m))
        components, count = find_components(inside_m, inside)
        on_grid = intrinsics.cropped(window[0].start, window[1].start).subsampled(step)
        rows, cols = np.nonzero(components)
        piece, z = components[rows, cols], inside_m[rows, cols]
        area_m2 = np.bincount(piece, weights=z.astype(np.float64) ** 2, minlength=count + 1) / (on_grid.fx * on_grid.fy)
        ranking = 1 + np.argsort(-area_m2[1:], kind="stable")[: self.max_pieces]  # number 0 is no piece
        pieces = ranking[area_m2[ranking] >= self.min_piece_m2]
        low_m, high_m = _boxes(on_grid.deproject_pixels(rows, cols, z), piece, pieces, np.asarray(up, float))
        found = []
        for group in self._groups(low_m, high_m):
            if len(group) > 1 and area_m2[pieces[group]].sum() >= self.min_area_m2:
                together = np.zeros_like(mask)
                own = enlarged(np.isin(components, pieces[group]), (step, step), mask[window].shape)
                together[window] = mask[window] & own
                found.append(together)
        return found

    def _groups(self, low_m: np.ndarray, high_m: np.ndarray) -> list[list[int]]:
        """Groups of pieces with these boxes (P, 4), each in the order in which they joined the first."""
        groups, free = [], list(range(len(low_m)))
        while free:
            group = [free.pop(0)]
            low, high = low_m[group[0]], high_m[group[0]]
            while free:
                lows, highs = np.minimum(low, low_m[free]), np.maximum(high, high_m[free])
                apart = np.maximum(low_m[free] - high, low - high_m[free])[:, :3]
                gaps_m = np.linalg.norm(np.maximum(apart, 0), axis=1)
                extents_m = highs - lows
                fits = (extents_m[:, :3].max(axis=1) <= self.max_width_m) & (extents_m[:, 3] <= self.max_height_m)
                nearest = int(np.where(fits, gaps_m, np.inf).argmin())
                if not fits[nearest] or gaps_m[nearest] > self.max_gap_m:
                    break
                low, high = lows[nearest], highs[nearest]
                group.append(free.pop(nearest))
            groups.append(group)
        return groups


def _boxes(
    points_m: np.ndarray, piece: np.ndarray, pieces: np.ndarray, up: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Lowest and highest coordinates of the points (N, 3) of each of P pieces: float64 (P, 4) each.

    The first three are level, along the camera's axes; the last is the height.
    """
    height_m = points_m @ up
    coordinates = np.column_stack([points_m - height_m[:, None] * up, height_m])
    boxes = [(own.min(axis=0), own.max(axis=0)) for number in pieces for own in [coordinates[piece == number]]]
    low_m, high_m = np.array(boxes, np.float64).reshape(-1, 2, 4).transpose(1, 0, 2)
    return low_m, high_m
