"""The depth forest: it learns a toy person, and use agrees with training."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.errors import PosepipeError
from posepipe.learn.depth.classify import classify, find_leaves
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.explanation.pixel_path import explain_pixel
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.packed_forest import pack_forest
from posepipe.learn.depth.splitting.depth_features import bordered_depth
from posepipe.learn.depth.splitting.pixel_sampling import sample_pixels
from posepipe.learn.depth.train_forest import train_forest, train_tree
from posepipe.learn.growing import GrowthRules
from posepipe.learn.tree import LEAF, Tree
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.label_map import draw_labels
from posepipe.segmentation.pixel_grid import pixels_of
from tests.support import random_inputs
from tests.support.toy_person import INTRINSICS, SHAPE, TOY, toy_frame, toy_frames

PARAMETERS = ForestParameters(
    trees=2,
    pixels_per_person=150,
    growth=GrowthRules(max_depth=9, candidates=80, min_gain=0.005, min_samples=8),
    seed=3,
)


@pytest.fixture(scope="module")
def forest() -> DepthForest:
    return train_forest(toy_frames(24), PARAMETERS, TOY)


def predict(forest, frame, **options):
    return forest.predict(frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics, **options)


def same_forest(one: DepthForest, other: DepthForest) -> bool:
    arrays = [
        [array for tree in f.trees for array in (tree.feature, tree.threshold, tree.first_child)]
        + [tree.leaf_statistics for tree in f.trees]
        + list(f.offsets)
        for f in (one, other)
    ]
    return len(arrays[0]) == len(arrays[1]) and all(map(np.array_equal, *arrays))


def test_a_forest_labels_people_it_never_saw(forest):
    right = total = 0
    for frame in toy_frames(10, first=100):
        found = predict(forest, frame)
        truth = frame.parts[found.pixels[:, 0], found.pixels[:, 1]]
        right += (found.probabilities.argmax(1) == truth).sum()
        total += len(truth)
    assert right / total > 0.9


def test_left_and_right_arms_are_told_apart(forest):
    frame = toy_frame(200)
    found = predict(forest, frame)
    for side in ("left_arm", "right_arm"):
        own = frame.parts[found.pixels[:, 0], found.pixels[:, 1]] == TOY.part_code(side)
        assert (found.probabilities[own].argmax(1) == TOY.part_code(side)).mean() > 0.8


def test_every_pixel_with_a_reading_has_probabilities_of_sum_1(forest):
    frame = toy_frame(201)
    depth_m = frame.depth.depth_m.copy()
    depth_m[::5] = 0
    found = forest.predict(depth_m, frame.people > 0, INTRINSICS)
    np.testing.assert_array_equal(found.pixels, np.argwhere((frame.people > 0) & (depth_m > 0)))
    assert found.probabilities.shape == (len(found.pixels), TOY.n_classes)
    np.testing.assert_allclose(found.probabilities.sum(1), 1, atol=1e-5)


def test_a_stride_classifies_a_grid_as_before(forest):
    frame = toy_frame(202)
    every, third = predict(forest, frame), predict(forest, frame, stride=(3, 2))
    on_grid = (every.pixels % (3, 2) == 0).all(1)
    assert third.stride == (3, 2)
    np.testing.assert_array_equal(third.pixels, every.pixels[on_grid])
    np.testing.assert_array_equal(third.probabilities, every.probabilities[on_grid])


@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (3, 3)])
@pytest.mark.parametrize("shift_px", [(0, 0), (13, 7), (-9, -11)])
def test_moving_a_person_in_the_image_changes_no_leaf(forest, shift_px, stride):
    """Classifying the window of a mask gives what classifying the whole image gives."""
    frame = toy_frame(203)
    depth_m, mask = (np.roll(image, shift_px, axis=(0, 1)) for image in (frame.depth.depth_m, frame.people > 0))
    pixels, leaves = forest.reach_leaves(depth_m, mask, INTRINSICS, stride)
    whole = find_leaves(bordered_depth(depth_m, mask), pixels, INTRINSICS.fx, INTRINSICS.fy, forest.packed)
    np.testing.assert_array_equal(leaves, whole)
    np.testing.assert_array_equal(pixels, pixels_of(mask & (depth_m > 0), stride))


@pytest.mark.parametrize("dtype", [np.uint8, np.int32, np.int64, np.float64])
def test_a_mask_may_be_of_any_dtype(forest, dtype):
    frame = toy_frame(203)
    masks = (frame.people > 0, (frame.people > 0).astype(dtype) * 2)
    bools, numbers = (forest.predict(frame.depth.depth_m, mask, INTRINSICS) for mask in masks)
    np.testing.assert_array_equal(numbers.pixels, bools.pixels)
    np.testing.assert_array_equal(numbers.probabilities, bools.probabilities)


@pytest.mark.parametrize("what", ["empty mask", "no reading"])
def test_an_empty_mask_gives_no_pixels(forest, what):
    depth_m = np.full(SHAPE, 2, np.float32) if what == "empty mask" else np.zeros(SHAPE, np.float32)
    found = forest.predict(depth_m, np.full(SHAPE, what != "empty mask"), INTRINSICS)
    assert found.pixels.shape == (0, 2)
    assert found.probabilities.shape == (0, TOY.n_classes)
    assert not draw_labels(found, np.ones(SHAPE, bool)).any()


def test_a_forest_trained_on_one_camera_serves_another(forest):
    # the same view at twice the resolution
    frame = toy_frame(203)
    fine = [np.repeat(np.repeat(image, 2, 0), 2, 1) for image in (frame.depth.depth_m, frame.people > 0, frame.parts)]
    found = forest.predict(fine[0], fine[1], INTRINSICS.scaled(2))
    truth = fine[2][found.pixels[:, 0], found.pixels[:, 1]]
    assert (found.probabilities.argmax(1) == truth).mean() > 0.9


@pytest.mark.parametrize("children", [1, 3])
def test_a_node_with_other_than_two_children_is_refused(children):
    tree = Tree(
        np.array([0] + [LEAF] * children, np.int32),
        np.zeros(children + 1, np.float32),
        np.array([1, *range(children)], np.int32),
        np.full((children, TOY.n_classes), 1 / TOY.n_classes, np.float32),
        np.array([children] + [0] * children, np.int32),
    )
    with pytest.raises(ValueError, match="two children"):
        DepthForest([tree], [np.zeros((1, 2, 2), np.float32)], TOY)


def test_depth_and_mask_of_different_shape_are_refused(forest):
    with pytest.raises(ValueError, match="shape"):
        forest.predict(np.ones((4, 5), np.float32), np.ones((5, 4), bool), INTRINSICS)


def test_millimetres_are_refused(forest):
    depth_mm = np.full((4, 5), 2000, np.uint16)  # taken for metres, all of it would be background
    for ask in (forest.predict, lambda depth, mask, lens: explain_pixel(forest, depth, mask, (1, 1), lens)):
        with pytest.raises(ValueError, match="floating point metres, got uint16"):
            ask(depth_mm, np.ones((4, 5), bool), INTRINSICS)


def test_training_pixels_reach_the_leaves_they_trained():
    frames = toy_frames(8)
    tree, table = train_tree(frames, replace(PARAMETERS, trees=1), TOY, 0)
    samples = sample_pixels(enumerate(frames), PARAMETERS.pixels_per_person, (PARAMETERS.seed, 0))
    # number the leaves: with one-hot posteriors the answer is the leaf
    numbered = replace(tree, leaf_statistics=np.eye(tree.n_leaves, dtype=np.float32))
    packed = pack_forest([numbered], [table])
    counts = np.zeros((tree.n_leaves, TOY.n_classes))
    for image, (height, width) in enumerate(samples.shape):
        own = samples.image == image
        start = samples.start[image]
        bordered = samples.images[start : start + height * width].reshape(height, width)
        pixels = samples.pixel[own].astype(np.int32) - 1
        leaves = classify(bordered, pixels, INTRINSICS.fx, INTRINSICS.fy, packed).argmax(1)
        np.add.at(counts, (leaves, samples.label[own]), 1)
    np.testing.assert_array_equal(counts, tree.leaf_statistics)
    assert tree.n_leaves > 10


def test_the_same_seed_trains_the_same_forest(forest):
    assert same_forest(train_forest(toy_frames(24), PARAMETERS, TOY), forest)
    assert not same_forest(train_forest(toy_frames(24), replace(PARAMETERS, seed=4), TOY), forest)


def test_every_tree_sees_frames_of_its_own():
    # tree 1 of 2 sees frames 1, 3, 5 ...: what the others show changes nothing for it
    frames, others = toy_frames(12), toy_frames(12)
    others[::2] = toy_frames(6, first=50)
    trees = [train_tree(data, PARAMETERS, TOY, 1)[0] for data in (frames, others)]
    np.testing.assert_array_equal(trees[0].threshold, trees[1].threshold)
    np.testing.assert_array_equal(trees[0].leaf_statistics, trees[1].leaf_statistics)


def test_every_level_is_reported():
    seen = []
    forest = train_forest(toy_frames(8), PARAMETERS, TOY, on_level=seen.append)
    for k, tree in enumerate(forest.trees):
        own = [progress for progress in seen if progress.tree == k]
        assert [progress.level for progress in own] == list(range(tree.depth() + 1))
        assert (own[-1].nodes, own[-1].leaves, own[-1].open_samples) == (tree.n_nodes, tree.n_leaves, 0)
        assert all(progress.samples == 4 * PARAMETERS.pixels_per_person for progress in own)


def test_fewer_frames_than_trees_are_refused():
    with pytest.raises(ValueError, match=r"2 trees, 1 frame$"):
        train_forest(toy_frames(1), PARAMETERS, TOY)


def test_a_list_of_frames_needs_a_body():
    with pytest.raises(ValueError, match=r"frames in a list .* give their body"):
        train_forest(toy_frames(2), PARAMETERS)


def test_frames_without_people_train_nothing():
    frame = toy_frame(0)
    empty = replace(frame, parts=np.zeros(SHAPE, np.uint8), people=np.zeros(SHAPE, np.uint8))
    with pytest.raises(ValueError, match="every label is 0"):
        train_forest([empty] * 4, PARAMETERS, TOY)


@pytest.mark.parametrize("wrong", [{"trees": 0}, {"trees": -1}, {"pixels_per_person": 0}])
def test_parameters_that_train_nothing_are_refused(wrong):
    with pytest.raises(ValueError):
        ForestParameters(**wrong)


def parts_of_a_forest(n_classes=TOY.n_classes):
    rng = np.random.default_rng(1)
    return random_inputs.tree(rng, 4, 6, n_classes), random_inputs.offset_pairs(rng, 6)


def test_trees_tables_and_body_must_fit():
    tree, table = parts_of_a_forest()
    DepthForest([tree], [table], TOY)
    other_classes, _ = parts_of_a_forest(n_classes=4)
    with_nan = table.copy()
    with_nan[0, 0, 0] = np.nan
    for trees, tables in (
        ([], []),
        ([tree], []),
        ([tree], [table, table]),
        ([tree], [table[: tree.feature.max()]]),
        ([tree], [table[:, 0]]),
        ([tree], [with_nan]),
        ([other_classes], [table]),
        ([replace(tree, first_child=np.where(tree.feature == LEAF, tree.first_child, 0))], [table]),
    ):
        with pytest.raises(ValueError):
            DepthForest(trees, tables, TOY)


def test_a_body_without_sides_has_no_symmetric_forest():
    tree, table = parts_of_a_forest()
    starfish = BodyDefinition("starfish", ("a", "b", "c", "d", "e"), ("mouth",), {})
    assert not starfish.has_sides
    assert TOY.has_sides
    with pytest.raises(ValueError, match="no left and right parts"):
        DepthForest([tree], [table], starfish, symmetric=True)


def test_a_symmetric_forest_is_walked_twice_as_often(forest):
    frame = toy_frame(100)
    arguments = (frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics)
    assert forest.symmetric
    assert forest.reach_leaves(*arguments)[1].shape[1] == 2 * len(forest.trees)
    once = forest.with_symmetry(False)
    assert once.reach_leaves(*arguments)[1].shape[1] == len(forest.trees)
    assert forest.symmetric


def test_a_saved_forest_comes_back_with_all_that_it_knew(forest, tmp_path):
    PoseModel.of(forest).save(tmp_path / "toy.npz")
    loaded = PoseModel.load(tmp_path / "toy.npz").forest
    assert loaded.body == TOY
    assert loaded.symmetric == forest.symmetric
    for tree, table, again, table_again in zip(forest.trees, forest.offsets, loaded.trees, loaded.offsets, strict=True):
        np.testing.assert_array_equal(again.feature, tree.feature)
        np.testing.assert_array_equal(again.first_child, tree.first_child)
        inner = tree.feature != LEAF
        np.testing.assert_array_equal(again.threshold[inner], tree.threshold[inner])
        np.testing.assert_array_equal(table_again, table)


def test_saving_what_was_loaded_changes_nothing_more(forest, tmp_path):
    PoseModel.of(forest).save(tmp_path / "once.npz")
    once = PoseModel.load(tmp_path / "once.npz")
    once.save(tmp_path / "twice.npz")
    assert same_forest(PoseModel.load(tmp_path / "twice.npz").forest, once.forest)


def test_saved_posteriors_stay_within_the_stated_quantisation(forest, tmp_path):
    PoseModel.of(forest).save(tmp_path / "toy.npz")
    loaded = PoseModel.load(tmp_path / "toy.npz").forest
    for seed in range(300, 303):
        before, after = (predict(each, toy_frame(seed)).probabilities for each in (forest, loaded))
        assert np.abs(after - before).max() <= 0.002


def test_a_body_of_255_parts_can_be_trained():
    body = BodyDefinition("many", tuple(f"part_{k}" for k in range(255)), ("middle",), {})
    frame = toy_frame(0)
    parts = np.where(frame.parts > 0, 255, 0).astype(np.uint8)
    trained = train_forest([replace(frame, parts=parts)], replace(PARAMETERS, trees=1), body)
    found = trained.predict(frame.depth.depth_m, frame.people > 0, INTRINSICS)
    assert (found.probabilities.argmax(1) == 255).all()


def test_labels_beyond_the_body_are_refused():
    frame = toy_frame(0)
    strange = replace(frame, parts=np.where(frame.parts > 0, 77, 0).astype(np.uint8))
    with pytest.raises((ValueError, PosepipeError)):
        train_forest([strange] * 2, PARAMETERS, TOY)


def test_depth_that_no_camera_delivers_stops_no_prediction(forest):
    # predict is a public edge: too near, too far, infinite and not a number
    frame = toy_frame(204)
    for strange in (1e-4, 0.0004, 40.0, 1e6, np.inf, -1.0, np.nan):
        depth_m = frame.depth.depth_m.copy()
        depth_m[20:24, 20:40] = strange
        found = forest.predict(depth_m, frame.people > 0, Intrinsics(60.0, 60.0, 31.5, 23.5))
        np.testing.assert_allclose(found.probabilities.sum(1), 1, atol=1e-5)
