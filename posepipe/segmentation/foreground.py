"""Foreground: finds candidates, the depth-connected components of an image that may be people.

Classifier and person filter decide later whether a candidate is a person, and which of its pixels are.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import cv2
import numpy as np

from posepipe.camera import FINEST_PX, Intrinsics, Plane
from posepipe.frames import DepthFrame, window_of
from posepipe.segmentation.candidates import Candidates
from posepipe.segmentation.pixel_grid import enlarged
from posepipe.segmentation.room_geometry.background_model import BackgroundModel
from posepipe.segmentation.room_geometry.connected_components import (
    find_components,
    find_contacts,
    measure_components,
)
from posepipe.segmentation.room_geometry.plane_detection import before_planes, find_planes, floor_of
from posepipe.segmentation.room_geometry.steady_floor import SteadyFloor
from posepipe.segmentation.room_geometry.still_background import StillBackground
from posepipe.stage import Stateless

TOUCH_PX = 6
"""Maximum gap, pixels, between components that touch in the image: the width of a triangulating camera's shadow."""
MAX_CANDIDATES = 32
"""Maximum number of candidates of a frame; the largest are taken."""
MAX_COMPONENTS = 1024
"""Maximum number of components of a frame; the largest are taken. Rooms have about 50, noise has one for each pixel."""


class Foreground(Protocol):
    """Finds candidates."""

    def update(self, frame: DepthFrame) -> Candidates:
        """Find the candidates of the next frame."""

    def group(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None = None) -> Candidates:
        """Find candidates among some readings of a frame, bool (H, W)."""

    def learn(self, frame: DepthFrame, candidates: Candidates, people: np.ndarray) -> None:
        """Learn from a frame whose people, bool (H, W), are known."""

    def reset(self) -> None:
        """Forget earlier frames."""


@dataclass(frozen=True, slots=True)
class CutOutForeground(Stateless):
    """Foreground of frames in which everything but one person already reads 0.

    Connected components smaller than ``min_area_m2`` are dropped as noise of the cut.
    """

    min_area_m2: float = 0.002

    def update(self, frame: DepthFrame) -> Candidates:
        """Find the single candidate, number 1; none in an empty frame."""
        return self.group(frame, frame.depth_m > 0)

    def group(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None = None) -> Candidates:
        """Make one candidate of some readings of a frame, bool (H, W)."""
        person, window = np.zeros(mask.shape, np.uint8), window_of(mask)
        if mask[window].size:
            count, components = cv2.connectedComponents(mask[window].view(np.uint8), connectivity=8)
            # intrinsics of the whole image: areas do not depend on the optical centre
            depth_m = np.ascontiguousarray(frame.depth_m[window])
            area_m2, _, _ = measure_components(components, count - 1, depth_m, frame.intrinsics)
            is_large = area_m2 >= self.min_area_m2
            is_large[0] = False  # what is no reading of the mask
            person[window] = is_large[components]
        return Candidates(person, person.view(bool), floor)

    def learn(self, frame: DepthFrame, candidates: Candidates, people: np.ndarray) -> None:
        """Do nothing: frames are independent."""


@dataclass(slots=True, eq=False)
class RoomForeground:
    """Foreground of any frame: people in front of floor and walls, beside furniture, or cut out.

    Floor and walls are removed. The remaining pixels form depth-connected components, and small components join the
    nearest large one. With a background model, known background is removed too, and shows the floor that people hide;
    without one, frames are independent.
    """

    background: BackgroundModel | None = None
    still: StillBackground | None = None  #: what the background model starts from; frames must be of its camera

    min_area_m2: float = 0.06  #: minimum surface of a candidate, seen face on
    limb_m2: float = 0.12  #: maximum surface of a component that is treated as a limb
    limb_reach_m: float = 0.7  #: maximum depth gap to a limb that touches its body in the image
    body_reach_m: float = 0.3  #: maximum depth gap between large components that touch: an arm may cut a body in two
    gap_m: float = 0.2  #: maximum distance to a limb that touches nothing
    speck_m2: float = 0.002  #: minimum surface of a component; a smaller one is noise
    max_extent_m: float = 2.8  #: maximum extent of joined components: a person with stretched arms
    _steady_floor: SteadyFloor = field(default_factory=SteadyFloor, init=False)

    def update(self, frame: DepthFrame) -> Candidates:
        """Find the candidates of a frame. Raises SourceError for a given background of another camera."""
        depth_m, intrinsics = frame.depth_m, frame.intrinsics
        if self.still is not None:
            self.still.check(frame)
        planes = find_planes(depth_m, intrinsics)
        mask, floor = before_planes(depth_m, intrinsics, planes), floor_of(planes, frame.up)
        if self.background is not None:
            mask &= self.background.before(depth_m)
            floor = self._steady_floor.update(frame, self.background.depth_m, floor)
        return self.group(frame, mask, floor)

    def group(self, frame: DepthFrame, mask: np.ndarray, floor: Plane | None = None) -> Candidates:
        """Group some readings of a frame, bool (H, W), into candidates."""
        depth_m, intrinsics = frame.depth_m, frame.intrinsics
        numbers, person_sized = np.zeros(mask.shape, np.uint8), np.zeros(mask.shape, bool)
        if mask.any():
            grid, grid_intrinsics = _grid_of(mask, intrinsics)
            found = self._candidates_of(depth_m[grid].copy(), mask[grid].copy(), grid_intrinsics)
            for whole, on_grid in zip((numbers, person_sized), found, strict=True):
                _fill(whole, grid, on_grid)
                whole[~mask] = 0
        return Candidates(numbers, person_sized, floor, mask)

    def learn(self, frame: DepthFrame, candidates: Candidates, people: np.ndarray) -> None:
        """Update the background model.

        Parameters
        ----------
        frame : DepthFrame
        candidates : of the frame
        people : bool (H, W), the pixels of the people found in it
        """
        if self.background is not None:
            self.background.learn(frame.depth_m, people, candidates.person_sized)

    def reset(self) -> None:
        """Forget what the background model has learned, and the floor that it showed."""
        self._steady_floor.reset()
        if self.background is not None:
            self.background.reset()

    def _candidates_of(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics
    ) -> tuple[np.ndarray, np.ndarray]:
        """Candidates among the pixels of a mask, uint8 (H, W), and the person-sized ones, bool (H, W)."""
        components, count = find_components(depth_m, mask)
        area_m2, _, _ = measure_components(components, count, depth_m, intrinsics)
        kept = _largest(area_m2, self.speck_m2)
        components = of_components(np.where(kept, np.cumsum(kept), 0).astype(np.int32), components)
        components, count = self._joined(components, depth_m, intrinsics), int(kept.sum())
        area_m2, low_m, high_m = measure_components(components, count, depth_m, intrinsics)
        large = _of_surface(area_m2, self.min_area_m2)  # of any width: a person may be connected to a strip of floor
        ranking = np.argsort(np.where(large, -area_m2, np.inf), kind="stable")[: min(large.sum(), MAX_CANDIDATES)]
        rank = np.zeros(count + 1, np.uint8)
        rank[ranking] = np.arange(1, len(ranking) + 1)
        person_sized = (rank > 0) & ((high_m - low_m).max(axis=1) <= self.max_extent_m)
        return of_components(rank, components), of_components(person_sized, components)

    def _joined(self, components: np.ndarray, depth_m: np.ndarray, intrinsics: Intrinsics) -> np.ndarray:
        """Join components that belong together under the number of a large one."""
        count = int(components.max(initial=0))
        area_m2, low_m, high_m = measure_components(components, count, depth_m, intrinsics)
        large = area_m2 >= self.limb_m2
        pairs, gaps_m = find_contacts(components, depth_m, TOUCH_PX)
        one_large, other_large = large[pairs].T
        joinable = gaps_m <= np.where(one_large & other_large, self.body_reach_m, self.limb_reach_m)
        joinable &= one_large | other_large  # two limbs may be those of two people
        pairs, gaps_m = pairs[joinable], gaps_m[joinable]
        leader = np.arange(count + 1, dtype=np.int32)
        for pair in pairs[np.argsort(gaps_m, kind="stable")]:  # the closest first, while a person's size allows it
            a, b = sorted(leader[pair], key=lambda component: -area_m2[component])
            low, high = np.minimum(low_m[a], low_m[b]), np.maximum(high_m[a], high_m[b])
            if a != b and (high - low).max() <= self.max_extent_m:
                leader[leader == b] = a
                low_m[a], high_m[a] = low, high
        return join_near(of_components(leader, components), large, depth_m, intrinsics, self.gap_m)


def _of_surface(area_m2: np.ndarray, min_m2: float) -> np.ndarray:
    """Components of a minimum surface: bool, the shape of ``area_m2``. Number 0, and absent ones, are never among them.

    Their surface is 0, which a minimum of 0 would take for large.
    """
    return (area_m2 >= min_m2) & (area_m2 > 0)


def _largest(area_m2: np.ndarray, min_area_m2: float) -> np.ndarray:
    """Components of a minimum surface, at most MAX_COMPONENTS of them: bool, the shape of ``area_m2``."""
    kept = _of_surface(area_m2, min_area_m2)
    if np.count_nonzero(kept) > MAX_COMPONENTS:
        ranking = np.argsort(-area_m2, kind="stable")
        kept[ranking[MAX_COMPONENTS:]] = False
    return kept


def _grid_of(mask: np.ndarray, intrinsics: Intrinsics) -> tuple[tuple[slice, slice], Intrinsics]:
    """Grid of rows and columns on which candidates are found, and its intrinsics.

    Images finer than FINEST_PX are subsampled, because the reach between components is counted in pixels.
    """
    step = intrinsics.step_to(FINEST_PX)
    rows, cols = window_of(mask)
    in_window = intrinsics.cropped(rows.start, cols.start)
    return (slice(rows.start, rows.stop, step), slice(cols.start, cols.stop, step)), in_window.subsampled(step)


def _fill(whole: np.ndarray, grid: tuple[slice, slice], on_grid: np.ndarray) -> None:
    """Fill the area that a grid covers: every pixel gets the value of its grid cell."""
    rows, cols = grid
    area = whole[rows.start : rows.stop, cols.start : cols.stop]
    area[:] = enlarged(on_grid, (rows.step, cols.step), area.shape)


def of_components(values: np.ndarray, components: np.ndarray) -> np.ndarray:
    """Value of the component of each pixel, (H, W): ``values[components]``, in a fraction of its time."""
    return values.take(components, mode="clip")


def join_near(
    components: np.ndarray, large: np.ndarray, depth_m: np.ndarray, intrinsics: Intrinsics, gap_m: float
) -> np.ndarray:
    """Join small components to the large one nearest in the image, if it is also near in space.

    Parameters
    ----------
    components : int32 (H, W), 0 = none
    large : bool (count + 1,), which components are large
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics
    gap_m : metres, maximum distance between the two pixels that are nearest in the image

    Returns
    -------
    int32 (H, W); the other small components keep their numbers
    """
    of_large = of_components(large, components)
    small, is_large = np.where(of_large, 0, components), of_large & (components > 0)
    if not is_large.any() or not small.any():
        return components
    gap_px, label = cv2.distanceTransformWithLabels(
        (~is_large).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    place = np.zeros(label.max() + 1, np.int64)  # position of the large component's pixel of each label
    place[label[is_large]] = np.flatnonzero(is_large)
    at = np.flatnonzero(small)
    order = np.lexsort((gap_px.ravel()[at], small.ravel()[at]))
    ids, first = np.unique(small.ravel()[at[order]], return_index=True)
    width = components.shape[1]
    here = at[order[first]]  # the pixel of each small component nearest to a large one
    there = place[label.ravel()[here]]
    here_m, there_m = (
        intrinsics.deproject_pixels(r, c, depth_m[r, c]) for r, c in (divmod(here, width), divmod(there, width))
    )
    near = np.linalg.norm(here_m - there_m, axis=1) <= gap_m
    joined = np.arange(len(large), dtype=np.int32)
    joined[ids[near]] = components.ravel()[there[near]]
    return of_components(joined, components)
