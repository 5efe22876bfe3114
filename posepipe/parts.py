"""Interface between the pipeline and a classifier of body parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics

Stride = tuple[int, int]
"""Row step and column step of the grid of pixels that are classified."""
EVERY_PIXEL: Stride = (1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class JointVotes:
    """Weighted votes of a person's pixels for the places of each joint."""

    places_m: np.ndarray  #: float32 (J, V, 3), camera axes, metres
    weights_m2: np.ndarray  #: float32 (J, V), square metres
    counts: np.ndarray  #: int64 (J,), number of rows that hold a vote; the others are 0


CastVotes = Callable[[np.ndarray, np.ndarray], JointVotes]
"""Called with the classified pixels' points, float32 (N, 3) metres, and areas, float32 (N,) square metres."""


@dataclass(frozen=True, slots=True, eq=False)
class PartProbabilities:
    """Part probabilities at the classified pixels of a person, and the votes of these pixels for joints."""

    pixels: np.ndarray  #: int32 (N, 2), row and column, in image order
    probabilities: np.ndarray  #: float32 (N, C); column = label code, column 0 = not a person; rows sum to 1
    stride: Stride
    cast_votes: CastVotes | None = None  #: decodes the votes on demand; None = the classifier has no votes

    @property
    def stands_for(self) -> int:
        """Number of image pixels that one classified pixel represents."""
        return self.stride[0] * self.stride[1]


class PartClassifier(Protocol):
    """Labels a person's pixels with body parts."""

    @property
    def body(self) -> BodyDefinition:
        """Body definition whose parts it labels."""

    def predict(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, stride: Stride = EVERY_PIXEL
    ) -> PartProbabilities:
        """Classify the pixels of one person.

        Parameters
        ----------
        depth_m : float32 (H, W), metres, 0 = no reading
        mask : bool (H, W), the person
        intrinsics : Intrinsics
        stride : row step and column step of the grid of pixels that are classified

        Returns
        -------
        PartProbabilities, at pixels with a reading only
        """

    def reset(self) -> None:
        """Forget earlier frames."""
