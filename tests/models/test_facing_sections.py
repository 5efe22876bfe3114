"""Facing network in a model file: whole, or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.facing.person_picture import CHANNELS, SIDE
from posepipe.io.npz import write_npz
from posepipe.models.pose_model import PoseModel
from tests.models.test_model_file import arrays_of, header_of, small_model
from tests.support import random_inputs


@pytest.fixture
def path(tmp_path):
    replace(small_model(), facing=random_inputs.facing_network(np.random.default_rng(4))).save(tmp_path / "facing.npz")
    return tmp_path / "facing.npz"


def test_the_network_comes_back(path):
    assert "facing" in header_of(arrays_of(path))["sections"]
    picture = np.random.default_rng(5).random((SIDE, SIDE, CHANNELS), np.float32)
    own = random_inputs.facing_network(np.random.default_rng(4)).predict(picture)
    np.testing.assert_array_equal(PoseModel.load(path).facing.predict(picture).probabilities, own.probabilities)


def test_a_model_without_one_has_no_such_section(path):
    small_model().save(path)
    assert PoseModel.load(path).facing is None
    assert not {name for name in arrays_of(path) if name.startswith("facing")}


@pytest.mark.parametrize("missing", ["facing/weight_0", "facing/bias_7"])
def test_a_network_without_an_array_is_refused(path, missing):
    write_npz(path, {name: own for name, own in arrays_of(path).items() if name != missing})
    with pytest.raises(FormatError, match=r"it lacks|must be finite|has 6 convolutional"):
        PoseModel.load(path)


@pytest.mark.parametrize("array", [np.full((3, 3, 4, 4), np.inf, np.float16), np.zeros((2, 3, 4, 4), np.float16)])
def test_a_damaged_network_is_refused(path, array):
    write_npz(path, arrays_of(path) | {"facing/weight_0": array})
    with pytest.raises(FormatError, match="layer 0 of the facing network must be finite"):
        PoseModel.load(path)
