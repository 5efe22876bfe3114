"""Ids that follow the readings, against the rule written out."""

import numpy as np
import pytest

from synth.render.label_spread import NOTHING, spread_ids
from tests.reference.synth.render import label_spread as naive


@pytest.mark.parametrize("seed", range(5))
def test_ids_spread_as_the_rule_says(seed):
    rng = np.random.default_rng(seed)
    ids = np.where(rng.random((24, 31)) < 0.15, rng.integers(0, 5000, (24, 31)), NOTHING).astype(np.int32)
    depth_m = (rng.uniform(1, 4, ids.shape) * (rng.random(ids.shape) < 0.7)).astype(np.float32)
    wanted = naive.spread_ids(ids, depth_m)
    spread_ids(ids, depth_m)
    np.testing.assert_array_equal(ids, wanted)


def test_ids_reach_two_pixels_and_leave_holes():
    ids = np.array([[7, 7, NOTHING, NOTHING, NOTHING, NOTHING]], np.int32)
    depth_m = np.array([[2, 0, 2, 2, 2, 0]], np.float32)
    spread_ids(ids, depth_m)
    np.testing.assert_array_equal(ids, [[7, NOTHING, 7, 7, NOTHING, NOTHING]])
