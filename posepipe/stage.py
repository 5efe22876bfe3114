"""What pipeline stages have in common: a base class of those without state, and a check of their numbers."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Any

Share = float
"""Type of a threshold that is a share, a probability or a confidence: from 0 to 1."""


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
    highest = {"int": math.inf, "float": math.inf, "Share": 1.0}  # annotations are text
    return tuple((each.name, highest[each.type]) for each in fields(kind) if each.init and each.type in highest)
