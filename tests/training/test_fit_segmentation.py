"""Training of the segmentation: what it sees of labelled frames, and that it tells people from furniture."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.datasets.frame_sequence import FrameSequence
from posepipe.frames import DepthFrame, LabelledFrame
from posepipe.learn.depth.train_forest import train_forest
from posepipe.learn.growing import GrowthRules
from posepipe.models.pose_model import PoseModel
from posepipe.segmentation.person_segmentation import SEGMENTS, PersonSegmentation
from posepipe.training.fit_segmentation import (
    CUT_OUT,
    SEGMENTATION_PARAMETERS,
    SegmentFrames,
    refit_segmentation,
    train_segmentation,
)
from tests.support.rooms import CAMERA, empty_room, with_box
from tests.support.toy_person import TOY, FramesInMemory, toy_frames

PERSON, SURROUNDINGS = (SEGMENTS.part_code(name) for name in ("person", "surroundings"))
SMALL = replace(
    SEGMENTATION_PARAMETERS, pixels_per_person=300, growth=GrowthRules(max_depth=8, candidates=100, min_samples=4)
)


def furnished(rng: np.random.Generator) -> LabelledFrame:
    """A room with a tall narrow person and a low wide sofa: boxes, in places drawn at random."""
    x, z = rng.uniform(-1.0, 1.0), rng.uniform(1.8, 3.0)
    sofa = with_box(empty_room(), (rng.uniform(-1, 1), 0.85, rng.uniform(2.0, 3.2)), (1.9, 0.7))
    depth_m = with_box(sofa, (x, 0.35, z), (0.45, 1.7))
    people = (depth_m != sofa).astype(np.uint8)
    joints = np.zeros((1, 1, 3), np.float32), np.ones((1, 1), bool)
    return LabelledFrame(DepthFrame(depth_m, CAMERA), people, people, *joints)


@pytest.fixture(scope="module")
def frames() -> list[LabelledFrame]:
    rng = np.random.default_rng(3)
    return [furnished(rng) for _ in range(60)]


def test_people_and_surroundings_are_the_classes(frames):
    segments = SegmentFrames(frames)
    first = segments[0]
    assert first.depth.depth_m.shape == (120, 160)
    np.testing.assert_array_equal(first.parts == PERSON, frames[0].people[::2, ::2] > 0)
    assert set(np.unique(first.parts)) == {PERSON, SURROUNDINGS}
    assert (first.people == 1).all()  # probes see the whole frame


def test_every_other_frame_is_mirrored_with_its_axis(frames):
    _, mirrored = SegmentFrames(frames)[0:2]
    np.testing.assert_array_equal(mirrored.parts[:, ::-1] == PERSON, frames[1].people[::2, ::2] > 0)
    assert mirrored.depth.intrinsics.cx == pytest.approx(159 - CAMERA.cx / 2)


def test_some_frames_are_cut_out(frames):
    segments = SegmentFrames(frames)
    shown = [set(np.unique(segments[k].parts[segments[k].depth.depth_m > 0])) for k in range(2 * CUT_OUT)]
    assert [k for k, classes in enumerate(shown) if classes == {PERSON}] == [CUT_OUT - 1, 2 * CUT_OUT - 1]


def test_a_person_is_told_from_a_sofa(frames):
    forest = train_segmentation(frames, SMALL)
    segmentation, rng = PersonSegmentation(forest), np.random.default_rng(9)
    found, wrong = [], []
    for _ in range(12):
        frame = furnished(rng)
        mask = segmentation.segment(frame.depth.depth_m, frame.depth.intrinsics)
        found.append(mask[frame.people > 0].mean())
        wrong.append(mask[frame.people == 0].mean())
    assert np.mean(found) > 0.85
    assert np.mean(wrong) < 0.03


def test_probabilities_are_of_pixels_as_they_are_not_as_drawn(frames):
    """A stump hardly tells people from surroundings: it states how many there are, and not how many were drawn."""
    stump = replace(SMALL, growth=GrowthRules(max_depth=1, candidates=1, min_samples=4))
    forest = train_segmentation(frames, stump)
    stated, actual = [], []
    for segments in (SegmentFrames(frames)[k] for k in range(0, 40, 2)):  # neither mirrored nor cut out
        depth_m = segments.depth.depth_m
        stated.append(forest.predict(depth_m, depth_m > 0, segments.depth.intrinsics).probabilities[:, PERSON].mean())
        actual.append((segments.parts[depth_m > 0] == PERSON).mean())
    assert np.mean(stated) == pytest.approx(np.mean(actual), abs=0.02)


def test_frames_without_surroundings_are_refused(frames):
    cut = [
        replace(frame, depth=DepthFrame(np.where(frame.people, frame.depth.depth_m, 0), CAMERA)) for frame in frames[:4]
    ]
    with pytest.raises(ValueError, match="needs whole frames"):
        train_segmentation(cut, SMALL)


def test_a_segmentation_of_rooms_without_people_is_refused():
    nobody = np.zeros((240, 320), np.uint8)
    joints = np.zeros((0, 1, 3), np.float32), np.zeros((0, 1), bool)
    rooms = [LabelledFrame(DepthFrame(empty_room(), CAMERA, index=k), nobody, nobody, *joints) for k in range(2)]
    model = PoseModel.of(train_forest(toy_frames(2), replace(SMALL, share_frames=False, trees=1), TOY))
    with pytest.raises(ValueError, match=r"a segmentation learns from people in rooms, and none of 2 .* a person"):
        refit_segmentation(model, FrameSequence([FramesInMemory(rooms)]), parameters=SMALL)
