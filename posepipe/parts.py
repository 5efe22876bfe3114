"""What the pipeline asks of a classifier of body parts."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics


@dataclass(frozen=True, slots=True, eq=False)
class PartProbabilities:
    """Probabilities of the parts at some pixels of a person."""

    pixels: np.ndarray  #: int32 (N, 2), row and column, in image order
    values: np.ndarray  #: float32 (N, C); column = label code, column 0 = not a person; rows sum to 1
    stride: int  #: one pixel in stride x stride was classified
    leaves: np.ndarray | None = None  #: int32 (N, T), the leaf reached in each tree, of classifiers that have trees

    def label_image(self, mask: np.ndarray) -> np.ndarray:
        """Likeliest part of every classified pixel: uint8 (H, W); strides are filled up, within the mask (H, W).

        The mask says who is a person: class 0 stands only where no part has any probability.
        """
        height, width = mask.shape
        image = np.zeros((height, width), np.uint8)
        if len(self.pixels):
            parts = self.values[:, 1:]
            labels = np.where(parts.any(axis=1), parts.argmax(axis=1) + 1, 0).astype(np.uint8)
            for row in range(self.stride):
                for col in range(self.stride):
                    rows = np.minimum(self.pixels[:, 0] + row, height - 1)
                    cols = np.minimum(self.pixels[:, 1] + col, width - 1)
                    image[rows, cols] = labels
            image[~mask] = 0
        return image


class PartClassifier(Protocol):
    """Labels a person's pixels with body parts."""

    @property
    def body(self) -> BodyDefinition: ...

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: int = 1
    ) -> PartProbabilities:
        """Classify every ``stride``-th row and column of the mask (bool (H, W)) of one person."""


ENOUGH_PIXELS = 1000
"""Of a person nearer than this many pixels show, fewer are classified: on rendered and on real people joints are as
right as with all of them, within 0.3 %; half as many cost 0.7 % of mAP (docs/accuracy.md)."""


def stride_for(mask: np.ndarray) -> int:
    """The coarsest grid on which a mask, bool (H, W), still has enough pixels: the same in space for any camera."""
    return max(1, math.isqrt(np.count_nonzero(mask) // ENOUGH_PIXELS))


def pixels_of(mask: np.ndarray, stride: int = 1) -> np.ndarray:
    """Pixels of a mask on the grid of every ``stride``-th row and column: int32 (N, 2)."""
    return (np.argwhere(mask[::stride, ::stride]) * stride).astype(np.int32)
