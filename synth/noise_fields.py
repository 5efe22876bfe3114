"""Random fields over a picture, of which only a window is worked out: where somebody is.

Every field is drawn for the whole picture, so that what a pixel meets does not depend on the window.
"""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np


@dataclass(frozen=True, slots=True)
class Window:
    """Rows and columns of a picture, ends not included."""

    top: int
    bottom: int
    left: int
    right: int

    @classmethod
    def around(cls, shown: np.ndarray, margin_px: int) -> Window:
        """The least window that holds all that is shown, bool (H, W), and a margin; one pixel where nothing is."""
        rows, cols = np.flatnonzero(shown.any(axis=1)), np.flatnonzero(shown.any(axis=0))
        if len(rows) == 0:
            return cls(0, 1, 0, 1)
        height, width = shown.shape
        return cls(
            top=max(int(rows[0]) - margin_px, 0),
            bottom=min(int(rows[-1]) + 1 + margin_px, height),
            left=max(int(cols[0]) - margin_px, 0),
            right=min(int(cols[-1]) + 1 + margin_px, width),
        )

    @property
    def shape(self) -> tuple[int, int]:
        return self.bottom - self.top, self.right - self.left

    def of(self, picture: np.ndarray) -> np.ndarray:
        """The window's part of a picture, contiguous."""
        return np.ascontiguousarray(picture[self.top : self.bottom, self.left : self.right])

    def within(self, shape: tuple[int, int], part: np.ndarray) -> np.ndarray:
        """A picture, (H, W), that holds this part and is 0 elsewhere."""
        out = np.zeros(shape, part.dtype)
        out[self.top : self.bottom, self.left : self.right] = part
        return out


@dataclass(frozen=True, slots=True, eq=False)
class NoiseFields:
    """Fields of one frame. Each call draws another one."""

    shape: tuple[int, int]  #: of the picture, (H, W)
    window: Window
    rng: np.random.Generator

    def normal(self) -> np.ndarray:
        """Independent standard normal values: float32, as large as the window."""
        return self.window.of(self.rng.standard_normal(self.shape, np.float32))

    def uniform(self) -> np.ndarray:
        """Independent values in [0, 1): float32, as large as the window."""
        return self.window.of(self.rng.random(self.shape, np.float32))

    def patchy(self, patch_px: int) -> np.ndarray:
        """Normal noise that neighbours share: what a camera measures over a window it gets wrong over a window.

        Parameters
        ----------
        patch_px : int, pixels between two independent values; 1 = white noise

        Returns
        -------
        float32, as large as the window; zero mean and unit variance (over the picture)
        """
        coarse_shape = tuple(-(-side // patch_px) for side in self.shape)
        coarse = self.rng.standard_normal(coarse_shape, np.float32)
        if patch_px == 1:
            return self.window.of(coarse)
        weights = (np.arange(patch_px) + 0.5) / patch_px
        strength = np.float32(np.mean(weights**2 + (1 - weights) ** 2))  # interpolation averages, and so weakens
        w = self.window
        # one coarse value more on every side, which interpolation looks at
        top, left = max(w.top // patch_px - 1, 0), max(w.left // patch_px - 1, 0)
        part = coarse[top : -(-w.bottom // patch_px) + 1, left : -(-w.right // patch_px) + 1] / strength
        fine = cv2.resize(part, None, fx=patch_px, fy=patch_px, interpolation=cv2.INTER_LINEAR)
        down, across = top * patch_px, left * patch_px
        return Window(w.top - down, w.bottom - down, w.left - across, w.right - across).of(fine)
