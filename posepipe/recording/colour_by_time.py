"""Colour images that have times of their own: the one to show beside depth of a time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property

import numpy as np

from posepipe.errors import PosepipeError

AUTO = "auto"
"""Stands for the only colour of a file or folder."""
MAX_APART_NS = 100_000_000
"""Maximum time between an image and the depth that it is shown beside."""
MAX_TRIED = 10
"""Images that are tried for the size."""


class ColourByTime(ABC):
    """Colour images of one size, by time; black where there is none near enough, or it is damaged.

    Parameters
    ----------
    times_ns : int64 (N,), ascending, at least one
    """

    def __init__(self, times_ns: np.ndarray) -> None:
        self._times_ns = times_ns

    @abstractmethod
    def image(self, index: int) -> np.ndarray:
        """Read an image: uint8 (H, W, 3), RGB. Raises PosepipeError where it is missing or damaged."""

    def first_images(self, index: int) -> np.ndarray:
        """Read one of the first images, for its size; otherwise as `image`."""
        return self.image(index)

    @cached_property
    def shape(self) -> tuple[int, int]:
        """Rows and columns: of the first image that is whole, among MAX_TRIED. Raises PosepipeError without one."""
        for index in range(min(len(self._times_ns), MAX_TRIED)):
            try:
                height, width, _ = self.first_images(index).shape
                return height, width
            except PosepipeError as error:
                problem = error
        raise problem

    def near(self, time_ns: int) -> np.ndarray:
        """Image nearest to a time: uint8 (H, W, 3), RGB."""
        after = int(np.searchsorted(self._times_ns, time_ns))
        around = [k for k in (after - 1, after) if 0 <= k < len(self._times_ns)]
        index = min(around, key=lambda k: abs(int(self._times_ns[k]) - time_ns))
        if abs(int(self._times_ns[index]) - time_ns) <= MAX_APART_NS:
            try:
                found = self.image(index)
                if found.shape[:2] == self.shape:
                    return found
            except PosepipeError:
                pass
        return np.zeros((*self.shape, 3), np.uint8)
