"""Still furniture: what has not moved since the camera started, and is not surely a person, is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import cv2
import numpy as np

from posepipe.frames import DepthFrame, window_of
from posepipe.segmentation.person_segmentation import GRID_PX, on_segmentation_grid
from posepipe.segmentation.room_geometry.background_model import MOVED_SHARE, NEVER, SEEN_FRAMES, BackgroundModel
from posepipe.segmentation.room_geometry.plane_detection import plane_tolerance_m
from posepipe.stage import Share

SPECK = np.ones((3, 3), np.uint8)
"""Changes narrower than this, in pixels of the grid, are flicker at an edge."""
TOLERANCES = 1.5
"""A reading so many times the tolerance of a plane before the scene has moved there."""


class FoundPerson(NamedTuple):
    """One person whom the pipeline has found in a frame."""

    id: int  #: of the track
    mask: np.ndarray  #: bool (H, W)
    probability: float  #: of a person, by the filter that decided


@dataclass(slots=True, eq=False)
class StillFurniture:
    """Tells still furniture from people by the scene as the camera first saw it.

    The scene is learned from all readings, those of people too, so that people who enter it differ from it. Readings
    where at first there was none, as before a window, are of what came in, and do not belong to it. Somebody of whom a
    surface of ``moved_m2`` is nearer than the scene has moved, and counts as a person from then on. Where nothing moved
    and most of the surface is that of the scene, only a higher probability makes a person. While the camera moves the
    scene is not known, and everybody counts.
    """

    min_probability: Share = 0.75  #: minimum probability of a person who has not moved
    moved_m2: float = 0.01  #: minimum surface, seen face on, that has moved: a hand
    min_still: Share = 0.5  #: minimum share of the surface that belongs to the scene
    _scene: BackgroundModel = field(default_factory=lambda: BackgroundModel(stands_frames=NEVER), init=False)
    _moved: set[int] = field(default_factory=set, init=False)  #: ids of people who have moved
    #: int16 (H, W), of the grid: frames in a row without a reading; SEEN_FRAMES of them stay
    _unread: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.int16), init=False, repr=False)

    def update(self, frame: DepthFrame, people: Sequence[FoundPerson]) -> list[bool]:
        """Judge the people found in the next frame.

        Parameters
        ----------
        frame : DepthFrame
        people : found in it

        Returns
        -------
        list of bool, False for furniture
        """
        step = frame.intrinsics.step_to(GRID_PX)
        depth_m, grid = on_segmentation_grid(frame.depth_m, frame.intrinsics)
        starts = self._scene.starts
        self._scene.before(depth_m)  # forgets the scene when the camera has moved
        if self._scene.starts > starts:
            self._unread = np.zeros(depth_m.shape, np.int16)
        pixel_m2 = 1 / (grid.fx * grid.fy)
        shown = [self._is_person(depth_m, pixel_m2, person, step) for person in people]
        nobody = np.zeros(depth_m.shape, bool)
        self._scene.learn(depth_m, nobody, self._came_in(depth_m))
        return shown

    def reset(self) -> None:
        """Forget the scene, and who has moved."""
        self._scene.reset()
        self._moved.clear()

    def _came_in(self, depth_m: np.ndarray) -> np.ndarray:
        """Pixels that read nothing for SEEN_FRAMES while the scene was unknown there: bool (H, W)."""
        empty, read = self._unread >= SEEN_FRAMES, depth_m > 0
        if np.count_nonzero(empty & read) > MOVED_SHARE * empty.size:  # the camera was covered, or had not begun
            self._unread[:] = 0
            return np.zeros(empty.shape, bool)
        self._unread = np.where(empty, self._unread, np.where(read, np.int16(0), self._unread + np.int16(1)))
        return empty & (self._scene.depth_m == 0)

    def _is_person(self, depth_m: np.ndarray, pixel_m2: float, person: FoundPerson, step: int) -> bool:
        mask = person.mask[::step, ::step]
        if person.id in self._moved or not mask.any():  # who is thinner than the grid cannot be judged
            return True
        window = window_of(mask)
        mask, depth_m, scene_m = mask[window], depth_m[window], self._scene.depth_m[window]
        area_m2 = np.where(mask, depth_m**2 * pixel_m2, 0)
        tolerance_m = TOLERANCES * plane_tolerance_m(scene_m)
        known = scene_m > 0
        nearer = (mask & known & (depth_m < scene_m - tolerance_m)).view(np.uint8)
        moved = cv2.morphologyEx(nearer, cv2.MORPH_OPEN, SPECK, borderType=cv2.BORDER_CONSTANT, borderValue=0) > 0
        if area_m2[moved].sum() >= self.moved_m2:
            self._moved.add(person.id)
            return True
        still = known & (np.abs(depth_m - scene_m) <= tolerance_m)
        return bool(person.probability >= self.min_probability or area_m2[still].sum() < self.min_still * area_m2.sum())
