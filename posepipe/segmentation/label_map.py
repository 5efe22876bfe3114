"""Kernel: the likeliest part of each classified pixel, drawn over the cell of the grid that it stands for."""

from __future__ import annotations

import numpy as np
from numba import njit

from posepipe.parts import PartProbabilities


@njit(cache=True)
def _draw(pixels, values, rows, cols, mask, image):
    height, width = mask.shape
    for n in range(len(pixels)):
        best, most = 0, np.float32(0)
        for c in range(1, values.shape[1]):
            if values[n, c] > most:
                best, most = c, values[n, c]
        for row in range(pixels[n, 0], min(pixels[n, 0] + rows, height)):
            for col in range(pixels[n, 1], min(pixels[n, 1] + cols, width)):
                if mask[row, col]:
                    image[row, col] = best


def draw_labels(parts: PartProbabilities, mask: np.ndarray) -> np.ndarray:
    """Likeliest part of every pixel of a mask for which a classified pixel stands.

    Parameters
    ----------
    parts : PartProbabilities
    mask : bool (H, W), who is a person

    Returns
    -------
    uint8 (H, W), label codes, the first of equals. The mask says who is a person: class 0 stands outside it, and
    where no part has any probability. Naive twin: tests/reference/segmentation/label_map.py
    """
    image = np.zeros(mask.shape, np.uint8)
    _draw(parts.pixels, parts.values, *parts.stride, mask, image)
    return image
