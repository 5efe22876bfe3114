"""Conversion between the grey levels of a depth image and metres."""

from __future__ import annotations

import numpy as np

from posepipe.frames import DepthFrame

_MILLIMETRE = 0.001


def levels_to_depth(grey: np.ndarray, depth_unit_m: float) -> np.ndarray:
    """Convert grey levels to depth for a `DepthFrame`.

    Parameters
    ----------
    grey : uint16 (H, W)
    depth_unit_m : metres per grey level

    Returns
    -------
    uint16 (H, W) millimetres, unchanged, for a unit of 1 mm; else float32 (H, W) metres
    """
    return grey if depth_unit_m == _MILLIMETRE else grey * np.float32(depth_unit_m)


def depth_to_levels(frame: DepthFrame, depth_unit_m: float) -> np.ndarray:
    """Round depth to whole units: uint16 (H, W). Values beyond 16 bits become 0, no reading."""
    levels = np.rint(frame.depth_m / np.float32(depth_unit_m))
    return np.where(levels > np.iinfo(np.uint16).max, 0, levels).astype(np.uint16)
