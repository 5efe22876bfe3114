"""What pipeline stages have in common: a base class of those without state, and a check of their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

SHARES = ("share", "probability", "confidence", "overlap", "background", "head", "still")
"""Last words in the names of thresholds that are shares, probabilities or confidences: from 0 to 1."""


class Stateless:
    """A stage that keeps no state between frames."""

    __slots__ = ()

    def reset(self) -> None:
        """Do nothing: there is no state to reset."""


def check_numbers(stages: Mapping[str, Any]) -> None:
    """Check the numbers that stages hold; those of stages of one's own may have any meaning, and are not checked.

    Raises
    ------
    ValueError
        For a number that is negative or NaN, and for a share above 1, as in percent: without a word nobody would be
        found, or everything.
    """
    for name, stage in stages.items():
        kind: Any = type(stage)  # mypy takes classes for unhashable
        for field, highest in _numbers_of(kind):
            value = getattr(stage, field)
            if not 0 <= value <= highest:
                wanted = "from 0 to 1" if highest == 1 else "of at least 0"
                raise ValueError(f"{name}.{field}: wanted a number {wanted}, got {value!r}")


@cache  # it is asked for every frame
def _numbers_of(kind: type) -> tuple[tuple[str, float], ...]:
    """Names of a stage's numbers that users set, and the highest value of each."""
    if not is_dataclass(kind) or not kind.__module__.startswith("posepipe."):
        return ()
    own = [each.name for each in fields(kind) if each.init and each.type in ("int", "float")]
    return tuple((name, 1.0 if name.split("_")[-1] in SHARES else math.inf) for name in own)
