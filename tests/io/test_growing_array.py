"""Arrays that grow in memory."""

from __future__ import annotations

import numpy as np

from posepipe.io.growing_array import SPARE_SHARE, GrowingArray


def test_a_growing_array_returns_what_was_appended():
    pieces = [np.arange(k, 3 * k, dtype=np.int16) for k in (5, 0, 1, 40, 7000)]
    array = GrowingArray()
    for piece in pieces:
        array.append(piece)
    whole = array.finish()
    np.testing.assert_array_equal(whole, np.concatenate(pieces))
    assert whole.dtype == np.int16
    assert whole.flags.owndata


def test_a_growing_array_has_little_spare_memory():
    array = GrowingArray()
    for _ in range(300):
        array.append(np.ones(1000, np.int16))
    assert array._values.size <= 300_000 * (1 + SPARE_SHARE)
    assert array.finish().size == 300_000


def test_an_array_without_values_is_empty():
    assert GrowingArray().finish().shape == (0,)
