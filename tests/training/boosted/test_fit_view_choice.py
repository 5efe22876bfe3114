"""Training of the choice of views: on people who lie across the image, or are upside down."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import LabelledFrame
from posepipe.models.card import write_card
from posepipe.models.pose_model import PoseModel
from posepipe.pipeline import Pipeline
from posepipe.segmentation.views.rotated_views import RotatedViews
from posepipe.sources.rotation import rotate_frame
from posepipe.training import frame_blocks
from posepipe.training.boosted import fit_view_choice
from posepipe.training.boosted.fit_view_choice import ViewsOfPeople, refit_view_choice
from tests.support.toy_person import FramesInMemory, toy_frame, toy_model

ALWAYS = {"enough": 1.0, "poor": 1.0}
"""All rotated views are wanted: a model of toys is always sure."""


def turned(seed: int, quarters: int) -> LabelledFrame:
    """The toy person, turned in the image."""
    frame = toy_frame(seed)
    for _ in range(quarters):
        x, y, z = np.moveaxis(frame.joints_m, -1, 0)
        images = (np.rot90(image, -1) for image in (frame.parts, frame.people))
        depth, joints_m = rotate_frame(frame.depth), np.stack([-y, x, z], axis=-1)
        frame = LabelledFrame(depth, *images, joints_m, frame.visible)
    return frame


def frames_of(*datasets: range) -> FrameSequence:
    """People of whom a third each lies to the left, to the right, and is upside down."""
    datasets = [[turned(seed, 1 + seed % 3) for seed in seeds] for seeds in datasets]
    return FrameSequence([FramesInMemory(frames, recipe={}) for frames in datasets])


def right_of(model: PoseModel, seeds: range) -> float:
    """Share of joints within 10 cm, of people cut out."""
    pipeline, right = Pipeline.from_model(model, tracking=False, foreground="none"), []
    pipeline.rotated_views = replace(pipeline.rotated_views, **ALWAYS)
    for frame in frames_of(seeds):
        found = pipeline.step(frame.depth).people[0].pose.joints
        for name, place in zip(model.body.joints, frame.joints_m[0], strict=True):
            right.append(name in found and np.linalg.norm(found[name].xyz_m - place) < 0.1)
    return float(np.mean(right))


@pytest.fixture(autouse=True)
def few_trees(monkeypatch):
    for name, value in {"max_iter": 30, "learning_rate": 0.3, "min_samples_leaf": 2}.items():
        monkeypatch.setitem(fit_view_choice.BOOSTING, name, value)
    monkeypatch.setattr(fit_view_choice, "RotatedViews", partial(RotatedViews, **ALWAYS))


@pytest.fixture(scope="module")
def model() -> PoseModel:
    return toy_model(joint_frames=40)


def test_the_choice_finds_the_view_in_which_a_person_stands(model):
    taught = refit_view_choice(model, frames_of(range(300, 340), range(340, 360)), "typed")
    about = taught.metadata["view_choice"]
    assert (about["frames"], about["command"], about["folds_of"]) == (60, "typed", "frames")
    assert about["left_out"]["by_rule"] < about["left_out"]["right"] <= about["left_out"]["at_best"]
    assert right_of(taught, range(400, 430)) > right_of(model, range(400, 430)) + 0.2


def test_workers_collect_the_same_views(model, monkeypatch):
    monkeypatch.setattr(frame_blocks, "BLOCK_FRAMES", 2)
    frames = frames_of(range(300, 303), range(303, 305))
    alone, shared = (refit_view_choice(model, frames, workers=workers).view_choice.trees for workers in (1, 2))
    for name in ("number", "threshold", "child", "value", "roots"):
        np.testing.assert_array_equal(getattr(alone, name), getattr(shared, name), err_msg=name)


def test_views_of_one_person_are_compared_with_one_another():
    views = ViewsOfPeople(
        evidence=np.zeros((5, 1), np.float32),
        right=np.array([0.2, 0.6, 0.1, 0.5, 0.9]),
        found=np.array([True, True, False, True, True]),
        first=np.array([True, False, False, True, False]),
        by_rule=np.array([False, True, False, True, False]),
        row=np.zeros(5, np.int64),
    )
    assert views.mean_right(views.by_rule.astype(float)) == pytest.approx((0.6 + 0.5) / 2)
    assert views.mean_right(np.array([9.0, 1, 2, 3, 4])) == pytest.approx((0.2 + 0.9) / 2)
    assert views.mean_right(np.zeros(5)) == pytest.approx((0.2 + 0.5) / 2)  # the first of equals
    assert views.quality.tolist() == pytest.approx([1.2, 1.6, 0.1, 1.5, 1.9])


def unseen(frames: FrameSequence) -> list[LabelledFrame]:
    """Frames of people none of whose joints is known: no view of theirs is kept."""
    return [replace(frame, visible=np.zeros_like(frame.visible)) for frame in frames]


def test_frames_in_which_nobody_is_turned_are_refused(model):
    nobody = unseen(frames_of(range(300, 304)))
    with pytest.raises(ValueError, match=r"nobody in 4 frames .*was seen in rotated views"):
        refit_view_choice(model, FrameSequence([FramesInMemory(nobody)]))


def test_they_are_refused_before_all_frames_are_looked_at(model, monkeypatch):
    monkeypatch.setattr(fit_view_choice, "LOOKED_AT", 5)
    nobody, looked_at = unseen(frames_of(range(300, 312))), []
    with pytest.raises(ValueError, match="nobody in 4 frames looked at"):
        refit_view_choice(model, FrameSequence([FramesInMemory(nobody)]), on_frame=lambda: looked_at.append(1))
    assert not looked_at


def test_a_single_frame_of_somebody_who_lies_is_found(model):
    frames = [*unseen(frames_of(range(300, 325))), turned(325, 1)]
    taught = refit_view_choice(model, FrameSequence([FramesInMemory(frames, recipe={})]))
    assert taught.metadata["view_choice"]["people"] > 0


def test_the_card_tells_of_the_choice(model, tmp_path):
    frames = frames_of(range(300, 306))
    refit_view_choice(model, frames).save(tmp_path / "toy.npz")
    assert "30 trees choose" in (card := write_card(tmp_path / "toy.npz").read_text())
    assert "on thirds of these datasets" in card.lower()
