"""A forest on a frame: stumps seen by eye, and what every forest keeps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.learn.depth.classify import BLOCK, classify, find_leaves, mean_posterior
from posepipe.learn.depth.forest_file import as_stored
from posepipe.learn.depth.packed_forest import pack_forest
from posepipe.learn.depth.splitting.depth_features import bordered_depth
from posepipe.learn.tree import LEAF, Tree
from tests.support import random_inputs

RIGHT_PROBE = np.array([[[0, 1], [0, 0]]], np.float32)  #: one metre to the right, against the pixel itself


def stump(threshold_m: float, left, right) -> Tree:
    return Tree(
        feature=np.array([0, LEAF, LEAF], np.int32),
        threshold=np.array([threshold_m, 0, 0], np.float32),
        first_child=np.array([1, 0, 1], np.int32),
        leaf_statistics=np.array([left, right], np.float32),
    )


def leaf(*probabilities: float) -> Tree:
    return Tree(
        np.array([LEAF], np.int32),
        np.zeros(1, np.float32),
        np.zeros(1, np.int32),
        np.array([probabilities], np.float32),
    )


def on_a_row(trees, tables) -> list:
    """Posteriors of four pixels at 2, 2, 1.5 and 2 m, focal length 2: the right probe is the right neighbour."""
    image = bordered_depth(np.array([[2, 2, 1.5, 2]], np.float32), np.ones((1, 4), bool))
    pixels = np.array([[0, 0], [0, 1], [0, 2], [0, 3]], np.int32)
    return classify(image, pixels, 2.0, 2.0, pack_forest(trees, tables)).tolist()


def test_four_pixels_go_down_a_stump_as_the_eye_sees_it():
    # responses 0, -0.5, +0.5 (1.33 pixels to the right: the last one), +8 (background)
    answers = on_a_row([stump(-0.2505, [1, 0], [0, 1])], [RIGHT_PROBE])
    assert answers == [[0, 1], [1, 0], [0, 1], [0, 1]]


def test_a_response_up_to_the_threshold_goes_to_the_first_child():
    # thresholds of whole millimetres are never learned, but a file may hold one: 0 goes left
    assert on_a_row([stump(0.0, [1, 0], [0, 1])], [RIGHT_PROBE])[0] == [1, 0]


def test_trees_are_averaged():
    answers = on_a_row([leaf(1, 0), leaf(0.5, 0.5)], [RIGHT_PROBE, RIGHT_PROBE])
    assert answers == [[0.75, 0.25]] * 4


def test_every_tree_asks_its_own_feature_table():
    left_probe = -RIGHT_PROBE
    threshold_m = 0.2505
    answers = on_a_row([stump(threshold_m, [1, 0], [0, 1])] * 2, [RIGHT_PROBE, left_probe])
    # right neighbours differ by 0, -0.5, 0.5, 8; left ones by 8, 0, 0.5, -0.5
    assert answers == [[0.5, 0.5], [1, 0], [0, 1], [0.5, 0.5]]


def test_a_symmetric_forest_mirrors_its_answer_with_the_image():
    rng = np.random.default_rng(2)
    depth_m, mask = random_inputs.depth_image(rng, 40, 51)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, 300)
    other_side = np.array([0, 2, 1, 3])
    forest = pack_forest([random_inputs.tree(rng, 6, 10, 4)], [random_inputs.offset_pairs(rng, 10)], other_side)
    here = classify(bordered_depth(depth_m, mask), pixels, 50.0, 50.0, forest)
    mirrored = np.column_stack([pixels[:, 0], 50 - pixels[:, 1]]).astype(np.int32)
    there = classify(bordered_depth(depth_m[:, ::-1].copy(), mask[:, ::-1].copy()), mirrored, 50.0, 50.0, forest)
    same = np.isclose(here, there[:, other_side], atol=1e-6).all(axis=1)
    assert same.mean() > 0.99  # a probe on the edge of two pixels is rounded to the right, in the mirror too
    assert not np.allclose(here, here[:, other_side])


@pytest.mark.parametrize("count", [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK + 7])
def test_pixels_are_classified_alike_alone_and_together(count):
    rng = np.random.default_rng(count)
    depth_m, mask = random_inputs.depth_image(rng, 40, 50)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, count)
    image = bordered_depth(depth_m, mask)
    forest = pack_forest(
        [random_inputs.tree(rng, 6, 10, 4) for _ in range(2)], [random_inputs.offset_pairs(rng, 10) for _ in range(2)]
    )
    together = classify(image, pixels, 50.0, 50.0, forest)
    assert (together.shape, together.dtype) == ((count, 4), np.float32)
    for n in range(count):
        np.testing.assert_array_equal(together[n], classify(image, pixels[n : n + 1], 50.0, 50.0, forest)[0])


def test_probabilities_sum_to_1():
    rng = np.random.default_rng(7)
    depth_m, mask = random_inputs.depth_image(rng, 40, 50)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, 300)
    forest = pack_forest(
        [random_inputs.tree(rng, 7, 10, 32) for _ in range(3)], [random_inputs.offset_pairs(rng, 10) for _ in range(3)]
    )
    answers = classify(bordered_depth(depth_m, mask), pixels, 50.0, 50.0, forest)
    np.testing.assert_allclose(answers.sum(1), 1, atol=1e-5)
    assert (answers >= 0).all()


def test_far_background_never_changes_a_label():
    rng = np.random.default_rng(8)
    depth_m, mask = random_inputs.depth_image(rng, 40, 50)
    pixels = random_inputs.readable_pixels(rng, depth_m, mask, 200)
    forest = pack_forest([random_inputs.tree(rng, 7, 10, 5)], [random_inputs.offset_pairs(rng, 10)])
    walls = np.where(mask, depth_m, rng.uniform(5, 9, depth_m.shape)).astype(np.float32)
    np.testing.assert_array_equal(
        classify(bordered_depth(walls, mask), pixels, 50.0, 50.0, forest),
        classify(bordered_depth(depth_m, mask), pixels, 50.0, 50.0, forest),
    )


def test_a_camera_of_twice_the_resolution_gives_the_same_label():
    # a wall at 2 m, each pixel of it four pixels of the finer camera
    rng = np.random.default_rng(9)
    coarse = rng.integers(1800, 2200, (20, 20)) / 1000
    coarse[10, 10] = 2.0
    fine = np.repeat(np.repeat(coarse, 2, 0), 2, 1)
    offsets = rng.integers(-8, 9, (12, 2, 2)).astype(np.float32) / 10  # whole pixels of the coarse camera
    forest = pack_forest([random_inputs.tree(rng, 6, 12, 5)], [offsets])
    answers = []
    for depth_m, pixel, focal in ((coarse, 10, 20.0), (fine, 20, 40.0)):
        image = bordered_depth(depth_m.astype(np.float32), np.ones(depth_m.shape, bool))
        answers.append(classify(image, np.array([[pixel, pixel]], np.int32), focal, focal, forest))
    np.testing.assert_array_equal(*answers)


def test_a_depth_that_rounds_to_0_reads_as_background():
    depth_m = np.full((4, 5), 2, np.float32)
    depth_m[2, 2] = 0.0003
    image = bordered_depth(depth_m, np.ones(depth_m.shape, bool))
    tree = Tree(
        np.array([0, LEAF, LEAF], np.int32),
        np.array([5.0, 0, 0], np.float32),
        np.array([1, 0, 1], np.int32),
        np.eye(2, dtype=np.float32),
    )
    offsets = np.array([[[0, 0], [0.3, -0.2]]], np.float32)  # 0 times an infinite scale, and a border
    leaves = find_leaves(image, np.array([[2, 2]], np.int32), 50.0, 50.0, pack_forest([tree], [offsets], np.arange(2)))
    assert leaves.tolist() == [[0, 0]]  # both probes read background


def test_packing_keeps_every_node_and_leaf():
    rng = np.random.default_rng(10)
    trees = [random_inputs.tree(rng, 5, 8, 3) for _ in range(3)]
    tables = [random_inputs.offset_pairs(rng, 8) for _ in range(3)]
    packed = pack_forest(trees, tables)
    asking = [np.count_nonzero(~tree.is_leaf) for tree in trees]
    assert len(packed.records) == sum(asking)
    assert packed.roots.tolist() == [0, asking[0], asking[0] + asking[1]]
    links = packed.records.view(np.int32)[:, 5:7].ravel()
    below, leaves = links[links >= 0], -1 - links[links < 0]
    assert sorted([*packed.roots, *below]) == list(range(len(packed.records)))  # every record is reached, once
    assert sorted(leaves) == sorted(row for tree in trees for row in range(tree.n_leaves))
    assert packed.leaf_shares.dtype == np.float32
    np.testing.assert_array_equal(packed.leaf_shares, np.concatenate([t.leaf_statistics for t in trees]))


def test_the_larger_child_follows_its_parent():
    # node 0 asks, its first child is a leaf, its second asks twice more
    feature = np.array([0, LEAF, 0, 0, LEAF, LEAF, LEAF], np.int32)
    first_child = np.array([1, 0, 3, 5, 1, 2, 3], np.int32)
    tree = Tree(feature, np.zeros(7, np.float32), first_child, np.eye(4, dtype=np.float32))
    packed = pack_forest([tree, leaf(1, 0, 0, 0)], [RIGHT_PROBE, RIGHT_PROBE])
    assert packed.records.view(np.int32)[:, 5:7].tolist() == [[-1, 1], [2, -2], [-3, -4]]
    assert packed.roots.tolist() == [0, -1]  # the second tree is a leaf, and no record


def test_leaves_of_bytes_are_packed_as_their_posteriors():
    rng = np.random.default_rng(12)
    trees, tables = [random_inputs.tree(rng, 5, 8, 3) for _ in range(2)], [random_inputs.offset_pairs(rng, 8)] * 2
    stored = [as_stored(tree) for tree in trees]
    in_bytes = [replace(tree, leaf_statistics=np.rint(255 * tree.leaf_statistics).astype(np.uint8)) for tree in stored]
    wanted = pack_forest(stored, tables).leaf_shares
    np.testing.assert_array_equal(pack_forest(in_bytes, tables).leaf_shares, wanted)
    np.testing.assert_array_equal(pack_forest([stored[0], in_bytes[1]], tables).leaf_shares, wanted)


def test_leaves_as_a_model_file_keeps_them_are_packed_as_bytes():
    rng = np.random.default_rng(11)
    trees, tables = [random_inputs.tree(rng, 5, 8, 3)], [random_inputs.offset_pairs(rng, 8)]
    kept = [as_stored(tree) for tree in trees]
    packed, exact = pack_forest(kept, tables), pack_forest(trees, tables)
    assert (packed.leaf_shares.dtype, exact.leaf_shares.dtype) == (np.uint8, np.float32)
    leaves = rng.integers(trees[0].n_leaves, size=(50, 1)).astype(np.int32)
    np.testing.assert_allclose(mean_posterior(leaves, packed), kept[0].leaf_statistics[leaves[:, 0]], atol=1e-7)
