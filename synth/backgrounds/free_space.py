"""Free space of a real frame: what hides a person, and which surfaces a person would pass through."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.frames import MAX_DEPTH_M
from synth.backgrounds.background_view import BackgroundView
from synth.scene.placement import Placement, ViewTransform

STEP_PX = 3
"""Every STEP_PX-th pixel along rows and columns becomes a point."""
FLOOR_NOISE_M, FLOOR_NOISE_PER_M = 0.05, 0.0035
"""Points lower than this above the floor belong to it; the noise grows with the squared depth."""
NEARBY_M, MIN_NEARBY = 0.25, 4
"""Radius around a place, and number of points within it that decide about its height."""
MAX_UNEVEN_M = 0.1
"""Maximum distance of the floor from its plane at any place."""


@dataclass(frozen=True, slots=True, eq=False)
class RoomSpace:
    """Surfaces of a real frame."""

    filled_m: np.ndarray  #: float32 (H, W), metres, without holes; 0 where the real camera did not look
    heights_m: np.ndarray  #: float32 (N,), of its points above the floor
    places_m: np.ndarray  #: float32 (N, 2), of its points along the floor, axes of `Placement.floor_place_m`
    solid_m: np.ndarray  #: float32 (S, 3), its points above the floor, camera axes
    areas_m2: np.ndarray  #: float32 (S,), which each of these stands for, at least

    @classmethod
    def of(cls, view: BackgroundView, intrinsics: Intrinsics, camera: Placement) -> RoomSpace:
        """Return the surfaces of a frame whose camera stands above the floor as ``camera`` says."""
        points_m = intrinsics.deproject(view.depth_m)[::STEP_PX, ::STEP_PX].reshape(-1, 3)
        points_m = points_m[points_m[:, 2] > 0]
        world_m = _own_axes(points_m, camera.world_view())
        heights_m = world_m[:, 1]
        solid_m = points_m[heights_m > FLOOR_NOISE_M + FLOOR_NOISE_PER_M * points_m[:, 2] ** 2]
        areas_m2 = (STEP_PX * solid_m[:, 2]) ** 2 / np.float32(intrinsics.fx * intrinsics.fy)
        filled_m = np.where(view.covered, fill_holes(view.depth_m), np.float32(0))
        return cls(filled_m, heights_m, world_m[:, [0, 2]], solid_m, areas_m2)

    def floor_lift_m(self, place_m: np.ndarray) -> float:
        """Return the height of the floor at a place (2,), above its plane: 0 where the frame does not show it."""
        near = np.hypot(*(self.places_m - place_m).T) < NEARBY_M
        heights_m = self.heights_m[near & (np.abs(self.heights_m) < MAX_UNEVEN_M)]
        return float(np.median(heights_m)) if len(heights_m) >= MIN_NEARBY else 0.0

    def surface_m(self, place_m: np.ndarray, height_m: float, tolerance_m: float) -> float | None:
        """Return the height of a level surface at a place, None where there is none about ``height_m`` high."""
        near = np.hypot(*(self.places_m - place_m).T) < NEARBY_M / 2
        level = near & (np.abs(self.heights_m - height_m) < tolerance_m)
        if np.count_nonzero(level) < max(MIN_NEARBY, 0.7 * np.count_nonzero(near)):
            return None
        return float(np.median(self.heights_m[level]))

    def inside_m2(self, view: ViewTransform, lows_m: np.ndarray, highs_m: np.ndarray) -> float:
        """Return the area of the surfaces, without the floor, within an upright box.

        Parameters
        ----------
        view : ViewTransform
            From the box's axes to the camera's.
        lows_m, highs_m : float (3,), metres
            Corners of the box.
        """
        points_m = _own_axes(self.solid_m, view)
        within = ((points_m > lows_m) & (points_m < highs_m)).all(axis=1)
        return float(self.areas_m2[within].sum())

    def crossed_m2(self, bones_m: np.ndarray, radii_m: Sequence[float]) -> float:
        """Return the area of the surfaces, without the floor, within capsules around bones.

        Parameters
        ----------
        bones_m : float (B, 2, 3), metres
            Both ends of each, camera axes.
        radii_m : sequence of float, metres
            Of each bone.
        """
        ends_m, widest_m = bones_m.reshape(-1, 3), max(radii_m)
        low_m, high_m = ends_m.min(axis=0) - widest_m, ends_m.max(axis=0) + widest_m
        z = self.solid_m[:, 2]
        rows = np.flatnonzero((z > low_m[2]) & (z < high_m[2]))
        points_m = self.solid_m[rows]
        rows = rows[((points_m > low_m) & (points_m < high_m)).all(axis=1)]
        points_m = self.solid_m[rows]
        crossed = np.zeros(len(points_m), bool)
        for (start, end), radius in zip(bones_m, radii_m, strict=True):
            axis = end - start
            along = np.clip((points_m - start) @ axis / max(float(axis @ axis), 1e-9), 0, 1)
            apart = points_m - start - along[:, None] * axis
            crossed |= np.einsum("ij,ij->i", apart, apart) < radius * radius
        return float(self.areas_m2[rows][crossed].sum())


def fill_holes(depth_m: np.ndarray) -> np.ndarray:
    """Fill holes along rows with the farther of the readings beside them: float32 (H, W), metres.

    Most holes are shadows, which lie on the farther surface. A row without readings counts as far away.
    """
    left, right = _last_reading(depth_m), _last_reading(depth_m[:, ::-1])[:, ::-1]
    filled_m = np.where(depth_m > 0, depth_m, np.maximum(left, right))
    return np.where(filled_m > 0, filled_m, np.float32(MAX_DEPTH_M)).astype(np.float32)


def _last_reading(depth_m: np.ndarray) -> np.ndarray:
    """The reading at each pixel, or the last one before it in its row; 0 where there is none."""
    columns = np.where(depth_m > 0, np.arange(depth_m.shape[1]), 0)
    return np.take_along_axis(depth_m, np.maximum.accumulate(columns, axis=1), axis=1)


def _own_axes(points_m: np.ndarray, view: ViewTransform) -> np.ndarray:
    """Camera points in the axes that a view maps to the camera's."""
    return ((points_m - view.translation_m) @ view.rotation).astype(np.float32)
