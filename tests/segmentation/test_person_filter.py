"""Person filter: which candidates are people, and which of their pixels."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.parts import EVERY_PIXEL, PartProbabilities, Stride
from posepipe.results import Joint, Pose
from posepipe.segmentation.person_filter import AcceptAll, PersonFilter
from posepipe.segmentation.pixel_grid import pixels_of
from posepipe.segmentation.views.view import View

CAMERA = Intrinsics(100.0, 100.0, 31.5, 23.5)  #: at 2 m a pixel is 4 square centimetres


VIEW = View(np.full((8, 8), 2, np.float32), np.ones((8, 8), bool), CAMERA)


def filtered(background: np.ndarray, stride: Stride = EVERY_PIXEL, **options) -> np.ndarray | None:
    """What is kept of a candidate that fills the image, ``background`` (H, W) the probability of class 0."""
    mask = np.ones(background.shape, bool)
    pixels = pixels_of(mask, stride)
    background_at = background[pixels[:, 0], pixels[:, 1]].astype(np.float32)
    parts = PartProbabilities(pixels, np.stack([background_at, 1 - background_at], axis=1), stride)
    return PersonFilter(**options).person_mask(np.full(background.shape, 2, np.float32), mask, CAMERA, parts)


@pytest.mark.parametrize("stride", [(1, 1), (2, 1), (2, 2), (3, 3)])
def test_background_pixels_are_removed(stride):
    background = np.zeros((30, 30))
    background[:12] = 0.9
    person = filtered(background, stride)
    assert person is not None
    np.testing.assert_array_equal(person[6:], (background < 0.5)[6:])  # at the border few pixels vote


def test_a_single_pixel_follows_its_neighbours():
    background = np.zeros((30, 30))
    background[10, 10] = background[20, 4] = 0.9
    person = filtered(background)
    assert person is not None
    assert person.all()


def test_a_person_on_a_sofa_is_cut_from_it():
    # 900 pixels of 4 square centimetres: a sofa of 0.36 m^2, of which a person hides 0.16 and a cushion 0.01
    background = np.full((30, 30), 0.9)
    background[:20, :20] = background[25:30, 25:30] = 0.1
    person = filtered(background, min_component_m2=0.15)
    assert person is not None
    assert person[:18, :18].all()
    assert not person[22:].any()
    assert filtered(background, min_component_m2=0.17) is None


def test_a_person_without_background_pixels_stays_whole():
    person = filtered(np.full((30, 30), 0.4))
    assert person is not None
    assert person.all()


def test_a_candidate_of_mostly_background_is_no_person():
    background = np.zeros((20, 20))
    background[:12] = 0.9
    assert filtered(background) is None
    assert filtered(background, min_share=0.35) is not None


def test_a_person_needs_surface():
    # 100 pixels are 400 square centimetres
    assert filtered(np.zeros((10, 10)), min_area_m2=0.041) is None
    assert filtered(np.zeros((10, 10)), min_area_m2=0.039) is not None


def test_a_candidate_without_readings_is_no_person():
    parts = PartProbabilities(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.float32), EVERY_PIXEL)
    empty = np.zeros((4, 4), bool)
    assert PersonFilter().person_mask(np.zeros((4, 4), np.float32), empty, CAMERA, parts) is None


def test_accepting_all_removes_no_pixel():
    parts = PartProbabilities(
        np.array([[0, 0], [1, 1]], np.int32), np.array([[1, 0], [0.2, 0.8]], np.float32), EVERY_PIXEL
    )
    mask = np.eye(2, dtype=bool)
    np.testing.assert_array_equal(AcceptAll().person_mask(mask.astype(np.float32), mask, CAMERA, parts), mask)
    empty = PartProbabilities(np.zeros((0, 2), np.int32), np.zeros((0, 2), np.float32), EVERY_PIXEL)
    assert AcceptAll().person_mask(mask.astype(np.float32), mask, CAMERA, empty) is None


def test_the_border_of_the_image_does_not_vote():
    background = np.zeros((50, 60))
    background[:3, 10:30] = 0.9
    moved = np.roll(background, 20, axis=0)
    parts = []
    for shown in (background, moved):
        mask = np.zeros(background.shape, bool)
        top = 0 if shown is background else 20
        mask[top : top + 25, 5:45] = True
        pixels = pixels_of(mask)
        background_at = shown[pixels[:, 0], pixels[:, 1]].astype(np.float32)
        found = PartProbabilities(pixels, np.stack([background_at, 1 - background_at], axis=1), EVERY_PIXEL)
        person = PersonFilter().person_mask(np.full(background.shape, 2, np.float32), mask, CAMERA, found)
        parts.append(person[top : top + 25])
    np.testing.assert_array_equal(*parts)


@pytest.mark.parametrize("stride", [(2, 1), (2, 2), (3, 3)])
def test_pixels_between_classified_ones_are_kept(stride):
    mask = np.zeros((60, 60), bool)
    mask[10:50, 10:50] = True
    mask[20, 50:58] = mask[31, 50:58] = True  # fingers: on a coarse grid, one of them has no pixel of its own
    pixels = pixels_of(mask, stride)
    values = np.tile(np.array([0, 1], np.float32), (len(pixels), 1))
    found = PersonFilter().person_mask(
        np.where(mask, 2, 0).astype(np.float32), mask, CAMERA, PartProbabilities(pixels, values, stride)
    )
    np.testing.assert_array_equal(found, mask)


def parts_of(background: list[float]) -> PartProbabilities:
    values = np.array(background, np.float32)
    pixels = np.stack([np.arange(len(values))] * 2, axis=1).astype(np.int32)
    return PartProbabilities(pixels, np.stack([values, 1 - values], axis=1), EVERY_PIXEL)


def pose_of(confidence: float) -> Pose:
    return Pose.of({joint: Joint(joint, (0.0, 0.0, 2.0), confidence) for joint in ("head", "neck")})


@pytest.mark.parametrize(
    ("background", "confidence", "wanted"),
    [
        ([0.1, 0.2], 0.9, True),
        ([0.1, 0.2], 0.15, True),  # an unusual posture
        ([0.1, 0.2], 0.05, False),
        ([0.2, 0.4], 0.9, False),  # a strip of furniture, every pixel of which resembles a person
    ],
)
def test_a_person_has_little_background_and_some_confidence(background, confidence, wanted):
    assert PersonFilter().person_probability(VIEW, parts_of(background), pose_of(confidence)) == wanted


def test_the_limits_of_background_and_confidence_may_be_set():
    unclear = parts_of([0.4, 0.4])
    assert not PersonFilter().person_probability(VIEW, unclear, pose_of(0.5))
    assert PersonFilter(max_background=0.45).person_probability(VIEW, unclear, pose_of(0.5))
    assert not PersonFilter(max_background=0.45, min_confidence=0.6).person_probability(VIEW, unclear, pose_of(0.5))


def test_accepting_all_asks_for_confidence_alone():
    assert AcceptAll().person_probability(VIEW, parts_of([0.9, 1.0]), pose_of(0.01))
    assert not AcceptAll(min_confidence=0.5).person_probability(VIEW, parts_of([0.0]), pose_of(0.4))


def test_a_forest_without_class_0_rejects_no_parts():
    assert PersonFilter().person_probability(VIEW, parts_of([0.0, 0.0]), pose_of(0.5))
