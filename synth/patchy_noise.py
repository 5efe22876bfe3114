"""Normal noise that neighbours share: what a camera measures over a window it gets wrong over a window."""

from __future__ import annotations

import cv2
import numpy as np


def patchy_noise(shape: tuple[int, int], patch_px: int, rng: np.random.Generator) -> np.ndarray:
    """Draw a random field of zero mean and unit variance (over the picture) with patches of a given size.

    Parameters
    ----------
    shape : tuple of 2 ints, (H, W)
    patch_px : int, pixels between two independent values; 1 = white noise
    rng : numpy.random.Generator

    Returns
    -------
    float32 (H, W)
    """
    coarse = rng.standard_normal((-(-shape[0] // patch_px), -(-shape[1] // patch_px)), np.float32)
    if patch_px == 1:
        return coarse
    weights = (np.arange(patch_px) + 0.5) / patch_px
    coarse /= np.float32(np.mean(weights**2 + (1 - weights) ** 2))  # interpolation averages, and so weakens
    fine = cv2.resize(coarse, None, fx=patch_px, fy=patch_px, interpolation=cv2.INTER_LINEAR)
    return np.ascontiguousarray(fine[: shape[0], : shape[1]])
