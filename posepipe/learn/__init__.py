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
    from posepipe.learn.depth.forest_parameters import ForestParameters
    from posepipe.learn.depth.train_forest import train_forest
    from posepipe.learn.tables.discretize import Discretizer
    from posepipe.learn.tables.estimators.ensembles.bagging import BaggingClassifier, BaggingRegressor
    from posepipe.learn.tables.estimators.ensembles.extra_trees import ExtraTreesClassifier, ExtraTreesRegressor
    from posepipe.learn.tables.estimators.ensembles.forest import RandomForestClassifier, RandomForestRegressor
    from posepipe.learn.tables.estimators.ensembles.isolation_forest import IsolationForest
    from posepipe.learn.tables.estimators.ensembles.leaf_embedding import LeafEmbedding
    from posepipe.learn.tables.estimators.trees.c45 import C45Classifier
    from posepipe.learn.tables.estimators.trees.cart import CartClassifier, CartRegressor
    from posepipe.learn.tables.estimators.trees.cost_complexity_cv import CostComplexityCV
    from posepipe.learn.tables.estimators.trees.id3 import Id3Classifier
    from posepipe.learn.tables.examples import load_example
    from posepipe.learn.tables.explanation import explain, split_log

_TABLES = "posepipe.learn.tables."
_TREES = _TABLES + "estimators.trees."
_ENSEMBLES = _TABLES + "estimators.ensembles."
_HOME = {
    "BaggingClassifier": _ENSEMBLES + "bagging",
    "BaggingRegressor": _ENSEMBLES + "bagging",
    "C45Classifier": _TREES + "c45",
    "CartClassifier": _TREES + "cart",
    "CartRegressor": _TREES + "cart",
    "CostComplexityCV": _TREES + "cost_complexity_cv",
    "DepthForest": "posepipe.learn.depth.depth_forest",
    "Discretizer": _TABLES + "discretize",
    "ExtraTreesClassifier": _ENSEMBLES + "extra_trees",
    "ExtraTreesRegressor": _ENSEMBLES + "extra_trees",
    "ForestParameters": "posepipe.learn.depth.forest_parameters",
    "Id3Classifier": _TREES + "id3",
    "IsolationForest": _ENSEMBLES + "isolation_forest",
    "LeafEmbedding": _ENSEMBLES + "leaf_embedding",
    "RandomForestClassifier": _ENSEMBLES + "forest",
    "RandomForestRegressor": _ENSEMBLES + "forest",
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


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # editors and notebooks complete names by it
