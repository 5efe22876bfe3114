"""A kernel beside its naive twin, with seeded inputs.

``make_inputs`` returns one namespace with all that either side needs. What is prepared once in use (a packed forest, a
bordered image) is then no part of the time that a benchmark measures.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Kernel:
    """A fast function, the naive one that says what it must return, and how far they may differ."""

    name: str
    fast: Callable[[Any], Any]  #: namespace of inputs -> array, number, or tuple of them
    naive: Callable[[Any], Any]
    make_inputs: Callable[[np.random.Generator, int], Any]  #: (rng, size) -> namespace; size as in use: rows of output
    size: int  #: at which the naive twin takes a fraction of a second
    tolerance: float | tuple[float, ...] = 0.0  #: largest absolute difference, one for each output or for all
    may_differ: float = 0.0  #: share of the rows of output that may differ by more
    reason: str = "exact"  #: why not exact
