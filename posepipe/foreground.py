"""Which pixels are people. Frames already cut out go straight through."""

from __future__ import annotations

from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.frames import DepthFrame


@dataclass(frozen=True, slots=True)
class CutOutForeground:
    """Foreground of frames in which everything but one person already reads 0.

    Specks are dropped: a piece that is connected to nothing and smaller than ``min_area_m2`` is
    noise of the cut, not a limb.
    """

    min_area_m2: float = 0.002

    def update(self, frame: DepthFrame) -> np.ndarray:
        """Mask of the person: bool (H, W); all False when nobody is in view."""
        mask = frame.depth_m > 0
        count, pieces = cv2.connectedComponents(mask.astype(np.uint8), connectivity=8)
        if count <= 1:
            return mask
        area = np.bincount(pieces.ravel(), weights=(frame.depth_m**2).ravel(), minlength=count)
        keep = area / (frame.intrinsics.fx * frame.intrinsics.fy) >= self.min_area_m2
        keep[0] = False
        return keep[pieces]
