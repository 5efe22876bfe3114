"""An array in memory that grows as values arrive, without a second copy of it."""

from __future__ import annotations

import numpy as np

SPARE_SHARE = 1 / 8
"""Of the values that an array holds, how much more room it takes when it is full."""


class GrowingArray:
    """One-dimensional int16 array in memory.

    Large blocks of memory are moved by the operating system when they grow, not copied.

    Examples
    --------
    >>> import numpy as np
    >>> from posepipe.io.growing_array import GrowingArray
    >>> array = GrowingArray()
    >>> for value in range(3):
    ...     array.append(np.full(2, value, np.int16))
    >>> array.finish()
    array([0, 0, 1, 1, 2, 2], dtype=int16)
    """

    def __init__(self) -> None:
        self._values, self._length = np.empty(0, np.int16), 0

    def append(self, values: np.ndarray) -> None:
        """Put int16 values after those before."""
        end = self._length + len(values)
        if end > len(self._values):
            self._values.resize(end + int(end * SPARE_SHARE), refcheck=False)
        self._values[self._length : end] = values
        self._length = end

    def finish(self) -> np.ndarray:
        """Return all values, int16 (N,), in memory of just their size. Nothing can be appended after."""
        values, self._values = self._values, np.empty(0, np.int16)
        values.resize(self._length, refcheck=False)
        return values
