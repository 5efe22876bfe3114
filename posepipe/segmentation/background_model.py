"""Kernel: the background of a camera that stands still, learned pixel by pixel while people come and go."""

from __future__ import annotations

import numpy as np
from numba import njit

from posepipe.segmentation.plane_detection import plane_tolerance_m

SEEN_FRAMES = 15
"""A depth that is nobody's is background after so many frames in a row; what was hidden behind it, likewise."""
STANDS_FRAMES = 300
"""What came to stand before the background, and is nobody, belongs to it after so many; and what might be somebody."""
FOLLOW = 0.05
"""Share of a new reading in the background's depth, where they agree."""
MOVED_SHARE = 0.4
"""When so much of the known background reads otherwise, it is the camera that moved."""


@njit(cache=True)
def _before(depth_m, background_m, mask):
    known = differs = 0
    for row in range(depth_m.shape[0]):
        for col in range(depth_m.shape[1]):
            z, background = depth_m[row, col], background_m[row, col]
            if z == 0 or background == 0:
                continue
            known += 1
            tolerance = 2 * plane_tolerance_m(background)
            if abs(z - background) > tolerance:
                differs += 1
            if z >= background - tolerance:
                mask[row, col] = False
    return known, differs


@njit(cache=True)
def _learn(depth_m, people, doubtful, background_m, waiting_m, waited):
    for row in range(depth_m.shape[0]):
        for col in range(depth_m.shape[1]):
            z, background = depth_m[row, col], background_m[row, col]
            if people[row, col]:
                waited[row, col] = 0
            if z == 0 or people[row, col]:
                continue
            tolerance = 2 * plane_tolerance_m(z)
            if background > 0 and abs(z - background) <= tolerance:
                background_m[row, col] += np.float32(FOLLOW) * (z - background)
                waited[row, col] = 0
                continue
            if waited[row, col] == 0 or abs(z - waiting_m[row, col]) > tolerance:
                waiting_m[row, col], waited[row, col] = z, 1
                continue
            waited[row, col] += 1
            waiting_m[row, col] += (z - waiting_m[row, col]) / waited[row, col]
            slow = doubtful[row, col] or (background > 0 and z < background)
            if waited[row, col] >= (STANDS_FRAMES if slow else SEEN_FRAMES):
                background_m[row, col], waited[row, col] = waiting_m[row, col], 0


class BackgroundModel:
    """Remembers how far the background is; forgets all of it when the camera moves or the picture changes its size."""

    def __init__(self) -> None:
        self._depth_m = np.zeros((0, 0), np.float32)

    @property
    def depth_m(self) -> np.ndarray:
        """float32 (H, W), metres; 0 = not known. (0, 0) before the first frame."""
        return self._depth_m

    def before(self, depth_m: np.ndarray) -> np.ndarray:
        """Readings that are not known to be background: bool (H, W), for float32 (H, W) metres."""
        if depth_m.shape != self._depth_m.shape:
            self._forget(depth_m.shape)
        mask = depth_m > 0
        known, differs = _before(depth_m, self._depth_m, mask)
        if differs > MOVED_SHARE * known:
            self._forget(depth_m.shape)
            return depth_m > 0
        return mask

    def learn(self, depth_m: np.ndarray, people: np.ndarray, doubtful: np.ndarray) -> None:
        """Look at a frame again, now that its people are known: they are never background.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        people : bool (H, W)
        doubtful : bool (H, W), what could be somebody by its size: not to be learned in a hurry

        Raises
        ------
        ValueError
            When the three have different shapes.
        """
        if not depth_m.shape == people.shape == doubtful.shape:
            raise ValueError(
                f"depth, people and doubtful must have one shape, got {depth_m.shape}, {people.shape}, {doubtful.shape}"
            )
        if depth_m.shape != self._depth_m.shape:
            self._forget(depth_m.shape)
        _learn(depth_m, people, doubtful, self._depth_m, self._waiting_m, self._waited)

    def _forget(self, shape: tuple[int, int]) -> None:
        self._depth_m, self._waiting_m = np.zeros(shape, np.float32), np.zeros(shape, np.float32)
        self._waited = np.zeros(shape, np.int16)
