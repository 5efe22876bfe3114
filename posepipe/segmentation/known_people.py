"""Known people: whoever was found in the last frame is found again by less evidence."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from posepipe.results import BACKWARDS_S
from posepipe.stage import Share


class _Known(NamedTuple):
    """Somebody who was found in the last frame."""

    mask: np.ndarray  #: bool (H, W)
    accepted_s: float  #: time of the last frame that showed them by itself


@dataclass(slots=True, eq=False)
class KnownPeople:
    """Finds people again whom a frame by itself does not show, where they were in the last frame.

    Somebody who turns, bends or is hidden in part looks like furniture for some frames. In the place of a person of the
    last frame a lower probability makes a person, until ``forget_after_s`` after the last frame that showed them by
    itself.
    """

    min_probability: Share = 0.1  #: minimum probability of a person who is known
    min_overlap: Share = 0.5  #: minimum intersection over union of the pixels in this frame and in the last
    forget_after_s: float = 2.0
    _people: list[_Known] = field(default_factory=list, init=False)

    def accepts(self, timestamp_s: float, mask: np.ndarray, probability: float) -> bool:
        """Whether what was found in a frame, bool (H, W), of that probability, is somebody known."""
        return probability >= self.min_probability and self._find(timestamp_s, mask, self.min_overlap) is not None

    def update(self, timestamp_s: float, masks: Sequence[np.ndarray], accepted: Sequence[bool]) -> None:
        """Remember the people of a frame: masks, bool (H, W), and whether that frame by itself shows each."""
        people = []
        for mask, is_accepted in zip(masks, accepted, strict=True):
            # of whom somebody else took pixels, less is left than makes them known: their time goes on all the same
            before = None if is_accepted else self._find(timestamp_s, mask, min_overlap=0.0)
            people.append(_Known(mask.copy(), timestamp_s if before is None else before.accepted_s))
        self._people = people

    def reset(self) -> None:
        """Forget everybody."""
        self._people = []

    def _find(self, timestamp_s: float, mask: np.ndarray, min_overlap: float) -> _Known | None:
        """Who was last found there, of those with that overlap; None for nobody."""
        overlaps = [
            (_overlap(person.mask, mask), person)
            for person in self._people
            if -BACKWARDS_S <= timestamp_s - person.accepted_s <= self.forget_after_s
            and person.mask.shape == mask.shape
        ]
        overlap, person = max(overlaps, key=lambda pair: pair[0], default=(0.0, None))
        return person if overlap > 0 and overlap >= min_overlap else None


def _overlap(first: np.ndarray, second: np.ndarray) -> float:
    """Intersection over union of two masks."""
    both = int(np.count_nonzero(first & second))
    return both / max(int(np.count_nonzero(first)) + int(np.count_nonzero(second)) - both, 1)
