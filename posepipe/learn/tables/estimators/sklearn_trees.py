"""Trees and forests as scikit-learn's own, for tools that read those."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn import ensemble, tree
from sklearn.tree._tree import NODE_DTYPE
from sklearn.tree._tree import Tree as TheirTree
from sklearn.utils.validation import check_is_fitted

from posepipe.learn.impurity import CRITERIA, SQUARED_ERROR, impurity
from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
from posepipe.learn.tables.splitting.descent import TableTree
from posepipe.learn.tables.splitting.split_gain import NUMERIC

Ours = CartClassifier | CartRegressor | RandomForestClassifier | RandomForestRegressor


def to_sklearn(learner: Ours) -> Any:
    """Convert a fitted CART or random forest of thresholds to scikit-learn's class of the same kind.

    Parameters
    ----------
    learner : fitted

    Returns
    -------
    DecisionTreeClassifier, RandomForestClassifier, ExtraTreesClassifier or the regressor of either, with equal
    predictions for tables of float32; scikit-learn rounds other tables to it. A missing cell takes the most common
    branch, as with ``missing="most_common"``

    Raises
    ------
    ValueError
        For splits of categories or combinations of columns, misclassification costs, and votes that scikit-learn's
        forests do not have.
    """
    if isinstance(learner, RandomForestClassifier | RandomForestRegressor):
        check_is_fitted(learner)
        return _forest(learner)
    if isinstance(learner, CartClassifier | CartRegressor):
        check_is_fitted(learner)
    if isinstance(learner, CartClassifier):
        if learner.costs is not None:
            raise ValueError("scikit-learn's trees predict the most probable class, got costs: give a tree without")
        theirs = tree.DecisionTreeClassifier(criterion="gini" if learner.criterion == "gini" else "entropy")
        theirs.classes_, theirs.n_classes_ = learner.classes_, len(learner.classes_)
        n_classes, mean = len(learner.classes_), 0.0
    elif isinstance(learner, CartRegressor):
        theirs = tree.DecisionTreeRegressor()
        theirs.n_classes_, n_classes, mean = 1, 1, learner.mean_
    else:
        raise ValueError(f"scikit-learn has CART trees and forests of them, got {type(learner).__name__}")
    criterion = SQUARED_ERROR if learner.tree_.moments else CRITERIA[learner._criterion_name()]
    theirs.tree_ = _their_tree(learner.tree_, criterion, n_classes, mean)
    return _with_columns(theirs, learner)


def _forest(learner: RandomForestClassifier | RandomForestRegressor) -> Any:
    members = [to_sklearn(member) for member in learner.estimators_]
    if isinstance(learner, RandomForestClassifier):
        if learner.vote != "posterior" or learner.vote_weight is not None:
            raise ValueError("scikit-learn's forests average posteriors: fit with vote='posterior', vote_weight=None")
        kind = ensemble.ExtraTreesClassifier if learner.random_cuts else ensemble.RandomForestClassifier
        theirs = kind(len(members))
        theirs.classes_, theirs.n_classes_ = learner.classes_, len(learner.classes_)
        for member in members:  # members of their forests predict codes
            member.classes_ = np.arange(len(learner.classes_), dtype=np.float64)
    elif learner.random_cuts:
        theirs = ensemble.ExtraTreesRegressor(len(members))
    else:
        theirs = ensemble.RandomForestRegressor(len(members))
    theirs.estimators_ = members
    return _with_columns(theirs, learner)


def _with_columns(theirs: Any, learner: Ours) -> Any:
    theirs.n_features_in_, theirs.n_outputs_ = learner.n_features_in_, 1
    if hasattr(learner, "feature_names_in_"):
        theirs.feature_names_in_ = learner.feature_names_in_
    return theirs


def _their_tree(grown: TableTree, criterion: int, n_classes: int, mean: float) -> TheirTree:
    """Arrange nodes as scikit-learn stores them; ``mean`` is added to the values of a regression."""
    ours, n_columns = grown.tree, len(grown.kinds)
    inner = ~ours.is_leaf
    if (ours.feature[inner] >= n_columns).any() or (grown.kinds[ours.feature[inner]] != NUMERIC).any():
        raise ValueError("scikit-learn's trees split single columns of numbers, got categories or combinations")
    nodes = np.zeros(ours.n_nodes, NODE_DTYPE)
    first = ours.first_child
    nodes["left_child"] = np.where(inner, first, -1)
    nodes["right_child"] = np.where(inner, first + 1, -1)
    nodes["feature"] = np.where(inner, ours.feature, -2)
    nodes["threshold"] = np.where(inner, ours.threshold, -2.0)
    nodes["impurity"] = impurity(criterion, ours.node_statistics())
    nodes["weighted_n_node_samples"] = grown.weight
    nodes["n_node_samples"] = np.ceil(grown.weight)
    left = np.where(inner, first, 0)
    right = np.where(inner, first + 1, 0)
    nodes["missing_go_to_left"] = inner & (grown.weight[left] >= grown.weight[right])
    values = np.ascontiguousarray((grown.values + mean)[:, None, :])
    theirs = TheirTree(n_columns, np.array([n_classes], np.intp), 1)
    depth = ours.depth()
    theirs.__setstate__({"max_depth": depth, "node_count": ours.n_nodes, "nodes": nodes, "values": values})
    return theirs
