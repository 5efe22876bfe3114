"""Weight of class 0: that at which it is as probable in candidates of people as it is frequent there."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.training.fit_background_weight import WEIGHTS, background_weight, refit_background_weight
from posepipe.training.joints.fit_joints import fit_joint_parameters
from tests.support.toy_person import TOY, FramesInMemory, toy_frame, toy_frames


def on_a_seat(seed: int, width: int = 3) -> LabelledFrame:
    """A person, and what they sit on, of which about a pixel in ten of the candidate is."""
    frame = toy_frame(seed)
    depth_m = frame.depth.depth_m.copy()
    rows, cols = np.nonzero(frame.parts == TOY.part_code("legs"))
    seat = np.zeros(depth_m.shape, bool)
    seat[rows.min() + 2 : rows.min() + 2 + width, max(0, cols.min() - 3) : cols.max() + 4] = True
    seat &= depth_m == 0
    depth_m[seat] = depth_m[rows[0], cols[0]] + 0.01
    return replace(frame, depth=DepthFrame(depth_m, frame.depth.intrinsics, index=seed))


def all_readings(frame: LabelledFrame) -> np.ndarray:
    return (frame.depth.depth_m > 0).astype(np.uint8)


@pytest.fixture(scope="module")
def model() -> PoseModel:
    parameters = ForestParameters(trees=3, pixels_per_person=150, growth=GrowthRules(max_depth=4, candidates=60))
    mostly_seats = [on_a_seat(seed, 12) for seed in range(40)]
    forest = train_forest(mostly_seats, parameters, TOY, segmentation=all_readings)
    with pytest.warns(UserWarning, match="joint parameters from"):
        return PoseModel(forest, fit_joint_parameters(forest, toy_frames(20, first=200)))


def frames_of(frames: list[LabelledFrame]) -> FrameSequence:
    return FrameSequence([FramesInMemory(frames)])


def test_class_0_becomes_as_probable_as_it_is_frequent(model):
    frames = frames_of([on_a_seat(seed) for seed in range(300, 330)])
    seen = []
    weighed = refit_background_weight(model, frames, "typed", lambda: seen.append(1))
    about, weight = weighed.metadata["background"], weighed.metadata["background_weight"]
    assert len(seen) == about["frames"] == 30
    assert about["candidates"] >= 30  # those whose pixels were reduced are classified twice
    assert about["mean_probability"] > 1.3 * about["share"]
    assert weight < 0.8
    again = refit_background_weight(weighed, frames)
    assert again.metadata["background"]["mean_probability"] == pytest.approx(about["share"], rel=0.05)
    assert again.metadata["background_weight"] < weight  # the product of both


def test_frames_without_people_in_surroundings_are_refused(model):
    with pytest.raises(
        ValueError, match=r"people in rooms, and none of 3 frames .* more than people cut out; give frames"
    ):
        refit_background_weight(model, frames_of(toy_frames(3)))
    nobody = replace(on_a_seat(1), people=np.zeros((48, 64), np.uint8))
    with pytest.raises(ValueError, match="none of 0 candidates of people in 1 frame does: give frames of rooms"):
        refit_background_weight(model, frames_of([nobody]))


@pytest.mark.parametrize("share", [0.02, 0.3, 0.9])
def test_weight_changes_the_mean_of_any_histogram_to_the_share(share):
    rng = np.random.default_rng(3)
    probability = rng.beta(0.5, 1.5, 5000)
    histogram = np.histogram(probability, 4096, (0, 1))[0] / len(probability)
    weight = background_weight(histogram, share)
    weighed = weight * probability / (weight * probability + 1 - probability)
    assert weighed.mean() == pytest.approx(share, rel=0.02)


def test_weight_stays_within_its_limits():
    certain = np.zeros(4096)
    certain[-1] = 1
    assert background_weight(certain, 0.01) == WEIGHTS[0]
    assert background_weight(certain[::-1], 0.99) == WEIGHTS[1]
