"""Which pixels may be people: candidates, each a component of the picture that hangs together in space.

A candidate is only that. Whether it is a person, and which of its pixels are, the forest says later.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import cv2
import numpy as np

from posepipe.camera import Intrinsics, Plane
from posepipe.frames import DepthFrame, window_of
from posepipe.segmentation.background_model import BackgroundModel
from posepipe.segmentation.connected_components import find_components, find_contacts, keep_large, measure_components
from posepipe.segmentation.plane_detection import before_planes, find_planes, floor_of

TOUCH_PX = 6
"""Pieces no further apart touch in the picture; a triangulating camera's shadow lies between."""
FINEST_PX = 280
"""Focal length, pixels, of the finest picture in which components are sought pixel by pixel: that of 320x240."""
MAX_CANDIDATES = 32
"""More are looked at in no frame; the largest come first."""


@dataclass(frozen=True, slots=True)
class CutOutForeground:
    """Foreground of frames in which everything but one person already reads 0.

    Specks are dropped: a component that is connected to nothing and smaller than ``min_area_m2`` is
    noise of the cut, not a limb.
    """

    min_area_m2: float = 0.002
    floor: None = None  #: none is looked for

    def update(self, frame: DepthFrame) -> np.ndarray:
        """One candidate, the person: uint8 (H, W), 1; all 0 when nobody is in view."""
        mask = (frame.depth_m > 0).view(np.uint8)
        person, window = np.zeros(mask.shape, np.uint8), window_of(mask)
        if not mask[window].size:
            return person
        count, components = cv2.connectedComponents(mask[window], connectivity=8)
        # the whole picture's lens will do: only areas are used, for which its centre does not matter
        person[window] = keep_large(components, count - 1, frame.depth_m[window], frame.intrinsics, self.min_area_m2)
        return person

    def learn(self, frame: DepthFrame, people: np.ndarray) -> None:
        """Nothing is remembered."""


@dataclass(slots=True, eq=False)
class RoomForeground:
    """Foreground of any frame: people before floor and walls, beside furniture, or cut out.

    Floor and walls are taken away, what is left falls into depth-connected components, small components join the
    nearest large one. With a background to remember, all that is known
    to belong to it is taken away as well; without one, a frame is judged by itself.
    """

    background: BackgroundModel | None = None

    min_area_m2: float = 0.06  #: surface seen face on; less is no candidate
    limb_m2: float = 0.12  #: a smaller component may be the limb of a larger one
    limb_reach_m: float = 0.7  #: an arm reaches so far before a body that it touches in the picture
    body_reach_m: float = 0.3  #: larger components that touch are joined up to this gap: an arm may cut a body in two
    gap_m: float = 0.2  #: a limb that touches nothing belongs to what is so near
    speck_m2: float = 0.002  #: a smaller component is noise
    max_extent_m: float = 2.8  #: nobody is longer, with arms stretched: components join no further
    floor: Plane | None = None  #: of the last frame
    _candidates: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), np.uint8), init=False)  # of the last frame
    _person_sized: np.ndarray = field(default_factory=lambda: np.zeros((0, 0), bool), init=False)  # which of these are

    def update(self, frame: DepthFrame) -> np.ndarray:
        """Candidates: uint8 (H, W), 1 and up, the largest surface first; 0 = no candidate."""
        depth_m, intrinsics = frame.depth_m, frame.intrinsics
        planes = find_planes(depth_m, intrinsics)
        self.floor = floor_of(planes)
        mask = before_planes(depth_m, intrinsics, planes)
        if self.background is not None:
            mask &= self.background.before(depth_m)
        self._candidates, self._person_sized = np.zeros(mask.shape, np.uint8), np.zeros(mask.shape, bool)
        if not mask.any():
            return self._candidates
        grid, lens = _grid_of(mask, intrinsics)
        found = self._candidates_of(depth_m[grid].copy(), mask[grid].copy(), lens)
        for whole, on_grid in zip((self._candidates, self._person_sized), found, strict=True):
            _fill(whole, grid, on_grid)
            whole[~mask] = 0
        return self._candidates

    def _candidates_of(self, depth_m: np.ndarray, mask: np.ndarray, lens: Intrinsics) -> tuple[np.ndarray, np.ndarray]:
        """Candidates among the pixels of a mask, uint8 (H, W), and which are no wider than a person, bool (H, W)."""
        components, count = find_components(depth_m, mask)
        area_m2, _, _ = measure_components(components, count, depth_m, lens)
        kept = area_m2 >= self.speck_m2
        components = np.where(kept, np.cumsum(kept), 0).astype(np.int32)[components]
        components, count = self._joined(components, depth_m, lens), int(kept.sum())
        area_m2, low_m, high_m = measure_components(components, count, depth_m, lens)
        large = area_m2 >= self.min_area_m2  # however wide: somebody may hang together with a strip of floor
        ranking = np.argsort(np.where(large, -area_m2, np.inf), kind="stable")[: min(large.sum(), MAX_CANDIDATES)]
        rank = np.zeros(count + 1, np.uint8)
        rank[ranking] = np.arange(1, len(ranking) + 1)
        person_sized = (rank > 0) & ((high_m - low_m).max(axis=1) <= self.max_extent_m)
        return rank[components], person_sized[components]

    def learn(self, frame: DepthFrame, people: np.ndarray) -> None:
        """Remember what is nobody's; ``people`` bool (H, W), the pixels of those found in the frame."""
        if self.background is not None:
            self.background.learn(frame.depth_m, people, self._person_sized)

    def _joined(self, components: np.ndarray, depth_m: np.ndarray, lens: Intrinsics) -> np.ndarray:
        """Pieces that belong together under the number of a large one."""
        count = int(components.max(initial=0))
        area_m2, low_m, high_m = measure_components(components, count, depth_m, lens)
        large = area_m2 >= self.limb_m2
        gaps_m = find_contacts(components, count, depth_m, TOUCH_PX)
        both_large = large[:, None] & large
        touching = gaps_m <= np.where(both_large, self.body_reach_m, self.limb_reach_m)
        touching &= large[:, None] | large  # two limbs may be those of two people
        one, other = np.nonzero(np.triu(touching))
        leader = np.arange(count + 1, dtype=np.int32)
        for k in np.argsort(gaps_m[one, other], kind="stable"):  # the closest first, while a person's size allows it
            a, b = sorted((leader[one[k]], leader[other[k]]), key=lambda component: -area_m2[component])
            low, high = np.minimum(low_m[a], low_m[b]), np.maximum(high_m[a], high_m[b])
            if a != b and (high - low).max() <= self.max_extent_m:
                leader[leader == b] = a
                low_m[a], high_m[a] = low, high
        return join_near(leader[components], large, depth_m, lens, self.gap_m)


def _grid_of(mask: np.ndarray, intrinsics: Intrinsics) -> tuple[tuple[slice, slice], Intrinsics]:
    """Rows and columns on which candidates are sought, and the lens that sees just these.

    They hold every pixel of the mask, or of a finer picture than FINEST_PX every second or third each way: what is
    done pixel by pixel need not be done elsewhere, and how far components reach is counted in pixels.
    """
    step = max(1, int(min(intrinsics.fx, intrinsics.fy) / FINEST_PX))
    rows, cols = window_of(mask)
    lens = Intrinsics(
        intrinsics.fx / step,
        intrinsics.fy / step,
        (intrinsics.cx - cols.start) / step,
        (intrinsics.cy - rows.start) / step,
    )
    return (slice(rows.start, rows.stop, step), slice(cols.start, cols.stop, step)), lens


def _fill(whole: np.ndarray, grid: tuple[slice, slice], on_grid: np.ndarray) -> None:
    """Give every pixel from a grid's first to its last row and column what its place on the grid has."""
    (rows, cols), step = grid, grid[0].step
    tall = on_grid.repeat(step, axis=0).repeat(step, axis=1)
    whole[rows.start : rows.stop, cols.start : cols.stop] = tall[: rows.stop - rows.start, : cols.stop - cols.start]


def join_near(
    components: np.ndarray, large: np.ndarray, depth_m: np.ndarray, intrinsics: Intrinsics, gap_m: float
) -> np.ndarray:
    """Give small components to the large one that is nearest in the picture, where it is near in space too.

    Parameters
    ----------
    components : int32 (H, W), 0 = none
    large : bool (count + 1,), which components are
    depth_m : float32 (H, W), metres
    intrinsics : Intrinsics
    gap_m : metres between the two pixels that are nearest in the picture

    Returns
    -------
    int32 (H, W); small components that are near none keep their numbers
    """
    small, is_large = np.where(large[components], 0, components), large[components] & (components > 0)
    if not is_large.any() or not small.any():
        return components
    gap_px, label = cv2.distanceTransformWithLabels(
        (~is_large).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    place = np.zeros(label.max() + 1, np.int64)  # of the large component's pixel that each label stands for
    place[label[is_large]] = np.flatnonzero(is_large)
    at = np.flatnonzero(small)
    order = np.lexsort((gap_px.ravel()[at], small.ravel()[at]))
    ids, first = np.unique(small.ravel()[at[order]], return_index=True)
    width = components.shape[1]
    here = at[order[first]]  # each small component's pixel that is nearest to a large one
    there = place[label.ravel()[here]]
    here_m, there_m = (
        intrinsics.deproject_pixels(r, c, depth_m[r, c]) for r, c in (divmod(here, width), divmod(there, width))
    )
    near = np.linalg.norm(here_m - there_m, axis=1) <= gap_m
    joined = np.arange(len(large), dtype=np.int32)
    joined[ids[near]] = components.ravel()[there[near]]
    return joined[components]
