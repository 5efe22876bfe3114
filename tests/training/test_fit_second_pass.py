"""Second pass learned from frames: labels that know a pose, alike for left and right."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import BodyDefinition
from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.models.pose_model import PoseModel
from posepipe.training import fit_second_pass as fitting
from posepipe.training.fit_second_pass import FirstPoses, fit_relabelling, refit_second_pass
from posepipe.training.train_model import TrainingCallbacks
from tests.support.toy_person import TOY, FramesInMemory, toy_frames, toy_model

pytestmark = pytest.mark.filterwarnings("ignore:joint parameters from")
LEFT, RIGHT = TOY.part_code("left_arm") - 1, TOY.part_code("right_arm") - 1
LEFT_HAND, RIGHT_HAND = (len(TOY.parts) + TOY.joint_index(name) for name in ("left_hand", "right_hand"))


@pytest.fixture(scope="module")
def model() -> PoseModel:
    return toy_model(max_depth=3, joint_frames=40)


def frames(count: int = 30, **changes) -> FrameSequence:
    return FrameSequence([FramesInMemory(toy_frames(count, first=300), **changes)])


def test_near_a_hand_is_an_arm_and_left_mirrors_right(model):
    weights, bias = (getattr(fit_relabelling(FirstPoses(model), frames()), name) for name in ("weights", "bias"))
    assert weights.dtype == bias.dtype == np.float32
    assert weights[LEFT_HAND, LEFT] < weights[RIGHT_HAND, LEFT]  # the farther from it, the less probable
    assert weights[LEFT_HAND, LEFT] == weights[RIGHT_HAND, RIGHT]
    assert weights[LEFT, LEFT] == weights[RIGHT, RIGHT]
    assert bias[LEFT] == bias[RIGHT]


def test_a_part_that_no_frame_shows_is_never_probable(model):
    shown = frames(6)
    for frame in shown:
        frame.parts[frame.parts == TOY.part_code("legs")] = 0
    fitted = fit_relabelling(FirstPoses(model), [replace(frame) for frame in shown])
    assert fitted.bias[TOY.part_code("legs") - 1] == fitting.UNSEEN
    assert (fitted.weights[:, TOY.part_code("legs") - 1] == 0).all()


def test_sides_that_frames_show_in_turn_are_both_known(model):
    shown = list(frames(20))
    for row, frame in enumerate(shown):
        frame.parts[frame.parts == (LEFT, RIGHT)[row % 2] + 1] = 0
    bias = fit_relabelling(FirstPoses(model), shown).bias
    assert bias[LEFT] == bias[RIGHT] > fitting.UNSEEN / 10


def test_one_part_is_no_choice(model):
    shown = list(frames(6))
    for frame in shown:
        frame.parts[frame.parts > 0] = TOY.part_code("trunk")
    with pytest.raises(ValueError, match="fewer than two"):
        fit_relabelling(FirstPoses(model), shown)


def test_two_parts_are_enough(model):
    shown = list(frames(6))
    for frame in shown:
        frame.parts[(frame.parts != TOY.part_code("head")) & (frame.parts > 0)] = TOY.part_code("trunk")
    fitted = fit_relabelling(FirstPoses(model), shown)
    head, trunk = TOY.part_code("head") - 1, TOY.part_code("trunk") - 1
    near_head = fitted.weights[len(TOY.parts) + TOY.joint_index("head")]
    assert near_head[head] < 0 < near_head[trunk]


def test_no_more_people_are_read_than_needed(model, monkeypatch):
    monkeypatch.setattr(fitting, "RELABELLING_PEOPLE", 4)
    read = []
    fit_relabelling(FirstPoses(model), frames(), lambda: read.append(1))
    assert len(read) == 4


def test_frames_without_people_are_refused(model):
    shown = list(frames(3))
    for frame in shown:
        frame.people[:] = 0
    with pytest.raises(ValueError, match="it finds none"):
        fit_relabelling(FirstPoses(model), shown)


def test_frames_that_show_nobody_are_refused_at_once(model, monkeypatch):
    monkeypatch.setattr(fitting, "fit_relabelling", None)  # would fail
    empty = [
        replace(frame, people=np.zeros_like(frame.people), joints_m=frame.joints_m[:0], visible=frame.visible[:0])
        for frame in frames(3)
    ]
    with pytest.raises(ValueError, match=r"a second pass learns from people, and none of 3 .* give frames of people"):
        refit_second_pass(model, FrameSequence([FramesInMemory(empty)]))


def test_frames_of_another_body_are_refused(model):
    other = BodyDefinition(**{**{name: getattr(TOY, name) for name in TOY.__dataclass_fields__}, "name": "other"})
    with pytest.raises(ValueError, match="needs frames of the same body, got 'other'"):
        refit_second_pass(model, frames(3, body=other))


def test_all_but_the_second_pass_stays(model):
    epochs = []
    old = model.with_metadata(figures={"toy": {"headline": {}}}, name="old")
    again = refit_second_pass(old, frames(), TrainingCallbacks(on_epoch=lambda: epochs.append(1)), "typed")
    assert again.second_pass is not None
    assert again.second_pass.joint_parameters.refinement is None  # of so few people
    assert (again.forest, again.joint_parameters) == (old.forest, old.joint_parameters)
    assert "figures" not in again.metadata
    assert again.metadata["name"] == "old"
    assert again.metadata["second_pass"]["command"] == "typed"
    assert again.metadata["second_pass"]["frames"] == 30
