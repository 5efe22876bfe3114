"""The still background of a scene: depth of every pixel, learned from a recording of it without people."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.segmentation.room_geometry.plane_detection import plane_tolerance_m

NEAR_SHARE = 0.1
"""Share of a pixel's readings that may lie before its background: noise. At edges readings alternate between two
surfaces, and the nearer one hides people."""
FAR_SHARE = 0.1
"""Share of a pixel's readings that must lie on a surface, or behind it, for wide things before it to have passed by."""
EDGE_SHARE = 0.01
"""Maximum width of edges where readings alternate, longer image sides, rounded up to an even number of pixels: 4 of
320. What is wider and lies before a surface for a time has passed by."""
STRETCHES_SHARE = 1 / 3
"""Maximum number of stretches in which a passer is read, of those of as many readings in random frames."""
GAP_SHARE = 0.015
"""Maximum width of gaps that are filled, longer image sides, rounded up to an even number of pixels: 6 of 320."""
LENS_SHARE = 0.01
"""Maximum difference between two lenses that count as the same, image widths."""


@dataclass(frozen=True, slots=True, eq=False)
class StillBackground:
    """Depth of a scene without people, as one camera reads it."""

    depth_m: np.ndarray  #: float32 (H, W), metres; 0 = not known
    intrinsics: Intrinsics
    name: str = "background"  #: of the recording, for messages

    def check(self, frame: DepthFrame) -> None:
        """Raise SourceError unless a frame has the size and the lens of the background."""
        if frame.depth_m.shape != self.depth_m.shape or _lenses_differ(
            frame.intrinsics, self.intrinsics, self.depth_m.shape[1]
        ):
            raise SourceError(
                self.name,
                f"wanted a background of the same camera, {_described(frame.depth_m.shape, frame.intrinsics)}, got "
                f"{_described(self.depth_m.shape, self.intrinsics)}; record the empty scene again with this camera",
            )


def learn_still_background(frames: Iterable[DepthFrame], name: str = "background") -> StillBackground:
    """Learn the still background of a scene from frames without people.

    Parameters
    ----------
    frames : of one camera that does not move; all are kept in memory, so give some hundred at most
    name : of the recording, for messages

    Returns
    -------
    StillBackground
        At each pixel the mean of the readings on its nearest surface, without what passed by. Narrow gaps take the
        depth of the nearest known pixel; wide ones, such as windows, remain unknown.

    Raises
    ------
    SourceError
        Without any reading, without a surface that stays, or when size or lens change between the frames.
    """
    stack: list[np.ndarray] = []
    intrinsics: Intrinsics | None = None
    for frame in frames:
        if intrinsics is None:
            intrinsics = frame.intrinsics
        if stack and (
            frame.depth_m.shape != stack[0].shape
            or _lenses_differ(frame.intrinsics, intrinsics, frame.depth_m.shape[1])
        ):
            raise SourceError(name, "wanted one camera in all frames of a background, got several; give a recording")
        stack.append(np.rint(frame.depth_m * 1000).astype(np.uint16))
    if intrinsics is None or not any(depth_mm.any() for depth_mm in stack):
        raise SourceError(name, "wanted depth of the empty scene, got no reading in any frame; record it again")
    surface_m = _surface_m(_without_passers(np.stack(stack)), NEAR_SHARE)
    if not surface_m.any():
        wanted = "wanted depth of the empty scene, got readings that come and go at every pixel"
        raise SourceError(name, f"{wanted}; record it again, from a camera that stands still, with nobody in it")
    return StillBackground(_filled(surface_m), intrinsics, name)


def _without_passers(depth_mm: np.ndarray) -> np.ndarray:
    """Depth, uint16 (N, H, W) millimetres, without the readings of what passed by: people, and what they carry.

    That is what lies before the far surface of a pixel for a time and is wider than an edge. Where nothing lies
    behind, as before a window, it is what was read in few stretches and less than half of the recording: surfaces that
    are hardly read flicker.
    """
    far_m = _surface_m(depth_mm, 1 - FAR_SHARE)
    before_mm = 1000 * (far_m - 2 * plane_tolerance_m(far_m))
    side = 2 * math.ceil(EDGE_SHARE * max(far_m.shape) / 2) + 1
    still = depth_mm.copy()
    for frame_mm in still:
        nearer = ((frame_mm > 0) & (frame_mm < before_mm)).astype(np.uint8)
        frame_mm[cv2.morphologyEx(nearer, cv2.MORPH_OPEN, np.ones((side, side), np.uint8)) > 0] = 0
    read = still > 0
    count, total = np.count_nonzero(read, axis=0), len(read)
    stretches = read[0] + np.count_nonzero(read[1:] & ~read[:-1], axis=0)
    at_random = count * (total - count + 1) / total  # expected number of stretches
    still[:, (2 * count < total) & (stretches <= STRETCHES_SHARE * at_random)] = 0
    return still


def _surface_m(depth_mm: np.ndarray, share: float) -> np.ndarray:
    """Mean depth of the surface that this share of a pixel's readings lies before: float32 (H, W), metres; 0 = none.

    Parameters
    ----------
    depth_mm : uint16 (N, H, W), millimetres
    share : 0 = of the nearest reading, below 1
    """
    readings = np.where(depth_mm == 0, np.iinfo(np.uint16).max, depth_mm)
    readings.sort(axis=0)  # readings first, those that are none last
    row = np.floor(share * np.count_nonzero(depth_mm, axis=0)).astype(int)
    at = np.take_along_axis(readings, row[None], axis=0)[0]
    tolerance_mm = 2000 * plane_tolerance_m(at * np.float32(0.001))
    total, kept = np.zeros(at.shape), np.zeros(at.shape, int)
    for frame_mm in depth_mm:
        same = (frame_mm > 0) & (np.abs(frame_mm - at.astype(np.float32)) <= tolerance_mm)
        total += np.where(same, frame_mm, 0)
        kept += same
    return (total / np.maximum(kept, 1) / 1000).astype(np.float32)


def _filled(depth_m: np.ndarray) -> np.ndarray:
    """Give the pixels of narrow gaps the depth of the nearest known pixel."""
    known = depth_m > 0
    side = 2 * math.ceil(GAP_SHARE * max(depth_m.shape) / 2) + 1
    narrow = cv2.morphologyEx(np.pad(known, side).astype(np.uint8), cv2.MORPH_CLOSE, np.ones((side, side), np.uint8))[
        side:-side, side:-side
    ].astype(bool)
    _, label = cv2.distanceTransformWithLabels(
        (~known).astype(np.uint8), cv2.DIST_L2, 5, labelType=cv2.DIST_LABEL_PIXEL
    )
    depth_of = np.zeros(label.max() + 1, np.float32)
    depth_of[label[known]] = depth_m[known]
    return np.where(narrow, depth_of[label], depth_m)


def _lenses_differ(one: Intrinsics, other: Intrinsics, width: int) -> bool:
    pairs = (one.fx, other.fx), (one.fy, other.fy), (one.cx, other.cx), (one.cy, other.cy)
    return any(abs(a - b) > LENS_SHARE * width for a, b in pairs)


def _described(shape: tuple[int, ...], lens: Intrinsics) -> str:
    height, width = shape
    return f"{width}x{height} with fx {lens.fx:.1f}, fy {lens.fy:.1f}, cx {lens.cx:.1f}, cy {lens.cy:.1f}"
