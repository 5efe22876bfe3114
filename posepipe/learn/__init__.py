"""Trees that learn: from tables, with scikit-learn's estimator interface, and from depth images.

One core serves both: impurity, growth, the tree itself, pruning. Where responses come from differs: columns,
scanned exactly (`tables`), or depth differences, counted in histograms.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.learn.depth.explanation.pixel_path import explain_pixel
    from posepipe.learn.depth.explanation.probe_drawing import draw_probes
    from posepipe.learn.depth.train_forest import ForestParameters, train_forest
    from posepipe.learn.tables.discretize import Discretizer
    from posepipe.learn.tables.estimators.bagging import BaggingClassifier, BaggingRegressor
    from posepipe.learn.tables.estimators.c45 import C45Classifier
    from posepipe.learn.tables.estimators.cart import CartClassifier, CartRegressor
    from posepipe.learn.tables.estimators.cost_complexity_cv import CostComplexityCV
    from posepipe.learn.tables.estimators.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from posepipe.learn.tables.estimators.forest import RandomForestClassifier, RandomForestRegressor
    from posepipe.learn.tables.estimators.id3 import Id3Classifier
    from posepipe.learn.tables.estimators.isolation_forest import IsolationForest
    from posepipe.learn.tables.estimators.leaf_embedding import LeafEmbedding
    from posepipe.learn.tables.examples import load_example
    from posepipe.learn.tables.explanation import explain, split_log

_TABLES = "posepipe.learn.tables."
_ESTIMATORS = _TABLES + "estimators."
_HOME = {
    "BaggingClassifier": _ESTIMATORS + "bagging",
    "BaggingRegressor": _ESTIMATORS + "bagging",
    "C45Classifier": _ESTIMATORS + "c45",
    "CartClassifier": _ESTIMATORS + "cart",
    "CartRegressor": _ESTIMATORS + "cart",
    "CostComplexityCV": _ESTIMATORS + "cost_complexity_cv",
    "DepthForest": "posepipe.learn.depth.depth_forest",
    "Discretizer": _TABLES + "discretize",
    "ExtraTreesClassifier": _ESTIMATORS + "extra_trees",
    "ExtraTreesRegressor": _ESTIMATORS + "extra_trees",
    "ForestParameters": "posepipe.learn.depth.train_forest",
    "Id3Classifier": _ESTIMATORS + "id3",
    "IsolationForest": _ESTIMATORS + "isolation_forest",
    "LeafEmbedding": _ESTIMATORS + "leaf_embedding",
    "RandomForestClassifier": _ESTIMATORS + "forest",
    "RandomForestRegressor": _ESTIMATORS + "forest",
    "draw_probes": "posepipe.learn.depth.explanation.probe_drawing",
    "explain_pixel": "posepipe.learn.depth.explanation.pixel_path",
    "load_example": _TABLES + "examples",
    "explain": _TABLES + "explanation",
    "split_log": _TABLES + "explanation",
    "train_forest": "posepipe.learn.depth.train_forest",
}
"""Imported on first use: who runs a camera need not wait for scikit-learn."""

__all__ = [
    "BaggingClassifier",
    "BaggingRegressor",
    "C45Classifier",
    "CartClassifier",
    "CartRegressor",
    "CostComplexityCV",
    "DepthForest",
    "Discretizer",
    "ExtraTreesClassifier",
    "ExtraTreesRegressor",
    "ForestParameters",
    "Id3Classifier",
    "IsolationForest",
    "LeafEmbedding",
    "RandomForestClassifier",
    "RandomForestRegressor",
    "draw_probes",
    "explain",
    "explain_pixel",
    "load_example",
    "split_log",
    "train_forest",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'posepipe.learn' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
