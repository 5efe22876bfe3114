"""Frames of a tree: read in one process or in several, the samples are the same."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from posepipe.learn.depth import tree_frames
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.tree_frames import TreeFrames
from tests.support.toy_person import TOY, toy_frames

PARAMETERS = ForestParameters(trees=2, pixels_per_person=20)


@pytest.fixture(scope="module")
def frames():
    return toy_frames(7)


def nothing() -> None:
    pass


@pytest.mark.parametrize("share_frames", [False, True])
def test_workers_read_the_same_samples(frames, share_frames, monkeypatch):
    monkeypatch.setattr(tree_frames, "BLOCK_FRAMES", 2)
    of_tree = TreeFrames.of_tree(1, frames, replace(PARAMETERS, share_frames=share_frames), TOY.n_classes)
    seen = []
    alone = of_tree.draw_samples(nothing)
    shared = of_tree.draw_samples(lambda: seen.append(1), workers=2)
    for field in fields(alone):
        one, other = getattr(alone, field.name), getattr(shared, field.name)
        np.testing.assert_array_equal(one, other, err_msg=field.name)
        assert one.dtype == other.dtype
    assert len(seen) == len(of_tree.rows)


def test_frames_without_people_are_refused_by_workers_too(frames, monkeypatch):
    monkeypatch.setattr(tree_frames, "BLOCK_FRAMES", 2)
    deserted = [replace(frame, parts=np.zeros_like(frame.parts)) for frame in frames]
    of_tree = TreeFrames.of_tree(0, deserted, PARAMETERS, TOY.n_classes)
    with pytest.raises(ValueError, match="show no person"):
        of_tree.draw_samples(nothing, workers=2)
    assert len(of_tree.draw_samples(nothing, may_lack_people=True, workers=2).frame) == len(of_tree.rows)
