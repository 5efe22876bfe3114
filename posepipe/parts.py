"""What the pipeline asks of a classifier of body parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics

Stride = tuple[int, int]
"""Every so many rows, and every so many columns, one pixel is classified."""
EVERY_PIXEL: Stride = (1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class PartProbabilities:
    """Probabilities of the parts at some pixels of a person."""

    pixels: np.ndarray  #: int32 (N, 2), row and column, in image order
    values: np.ndarray  #: float32 (N, C); column = label code, column 0 = not a person; rows sum to 1
    stride: Stride
    leaves: np.ndarray | None = None  #: int32 (N, T), the leaf reached in each tree, of classifiers that have trees

    @property
    def stands_for(self) -> int:
        """Pixels of the picture for each that was classified."""
        return self.stride[0] * self.stride[1]


class PartClassifier(Protocol):
    """Labels a person's pixels with body parts."""

    @property
    def body(self) -> BodyDefinition: ...

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> PartProbabilities:
        """Classify a grid of the mask (bool (H, W)) of one person."""
