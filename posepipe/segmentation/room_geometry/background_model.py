"""Kernel: background of a static camera, learned pixel by pixel while people move through the view."""

from __future__ import annotations

import logging

import numpy as np

from posepipe.compilation import compiled_for, njit
from posepipe.segmentation.room_geometry.plane_detection import plane_tolerance, plane_tolerance_m

SEEN_FRAMES = 15
"""Frames in a row after which a constant depth outside of people becomes background, or replaces nearer background."""
STANDS_FRAMES = 300
"""The same for new surfaces in front of the background, and for person-sized candidates."""
NEVER = np.iinfo(np.int16).max
"""Instead of STANDS_FRAMES: 18 minutes at 30 frames a second, without one reading that differs."""
FOLLOW = 0.05
"""Weight of a new reading that agrees with the background's depth."""
MOVED_SHARE = 0.4
"""Share of the known background that must differ for the camera to count as moved."""
BEHIND_SHARE = 0.1
"""Share of a given background that must also read behind it: somebody near the camera shows nothing behind it."""

_log = logging.getLogger(__name__)


@compiled_for("f4[:,::1], f4[:,::1], b1[:,::1]")
@njit(cache=True)
def _before(depth_m, background_m, mask):
    known = differs = 0
    for row in range(depth_m.shape[0]):
        for col in range(depth_m.shape[1]):
            z, background = depth_m[row, col], background_m[row, col]
            if z == 0 or background == 0:
                continue
            known += 1
            tolerance = 2 * plane_tolerance(background)
            if abs(z - background) > tolerance:
                differs += 1
            if z >= background - tolerance:
                mask[row, col] = False
    return known, differs


@compiled_for("f4[:,::1], b1[:,::1], b1[:,::1], i8, f4[:,::1], f4[:,::1], i2[:,::1]")
@njit(cache=True)
def _learn(depth_m, people, doubtful, stands_frames, background_m, waiting_m, waited):
    for row in range(depth_m.shape[0]):
        for col in range(depth_m.shape[1]):
            z, background = depth_m[row, col], background_m[row, col]
            if people[row, col]:
                waited[row, col] = 0
            if z == 0 or people[row, col]:
                continue
            tolerance = 2 * plane_tolerance(z)
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
            if waited[row, col] >= (stands_frames if slow else SEEN_FRAMES):
                background_m[row, col], waited[row, col] = waiting_m[row, col], 0


class BackgroundModel:
    """Depth of the background at every pixel; reset when the camera moves or the image size changes.

    Parameters
    ----------
    still_m : float32 (H, W), metres, 0 = not known, optional
        Background to start from. It is given up when the camera moves; a reset returns to it.
    learning : bool
        Whether the background follows what the camera sees; otherwise frames are independent.
    stands_frames : int
        Frames after which new surfaces in front of the background, and person-sized candidates, become background;
        at most NEVER.
    """

    def __init__(
        self, still_m: np.ndarray | None = None, learning: bool = True, stands_frames: int = STANDS_FRAMES
    ) -> None:
        self._given_m = self._still_m = still_m
        self._stands_frames = stands_frames
        self._learning = learning
        self._warned = False
        self.starts = 0  #: how often the background was begun anew
        self.reset()

    @property
    def depth_m(self) -> np.ndarray:
        """float32 (H, W), metres; 0 = not known. (0, 0) before the first frame, unless a background was given."""
        return self._depth_m

    def before(self, depth_m: np.ndarray) -> np.ndarray:
        """Mask of the readings of a depth image, float32 (H, W) metres, that are not known background: bool (H, W)."""
        if depth_m.shape != self._depth_m.shape:
            self._start(depth_m.shape)
        mask = depth_m > 0
        known, differs = _before(depth_m, self._depth_m, mask)
        if differs > MOVED_SHARE * known and (self._still_m is None or self._shows_behind(depth_m, known)):
            self._forget(depth_m.shape)
            return depth_m > 0
        return mask

    def _shows_behind(self, depth_m: np.ndarray, known: int) -> bool:
        """Whether much reads behind the background: the scene has changed, and is not only hidden."""
        behind = (self._depth_m > 0) & (depth_m > self._depth_m + 2 * plane_tolerance_m(self._depth_m))
        return bool(np.count_nonzero(behind) > BEHIND_SHARE * known)

    def _forget(self, shape: tuple[int, ...]) -> None:
        """Forget the background, because the camera has moved; one that is not learned serves the next frame."""
        if self._still_m is not None and not self._warned:
            self._warned = True
            _log.warning("the scene is not that of the given background: the camera was moved; record it again")
        if self._learning:
            self._still_m = None
            self._start(shape)

    def learn(self, depth_m: np.ndarray, people: np.ndarray, doubtful: np.ndarray) -> None:
        """Update the background with a frame whose people are known; their pixels are left out.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        people : bool (H, W)
        doubtful : bool (H, W), pixels of person-sized candidates: learned slowly

        Raises
        ------
        ValueError
            When the three have different shapes.
        """
        if not depth_m.shape == people.shape == doubtful.shape:
            raise ValueError(
                f"depth, people and doubtful must have one shape, got {depth_m.shape}, {people.shape}, {doubtful.shape}"
            )
        if not self._learning:
            return
        if depth_m.shape != self._depth_m.shape:
            self._start(depth_m.shape)
        _learn(depth_m, people, doubtful, self._stands_frames, self._depth_m, self._waiting_m, self._waited)

    def reset(self) -> None:
        """Forget all frames."""
        self._still_m, self._warned = self._given_m, False
        self._start((0, 0))

    def _start(self, shape: tuple[int, ...]) -> None:
        """Start from the given background, unless it was given up, with images of a shape.

        Raises
        ------
        ValueError
            When the given background has another shape.
        """
        self.starts += 1
        if self._still_m is not None and shape not in ((0, 0), self._still_m.shape):
            raise ValueError(f"the given background has the shape {self._still_m.shape}, and the frames have {shape}")
        self._depth_m = np.zeros(shape, np.float32) if self._still_m is None else self._still_m.copy()
        self._waiting_m = np.zeros(self._depth_m.shape, np.float32)
        self._waited = np.zeros(self._depth_m.shape, np.int16)
