"""Tree files of the Point Cloud Library: their labels, to the pixel, in our pipeline; and every refusal."""

from __future__ import annotations

import bz2
from pathlib import Path

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import FormatError
from posepipe.landmarks import landmark_names
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.probes.probe_rules import CLAMPED, METRIC
from posepipe.learn.interchange.pcl_body import PART_PLACES, PCL_BODY
from posepipe.learn.interchange.pcl_tree_file import pcl_tree_files, read_pcl_forest
from posepipe.models.pcl_model import import_pcl_model
from posepipe.models.pose_model import PoseModel
from tests.reference.learn import clamped_probes as naive
from tests.support import random_inputs
from tests.support.shipped_model import shipped_model

INTRINSICS = Intrinsics(97.3, 97.3, 31.5, 23.5)
LABELS = len(PCL_BODY.parts)


def tree_text(seed: int, height: int = 7) -> str:
    """A full tree with runs of equal labels, as the library writes it."""
    rng = np.random.default_rng(seed)
    nodes = rng.integers(-350, 351, (2**height - 1, 5))
    labels = np.repeat(rng.integers(LABELS, size=2 ** (height - 2)), 4)
    labels[rng.random(len(labels)) < 0.2] = 24
    rows = [" ".join(f"{number:5d}" for number in row) for row in nodes]
    return "\n".join([str(height), *rows, *map(str, labels)]) + "\n"


@pytest.fixture
def folder(tmp_path) -> Path:
    (tmp_path / "tree1.txt").write_text(tree_text(1))
    (tmp_path / "tree2.txt.bz2").write_bytes(bz2.compress(tree_text(2, height=3).encode()))
    (tmp_path / "LICENSE").write_text("a licence\n")
    return tmp_path


def person(seed: int = 4) -> tuple[np.ndarray, np.ndarray]:
    """Depth of whole millimetres, metres, and the mask of a person who touches the border of the image."""
    depth_m, mask = random_inputs.depth_image(np.random.default_rng(seed), 48, 64)
    mask[20:, 40:] = True
    return (np.rint(depth_m * 1000) / 1000).astype(np.float32), mask


def naive_labels(text: str, depth_m: np.ndarray, mask: np.ndarray, pixels: np.ndarray) -> list[int]:
    image = np.where(mask & (depth_m > 0), np.rint(depth_m * 1000).astype(int), naive.BACKGROUND_MM).tolist()
    tree = naive.read_tree(text)
    return [naive.label_of(*tree, image, row, col, INTRINSICS.fx) for row, col in pixels.tolist()]


def test_every_pixel_gets_the_label_of_the_tree_file(folder):
    forest = read_pcl_forest(pcl_tree_files(folder))
    depth_m, mask = person()
    pixels, leaves = forest.reach_leaves(depth_m, mask, INTRINSICS)
    assert len(pixels) == np.count_nonzero(mask & (depth_m > 0))
    for k, text in enumerate((tree_text(1), tree_text(2, height=3))):
        labels = forest.trees[k].leaf_statistics[leaves[:, k]].argmax(axis=1) - 1
        assert labels.tolist() == naive_labels(text, depth_m, mask, pixels)
        assert len(set(labels.tolist())) > 1


def test_a_forest_averages_the_labels_of_its_trees(folder):
    forest = read_pcl_forest(pcl_tree_files(folder))
    depth_m, mask = person()
    parts = forest.predict(depth_m, mask, INTRINSICS, (2, 3))
    wanted = np.zeros((len(parts.pixels), LABELS + 1))
    for text in (tree_text(1), tree_text(2, height=3)):
        labels = naive_labels(text, depth_m, mask, parts.pixels)
        wanted[np.arange(len(labels)), np.array(labels) + 1] += 0.5
    np.testing.assert_allclose(parts.probabilities, wanted, atol=1e-6)


def test_splits_between_equal_labels_are_dropped(folder):
    tree = read_pcl_forest(pcl_tree_files(folder)).trees[0]
    assert tree.n_leaves < 2**7
    assert tree.leaf_statistics.dtype == np.uint8
    assert (tree.leaf_statistics.sum(axis=1, dtype=int) == 255).all()


def test_a_tree_of_one_label_is_one_leaf(tmp_path):
    (tmp_path / "t.txt").write_text("1\n0 0 0 0 0\n7\n7\n")
    (tree,) = read_pcl_forest([tmp_path / "t.txt"]).trees
    assert tree.n_nodes == 1
    assert tree.leaf_statistics[0].argmax() == 8


def test_the_files_of_a_folder_are_found_by_their_content(folder):
    assert [path.name for path in pcl_tree_files(folder)] == ["tree1.txt", "tree2.txt.bz2"]
    assert pcl_tree_files(folder / "tree1.txt") == (folder / "tree1.txt",)
    assert pcl_tree_files(folder / "LICENSE") == ()
    assert pcl_tree_files(folder / "missing") == ()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "whole numbers"),
        ("1\n0 0 0 0 0\n7\n", "has 8 numbers, got 7"),
        ("1\n0 0 0 0 0\n7\n7\n7\n", "has 8 numbers, got 9"),
        ("1\n0 0 0 0 0\n7\n25\n", "labels of 0 to 24"),
        ("1\n0 0 0 0 0\n-1\n7\n", "labels of 0 to 24"),
        ("0\n", "a height of 1"),
        ("40\n0 0 0 0 0\n", "a height of 1"),
        ("1\n0 0 0.5 0 0\n7\n7\n", "besides whole numbers"),
        ("1\n0 0 x 0 0\n7\n7\n", "besides whole numbers"),
        ("1\n0 0 99999 0 0\n7\n7\n", "whole numbers up to 32768"),
        (f"1\n0 0 {-(1 << 63)} 0 0\n7\n7\n", "whole numbers up to 32768"),
    ],
)
def test_other_texts_are_refused(tmp_path, text, message):
    (tmp_path / "t.txt").write_text(text)
    with pytest.raises(FormatError, match=message):
        read_pcl_forest([tmp_path / "t.txt"])


def test_cut_and_missing_files_are_refused(folder):
    (folder / "cut.txt.bz2").write_bytes((folder / "tree2.txt.bz2").read_bytes()[:-20])
    with pytest.raises(FormatError, match=r"not a tree file .*: compressed data are cut$"):
        read_pcl_forest([folder / "cut.txt.bz2"])
    with pytest.raises(FormatError, match="no such file"):
        read_pcl_forest([folder / "missing.txt"])


def test_compressed_files_beyond_the_limit_are_refused(folder, monkeypatch):
    monkeypatch.setattr("posepipe.io.decompression.MAX_BLOCK_BYTES", 20)
    with pytest.raises(FormatError, match="compressed data unpack to over 20 bytes"):
        read_pcl_forest([folder / "tree2.txt.bz2"])


def test_a_model_names_the_rules_of_its_probes(folder):
    model = import_pcl_model(pcl_tree_files(folder), shipped_model().joint_parameters)
    model.save(folder / "pcl.npz")
    loaded = PoseModel.load(folder / "pcl.npz")
    assert loaded.forest.probes == CLAMPED
    assert loaded.body == PCL_BODY
    depth_m, mask = person()
    one, other = (each.forest.predict(depth_m, mask, INTRINSICS).probabilities for each in (model, loaded))
    np.testing.assert_array_equal(one, other)
    assert shipped_model().forest.probes == METRIC


def test_a_forest_of_other_rules_is_not_mirrored(folder):
    forest = read_pcl_forest(pcl_tree_files(folder))
    with pytest.raises(ValueError, match="probe rules of posepipe"):
        DepthForest(forest.trees, forest.offsets, PCL_BODY, symmetric=True, probes=CLAMPED)


def test_every_part_lies_at_or_between_joints():
    between = set(landmark_names(PCL_BODY)) - set(PCL_BODY.joints)
    assert set(PART_PLACES) == between
    assert len(PCL_BODY.parts) == 25
    assert PCL_BODY.mirrored_classes()[PCL_BODY.part_code("left_thigh")] == PCL_BODY.part_code("right_thigh")
