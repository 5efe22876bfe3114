"""Labels that follow the readings, against the rule written out."""

import numpy as np
import pytest

from synth.label_spread import spread_labels
from tests.reference import label_spread as naive


@pytest.mark.parametrize("seed", range(5))
def test_labels_spread_as_the_rule_says(seed):
    rng = np.random.default_rng(seed)
    parts = (rng.integers(1, 32, (24, 31)) * (rng.random((24, 31)) < 0.15)).astype(np.uint8)
    depth_m = (rng.uniform(1, 4, parts.shape) * (rng.random(parts.shape) < 0.7)).astype(np.float32)
    wanted = naive.spread_labels(parts, depth_m)
    spread_labels(parts, depth_m)
    np.testing.assert_array_equal(parts, wanted)
