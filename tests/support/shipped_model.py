"""The shipped model of people, read once for all tests: it is immutable."""

from __future__ import annotations

from functools import cache

from posepipe.models.pose_model import PoseModel


@cache
def shipped_model() -> PoseModel:
    """The model "person"."""
    return PoseModel.load("person")
