"""Find people's 3D joints in the stream of any depth camera, on a CPU, from depth alone."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from posepipe.camera import Intrinsics
    from posepipe.frames import DepthFrame, LabelledFrame
    from posepipe.learn.depth.depth_forest import DepthForest, ForestParameters, train_forest
    from posepipe.models.registry import models_dir
    from posepipe.pipeline import Pipeline

_HOME = {
    "DepthForest": "posepipe.learn.depth.depth_forest",
    "DepthFrame": "posepipe.frames",
    "ForestParameters": "posepipe.learn.depth.depth_forest",
    "Intrinsics": "posepipe.camera",
    "LabelledFrame": "posepipe.frames",
    "Pipeline": "posepipe.pipeline",
    "models_dir": "posepipe.models.registry",
    "train_forest": "posepipe.learn.depth.depth_forest",
}
"""Imported on first use: the command line must not wait for Numba to print its help."""

__all__ = [
    "DepthForest",
    "DepthFrame",
    "ForestParameters",
    "Intrinsics",
    "LabelledFrame",
    "Pipeline",
    "models_dir",
    "train_forest",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'posepipe' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOME[name]), name)
