"""False near readings: a driver that scales an image averages readings with the zeros of holes."""

from __future__ import annotations

import cv2
import numpy as np


def blend_with_holes(readings_m: np.ndarray) -> np.ndarray:
    """Return readings whose neighbours of holes are too near, by as much of them as are holes.

    Parameters
    ----------
    readings_m : float32 (H, W), metres
        0 = no reading. Pixels beyond the image count as read.

    Returns
    -------
    float32 (H, W), metres
        The same holes. A reading that touches one is at most (8 / 9)^2 of what it was: the image is averaged twice, as
        it is scaled down and up.
    """
    read = (readings_m > 0).astype(np.float32)
    share = cv2.blur(read, (3, 3), borderType=cv2.BORDER_REPLICATE)
    return readings_m * np.where(share > 1 - 1e-3, np.float32(1), share * share)
