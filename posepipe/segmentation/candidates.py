"""Candidates: groups of pixels that may be people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Plane

CUT_OUT_SHARE = 0.9
"""Share of a frame's readings in a candidate from which on it counts as cut out."""
FILLED_SHARE = 0.6
"""Share of an image with readings beyond which it shows surroundings."""


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Groups of pixels that may be people; later stages decide."""

    labels: np.ndarray  #: uint8 (H, W), 1 and up, the largest surface first; 0 = no candidate
    person_sized: np.ndarray  #: bool (H, W), pixels of candidates no larger than a person
    floor: Plane | None = None  #: None = not in view, or not searched for

    def are_cut_out(self, depth_m: np.ndarray) -> bool:
        """Whether one candidate of a person's size has nearly all of the few readings of a frame, float32 (H, W)."""
        readings, one = np.count_nonzero(depth_m), int(self.labels.max(initial=0)) <= 1
        alone = one and np.count_nonzero(self.person_sized) >= CUT_OUT_SHARE * readings
        return bool(alone and readings <= FILLED_SHARE * depth_m.size)

    def masks(self) -> Iterator[np.ndarray]:
        """Yield the pixels of each candidate, bool (H, W)."""
        for number in range(1, int(self.labels.max(initial=0)) + 1):
            yield self.labels == number
