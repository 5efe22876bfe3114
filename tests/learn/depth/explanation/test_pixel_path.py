"""Why a pixel gets its part: the path is the forest's own, and its words are what the eye sees."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.camera import Intrinsics
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.explanation.pixel_path import explain_pixel
from posepipe.learn.depth.probes.probe_rules import CLAMPED, METRIC
from posepipe.learn.tree import LEAF, Tree
from tests.support import random_inputs

HANDS = BodyDefinition("hands", ("left_hand", "right_hand", "torso"), (), {})
RIGHT_PROBE = np.array([[[0, 1], [0, 0]]], np.float32)  #: one metre to the right, against the pixel itself
LENS = Intrinsics(2.0, 2.0, 1.5, 0.0)
ROW_M = np.array([[2, 2, 1.5, 2]], np.float32)


def forest_of(kind, seed=0):
    """Two random trees of four classes: "symmetric", "plain" or "clamped"."""
    rng = np.random.default_rng(seed)
    trees = [random_inputs.tree(rng, 7, 30, 4) for _ in range(2)]
    tables = [random_inputs.offset_pairs(rng, 30) for _ in range(2)]
    if kind == "clamped":
        return DepthForest(trees, [np.rint(525 * table) for table in tables], HANDS, probes=CLAMPED)
    return DepthForest(trees, tables, HANDS, symmetric=kind == "symmetric", probes=METRIC)


def stump() -> DepthForest:
    tree = Tree(
        feature=np.array([0, LEAF, LEAF], np.int32),
        threshold=np.array([-0.2505, 0, 0], np.float32),
        first_child=np.array([1, 0, 1], np.int32),
        leaf_statistics=np.array([[0, 0.98, 0.02, 0], [0, 0.1, 0.2, 0.7]], np.float32),
    )
    return DepthForest([tree], [RIGHT_PROBE], HANDS)


@pytest.mark.parametrize("kind", ["plain", "symmetric", "clamped"])
def test_the_path_is_the_forest_s_own(kind):
    forest, lens = forest_of(kind), Intrinsics(50.0, 48.0, 29.5, 39.5)
    depth_m, mask = random_inputs.depth_image(np.random.default_rng(1), 80, 60)
    pixels = random_inputs.readable_pixels(np.random.default_rng(2), depth_m, mask, 60)
    leaves = forest.find_leaves(depth_m, mask, pixels, lens)
    found = forest.predict(depth_m, mask, lens)
    posterior = np.zeros((*depth_m.shape, HANDS.n_classes))
    posterior[tuple(found.pixels.T)] = found.probabilities
    for pixel, own in zip(pixels.tolist(), leaves, strict=True):
        explained = explain_pixel(forest, depth_m, mask, tuple(pixel), lens)
        assert [walk.leaf for walk in explained.walks] == own.tolist()
        np.testing.assert_allclose(explained.probabilities, posterior[tuple(pixel)], atol=1e-6)
        for step in (step for walk in explained.walks for step in walk.steps):
            for probe in (step.u, step.v):
                inside = 0 <= probe.row < 80 and 0 <= probe.col < 60
                if probe.depth_m is not None and (inside or kind != "clamped"):
                    assert probe.depth_m == pytest.approx(depth_m[probe.row, probe.col], abs=5.1e-4)


def test_the_words_are_what_the_eye_sees():
    explained = explain_pixel(stump(), ROW_M, ROW_M > 0, (0, 1), LENS)
    assert str(explained) == (
        "pixel of row 0, column 1, at 2.00 m: left hand 0.98\n"
        "tree 1: left hand 0.98 after 1 split\n"
        "\n"
        "tree 1: left hand 0.98 after 1 split\n"
        "  1  100 cm right: 1.50 m; the pixel itself: 2.00 m; difference -0.500 m, at most -0.2505 m"
    )


def test_a_probe_beside_the_person_reads_background():
    explained = explain_pixel(stump(), ROW_M, ROW_M > 0, (0, 3), LENS)
    (step,) = explained.walks[0].steps
    assert (step.u.depth_m, step.u.col, step.response_m) == (None, 4, 8.0)
    assert "100 cm right: background" in str(step)
    assert "above -0.2505 m" in str(step)
    assert explained.part == "torso"


def test_a_mirrored_walk_probes_the_other_side():
    forest = DepthForest(stump().trees, stump().offsets, HANDS, symmetric=True)
    # the right neighbour of column 1 is near, the left one is not: the mirrored tree sees no near one
    plain, mirrored = explain_pixel(forest, ROW_M, ROW_M > 0, (0, 1), LENS).walks
    assert (plain.steps[0].u.col, mirrored.steps[0].u.col) == (2, 0)
    assert (plain.leaf, mirrored.leaf) == (0, 1)
    np.testing.assert_allclose(mirrored.probabilities, [0, 0.2, 0.1, 0.7], atol=1e-6)
    assert mirrored.title == "tree 1, mirrored: torso 0.70, left hand 0.20, right hand 0.10 after 1 split"


@pytest.mark.parametrize("pixel", [(0, 4), (-1, 0), (0, 0)])
def test_a_pixel_beside_the_person_is_refused(pixel):
    mask = np.array([[False, True, True, True]])
    with pytest.raises(ValueError, match="must lie on the person and have a reading, got row"):
        explain_pixel(stump(), ROW_M, mask, pixel, LENS)
