"""Candidates: groups of pixels that may be people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Plane


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Groups of pixels that may be people; later stages decide."""

    numbers: np.ndarray  #: uint8 (H, W), candidate of each pixel, from 1, the largest surface first; 0 = none
    person_sized: np.ndarray  #: bool (H, W), pixels of candidates no larger than a person
    floor: Plane | None = None  #: None = not in view, or not searched for
    foreground: np.ndarray | None = None  #: bool (H, W), pixels of no candidate among them; None = not known

    def masks(self) -> Iterator[np.ndarray]:
        """Yield the pixels of each candidate, bool (H, W)."""
        for number in range(1, int(self.numbers.max(initial=0)) + 1):
            yield self.numbers == number
