"""Ids that follow the readings."""

import numpy as np

from synth.render.label_spread import NOTHING, spread_ids


def test_ids_reach_two_pixels_and_leave_holes():
    ids = np.array([[7, 7, NOTHING, NOTHING, NOTHING, NOTHING]], np.int32)
    depth_m = np.array([[2, 0, 2, 2, 2, 0]], np.float32)
    spread_ids(ids, depth_m)
    np.testing.assert_array_equal(ids, [[7, NOTHING, 7, 7, NOTHING, NOTHING]])
