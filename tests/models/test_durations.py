"""Durations of training stand beside the model file, so that the file is the same however long training took."""

from __future__ import annotations

import json

import numpy as np
import pytest

from posepipe.errors import FormatError
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models.durations import durations_path
from posepipe.models.pose_model import PoseModel
from tests.support import random_inputs
from tests.support.toy_person import TOY

QUICK = {"seconds": 1.5, "joint_seconds": 2.0, "resumed": False, "segmentation": {"frames": 7, "seconds": 0.5}}
SLOW = {"seconds": 90.0, "joint_seconds": 30.0, "resumed": True, "segmentation": {"frames": 7, "seconds": 11.0}}


def model(**metadata) -> PoseModel:
    rng = np.random.default_rng(3)
    forest = DepthForest([random_inputs.tree(rng, 5, 9, TOY.n_classes)], [random_inputs.offset_pairs(rng, 9)], TOY)
    return PoseModel.of(forest).with_metadata(**metadata)


def test_slow_and_quick_training_write_the_same_file(tmp_path):
    model(**QUICK).save(tmp_path / "a.npz")
    model(**SLOW).save(tmp_path / "b.npz")
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()


@pytest.mark.parametrize("metadata", [QUICK, SLOW])
def test_a_loaded_model_knows_its_durations(tmp_path, metadata):
    model(**metadata).save(tmp_path / "a.npz")
    assert PoseModel.load(tmp_path / "a.npz").metadata == metadata


def test_a_model_without_its_durations_is_complete(tmp_path):
    model(**SLOW).save(tmp_path / "a.npz")
    durations_path(tmp_path / "a.npz").unlink()
    assert PoseModel.load(tmp_path / "a.npz").metadata == {"segmentation": {"frames": 7}}


def test_a_model_that_replaces_another_drops_its_durations(tmp_path):
    model(**SLOW).save(tmp_path / "a.npz")
    model(name="new").save(tmp_path / "a.npz")
    assert [path.name for path in tmp_path.iterdir()] == ["a.npz"]


def test_durations_of_other_stages_are_passed_over(tmp_path):
    model(name="toy").save(tmp_path / "a.npz")
    durations_path(tmp_path / "a.npz").write_text(json.dumps({"person_filter": {"seconds": 3.0}, "other": [1]}))
    assert PoseModel.load(tmp_path / "a.npz").metadata == {"name": "toy"}


@pytest.mark.parametrize("text", ['{"seconds": "long"}', "[1, 2]", "{", '{"seconds": null}'])
def test_damaged_durations_name_their_file(tmp_path, text):
    model(name="toy").save(tmp_path / "a.npz")
    durations_path(tmp_path / "a.npz").write_text(text)
    with pytest.raises(FormatError, match=r"a\.seconds\.json"):
        PoseModel.load(tmp_path / "a.npz")
