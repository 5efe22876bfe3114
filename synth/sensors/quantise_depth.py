"""Depth readings in whole millimetres, as depth cameras deliver them and recordings store them."""

from __future__ import annotations

import numpy as np


def quantise_depth(depth_m: np.ndarray) -> np.ndarray:
    """Round depth to whole millimetres: float32 (H, W), metres, to a new array of the same kind."""
    quantised_m = depth_m * np.float32(1000)
    np.rint(quantised_m, out=quantised_m)
    quantised_m *= np.float32(0.001)
    return quantised_m
