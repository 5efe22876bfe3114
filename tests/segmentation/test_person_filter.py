"""Presence: who is a person, and which of a candidate's pixels are."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.parts import EVERY_PIXEL, PartProbabilities, Stride
from posepipe.results import JointProposal, Pose
from posepipe.segmentation.person_filter import AcceptAll, PersonFilter
from posepipe.segmentation.pixel_grid import pixels_of

CAMERA = Intrinsics(100.0, 100.0, 31.5, 23.5)  #: at 2 m a pixel is 4 square centimetres


def look_at(nobody: np.ndarray, stride: Stride = EVERY_PIXEL, **options) -> np.ndarray | None:
    """What is kept of a candidate that fills the picture, ``nobody`` (H, W) the probability of class 0."""
    mask = np.ones(nobody.shape, bool)
    pixels = pixels_of(mask, stride)
    nothing = nobody[pixels[:, 0], pixels[:, 1]].astype(np.float32)
    parts = PartProbabilities(pixels, np.stack([nothing, 1 - nothing], axis=1), stride)
    return PersonFilter(**options).person_mask(np.full(nobody.shape, 2, np.float32), mask, CAMERA, parts)


@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (2, 2), (3, 3)])
def test_the_pixels_that_are_nobodys_go(stride):
    nobody = np.zeros((30, 30))
    nobody[:12] = 0.9
    person = look_at(nobody, stride)
    assert person is not None
    np.testing.assert_array_equal(person[6:], (nobody < 0.5)[6:])  # at the border there are few to ask


def test_a_pixel_among_others_is_what_they_are():
    nobody = np.zeros((30, 30))
    nobody[10, 10] = nobody[20, 4] = 0.9
    person = look_at(nobody)
    assert person is not None
    assert person.all()


def test_somebody_on_a_sofa_is_looked_at_by_himself():
    # 900 pixels of 4 square centimetres: a sofa of 0.36 m^2, of which somebody hides 0.16 and a cushion 0.01
    nobody = np.full((30, 30), 0.9)
    nobody[:20, :20] = nobody[25:30, 25:30] = 0.1
    person = look_at(nobody, min_component_m2=0.15)
    assert person is not None
    assert person[:18, :18].all()
    assert not person[22:].any()
    assert look_at(nobody, min_component_m2=0.17) is None


def test_a_person_without_doubtful_pixels_stays_whole():
    person = look_at(np.full((30, 30), 0.4))
    assert person is not None
    assert person.all()


def test_what_is_mostly_nobodys_is_no_person():
    nobody = np.zeros((20, 20))
    nobody[:12] = 0.9
    assert look_at(nobody) is None
    assert look_at(nobody, min_share=0.35) is not None


def test_a_person_needs_surface():
    # 100 pixels are 400 square centimetres
    assert look_at(np.zeros((10, 10)), min_area_m2=0.041) is None
    assert look_at(np.zeros((10, 10)), min_area_m2=0.039) is not None


def test_a_candidate_without_readings_is_nobody():
    parts = PartProbabilities(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.float32), EVERY_PIXEL)
    empty = np.zeros((4, 4), bool)
    assert PersonFilter().person_mask(np.zeros((4, 4), np.float32), empty, CAMERA, parts) is None


def test_of_somebody_known_nothing_is_taken_away():
    parts = PartProbabilities(
        np.array([[0, 0], [1, 1]], np.int32), np.array([[1, 0], [0.2, 0.8]], np.float32), EVERY_PIXEL
    )
    mask = np.eye(2, dtype=bool)
    np.testing.assert_array_equal(AcceptAll().person_mask(mask.astype(np.float32), mask, CAMERA, parts), mask)
    empty = PartProbabilities(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.float32), EVERY_PIXEL)
    assert AcceptAll().person_mask(mask.astype(np.float32), mask, CAMERA, empty) is None


def test_the_border_of_the_picture_does_not_vote():
    nobody = np.zeros((50, 60))
    nobody[:3, 10:30] = 0.9
    moved = np.roll(nobody, 20, axis=0)
    parts = []
    for shown in (nobody, moved):
        mask = np.zeros(nobody.shape, bool)
        top = 0 if shown is nobody else 20
        mask[top : top + 25, 5:45] = True
        pixels = pixels_of(mask)
        nothing = shown[pixels[:, 0], pixels[:, 1]].astype(np.float32)
        found = PartProbabilities(pixels, np.stack([nothing, 1 - nothing], axis=1), EVERY_PIXEL)
        person = PersonFilter().person_mask(np.full(nobody.shape, 2, np.float32), mask, CAMERA, found)
        parts.append(person[top : top + 25])
    np.testing.assert_array_equal(*parts)


@pytest.mark.parametrize("stride", [(2, 1), (2, 2), (3, 3)])
def test_pixels_between_those_that_were_classified_are_not_lost(stride):
    mask = np.zeros((60, 60), bool)
    mask[10:50, 10:50] = True
    mask[20, 50:58] = mask[31, 50:58] = True  # fingers: on a coarse grid, one of them has no pixel of its own
    pixels = pixels_of(mask, stride)
    values = np.tile(np.array([0, 1], np.float32), (len(pixels), 1))
    found = PersonFilter().person_mask(
        np.where(mask, 2, 0).astype(np.float32), mask, CAMERA, PartProbabilities(pixels, values, stride)
    )
    np.testing.assert_array_equal(found, mask)


def parts_of(nobody: list[float]) -> PartProbabilities:
    nothing = np.array(nobody, np.float32)
    pixels = np.stack([np.arange(len(nothing))] * 2, axis=1).astype(np.int32)
    return PartProbabilities(pixels, np.stack([nothing, 1 - nothing], axis=1), EVERY_PIXEL)


def pose_of(confidence: float) -> Pose:
    return Pose({joint: JointProposal(joint, (0.0, 0.0, 2.0), confidence) for joint in ("head", "neck")})


@pytest.mark.parametrize(
    ("nobody", "confidence", "wanted"),
    [
        ([0.1, 0.2], 0.9, True),
        ([0.1, 0.2], 0.15, True),  # who lies in a way of his own
        ([0.1, 0.2], 0.05, False),
        ([0.2, 0.4], 0.9, False),  # a strip of furniture, every pixel of which looks like a person
    ],
)
def test_a_person_is_hardly_anywhere_like_nobody(nobody, confidence, wanted):
    assert PersonFilter().is_person(parts_of(nobody), pose_of(confidence)) is wanted


def test_doubt_and_certainty_may_be_asked_for():
    doubtful = parts_of([0.4, 0.4])
    assert not PersonFilter().is_person(doubtful, pose_of(0.5))
    assert PersonFilter(max_background=0.45).is_person(doubtful, pose_of(0.5))
    assert not PersonFilter(max_background=0.45, min_confidence=0.6).is_person(doubtful, pose_of(0.5))


def test_somebody_known_is_a_person_whatever_he_looks_like():
    assert AcceptAll().is_person(parts_of([0.9, 1.0]), pose_of(0.01))
    assert not AcceptAll(min_confidence=0.5).is_person(parts_of([0.0]), pose_of(0.4))


def test_a_forest_without_class_0_doubts_nobody():
    assert PersonFilter().is_person(parts_of([0.0, 0.0]), pose_of(0.5))
