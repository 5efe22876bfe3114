"""Figures are added to the header of a model file; whatever decides its answers stays the same, to the bit."""

from __future__ import annotations

import json

import numpy as np
import pytest

from posepipe.errors import FormatError, PosepipeError
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models import header as model_header
from posepipe.models.header import add_figures, answer_hash
from posepipe.models.pose_model import PoseModel
from tests.support import random_inputs
from tests.support.toy_person import TOY, toy_frame

FIGURES = {"headline": {"mean part accuracy": 0.1 + 0.2, "joint mAP at 10 cm": None}, "joints": {"head": {"ap": 1.0}}}


def drawn_model(seed: int = 1) -> PoseModel:
    rng = np.random.default_rng(seed)
    trees = [random_inputs.tree(rng, 5, 9, TOY.n_classes) for _ in range(2)]
    forest = DepthForest(trees, [random_inputs.offset_pairs(rng, 9) for _ in trees], TOY)
    return PoseModel.of(forest).with_metadata(name="toy")


@pytest.fixture
def model(tmp_path):
    drawn_model().save(tmp_path / "toy.npz")
    return tmp_path / "toy.npz"


def arrays_of(path) -> dict[str, np.ndarray]:
    with np.load(path) as stored:
        return {name: stored[name] for name in stored.files}


def test_figures_change_nothing_but_the_header(model):
    before, labels = arrays_of(model), probabilities(model)
    add_figures(model, "five people", FIGURES, answer_hash(model))
    after = arrays_of(model)
    assert list(after) == list(before)
    for name in set(before) - {"header"}:
        assert after[name].dtype == before[name].dtype
        assert after[name].shape == before[name].shape
        assert after[name].tobytes() == before[name].tobytes()
    header = json.loads(after["header"].tobytes())
    assert header.pop("figures") == {"five people": FIGURES}
    assert header == json.loads(before["header"].tobytes())
    np.testing.assert_array_equal(probabilities(model), labels)
    assert [path.name for path in model.parent.iterdir()] == ["toy.npz"]


def probabilities(model) -> np.ndarray:
    depth = toy_frame(3).depth
    return PoseModel.load(model).forest.predict(depth.depth_m, depth.depth_m > 0, depth.intrinsics).probabilities


def test_figures_of_the_same_frames_replace_the_older(model):
    own = answer_hash(model)
    for title, accuracy in (("some", 0.1), ("others", 0.2), ("some", 0.3)):
        add_figures(model, title, {"headline": {"mean part accuracy": accuracy}, "joints": {}}, own)
    figures = PoseModel.load(model).metadata["figures"]
    assert {title: kept["headline"]["mean part accuracy"] for title, kept in figures.items()} == {
        "some": 0.3,
        "others": 0.2,
    }
    assert answer_hash(model) == own


def test_figures_of_another_model_are_refused(model):
    own = answer_hash(model)
    drawn_model(seed=2).save(model)
    assert answer_hash(model) != own
    before = model.read_bytes()
    with pytest.raises(PosepipeError, match="replaced while it was being scored"):
        add_figures(model, "five people", FIGURES, own)
    assert model.read_bytes() == before


def test_a_failed_write_leaves_the_model_whole(model, monkeypatch):
    def fails(source, target):
        raise OSError(28, "No space left on device")

    before = model.read_bytes()
    monkeypatch.setattr("posepipe.io.npz.os.replace", fails)
    with pytest.raises(PosepipeError, match="No space left"):
        add_figures(model, "five people", FIGURES, answer_hash(model))
    assert model.read_bytes() == before


def test_the_hash_is_of_the_content_and_not_of_the_file(model, tmp_path):
    arrays = arrays_of(model)
    np.savez(tmp_path / "other.npz", **dict(reversed(arrays.items())))  # another order, not compressed
    assert answer_hash(tmp_path / "other.npz") == answer_hash(model)
    for name in arrays:
        changed = arrays[name].copy()
        changed.reshape(-1)[0:1] += 1
        if name == "header":
            changed = np.frombuffer(b'{"name": "toy"}', np.uint8)
        np.savez(tmp_path / "other.npz", **arrays | {name: changed})
        assert answer_hash(tmp_path / "other.npz") != answer_hash(model), name


def test_the_hash_leaves_out_how_long_training_took(tmp_path):
    hashes = set()
    for seconds in (1.5, 80.0):
        own = {"seconds": seconds, "segmentation": {"seconds": seconds, "frames": 7}}
        drawn_model().with_metadata(**own).save(tmp_path / "toy.npz")
        hashes.add(answer_hash(tmp_path / "toy.npz"))
    assert len(hashes) == 1


@pytest.mark.parametrize("header", [None, b"", b"{", b"[]", b"\xff"])
def test_a_file_without_a_header_is_no_model(tmp_path, header):
    arrays = {} if header is None else {"header": np.frombuffer(header, np.uint8)}
    np.savez(tmp_path / "a.npz", leaves_0=np.zeros(3), **arrays)
    with pytest.raises(FormatError, match="not a posepipe model"):
        model_header.answer_hash(tmp_path / "a.npz")
