"""A trained model: it cannot be changed, and its parts fit together."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest

from posepipe.errors import FormatError, PosepipeError
from posepipe.joints.joint_parameters import JointParameters
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.votes.leaf_votes import LeafVotes
from posepipe.models.model_file import StoredModel, write_model
from posepipe.models.pose_model import PoseModel
from tests.support import random_inputs
from tests.support.shipped_model import shipped_model
from tests.support.toy_person import TOY, toy_frame


def drawn_forest(seed: int = 1) -> DepthForest:
    rng = np.random.default_rng(seed)
    trees = [random_inputs.tree(rng, 4, 6, TOY.n_classes) for _ in range(2)]
    return DepthForest(trees, [random_inputs.offset_pairs(rng, 6) for _ in trees], TOY)


def drawn_votes(forest: DepthForest, joints: int = len(TOY.joints)) -> tuple[LeafVotes, ...]:
    rng = np.random.default_rng(2)
    return tuple(
        LeafVotes.from_dense(
            rng.integers(3, size=tree.n_leaves, dtype=np.int32),
            rng.integers(-100, 100, (3, joints, 1, 3), np.int8),
            rng.integers(1, 255, (3, joints, 1), np.uint8),
        )
        for tree in forest.trees
    )


def test_no_field_of_a_model_can_be_set():
    model = PoseModel.of(drawn_forest())
    for field in ("forest", "joint_parameters", "votes", "metadata"):
        with pytest.raises(FrozenInstanceError):
            setattr(model, field, None)


def test_metadata_cannot_be_changed():
    given = {"name": "toy"}
    model = PoseModel(drawn_forest(), JointParameters.default(TOY), metadata=given)
    with pytest.raises(TypeError):
        model.metadata["name"] = "other"
    given["name"] = "other"
    assert model.metadata == {"name": "toy"}


def test_new_metadata_make_a_new_model():
    model = PoseModel.of(drawn_forest()).with_metadata(name="toy", frames=3)
    other = model.with_metadata(name=None, frames=4, seed=1)
    assert model.metadata == {"name": "toy", "frames": 3}
    assert other.metadata == {"frames": 4, "seed": 1}
    assert other.forest is model.forest


def test_a_model_of_a_bare_forest_has_untrained_parameters():
    forest = drawn_forest()
    model = PoseModel.of(forest)
    assert (model.forest, model.body, model.votes, dict(model.metadata)) == (forest, TOY, (), {})
    default = JointParameters.default(TOY)
    assert model.joint_parameters.method == default.method == "parts"
    np.testing.assert_array_equal(model.joint_parameters.push_back_m, default.push_back_m)


def test_votes_become_a_tuple():
    forest = drawn_forest()
    votes = list(drawn_votes(forest))
    assert PoseModel(forest, JointParameters.default(TOY), votes).votes == tuple(votes)


def test_votes_of_fewer_trees_are_refused():
    forest = drawn_forest()
    with pytest.raises(ValueError, match="2 trees needs votes for each or none, got 1"):
        PoseModel(forest, JointParameters.default(TOY), drawn_votes(forest)[:1])


def test_votes_that_do_not_fit_the_trees_are_refused():
    forest = drawn_forest()
    with pytest.raises(ValueError, match="leaves need a vote node each"):
        PoseModel(forest, JointParameters.default(TOY), drawn_votes(drawn_forest(seed=3)))
    with pytest.raises(ValueError, match=f"votes for {len(TOY.joints)} joints"):
        PoseModel(forest, JointParameters.default(TOY), drawn_votes(forest, joints=2))


@pytest.mark.parametrize("method", ["votes", "both"])
def test_parameters_that_need_absent_votes_are_refused(method):
    forest = drawn_forest()
    with pytest.raises(ValueError, match=f"joints from '{method}' need votes"):
        PoseModel(forest, JointParameters.default(TOY, method))
    assert PoseModel(forest, JointParameters.default(TOY, method), drawn_votes(forest)).votes


def test_a_file_whose_parts_do_not_fit_is_a_format_error(tmp_path):
    path = tmp_path / "toy.npz"
    write_model(path, StoredModel(drawn_forest(), JointParameters.default(TOY, "votes"), (), {}))
    with pytest.raises(FormatError, match=r"toy\.npz: .*need votes"):
        PoseModel.load(path)


def test_a_model_is_read_by_name_or_path(tmp_path):
    assert shipped_model().metadata["name"] == "person"
    PoseModel.of(drawn_forest()).save(tmp_path / "toy.npz")
    assert PoseModel.load(str(tmp_path / "toy.npz")).body == TOY
    with pytest.raises(PosepipeError, match="no model 'dragon'"):
        PoseModel.load("dragon")


def test_a_symmetric_copy_leaves_the_model_as_it_is():
    model = PoseModel.of(drawn_forest())
    symmetric = replace(model, forest=model.forest.with_symmetry(True))
    assert symmetric.forest.symmetric
    assert not model.forest.symmetric


def test_using_a_model_changes_none_of_its_arrays():
    forest = drawn_forest()
    model = PoseModel(forest, JointParameters.default(TOY), drawn_votes(forest))
    kept = [array.copy() for array in arrays_of(model)]
    depth = toy_frame(3).depth
    parts = model.classifier().predict(depth.depth_m, depth.depth_m > 0, depth.intrinsics)
    parts.cast_votes(np.zeros((len(parts.pixels), 3), np.float32), np.ones(len(parts.pixels), np.float32))
    for before, after in zip(kept, arrays_of(model), strict=True):
        np.testing.assert_array_equal(before, after)


def arrays_of(model: PoseModel) -> list[np.ndarray]:
    owners = (*model.forest.trees, *model.votes, model.joint_parameters)
    values = [getattr(owner, name) for owner in owners for name in owner.__dataclass_fields__]
    return [value for value in (*values, *model.forest.offsets) if isinstance(value, np.ndarray)]
