"""Still furniture: what has not moved since the camera started, and is not surely a person, is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import cv2
import numpy as np

from posepipe.frames import DepthFrame, window_of
from posepipe.segmentation.person_segmentation import grid_step, on_segmentation_grid
from posepipe.segmentation.room_geometry.background_model import NEVER, BackgroundModel
from posepipe.segmentation.room_geometry.plane_detection import plane_tolerance_m

SPECK = np.ones((3, 3), np.uint8)
"""Changes narrower than this, in pixels of the grid, are flicker at an edge."""
TOLERANCES = 1.5
"""A reading so many times the tolerance of a plane before the scene has moved there."""
MEMORY_FRAMES = 90
"""Frames over which probabilities are averaged: 3 s at 30 frames a second."""


class FoundPerson(NamedTuple):
    """One person whom the pipeline has found in a frame."""

    id: int  #: of the track
    mask: np.ndarray  #: bool (H, W)
    probability: float  #: of a person, by the person filter


@dataclass(slots=True, eq=False)
class StillFurniture:
    """Tells still furniture from people by the scene as the camera first saw it.

    The scene is learned from all readings, those of people too, so that people who enter it differ from it. Somebody
    of whom a surface of ``moved_m2`` is nearer than the scene has moved, and counts as a person from then on. Where
    nothing moved and most of the surface is that of the scene, the probability must be high for as long as nothing has
    moved there: it is averaged, pixel by pixel, with 0 for frames in which nobody was found. So neither somebody
    asleep nor a chair comes and goes with the noise. While the camera moves the scene is not known, and everybody
    counts.
    """

    min_probability: float = 0.75  #: minimum mean probability of a person who has not moved
    moved_m2: float = 0.01  #: minimum surface, seen face on, that has moved: a hand
    min_still: float = 0.5  #: minimum share of the surface that belongs to the scene
    _scene: BackgroundModel = field(default_factory=lambda: BackgroundModel(stands_frames=NEVER), init=False)
    _moved: set[int] = field(default_factory=set, init=False)  #: ids of people who have moved
    _probability: np.ndarray = field(init=False)  #: float32 (H, W), mean over the frames in which a pixel was still
    _frames: np.ndarray = field(init=False)  #: int16 (H, W), number of these frames, at most MEMORY_FRAMES

    def __post_init__(self) -> None:
        self._remember((0, 0))

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
        step = grid_step(frame.intrinsics)
        depth_m, grid = on_segmentation_grid(frame.depth_m, frame.intrinsics)
        self._scene.before(depth_m)  # forgets the scene when the camera has moved
        shown = [True] * len(people)
        if self._scene.depth_m.shape == depth_m.shape:
            if self._frames.shape != depth_m.shape:
                self._remember(depth_m.shape)
            seen = _SeenAgain.compare(depth_m, self._scene.depth_m, 1 / (grid.fx * grid.fy))
            on_grid = [person._replace(mask=person.mask[::step, ::step]) for person in people]
            self._average(seen.still, on_grid)
            shown = [self._is_person(seen, person) for person in on_grid]
        nobody = np.zeros(depth_m.shape, bool)
        self._scene.learn(depth_m, nobody, nobody)
        return shown

    def reset(self) -> None:
        """Forget the scene, and who has moved."""
        self._scene.reset()
        self._moved.clear()
        self._remember((0, 0))

    def _remember(self, shape: tuple[int, ...]) -> None:
        """Start to average probabilities."""
        self._probability, self._frames = np.zeros(shape, np.float32), np.zeros(shape, np.int16)

    def _average(self, still: np.ndarray, people: Sequence[FoundPerson]) -> None:
        """Add a frame to the mean of every pixel that is still, bool (H, W), and forget it elsewhere."""
        probability = np.zeros(still.shape, np.float32)
        for person in people:
            probability[person.mask] = person.probability
        self._frames = np.where(still, np.minimum(self._frames + 1, MEMORY_FRAMES), 0).astype(np.int16)
        step = (probability - self._probability) / np.maximum(self._frames, 1)
        self._probability = np.where(still, self._probability + step, 0).astype(np.float32)

    def _is_person(self, seen: _SeenAgain, person: FoundPerson) -> bool:
        if person.id in self._moved:
            return True
        window = window_of(person.mask)
        mask = person.mask[window]
        area_m2 = np.where(mask, seen.area_m2[window], 0)
        nearer = (mask & seen.nearer[window]).view(np.uint8)
        moved = cv2.morphologyEx(nearer, cv2.MORPH_OPEN, SPECK, borderType=cv2.BORDER_CONSTANT, borderValue=0) > 0
        if area_m2[moved].sum() >= self.moved_m2:
            self._moved.add(person.id)
            return True
        still = mask & seen.still[window]
        if area_m2[still].sum() < self.min_still * area_m2.sum():
            return True
        return bool(self._probability[window][still].mean() >= self.min_probability)


class _SeenAgain(NamedTuple):
    """A depth image beside the scene."""

    nearer: np.ndarray  #: bool (H, W), readings before the scene
    still: np.ndarray  #: bool (H, W), readings of the scene
    area_m2: np.ndarray  #: float32 (H, W), surface of a pixel, seen face on

    @classmethod
    def compare(cls, depth_m: np.ndarray, scene_m: np.ndarray, pixel_m2: float) -> _SeenAgain:
        """Compare two images, float32 (H, W), metres."""
        known, tolerance_m = scene_m > 0, TOLERANCES * plane_tolerance_m(scene_m)
        nearer = known & (depth_m < scene_m - tolerance_m)
        still = known & (np.abs(depth_m - scene_m) <= tolerance_m)
        return cls(nearer, still, np.square(depth_m) * np.float32(pixel_m2))
