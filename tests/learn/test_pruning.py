"""Pruning: the books' trees, a twin in exact fractions over random trees, and scikit-learn's paths."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

from posepipe.learn.cost_complexity import choose_by_validation, cost_complexity_path, link_strengths
from posepipe.learn.impurity import CRITERIA, GINI, MISCLASSIFICATION, SQUARED_ERROR
from posepipe.learn.pruning import TOLERANCE, pessimistic, reduced_error, validation_errors
from posepipe.learn.tree import LEAF, Tree
from tests.reference.learn import pruning as naive

ROUNDING = 1e-9  #: float64 against fractions, for risks up to some hundreds


def tree_of(branches, leaf_statistics) -> Tree:
    """A tree from the number of branches of every node, level by level, and the statistics of its leaves.

    Every inner node has a threshold of its own, by which it is known again in a subtree.
    """
    branches = np.array(branches)
    leaf = branches == 0
    first_child = np.where(leaf, np.cumsum(leaf) - 1, 1 + np.cumsum(branches) - branches)
    tree = Tree(
        feature=np.where(leaf, LEAF, 0).astype(np.int32),
        threshold=np.where(leaf, 0.0, np.arange(len(branches))),
        first_child=first_child.astype(np.int32),
        leaf_statistics=np.array(leaf_statistics, np.float64),
        n_children=branches.astype(np.int32),
    )
    tree.check(n_features=1)
    return tree


def inner_of(tree: Tree) -> list[float]:
    """Names of the inner nodes of a tree or subtree, as given in the full tree, in the tree's order."""
    return tree.threshold[~tree.is_leaf].tolist()


#: house: yes 3 rows; no: married 3; else: income at most 97.5 three defaulted, above one not (no, yes)
LOANS = tree_of([2, 0, 2, 0, 2, 0, 0], [[3, 0], [3, 0], [0, 3], [1, 0]])
#: outlook: sunny, by humidity; overcast; rain, by wind (no, yes)
WEATHER = tree_of([3, 2, 0, 2, 0, 0, 0, 0], [[0, 4], [3, 0], [0, 2], [0, 3], [2, 0]])
#: 20:6, cut into 18:1 and 2:5, which is cut again into 2:1 and 0:4
LOPSIDED = tree_of([2, 0, 2, 0, 0], [[18, 1], [2, 1], [0, 4]])


@st.composite
def shapes(draw):
    """Numbers of branches, level by level: up to six inner nodes, of one to three branches."""
    wanted = draw(st.lists(st.sampled_from([0, 2, 2, 3, 1]), max_size=9))
    branches, open_nodes, n_inner = [], 1, 0
    while open_nodes:
        here = wanted.pop(0) if wanted and n_inner < 6 else 0
        n_inner += here > 0
        branches.append(here)
        open_nodes += here - 1
    return branches


CLASSES = st.one_of(st.just([0, 0, 0]), st.lists(st.integers(0, 4), min_size=3, max_size=3))
MOMENTS = st.lists(st.integers(-3, 3), max_size=4).map(lambda y: [len(y), sum(y), sum(v * v for v in y)])


@st.composite
def grown(draw, leaves):
    """A tree and validation statistics of its nodes, both of whole numbers, each with at least one row."""
    branches = draw(shapes())
    n_leaves = branches.count(0)
    rows = st.lists(leaves, min_size=n_leaves, max_size=n_leaves).filter(lambda rows: np.any(rows))
    tree = tree_of(branches, draw(rows))
    return tree, replace(tree, leaf_statistics=np.array(draw(rows), np.float64)).node_statistics()


def any_tree(criterion):
    return grown(MOMENTS if criterion == "squared_error" else CLASSES)


def nested(tree: Tree, validation: np.ndarray | None = None) -> naive.Node:
    """The same tree for the twin."""
    statistics = tree.node_statistics().astype(int).tolist()
    seen = [()] * tree.n_nodes if validation is None else validation.astype(int).tolist()

    def node(name):
        children = tuple(node(child) for child in tree.children(name))
        return naive.Node(name, tuple(statistics[name]), tuple(seen[name]), children)

    return node(0)


def check_same(tree: Tree, expected: naive.Node):
    assert set(inner_of(tree)) == naive.inner_names(expected)


each_criterion = pytest.mark.parametrize("criterion", CRITERIA)
HALF_AS_MANY = settings(max_examples=50)  # for each of four criteria


# By hand


def test_link_strengths_of_the_loans_tree_follow_the_definition():
    np.testing.assert_allclose(link_strengths(LOANS, MISCLASSIFICATION)[[0, 2, 4]], [0.1, 0.15, 0.1])
    assert (link_strengths(LOANS, MISCLASSIFICATION)[LOANS.is_leaf] == np.inf).all()


def test_links_that_tie_on_paper_are_closed_in_one_step():
    # 0.3 / 3 and 0.1 / 1 differ in their last bit
    path = cost_complexity_path(LOANS, MISCLASSIFICATION)
    np.testing.assert_allclose(path.alphas, [0, 0.1])
    np.testing.assert_allclose(path.risks, [0, 0.3], atol=1e-15)
    assert path.leaves.tolist() == [4, 1]
    assert path.at(0.09).n_leaves == 4
    assert path.at(0.11).n_leaves == 1


def test_the_weather_tree_survives_pessimistic_pruning():
    assert inner_of(pessimistic(WEATHER)) == inner_of(WEATHER)


def test_pessimistic_pruning_closes_a_split_within_its_error():
    # the lower node: 2.5 errors against 1 + 1 and their 1.2; the root: 6.5 against 2 + 1.5 and their 1.7
    assert inner_of(pessimistic(LOPSIDED)) == [0]


def test_pessimistic_pruning_goes_from_the_top():
    # the root's 45.5 are within 5.5 of its subtree's 41.5, so the node below is never tested, whose split is worth it
    tree = tree_of([2, 0, 2, 0, 0], [[100, 40], [0, 5], [4, 0]])
    assert pessimistic(tree).n_nodes == 1


def test_an_empty_branch_adds_no_half_error():
    # 2.5 errors against 1 and their 0.9: stays; 2.5 against 2 and their 1.1 would go
    tree = tree_of([4, 0, 0, 0, 0], [[3, 0], [0, 0], [0, 2], [0, 0]])
    assert pessimistic(tree).n_leaves == 4


def test_reduced_error_closes_splits_without_validation_gain():
    # all of class 0: the last leaf is wrong about 5, its parent would be about 10, but the root about none
    validation = replace(LOPSIDED, leaf_statistics=np.array([[20.0, 0], [5, 0], [5, 0]])).node_statistics()
    pruned = reduced_error(LOPSIDED, validation)
    assert pruned.tree.n_nodes == 1
    assert pruned.error == 0
    assert pruned.closed.tolist() == [True, False, False, False, False]


def test_a_leaf_without_training_rows_predicts_like_its_parent():
    tree = tree_of([2, 0, 0], [[1, 5], [0, 0]])
    wrong, total = validation_errors(tree, np.array([[2.0, 3], [0, 1], [2, 2]]), MISCLASSIFICATION)
    assert wrong.tolist() == [2, 0, 2]
    assert total == 5


def test_a_number_is_predicted_by_the_training_mean():
    # training 1 3 | 8; validation 4 | 8 8: errors 2^2 + 0 against the root's 0 + 4^2 + 4^2
    tree = tree_of([2, 0, 0], [[2, 4, 10], [1, 8, 64]])
    validation = np.array([[3.0, 20, 144], [1, 4, 16], [2, 16, 128]])
    pruned = reduced_error(tree, validation, SQUARED_ERROR)
    assert pruned.tree.n_nodes == 3
    assert pruned.error == pytest.approx(4 / 3)


def test_standard_errors_choose_a_smaller_tree():
    # 1, 3 and 5 wrong of 24; the standard error of 1 / 24 is 0.041
    validation = replace(LOPSIDED, leaf_statistics=np.array([[16.0, 0], [2, 0], [1, 5]])).node_statistics()
    path = cost_complexity_path(LOPSIDED, GINI)
    assert path.leaves.tolist() == [3, 2, 1]
    np.testing.assert_allclose(path.errors(validation) * 24, [1, 3, 5])
    assert choose_by_validation(path, validation) == (0, pytest.approx(1 / 24))
    assert choose_by_validation(path, validation, standard_errors=1) == (0, pytest.approx(1 / 24))
    assert choose_by_validation(path, validation, standard_errors=2.1) == (1, pytest.approx(3 / 24))


def test_of_equal_validation_errors_the_smallest_tree_is_chosen():
    path = cost_complexity_path(LOANS, GINI)
    validation = np.zeros((7, 2))
    validation[[0, 1]] = [5, 0]
    assert choose_by_validation(path, validation) == (len(path) - 1, 0)


def test_a_split_that_increases_the_risk_is_closed_first():
    # classes 0 and 1 are expensive to confuse, and the split leaves these two together: 1.75 becomes 2.5
    costs = np.array([[0.0, 10, 1], [10, 0, 1], [1, 1, 0]])
    tree = tree_of([2, 0, 0], [[2, 2, 0], [0, 0, 4]])
    path = cost_complexity_path(tree, GINI, costs)
    assert link_strengths(tree, GINI, costs)[0] == pytest.approx(1.75 - 2.5)
    assert path.alphas.tolist() == [0]
    assert path.leaves.tolist() == [1]


def test_a_single_leaf_has_nothing_to_prune():
    leaf = tree_of([0], [[2, 1]])
    path = cost_complexity_path(leaf, GINI)
    assert path.alphas.tolist() == [0]
    for pruned in (path.subtree(0), path.at(5), pessimistic(leaf), reduced_error(leaf, np.ones((1, 2))).tree):
        assert pruned.n_nodes == 1
        assert pruned.leaf_statistics.tolist() == [[2, 1]]


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: cost_complexity_path(LOANS, 7), "criterion"),
        (lambda: cost_complexity_path(LOANS, SQUARED_ERROR), "3 moments"),
        (lambda: cost_complexity_path(tree_of([2, 0, 0], np.zeros((2, 2))), GINI), "training rows"),
        (lambda: cost_complexity_path(LOANS, GINI).at(-0.1), "alpha"),
        (lambda: cost_complexity_path(LOANS, GINI).at(np.nan), "alpha"),
        (lambda: reduced_error(LOANS, np.ones((4, 2))), "shape"),
        (lambda: reduced_error(LOANS, np.zeros((7, 2))), "got none"),
    ],
)
def test_invalid_arguments_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_moments_give_no_standard_error():
    tree = tree_of([2, 0, 0], [[2, 4, 10], [1, 8, 64]])
    with pytest.raises(ValueError, match="standard error"):
        choose_by_validation(cost_complexity_path(tree, SQUARED_ERROR), tree.node_statistics(), standard_errors=1)


# Against the definitions, on random trees with branches that are empty, single or many


@given(grown(CLASSES))
def test_pessimistic_pruning_is_the_definition_s(given_tree):
    tree, _ = given_tree
    check_same(pessimistic(tree), naive.pessimistic(nested(tree)))


@each_criterion
@HALF_AS_MANY
@given(st.data())
def test_reduced_error_is_the_definition_s(criterion, data):
    tree, validation = data.draw(any_tree(criterion))
    root = nested(tree, validation)
    pruned = reduced_error(tree, validation, CRITERIA[criterion])
    expected = naive.reduced_error(root, criterion)
    check_same(pruned.tree, expected)
    total = validation[0, 0] if criterion == "squared_error" else validation[0].sum()
    assert pruned.error * total == pytest.approx(float(naive.validation_errors(expected, criterion)), abs=ROUNDING)


@each_criterion
@HALF_AS_MANY
@given(st.data())
def test_reduced_error_has_the_minimum_validation_error(criterion, data):
    tree, validation = data.draw(any_tree(criterion))
    pruned = reduced_error(tree, validation, CRITERIA[criterion])
    total = validation[0, 0] if criterion == "squared_error" else validation[0].sum()
    least = min(naive.validation_errors(each, criterion) for each in naive.prunings(nested(tree, validation)))
    assert pruned.error * total == pytest.approx(float(least), abs=ROUNDING)


@each_criterion
@HALF_AS_MANY
@given(st.data())
def test_strengths_are_the_definition_s(criterion, data):
    tree, _ = data.draw(any_tree(criterion))
    root = nested(tree)
    strengths = link_strengths(tree, CRITERIA[criterion])
    for node in naive.nodes_of(root):
        if node.children:
            expected = naive.strength(node, criterion, naive.weight(root, criterion))
            assert strengths[node.name] == pytest.approx(float(expected), abs=ROUNDING)


@each_criterion
@HALF_AS_MANY
@given(st.data())
def test_the_path_closes_the_weakest_links_in_turn(criterion, data):
    tree, _ = data.draw(any_tree(criterion))
    root = nested(tree)
    path, expected = cost_complexity_path(tree, CRITERIA[criterion]), naive.cost_complexity_path(root, criterion)
    np.testing.assert_allclose(path.alphas, [float(alpha) for alpha, _ in expected], atol=ROUNDING)
    for k, (_, subtree) in enumerate(expected):
        check_same(path.subtree(k), subtree)
        assert path.leaves[k] == len(naive.leaves_of(subtree))
        risk = naive.tree_risk(subtree, criterion, naive.weight(root, criterion))
        assert path.risks[k] == pytest.approx(float(risk), abs=ROUNDING)


@each_criterion
@HALF_AS_MANY
@given(st.data())
def test_no_pruning_costs_less_than_the_path_s_at_any_alpha(criterion, data):
    tree, _ = data.draw(any_tree(criterion))
    root = nested(tree)
    total = naive.weight(root, criterion)
    path = cost_complexity_path(tree, CRITERIA[criterion])
    every = [(float(naive.tree_risk(t, criterion, total)), len(naive.leaves_of(t))) for t in naive.prunings(root)]
    alphas = path.alphas.tolist() + [(low + high) / 2 for low, high in pairwise(path.alphas)] + [path.alphas[-1] + 1]
    for alpha in alphas:
        least = min(risk + alpha * leaves for risk, leaves in every)
        smallest = min(leaves for risk, leaves in every if risk + alpha * leaves <= least + ROUNDING)
        k = np.searchsorted(path.alphas, alpha, side="right") - 1
        assert path.risks[k] + alpha * path.leaves[k] == pytest.approx(least, abs=ROUNDING)
        assert path.leaves[k] == smallest


@each_criterion
@HALF_AS_MANY
@given(st.data())
def test_the_subtrees_of_a_path_are_nested_and_end_at_the_root(criterion, data):
    tree, _ = data.draw(any_tree(criterion))
    path = cost_complexity_path(tree, CRITERIA[criterion])
    subtrees = [path.subtree(k) for k in range(len(path))]
    assert path.alphas[0] == 0
    assert (np.diff(path.alphas) > 0).all()
    assert (np.diff(path.leaves) < 0).all()
    assert subtrees[-1].n_nodes == 1
    for larger, smaller in pairwise([tree, *subtrees]):
        assert set(inner_of(smaller)) <= set(inner_of(larger))
    for alpha, subtree in zip(path.alphas, subtrees, strict=True):
        assert inner_of(path.at(alpha)) == inner_of(subtree)


@each_criterion
@HALF_AS_MANY
@given(st.data())
def test_every_subtree_s_validation_error_is_found_in_one_pass(criterion, data):
    tree, validation = data.draw(any_tree(criterion))
    path = cost_complexity_path(tree, CRITERIA[criterion])
    total = validation[0, 0] if criterion == "squared_error" else validation[0].sum()
    subtrees = [subtree for _, subtree in naive.cost_complexity_path(nested(tree, validation), criterion)]
    errors = [float(naive.validation_errors(subtree, criterion)) / total for subtree in subtrees]
    np.testing.assert_allclose(path.errors(validation), errors, atol=ROUNDING)
    index, error = choose_by_validation(path, validation)
    assert error == pytest.approx(min(errors), abs=ROUNDING)
    assert all(later > error + 1e-12 for later in errors[index + 1 :])


@given(grown(CLASSES), st.data())
def test_pruning_keeps_statistics_and_the_order_of_nodes(given_tree, data):
    tree, validation = given_tree
    statistics = tree.node_statistics()
    path = cost_complexity_path(tree, GINI)
    pruned = [pessimistic(tree), reduced_error(tree, validation).tree, path.subtree(len(path) // 2)]
    for smaller in pruned:
        smaller.check(n_features=1)
        names = inner_of(smaller)
        assert names == sorted(names)
        kept = np.array(names, int)
        np.testing.assert_array_equal(smaller.node_statistics()[~smaller.is_leaf], statistics[kept])
        np.testing.assert_array_equal(smaller.node_statistics()[0], statistics[0])


# Deep and large


def chain(n_inner: int) -> Tree:
    """Every node splits one row off and hands the others on."""
    branches = [2] + [0, 2] * (n_inner - 1) + [0, 0]
    leaves = np.eye(2)[np.arange(n_inner + 1) % 2]
    return tree_of(branches, leaves)


def test_ten_thousand_levels_are_pruned_without_recursion():
    tree = chain(10_000)
    path = cost_complexity_path(tree, GINI)
    assert path.leaves[0] == 10_001
    assert path.leaves[-1] == 1
    assert path.subtree(-1).n_nodes == 1
    assert pessimistic(tree).n_nodes <= tree.n_nodes
    assert reduced_error(tree, tree.node_statistics()).tree.n_nodes == tree.n_nodes


# Against scikit-learn


def from_sklearn(fitted, criterion) -> Tree:
    """scikit-learn's tree, which stands depth first, level by level, with statistics of its leaves."""
    theirs = fitted.tree_
    order = [0]
    for node in order:  # grows as it is walked
        if theirs.children_left[node] >= 0:
            order += [theirs.children_left[node], theirs.children_right[node]]
    order = np.array(order)
    branches = np.where(theirs.children_left[order] >= 0, 2, 0)
    leaves = order[branches == 0]
    weight, value = theirs.weighted_n_node_samples[leaves], theirs.value[leaves, 0]
    if criterion == "squared_error":
        mean = value[:, 0]
        statistics = weight[:, None] * np.column_stack([np.ones(len(leaves)), mean, theirs.impurity[leaves] + mean**2])
    else:
        statistics = weight[:, None] * value
    return tree_of(branches, statistics)


def without_repeats(path):
    """scikit-learn closes one link at a time: of steps at the same alpha the last counts."""
    alphas, risks = [0.0], [path.impurities[0]]
    for alpha, risk in zip(path.ccp_alphas[1:], path.impurities[1:], strict=True):
        if alpha > alphas[-1] + TOLERANCE * path.impurities[-1]:
            alphas.append(alpha)
            risks.append(risk)
        risks[-1] = risk
    return alphas, risks


@pytest.mark.parametrize("criterion", ["gini", "entropy", "squared_error"])
@pytest.mark.parametrize("weighted", [False, True])
def test_the_path_and_its_trees_are_scikit_learn_s(criterion, weighted):
    if criterion == "squared_error":
        model, rows, target = DecisionTreeRegressor, *load_diabetes(return_X_y=True)
    elif criterion == "gini":
        model, rows, target = DecisionTreeClassifier, *load_breast_cancer(return_X_y=True)
    else:
        model, rows, target = DecisionTreeClassifier, *load_iris(return_X_y=True)
        target[::7] = (target[::7] + 1) % 3  # some wrong labels make the tree deep
    weight = np.random.default_rng(3).uniform(0.5, 2, len(rows)) if weighted else None
    fitted = model(criterion=criterion, random_state=0).fit(rows, target, sample_weight=weight)
    path = cost_complexity_path(from_sklearn(fitted, criterion), CRITERIA[criterion])
    alphas, risks = without_repeats(
        model(criterion=criterion, random_state=0).cost_complexity_pruning_path(rows, target, sample_weight=weight)
    )
    assert len(path) > 5
    scale = 1e-9 * path.risks[-1]
    np.testing.assert_allclose(path.alphas, alphas, rtol=1e-9, atol=scale)
    np.testing.assert_allclose(path.risks, risks, rtol=1e-9, atol=scale)
    for k in np.linspace(1, len(path) - 2, 4).astype(int):
        alpha = (path.alphas[k] + path.alphas[k + 1]) / 2
        theirs = model(criterion=criterion, random_state=0, ccp_alpha=alpha).fit(rows, target, sample_weight=weight)
        ours = path.at(alpha)
        assert ours.n_leaves == theirs.get_n_leaves() == path.leaves[k]
        np.testing.assert_allclose(
            ours.node_statistics(), from_sklearn(theirs, criterion).node_statistics(), rtol=1e-9, atol=1e-9
        )
