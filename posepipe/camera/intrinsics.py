"""The pinhole camera: pixels to points and back.

Camera axes are OpenCV's: x right, y down, z forward, metres. An integer pixel coordinate is the
centre of that pixel.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

MIN_FOCAL_WIDTHS = 0.1
"""Minimum focal length of a plausible lens, picture widths: a view of 157 degrees."""
MAX_FOCAL_WIDTHS = 20.0
"""Maximum focal length of a plausible lens, picture widths: a view of 3 degrees."""
FINEST_PX = 280
"""Focal length, pixels, to about which finer images are subsampled where neighbourhoods are counted in pixels. It is
that of 320x240 pixels, as most training frames have."""


@dataclass(frozen=True, slots=True)
class Intrinsics:
    """Pinhole model of one image stream, in pixels.

    Raises
    ------
    ValueError
        For a focal length that is not positive, or any value that is not finite.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe import Intrinsics
    >>> camera = Intrinsics(fx=500.0, fy=500.0, cx=319.5, cy=239.5)
    >>> camera.project(np.array([0.5, 0.0, 2.0])).tolist()  # row, column
    [239.5, 444.5]
    >>> camera.deproject_pixels(np.array(239.5), np.array(444.5), np.array(2.0)).tolist()
    [0.5, 0.0, 2.0]
    """

    fx: float  #: focal length along the columns
    fy: float  #: focal length along the rows
    cx: float  #: column of the optical axis
    cy: float  #: row of the optical axis

    def __post_init__(self) -> None:
        for name in ("fx", "fy", "cx", "cy"):
            value = getattr(self, name)
            if not math.isfinite(value):
                raise ValueError(f"intrinsics: {name} must be a finite number of pixels, got {value}")
        if self.fx <= 0 or self.fy <= 0:
            raise ValueError(f"intrinsics: focal lengths must be positive, got fx {self.fx}, fy {self.fy}")

    def __str__(self) -> str:
        """Describe the lens in messages, such as "fx 500, fy 500, cx 319.5, cy 239.5"."""
        return f"fx {self.fx:.6g}, fy {self.fy:.6g}, cx {self.cx:.6g}, cy {self.cy:.6g}"

    def rotated(self, height: int) -> Intrinsics:
        """Return the intrinsics after the image, of ``height`` rows, is rotated clockwise by 90 degrees."""
        return Intrinsics(self.fy, self.fx, height - 1 - self.cy, self.cx)

    def deproject(self, depth_m: np.ndarray) -> np.ndarray:
        """Convert a depth image to camera points.

        Parameters
        ----------
        depth_m : float (H, W), metres along the optical axis

        Returns
        -------
        float32 (H, W, 3), metres, camera axes; a pixel of depth 0 becomes the origin
        """
        pixels = np.indices(depth_m.shape, np.float32)
        return self.deproject_pixels(pixels[0], pixels[1], depth_m.astype(np.float32, copy=False))

    def deproject_pixels(self, rows: np.ndarray, cols: np.ndarray, depth_m: np.ndarray) -> np.ndarray:
        """Convert pixels to camera points.

        Parameters
        ----------
        rows, cols : int or float (...), pixels
        depth_m : float (...), metres along the optical axis

        Returns
        -------
        float32 (..., 3), metres, camera axes
        """
        x = (cols - self.cx) / self.fx * depth_m
        y = (rows - self.cy) / self.fy * depth_m
        return np.stack([x, y, depth_m], axis=-1).astype(np.float32, copy=False)

    def project(self, points_m: ArrayLike) -> np.ndarray:
        """Project camera points to pixels.

        Parameters
        ----------
        points_m : float (..., 3), metres, camera axes, z > 0; or three numbers, such as `Joint.xyz_m`

        Returns
        -------
        float (..., 2), pixels, axes (row, column)
        """
        x, y, z = np.moveaxis(np.asarray(points_m), -1, 0)
        rows = y / z * self.fy + self.cy
        cols = x / z * self.fx + self.cx
        return np.stack([rows, cols], axis=-1)

    def cropped(self, top: int, left: int) -> Intrinsics:
        """Return the intrinsics of a window that begins at row ``top`` and column ``left``; both may be negative."""
        return replace(self, cx=self.cx - left, cy=self.cy - top)

    def mirrored(self, width: int) -> Intrinsics:
        """Return the intrinsics after left and right of the image, of ``width`` columns, are exchanged."""
        return replace(self, cx=width - 1 - self.cx)

    def subsampled(self, step: int) -> Intrinsics:
        """Return the intrinsics of every ``step``-th row and column, from the first."""
        return Intrinsics(self.fx / step, self.fy / step, self.cx / step, self.cy / step)

    def step_to(self, focal_px: float) -> int:
        """Return the step at which `subsampled` intrinsics come nearest to a focal length."""
        return max(1, round(min(self.fx, self.fy) / focal_px))

    def scaled(self, factor: float) -> Intrinsics:
        """Return the intrinsics of the same view at ``factor`` times the resolution."""
        return Intrinsics(
            self.fx * factor, self.fy * factor, (self.cx + 0.5) * factor - 0.5, (self.cy + 0.5) * factor - 0.5
        )


def check_lens(intrinsics: Intrinsics, width: int, height: int) -> None:
    """Refuse a lens that no depth camera has, such as one of normalised intrinsics, or of another image size.

    The optical axis may lie outside the image, as that of a crop does, by its width or height or one focal length.

    Every reader of intrinsics calls this once, before the first frame.

    Parameters
    ----------
    intrinsics : Intrinsics
    width, height : of the image, pixels

    Raises
    ------
    ValueError
        When fx or fy is outside MIN_FOCAL_WIDTHS to MAX_FOCAL_WIDTHS picture widths, or cx or cy is too far away.
    """
    low, high = MIN_FOCAL_WIDTHS * width, MAX_FOCAL_WIDTHS * width
    if not (low <= intrinsics.fx <= high and low <= intrinsics.fy <= high):
        raise ValueError(
            f"wanted focal lengths of {low:g} to {high:g} pixels ({MIN_FOCAL_WIDTHS:g} to {MAX_FOCAL_WIDTHS:g}"
            f" picture widths), got fx {intrinsics.fx:g}, fy {intrinsics.fy:g}"
        )
    across = ("cx", intrinsics.cx, intrinsics.fx, width), ("cy", intrinsics.cy, intrinsics.fy, height)
    for name, centre, focal, size in across:
        beyond = max(size, focal)
        if not -beyond <= centre <= size + beyond:
            raise ValueError(
                f"wanted an optical axis within {beyond:g} pixels of the image of {width}x{height}, got {name}"
                f" {centre:g}"
            )
