"""Calibration: arrays that do not fit are refused, and many people get what each gets alone."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.joints.calibration import calibrate, fuse, fusion_terms

JOINTS = 4
WEIGHTS = np.random.default_rng(1).normal(0, 1, (2, JOINTS, 6))


def model(seed: int, *people: int, joints: int = JOINTS) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(0, 0.3, (*people, joints, 3)), rng.uniform(0.05, 0.95, (*people, joints))


def test_many_people_get_what_each_gets_alone():
    expected, corrected = model(2, 3, 5), model(3, 3, 5)
    joints_m, confidence = fuse(WEIGHTS, expected, corrected)
    for place in np.ndindex(3, 5):
        one, other = ((m[0][place], m[1][place]) for m in (expected, corrected))
        alone_m, alone = fuse(WEIGHTS, one, other)
        np.testing.assert_array_equal(alone_m, joints_m[place])
        np.testing.assert_array_equal(alone, confidence[place])


def test_models_of_other_joints_are_refused():
    with pytest.raises(ValueError, match="same joints"):
        fuse(WEIGHTS, model(2), model(3, joints=3))
    with pytest.raises(ValueError, match="same joints"):
        fusion_terms(model(2, 2), model(3, 3))
    with pytest.raises(ValueError, match="weights"):
        fuse(WEIGHTS[:, 1:], model(2), model(3))
    with pytest.raises(ValueError, match="4 joints have a calibration"):
        calibrate(np.full((2, 5), 0.5), np.ones((4, 2)))
