"""Stages that say what a test plans, and an inference with them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from posepipe.camera import Plane
from posepipe.inference.person_inference import PersonInference
from posepipe.parts import PartProbabilities
from posepipe.pipeline import Pipeline
from posepipe.results import Pose
from posepipe.segmentation.views.rotated_views import RotatedViews
from posepipe.segmentation.views.view import View


def inference_with(pipeline: Pipeline, **stages: Any) -> PersonInference:
    """The inference of a pipeline with other stages."""
    return replace(pipeline, **stages).person_inference


class Judge:
    """A filter that gives the views of a candidate the next of some probabilities, and keeps what it was shown."""

    def __init__(self, *probabilities: float) -> None:
        self.probabilities, self.shown = probabilities, []

    def person_mask(self, depth_m, mask, intrinsics, parts) -> np.ndarray:
        return mask

    def person_probability(self, view: View, parts: PartProbabilities, pose: Pose, floor: Plane | None = None) -> float:
        self.shown.append((view, parts, pose))
        return self.probabilities[len(self.shown) - 1]

    def accepts(self, probability: float) -> bool:
        return probability >= 0.5


class AlwaysRotated(RotatedViews):
    """Tries one quarter turn, and prefers it."""

    def wanted(self, view: View, pose: Pose, accepted: bool = True) -> tuple[int, ...]:
        return (1,)

    def choose(self, seen) -> int:
        return 1


class SomebodyKnown:
    """Knows everybody, if that probability is enough."""

    def accepts(self, timestamp_s: float, mask: np.ndarray, probability: float) -> bool:
        return probability >= 0.2
