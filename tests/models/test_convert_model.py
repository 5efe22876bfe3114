"""`posepipe convert` on models: saved anew, pruned, and every refusal."""

from __future__ import annotations

import numpy as np
import pytest

from apps.cli import main
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.models.card import write_card
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.support import random_inputs
from tests.support.toy_person import TOY


@pytest.fixture
def model(tmp_path):
    rng = np.random.default_rng(3)
    forest = DepthForest([random_inputs.tree(rng, 6, 8, TOY.n_classes)], [random_inputs.offset_pairs(rng, 8)], TOY)
    PoseModel.of(forest).with_metadata(name="toy").save(tmp_path / "toy.npz")
    return tmp_path / "toy.npz"


def error_of(capsys, *arguments) -> str:
    assert main([str(a) for a in arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    return line


def test_a_model_is_saved_anew(model, tmp_path, capsys):
    assert main(["convert", str(model), str(tmp_path / "new.npz")]) == 0
    old, new = PoseModel.load(model), PoseModel.load(tmp_path / "new.npz")
    np.testing.assert_array_equal(old.forest.packed.records, new.forest.packed.records)
    np.testing.assert_array_equal(old.forest.packed.leaf_shares, new.forest.packed.leaf_shares)
    assert dict(new.metadata) == {"name": "new"}
    assert f"{old.forest.trees[0].n_leaves} leaves" in capsys.readouterr().out


def test_a_model_is_pruned(model, tmp_path):
    assert main(["convert", str(model), str(tmp_path / "half.npz"), "--prune", "0.5"]) == 0
    old, new = (PoseModel.load(path).forest.trees[0].n_leaves for path in (model, tmp_path / "half.npz"))
    assert new <= old / 2


def test_leaves_of_a_model_are_rounded(model, tmp_path):
    assert main(["convert", str(model), str(tmp_path / "coarse.npz"), "--leaf-steps", "17"]) == 0
    shares = PoseModel.load(tmp_path / "coarse.npz").forest.packed.leaf_shares
    assert not (shares % 15).any()
    assert (PoseModel.load(model).forest.packed.leaf_shares % 15).any()


def test_a_model_becomes_a_model_alone(model, tmp_path, capsys):
    assert "ends in .npz or .json or .h" in error_of(capsys, "convert", model, tmp_path / "toy.mcap")
    assert "would replace its own source" in error_of(capsys, "convert", model, model)
    assert "--rotate" in error_of(capsys, "convert", model, tmp_path / "new.npz", "--rotate", "90")
    assert not (tmp_path / "new.npz").exists()


def test_only_models_are_pruned(tmp_path, capsys):
    pack = tmp_path / "pack.npz"
    write_npz_pack(pack, [DepthFrame(np.zeros((4, 5), np.float32), Intrinsics(5.0, 5.0, 2.0, 2.0))])
    said = error_of(capsys, "convert", pack, tmp_path / "new.npz", "--prune", "0.5")
    assert "--prune is for models" in said


@pytest.mark.parametrize("share", ["0", "1", "-1", "2", "half", "nan"])
def test_a_share_outside_its_range_is_wrong_usage(model, tmp_path, capsys, share):
    with pytest.raises(SystemExit) as ended:
        main(["convert", str(model), str(tmp_path / "new.npz"), f"--prune={share}"])
    assert ended.value.code == 2
    assert "above 0 and below 1" in capsys.readouterr().err


def test_tree_files_become_a_model(tmp_path, capsys):
    folder = tmp_path / "trees"
    folder.mkdir()
    for k in range(2):
        (folder / f"tree{k}.txt").write_text(f"1\n50 0 0 0 {k}\n3\n7\n")
    assert main(["convert", str(folder), str(tmp_path / "pcl.npz")]) == 0
    assert "2 trees, 4 leaves" in capsys.readouterr().out
    assert dict(PoseModel.load(tmp_path / "pcl.npz").metadata)["imported"]["files"] == ["tree0.txt", "tree1.txt"]
    assert "ends in .npz" in error_of(capsys, "convert", folder, tmp_path / "pcl.csv")


@pytest.mark.parametrize("name", ["trees.json", "trees.h"])
def test_the_trees_of_a_model_are_exported(model, tmp_path, capsys, name):
    assert main(["convert", str(model), str(tmp_path / name)]) == 0
    assert "1 tree, " in capsys.readouterr().out
    assert '"format":"posepipe-trees"' in (tmp_path / name).read_text() or name == "trees.h"


def test_a_model_takes_people_from_a_given_probability_on(tmp_path):
    strict = tmp_path / "strict.npz"
    assert main(["convert", "person-fast", str(strict), "--person-probability", "0.7"]) == 0
    model = PoseModel.load(strict)
    assert model.person_classifier.min_probability == pytest.approx(0.7)
    assert model.metadata.get("figures") is None
    assert Pipeline.from_model(model).person_filter.min_probability == pytest.approx(0.7)
    assert "from a probability of 0.7 on" in write_card(strict).read_text()


def test_without_a_person_filter_there_is_no_probability(model, tmp_path, capsys):
    message = error_of(capsys, "convert", model, tmp_path / "strict.npz", "--person-probability", "0.7")
    assert "no person classifier; train one by posepipe train --only filter" in message
