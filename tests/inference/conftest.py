"""A pipeline of the toy person, whose candidates are judged whole."""

from __future__ import annotations

from dataclasses import replace

import pytest

from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.segmentation.person_filter import AcceptAll
from tests.support.toy_person import TOY, toy_frames


@pytest.fixture(scope="package")
def bare_pipeline() -> Pipeline:
    """Neither rotates candidates nor divides them."""
    rules = ForestParameters(trees=1, pixels_per_person=150, growth=GrowthRules(max_depth=8, candidates=60))
    pipeline = Pipeline.from_model(PoseModel.of(train_forest(toy_frames(16), rules, TOY)), tracking=False)
    bare = dict.fromkeys(("rotated_views", "head_split", "surfaces", "remainder", "occluded_people", "region_filter"))
    return replace(pipeline, person_filter=AcceptAll(), **bare)
