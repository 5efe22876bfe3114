"""Steady floor: that of a camera that stands still, found in the background that was learned of it.

In a single frame people hide part of the floor, so that its plane sways by centimetres, or is not found. The background
is without people, and without most of the noise.
"""

from __future__ import annotations

import numpy as np

from posepipe.camera import Plane
from posepipe.frames import DepthFrame
from posepipe.segmentation.room_geometry.plane_detection import find_planes, floor_of, plane_tolerance_m

RENEWED_FRAMES = 15
"""Frames after which the floor is sought in the background again, which has learned more."""
GRID_STEP = 4
"""Step of the pixels, along rows and columns, whose readings are compared with the floor."""
MOVED_SHARE = 0.1
"""Share of the readings at the floor's pixels that must contradict it for the camera to count as moved."""


class SteadyFloor:
    """Floor of the learned background, as long as frames agree with it."""

    def __init__(self) -> None:
        self.reset()

    def update(self, frame: DepthFrame, background_m: np.ndarray, own: Plane | None) -> Plane | None:
        """Return the floor of the next frame.

        Parameters
        ----------
        frame : DepthFrame
        background_m : float32 (H, W), metres, what is known of the scene without people; 0 = not known
        own : the floor found in the frame alone

        Returns
        -------
        Plane of the background's floor; ``own`` where the background shows none, or the camera has moved
        """
        if self._age % RENEWED_FRAMES == 0:
            self._renew(frame, background_m)
        self._age += 1
        return own if self._floor is None or self._is_contradicted(frame, own) else self._floor

    def reset(self) -> None:
        """Forget earlier frames."""
        self._age = 0
        self._floor: Plane | None = None
        self._floor_m = np.zeros((0, 0), np.float32)  # background on the grid, where it is the floor; 0 elsewhere

    def _renew(self, frame: DepthFrame, background_m: np.ndarray) -> None:
        self._floor = floor_of(find_planes(background_m, frame.intrinsics), frame.up)
        if self._floor is not None:
            depth_m = background_m[::GRID_STEP, ::GRID_STEP]
            self._floor_m = np.where(_lies_in(self._floor, depth_m, frame), depth_m, np.float32(0))

    def _is_contradicted(self, frame: DepthFrame, own: Plane | None) -> bool:
        """Whether too much reads behind the floor, or before it in another floor; what hides it says nothing."""
        depth_m = frame.depth_m[::GRID_STEP, ::GRID_STEP]
        if depth_m.shape != self._floor_m.shape:
            return True
        read = (depth_m > 0) & (self._floor_m > 0)
        tolerance_m = 2 * plane_tolerance_m(self._floor_m)
        contrary = depth_m > self._floor_m + tolerance_m
        if own is not None:
            contrary |= (depth_m < self._floor_m - tolerance_m) & _lies_in(own, depth_m, frame)
        return bool(np.count_nonzero(contrary & read) > MOVED_SHARE * np.count_nonzero(read))


def _lies_in(plane: Plane, depth_m: np.ndarray, frame: DepthFrame) -> np.ndarray:
    """Which readings of the grid, float32 (H', W') metres, lie in a plane: bool (H', W')."""
    points_m = frame.intrinsics.subsampled(GRID_STEP).deproject(depth_m)
    return (depth_m > 0) & (np.abs(plane.height_m(points_m)) <= plane_tolerance_m(depth_m))
