"""Find people's 3D joints in the stream of any depth camera, on a CPU, from depth alone."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from posepipe.camera import Intrinsics
    from posepipe.frames import DepthFrame, LabelledFrame
    from posepipe.learn.depth.depth_forest import DepthForest
    from posepipe.learn.depth.forest_parameters import ForestParameters
    from posepipe.learn.depth.train_forest import train_forest
    from posepipe.models.pose_model import PoseModel
    from posepipe.models.registry import models_dir
    from posepipe.pipeline import Pipeline
    from posepipe.training.train_model import train_model

_HOME = {
    "DepthForest": "posepipe.learn.depth.depth_forest",
    "DepthFrame": "posepipe.frames",
    "ForestParameters": "posepipe.learn.depth.forest_parameters",
    "Intrinsics": "posepipe.camera",
    "LabelledFrame": "posepipe.frames",
    "Pipeline": "posepipe.pipeline",
    "PoseModel": "posepipe.models.pose_model",
    "models_dir": "posepipe.models.registry",
    "train_forest": "posepipe.learn.depth.train_forest",
    "train_model": "posepipe.training.train_model",
}
"""Imported on first use: the command line must not wait for Numba to print its help."""

__all__ = [
    "DepthForest",
    "DepthFrame",
    "ForestParameters",
    "Intrinsics",
    "LabelledFrame",
    "Pipeline",
    "PoseModel",
    "models_dir",
    "train_forest",
    "train_model",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'posepipe' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})  # editors and notebooks complete names by it
