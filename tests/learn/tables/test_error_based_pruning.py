"""C4.5 release 8: its error estimate, subtree raising, and the trees that J48 and the books print."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

from posepipe.learn.tables.error_based_pruning import ErrorLimit, prune_by_error_limit
from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
from posepipe.learn.tables.examples import load_example
from posepipe.learn.tables.plotting.tree_text import tree_text
from posepipe.learn.tables.splitting.column_splits import Table
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tree import LEAF, Tree

RELEASE_8 = {"release_8": True, "prune": "error-based"}


@pytest.mark.parametrize(
    ("errors", "rows", "limit"),
    # U(0, 6) = 0.206, U(0, 9) = 0.143, U(0, 1) = 0.75 and U(1, 16) = 0.157 of Quinlan 1993, section 4.2
    [(0, 6, 0.206), (0, 9, 0.143), (0, 1, 0.75), (1, 16, 0.157)],
)
def test_the_limit_is_the_book_s(errors, rows, limit):
    for unit in (1, 0.01):
        estimate = ErrorLimit(0.25, unit)(unit * np.array([rows - errors, errors], float))
        assert estimate / rows == pytest.approx(limit, abs=0.0005)


@pytest.mark.parametrize(("correct", "errors"), [(0.9, 0.4), (0.3, 0.2), (0.5, 0.5)])
def test_the_limit_of_divided_rows_is_release_8_s(correct, errors):
    """As in the program: between the limits of no and of one error, and 0.67 (N - E) for one in up to 1.5 rows."""
    rows = correct + errors
    none, one = rows * (1 - 0.25 ** (1 / rows)), 0.67 * (rows - 1)
    limit = ErrorLimit(0.25)(np.array([correct, errors]))
    assert limit == pytest.approx(errors + none + errors * (one - none))


def test_the_congress_votes_subtree_is_replaced():
    """Quinlan 1993, section 4.2: leaves of 6, 9 and 1 rows have 3.273 estimated errors, one leaf of 16 has 2.512."""
    limit = ErrorLimit(0.25)
    as_leaves = sum(limit(np.array([n, 0.0])) for n in (6, 9, 1))
    assert as_leaves == pytest.approx(3.273, abs=0.01)
    assert limit(np.array([15.0, 1])) == pytest.approx(2.512, abs=0.01)


def test_the_weather_is_j48_s_tree():
    weather = load_example("weather")
    learner = C45Classifier(**RELEASE_8).fit(weather.rows, weather.target)
    assert tree_text(learner, weather.columns).splitlines() == [
        "outlook",
        "|- overcast: yes (4)",
        "|- rain: wind",
        "|  |- strong: no (2)",
        "|  '- weak: yes (3)",
        "'- sunny: humidity",
        "   |- high: no (3)",
        "   '- normal: yes (2)",
    ]


NUMERIC_WEATHER = """sunny 85 85 weak no
sunny 80 90 strong no
overcast 83 86 weak yes
rain 70 96 weak yes
rain 68 80 weak yes
rain 65 70 strong no
overcast 64 65 strong yes
sunny 72 95 weak no
sunny 69 70 weak yes
rain 75 80 weak yes
sunny 75 70 strong yes
overcast 72 90 strong yes
overcast 81 75 weak yes
rain 71 91 strong no"""


def test_the_weather_with_numbers_is_j48_s_tree():
    """Witten and Frank, Data Mining: humidity divides the sunny days between 70 and 85, which J48 writes as <= 75."""
    cells = [line.split() for line in NUMERIC_WEATHER.splitlines()]
    rows = np.array([[o, float(t), float(h), w] for o, t, h, w, _ in cells], object)
    learner = C45Classifier(**RELEASE_8).fit(rows, [line[-1] for line in cells])
    assert tree_text(learner, ["outlook", "temperature", "humidity", "wind"]).splitlines() == [
        "outlook",
        "|- overcast: yes (4)",
        "|- rain: wind",
        "|  |- strong: no (2)",
        "|  '- weak: yes (3)",
        "'- sunny: humidity",
        "   |- <= 77.5: yes (2)",
        "   '- > 77.5: no (3)",
    ]


def contact_lenses():
    """Cendrowska 1987: every combination of age, prescription, astigmatism and tears, with the lenses to wear."""
    rows, lenses = [], []
    for age in ("young", "pre-presbyopic", "presbyopic"):
        for sight in ("myope", "hypermetrope"):
            for astigmatism in ("no", "yes"):
                for tears in ("reduced", "normal"):
                    rows.append([age, sight, astigmatism, tears])
                    if tears == "reduced":
                        lenses.append("none")
                    elif astigmatism == "no":
                        lenses.append("none" if (age, sight) == ("presbyopic", "myope") else "soft")
                    else:
                        lenses.append("none" if sight == "hypermetrope" and age != "young" else "hard")
    return np.array(rows, object), np.array(lenses)


def test_the_contact_lenses_are_j48_s_tree():
    """Witten and Frank, Data Mining: soft (6/1), hard (3) and none (3/1) below normal tears."""
    rows, lenses = contact_lenses()
    assert [int((lenses == name).sum()) for name in ("soft", "hard", "none")] == [5, 4, 15]
    learner = C45Classifier(**RELEASE_8).fit(rows, lenses)
    assert tree_text(learner, ["age", "sight", "astigmatism", "tears"]).splitlines() == [
        "tears",
        "|- normal: astigmatism",
        "|  |- no: soft (soft: 5, none: 1)",
        "|  '- yes: sight",
        "|     |- hypermetrope: none (none: 2, hard: 1)",
        "|     '- myope: hard (3)",
        "'- reduced: none (12)",
    ]


def test_the_irises_are_j48_s_tree():
    """Nine nodes: setosa 50, versicolor 48/1, virginica 3, versicolor 3/1, virginica 46/1."""
    X, y = load_iris(return_X_y=True)
    learner = C45Classifier(**RELEASE_8).fit(X, y)
    assert tree_text(learner, ["sl", "sw", "pl", "pw"]).splitlines() == [
        "pw",
        "|- <= 0.8: 0 (50)",
        "'- > 0.8: pw",
        "   |- <= 1.75: pl",
        "   |  |- <= 4.95: 1 (1: 47, 2: 1)",
        "   |  '- > 4.95: pw",
        "   |     |- <= 1.55: 2 (3)",
        "   |     '- > 1.55: 1 (1: 2, 2: 1)",
        "   '- > 1.75: 2 (2: 45, 1: 1)",
    ]


def grown_by_hand():
    """A root that separates ten mixed rows from ninety, above a split that separates the classes of all of them."""
    cells = np.array([[row < 90, row % 2] for row in range(100)], float)
    table = Table.of(cells, np.zeros(2, np.uint8), np.zeros(2), cells[:, 1], 2)
    tree = Tree(
        feature=np.array([0, LEAF, 1, LEAF, LEAF], np.int32),
        threshold=np.array([0.5, 0, 0.5, 0, 0]),
        first_child=np.array([1, 0, 3, 1, 2], np.int32),
        leaf_statistics=np.array([[5.0, 5], [45, 0], [0, 45]]),
    )
    return TableTree(tree, table.kinds, np.zeros((0, 2)), moments=False), table


def test_raising_replaces_a_node_by_its_largest_branch():
    grown, table = grown_by_hand()
    pruned, origin = prune_by_error_limit(grown, table, None, ErrorLimit(0.25))
    assert origin.tolist()[0] == 2
    assert pruned.tree.feature.tolist() == [1, LEAF, LEAF]
    assert pruned.tree.leaf_statistics.tolist() == [[50, 0], [0, 50]]  # the ten rows went down the raised branch
    same, origin = prune_by_error_limit(grown, table, None, ErrorLimit(0.25), raising=False)
    assert same.tree.feature.tolist() == grown.tree.feature.tolist()
    assert origin.tolist() == [0, 1, 2, 3, 4]


def noisy():
    rng = np.random.default_rng(5)
    X = rng.integers(0, 3, (120, 5)).astype(str).astype(object)
    return X, np.where(X[:, 0] == "0", "a", np.where(rng.random(120) < 0.35, "c", "b"))


def test_a_pruned_tree_counts_its_rows_where_they_end():
    X, y = noisy()
    learner = C45Classifier(prune="error-based", min_samples_leaf=1, confidence=0.5).fit(X, y)
    tree = learner.tree_.tree
    tree.check(X.shape[1])
    counts = np.bincount(learner.apply(X), minlength=tree.n_nodes)[tree.is_leaf]
    np.testing.assert_allclose(tree.leaf_statistics[tree.first_child[tree.is_leaf]].sum(axis=1), counts)
    assert set(learner.ties_) <= set(np.flatnonzero(~tree.is_leaf).tolist())


def test_a_smaller_confidence_prunes_more():
    X, y = noisy()
    sizes = [
        C45Classifier(prune="error-based", min_samples_leaf=1, confidence=c).fit(X, y).get_n_leaves()
        for c in (0.5, 0.25, 0.01)
    ]
    assert sizes[0] > sizes[1] >= sizes[2]


def test_missing_cells_are_divided_when_a_branch_is_noisy():
    X, y = noisy()
    X[np.random.default_rng(0).random(X.shape) < 0.1] = None
    learner = C45Classifier(prune="error-based", min_samples_leaf=1).fit(X, y)
    assert learner.tree_.weight[0] == pytest.approx(120)
    assert learner.score(X, y) > 0.6


def test_the_scale_of_weights_does_not_matter():
    X, y = load_iris(return_X_y=True)
    leaves = [C45Classifier(**RELEASE_8).fit(X, y, np.full(150, w)).get_n_leaves() for w in (1, 1 / 150, 30)]
    assert leaves == [5, 5, 5]


@pytest.mark.slow
def test_scikit_learn_s_checks_pass_with_release_8():
    check_estimator(C45Classifier(**RELEASE_8))
