"""Facing network learned from frames: which way blocks face, and frames that teach nothing."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.facing.facing_network import direction_vectors, layer_shapes
from posepipe.facing.person_picture import person_picture
from posepipe.frames import LabelledFrame
from posepipe.models.pose_model import PoseModel
from posepipe.training import fit_facing as fitting
from posepipe.training.fit_facing import directions_around, refit_facing, train_facing
from tests.support.toy_person import TOY, FramesInMemory, toy_frame, toy_frames, toy_model

pytestmark = pytest.mark.filterwarnings("ignore:joint parameters from")


@pytest.fixture(scope="module")
def model() -> PoseModel:
    return toy_model(max_depth=3)


def turned(frame: LabelledFrame, seed: int) -> LabelledFrame:
    """Every second person shows the back: their trunk lies behind the rest, and left is at the left."""
    if seed % 2 == 0:
        return frame
    depth_m = frame.depth.depth_m.copy()
    depth_m[frame.parts == TOY.part_code("trunk")] += 0.6
    return replace(
        frame, depth=replace(frame.depth, depth_m=depth_m), joints_m=frame.joints_m[:, TOY.mirrored_joints()]
    )


def frames(count: int = 24, first: int = 300, **changes) -> FrameSequence:
    own = [turned(toy_frame(seed), seed) for seed in range(first, first + count)]
    return FrameSequence([FramesInMemory(own, **changes)])


def test_front_and_back_are_told_apart(monkeypatch):
    monkeypatch.setattr(fitting, "BATCH", 20)
    monkeypatch.setattr(fitting, "layer_shapes", lambda: layer_shapes(units=(8,) * 6, hidden=16))
    drawn = fitting._draw_pictures(frames(60), lambda: None)
    network = train_facing(*drawn, np.random.default_rng(0), epochs=60)
    for frame in frames(10, first=700):
        seen = network.predict(person_picture(frame.depth.depth_m, frame.people > 0, frame.depth.intrinsics))
        assert seen.agreement(TOY.across(frame.joints_m[0])[[0, 2]]) > 0.9


def test_all_but_the_network_stays(model, monkeypatch):
    monkeypatch.setattr(fitting, "train_facing", lambda pictures, across_m, rng, on_epoch: on_epoch() or "trained")
    read, epochs = [], []
    old = model.with_metadata(figures={"toy": {"headline": {}}}, name="old")
    again = refit_facing(old, frames(), "typed", lambda: read.append(1), lambda: epochs.append(1))
    assert (again.facing, len(read), len(epochs)) == ("trained", 24, 1)
    assert again.forest is model.forest
    assert again.metadata["name"] == "old"
    assert "figures" not in again.metadata
    about = again.metadata["facing"]
    assert (about["command"], about["frames"], about["people"]) == ("typed", 24, 24)


def test_the_same_frames_make_the_same_network():
    drawn = fitting._draw_pictures(frames(8), lambda: None)
    one, other = (train_facing(*drawn, np.random.default_rng(0), epochs=2) for _ in range(2))
    for own, again in zip(one.weights + one.biases, other.weights + other.biases, strict=True):
        np.testing.assert_array_equal(own, again)


def test_targets_are_most_probable_near_the_true_direction():
    across_m = np.array([[0.3, 0.05], [-0.2, -0.2]])
    targets = directions_around(across_m)
    np.testing.assert_allclose(targets.sum(axis=1), 1, rtol=1e-6)
    best = direction_vectors()[targets.argmax(axis=1)]
    assert ((best * across_m).sum(axis=1) / np.linalg.norm(across_m, axis=1) > 0.98).all()


def test_people_too_small_or_without_known_sides_teach_nothing(model):
    small, unknown = toy_frames(2)
    small.people[:] = 0
    small.people[:5, :5] = 1
    unknown.joints_m[:, TOY.joint_index("left_hand")] = np.nan
    with pytest.raises(ValueError, match="these 2 frames show none"):
        refit_facing(model, FrameSequence([FramesInMemory([small, unknown])]))


def test_frames_and_models_of_other_bodies_are_refused(model):
    fields = {name: getattr(TOY, name) for name in TOY.__dataclass_fields__}
    with pytest.raises(ValueError, match="needs frames of the same body, got 'other'"):
        refit_facing(model, frames(3, body=BodyDefinition(**{**fields, "name": "other"})))
