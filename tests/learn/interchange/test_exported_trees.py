"""Exported trees: plain data from which the same answers follow, and a C header that gives them when compiled."""

from __future__ import annotations

import itertools
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.learn import (
    C45Classifier,
    CartClassifier,
    CartRegressor,
    Id3Classifier,
    IsolationForest,
    RandomForestClassifier,
)
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_file import as_stored
from posepipe.learn.depth.probes.probe_rules import CLAMPED, METRIC
from posepipe.learn.interchange.c_header import write_c_header
from posepipe.learn.interchange.flat_trees import flat_depth_forest, flat_table_trees
from posepipe.learn.interchange.json_trees import write_json_trees
from tests.support import random_inputs
from tests.support.toy_person import TOY

COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs a C compiler (cc)")
INTRINSICS = Intrinsics(61.3, 64.7, 31.5, 23.5)

DEPTH_DRIVER = """
#include "trees.h"
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
    int32_t n, row, col, sums[POSEPIPE_CLASSES], c;
    static uint16_t depth_mm[48 * 64];
    static uint8_t mask[48 * 64];
    posepipe_image image = {depth_mm, mask, 48, 64, atof(argv[1]), atof(argv[2])};
    for (n = 0; n < 48 * 64; n++)
        if (scanf("%hu %hhu", &depth_mm[n], &mask[n]) != 2)
            return 1;
    for (row = 0; row < 48; row++)
        for (col = 0; col < 64; col++)
            if (mask[64 * row + col] && depth_mm[64 * row + col]) {
                printf("%d", posepipe_classify(&image, row, col, sums));
                for (c = 0; c < POSEPIPE_CLASSES; c++)
                    printf(" %d", sums[c]);
                printf("\\n");
            }
    return argc != 3;
}
"""
TABLE_DRIVER = """
#include "trees.h"
#include <stdio.h>
int main(void)
{
    double row[POSEPIPE_COLUMNS], out[POSEPIPE_CLASSES];
    int32_t c;
    for (;;) {
        for (c = 0; c < POSEPIPE_COLUMNS; c++)
            if (scanf("%lf", &row[c]) != 1)
                return 0;
        printf("%d", posepipe_predict(row, out));
        for (c = 0; c < POSEPIPE_CLASSES; c++)
            printf(" %.17g", out[c]);
        printf("\\n");
    }
}
"""


def run_driver(folder: Path, driver: str, text: str, *arguments: str) -> np.ndarray:
    """Compile a driver of the header, give it text, and read its lines of numbers."""
    (folder / "driver.c").write_text(driver)
    strict = ["-std=c99", "-O3", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
    command = [str(COMPILER), *strict, "driver.c", "-lm", "-o", "driver"]
    subprocess.run(command, cwd=folder, check=True)
    done = subprocess.run([folder / "driver", *arguments], input=text, capture_output=True, text=True, check=True)
    return np.array([line.split() for line in done.stdout.splitlines()], float)


def depth_forest(symmetric: bool = False, clamped: bool = False) -> DepthForest:
    rng = np.random.default_rng(6)
    trees = [as_stored(random_inputs.tree(rng, 7, 12, TOY.n_classes)) for _ in range(2)]
    tables = [random_inputs.offset_pairs(rng, 12) for _ in trees]
    if clamped:
        return DepthForest(trees, [np.rint(525 * table) for table in tables], TOY, probes=CLAMPED)
    return DepthForest(trees, tables, TOY, symmetric)


def person() -> tuple[np.ndarray, np.ndarray]:
    """Depth in whole millimetres, uint16, and the mask of a person who touches the border."""
    depth_m, mask = random_inputs.depth_image(np.random.default_rng(7), 48, 64)
    mask[30:, 50:] = True
    return np.rint(1000 * depth_m).astype(np.uint16), mask


@needs_compiler
@pytest.mark.parametrize(("symmetric", "clamped"), [(False, False), (True, False), (False, True)])
def test_a_compiled_depth_forest_gives_the_same_sums_and_labels(tmp_path, symmetric, clamped):
    forest, (depth_mm, mask) = depth_forest(symmetric, clamped), person()
    write_c_header(tmp_path / "trees.h", flat_depth_forest(forest))
    text = "\n".join(f"{depth} {own:d}" for depth, own in zip(depth_mm.ravel(), mask.ravel(), strict=True))
    found = run_driver(tmp_path, DEPTH_DRIVER, text, str(INTRINSICS.fx), str(INTRINSICS.fy))
    values = forest.predict((depth_mm / 1000).astype(np.float32), mask, INTRINSICS).probabilities
    np.testing.assert_array_equal(found[:, 1:], np.rint(values * 255 * forest.packed.walks))
    np.testing.assert_array_equal(found[:, 0], found[:, 1:].argmax(axis=1))
    assert len(set(found[:, 0])) > 2


def table(seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Two columns of categories, two of numbers, some cells missing; three classes."""
    rng = np.random.default_rng(seed)
    names = [rng.choice(["a", "b", "c"], 300), rng.choice(["x", "y"], 300)]
    cells = np.array([*names, *rng.normal(0, 1, (2, 300))], object)
    target = np.where(cells[0] == "a", 0, np.where(cells[2].astype(float) > 0.3, 1, 2))
    cells = cells.T
    cells[rng.random(cells.shape) < 0.1] = None
    return cells, target


LEARNERS = {
    "id3": Id3Classifier(),
    "c45": C45Classifier(),
    "cart": CartClassifier(oblique=True, missing="most_common"),
    "regression": CartRegressor(max_depth=5),
    "forest": RandomForestClassifier(n_estimators=5, random_state=1),
}


@needs_compiler
@pytest.mark.parametrize("name", LEARNERS)
def test_compiled_trees_of_a_table_predict_the_same(tmp_path, name):
    (cells, target), learner = table(), LEARNERS[name]
    learner.fit(cells, target)
    write_c_header(tmp_path / "trees.h", flat_table_trees(learner))
    rows = learner._encode(cells).T
    text = "\n".join(" ".join(map(str, row)) for row in rows)
    found = run_driver(tmp_path, TABLE_DRIVER, text)
    wanted = learner.predict(cells)[:, None] if name == "regression" else learner.predict_proba(cells)
    np.testing.assert_allclose(found[:, 1:], wanted, atol=1e-12)
    if name != "regression":
        np.testing.assert_array_equal(learner.classes_[found[:, 0].astype(int)], learner.predict(cells))


@needs_compiler
@pytest.mark.parametrize("name", ["id3", "c45", "regression"])
def test_ties_of_rows_with_missing_cells_are_the_same(tmp_path, name):
    learners = {
        "id3": Id3Classifier(max_depth=2),
        "c45": C45Classifier(prune=None, min_samples_leaf=1, average_gain_guard=False),
        "regression": CartRegressor(),
    }
    learner, rng = learners[name], np.random.default_rng(1 if name == "id3" else 9)  # tables with ties
    n_rows = int(rng.integers(6, 40))
    names = ["abcde", "xyz", "pq"]
    cells = np.array([rng.choice(list(letters), n_rows) for letters in names], object).T
    learner.fit(cells, np.arange(n_rows) % 2)
    every = np.array(list(itertools.product(*([None, *letters] for letters in names))), object)
    write_c_header(tmp_path / "trees.h", flat_table_trees(learner))
    found = run_driver(tmp_path, TABLE_DRIVER, "\n".join(" ".join(map(str, row)) for row in learner._encode(every).T))
    wanted = learner.predict(every)[:, None] if name == "regression" else learner.predict_proba(every)
    np.testing.assert_array_equal(found[:, 1:], wanted)
    if name != "regression":
        np.testing.assert_array_equal(found[:, 0], learner.predict(every))


@needs_compiler
@pytest.mark.parametrize("learner", [Id3Classifier, C45Classifier, CartClassifier])
def test_unseen_categories_may_take_the_branch_of_most_rows(tmp_path, learner):
    cells, target = table()
    trees = learner(unseen="majority").fit(cells, target)
    write_c_header(tmp_path / "trees.h", flat_table_trees(trees))
    cells = np.concatenate([cells, cells])
    cells[: len(target), 0], cells[: len(target) // 2, 1] = "new", "new"
    rows = trees._encode(cells).T
    assert (rows == -1).sum() == len(target) * 3 // 2
    found = run_driver(tmp_path, TABLE_DRIVER, "\n".join(" ".join(map(str, row)) for row in rows))
    np.testing.assert_allclose(found[:, 1:], trees.predict_proba(cells), atol=1e-12)


@needs_compiler
def test_an_unseen_ordered_category_is_missing(tmp_path):
    pd = pytest.importorskip("pandas")
    sizes = pd.Categorical(list("smlsmlsmll"), categories=list("sml"), ordered=True)
    trees = CartClassifier(unseen="majority").fit(pd.DataFrame({"size": sizes}), list("0010010011"))
    write_c_header(tmp_path / "trees.h", flat_table_trees(trees))
    new = pd.DataFrame({"size": ["huge"]})
    assert np.isnan(trees._encode(new)).all()  # -1 would be below every threshold
    np.testing.assert_array_equal(run_driver(tmp_path, TABLE_DRIVER, "nan")[:, 1:], trees.predict_proba(new))


@needs_compiler
@pytest.mark.parametrize("n_columns", [1, 3])
def test_headers_without_combinations_compile_without_warnings(tmp_path, n_columns):
    cells = np.random.default_rng(0).integers(0, 3, (12, n_columns)).astype(float)
    write_c_header(tmp_path / "trees.h", flat_table_trees(CartClassifier().fit(cells, np.arange(12) % 2)))
    assert len(run_driver(tmp_path, TABLE_DRIVER, "0 " * n_columns)) == 1


def test_json_holds_what_the_header_holds_to_the_bit(tmp_path):
    trees = flat_depth_forest(depth_forest(symmetric=True))
    write_json_trees(tmp_path / "trees.json", trees)
    stored = json.loads((tmp_path / "trees.json").read_text())
    assert (stored["format"], stored["version"], stored["kind"]) == ("posepipe-trees", 1, "depth")
    assert stored["classes"] == ["background", *TOY.parts]
    assert stored["probes"] == METRIC.to_dict()
    for name in ("roots", "feature", "threshold", "child", "leaf_start", "leaf_class", "leaf_value"):
        np.testing.assert_array_equal(np.array(stored[name], getattr(trees, name).dtype), getattr(trees, name))
    np.testing.assert_array_equal(np.array(stored["offsets"], np.float32), trees.more["offsets"])


def test_json_of_a_table_names_columns_and_categories(tmp_path):
    cells, target = table()
    write_json_trees(tmp_path / "trees.json", flat_table_trees(Id3Classifier().fit(cells, target)))
    columns = json.loads((tmp_path / "trees.json").read_text())["columns"]
    assert columns[0]["categories"] == ["a", "b", "c"]
    assert columns[0]["edges"] is None


@pytest.mark.parametrize("categories", [(1, 2.5, "1"), (False, True, 3, "True"), (1 << 60, (1 << 60) + 1)])
def test_json_keeps_the_types_of_categories(tmp_path, categories):
    column = np.array(categories * 3, object)[:, None]
    learner = C45Classifier(categorical="all").fit(column, [*map(repr, categories)] * 3)
    write_json_trees(tmp_path / "trees.json", flat_table_trees(learner))
    (stored,) = json.loads((tmp_path / "trees.json").read_text())["columns"]
    assert list(map(repr, stored["categories"])) == list(map(repr, categories))


@pytest.mark.parametrize("kind", ["M8[D]", "M8[ns]", "m8[s]"])
def test_classes_that_are_dates_are_not_exported(kind):
    learner = CartClassifier().fit(np.arange(6.0)[:, None], np.arange(6).astype(kind))
    with pytest.raises(ValueError, match=f"classes of text or numbers, got {re.escape(str(learner.classes_.dtype))}"):
        flat_table_trees(learner)


def test_what_cannot_be_exported_is_refused():
    cells, target = table()
    voting = RandomForestClassifier(n_estimators=2, vote="majority", random_state=1).fit(cells, target)
    with pytest.raises(ValueError, match="vote"):
        flat_table_trees(voting)
    for learner in (Id3Classifier(), IsolationForest(n_estimators=2).fit(np.eye(3))):
        with pytest.raises(ValueError, match="wanted a fitted tree"):
            flat_table_trees(learner)
    sets = CartClassifier(category_split="subset").fit(np.array([["a"], ["b"], ["c"], ["d"]]), [0, 1, 0, 1])
    with pytest.raises(ValueError, match="got sets: category_split='one-vs-rest'"):
        flat_table_trees(sets)
    rng = np.random.default_rng(1)
    raw = DepthForest([random_inputs.tree(rng, 3, 4, TOY.n_classes)], [random_inputs.offset_pairs(rng, 4)], TOY)
    with pytest.raises(ValueError, match="save it and load it again"):
        flat_depth_forest(raw)
