"""Kernel: label map of the most probable part, drawn over the grid cell of each classified pixel."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import compiled_for, njit
from posepipe.parts import PartProbabilities


@compiled_for("i4[:,::1], f4[:,::1], i8, i8, b1[:,::1], u1[:,::1]")
@njit(cache=True)
def _draw(pixels, values, rows, cols, mask, image):
    height, width = mask.shape
    for n in range(len(pixels)):
        best, highest = 0, np.float32(0)
        for c in range(1, values.shape[1]):
            if values[n, c] > highest:
                best, highest = c, values[n, c]
        for row in range(pixels[n, 0], min(pixels[n, 0] + rows, height)):
            for col in range(pixels[n, 1], min(pixels[n, 1] + cols, width)):
                if mask[row, col]:
                    image[row, col] = best


def draw_labels(parts: PartProbabilities, mask: np.ndarray) -> np.ndarray:
    """Draw the most probable part of each classified pixel over its grid cell.

    Parameters
    ----------
    parts : PartProbabilities
    mask : bool (H, W), the person

    Returns
    -------
    uint8 (H, W), label codes, the lowest of equally probable ones; 0 outside the mask and where every part has
    probability 0

    References
    ----------
    Naive twin: tests/reference/segmentation/label_map.py
    """
    image = np.zeros(mask.shape, np.uint8)
    _draw(parts.pixels, parts.values, *parts.stride, mask, image)
    return image
