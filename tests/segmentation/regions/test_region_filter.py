"""Whether a region is somebody: by bounds, and by a classifier."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from posepipe.models.sections.boosted_sections import region_classifier_from_arrays, region_classifier_to_arrays
from posepipe.segmentation.regions.region_classifier import RegionClassifier
from posepipe.segmentation.regions.region_filter import region_filter_by
from tests.segmentation.regions.toy_region import BODY, LENGTHS, classifier_by, pose_at, seen_region


def accepted(*known, **seen) -> bool:
    region, judge = seen_region(*known, **seen), region_filter_by(None)
    return judge.accepts(region, judge.probability(region))


def test_somebody_else_is_far_away_and_surely_a_person():
    assert accepted(pose_at(0.6))
    assert not accepted(pose_at(0.4))
    assert not accepted(pose_at(0.6), probability=0.7)
    assert accepted(pose_at(0.0, "hip"), pose=pose_at(0.0, "head"))  # no joint in common
    assert not accepted(pose_at(0.6), pose=pose_at(0.0, confidence=0.2))


def test_somebody_else_is_far_from_everybody():
    assert accepted(pose_at(0.6), pose_at(0.7))
    assert not accepted(pose_at(0.1), pose_at(0.7))


def test_where_nobody_is_known_the_pose_need_not_be_confident():
    assert accepted(pose=pose_at(0.0, confidence=0.2))
    assert not accepted(probability=0.7)


def test_a_classifier_decides_instead_of_the_bounds():
    near, far = seen_region(pose_at(0.2)), seen_region(pose_at(0.4))
    judge = region_filter_by(classifier_by("distance to known person", 0.3))
    sure, unsure = judge.probability(far), judge.probability(near)
    assert [sure, unsure] == pytest.approx([1 / (1 + np.exp(-2)), 1 / (1 + np.exp(2))])
    assert judge.accepts(far, sure)
    assert not judge.accepts(near, unsure)
    assert not replace(judge, min_probability=0.9).accepts(far, sure)


def test_what_is_surely_no_person_is_not_asked_about():
    judge = region_filter_by(classifier_by("distance to known person", 0.3))
    assert judge.probability(seen_region(probability=0.04)) == 0.04
    assert judge.probability(seen_region(probability=0.06)) > 0.8


def test_a_region_classifier_comes_back_from_its_arrays():
    classifier = classifier_by("probability", 0.5)
    arrays = region_classifier_to_arrays(classifier)
    again = region_classifier_from_arrays(arrays, BODY)
    for probability in (0.4, 0.6):
        seen = seen_region(probability=probability)
        assert again.probability(seen) == classifier.probability(seen)
    assert (region_classifier_to_arrays(None), region_classifier_from_arrays({}, BODY)) == ({}, None)
    with pytest.raises(ValueError, match="region classifier have sizes"):
        region_classifier_from_arrays(arrays | {"calibration": np.zeros(3, np.float32)}, BODY)


def test_unknown_evidence_for_a_region_is_refused():
    trees = classifier_by("probability", 0.5).trees
    with pytest.raises(ValueError, match="does not measure"):
        RegionClassifier(BODY, LENGTHS, replace(trees, names=("mood", *trees.names[1:])), np.zeros(2, np.float32))
