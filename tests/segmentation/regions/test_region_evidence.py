"""Evidence for somebody in a region: what joins the evidence for a person."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.results import Pose
from posepipe.segmentation.person_classifier.person_evidence import PersonEvidence
from posepipe.segmentation.regions.pose_distances import mean_distance_m, skeleton_m
from posepipe.segmentation.regions.region_evidence import FAR_M, REGION_EVIDENCE, SeenRegion
from tests.segmentation.regions.toy_region import BODY, EVIDENCE, LENGTHS, pose_at, seen_region


def measured(seen: SeenRegion) -> dict[str, float]:
    numbers = EVIDENCE.measure(seen)
    assert (numbers.dtype, numbers.shape) == (np.float32, (len(EVIDENCE.names),))
    return dict(zip(EVIDENCE.names, numbers.tolist(), strict=True))


def test_the_evidence_for_a_person_comes_first():
    seen, of_person = seen_region(), PersonEvidence(BODY, LENGTHS)
    wanted = of_person.measure(seen.view.depth_m, seen.view.mask, seen.view.intrinsics, seen.parts, seen.pose)
    np.testing.assert_array_equal(EVIDENCE.measure(seen)[: len(wanted)], wanted)
    assert EVIDENCE.names == (*of_person.names, *REGION_EVIDENCE)


def test_how_a_region_lies_to_its_candidate():
    found = measured(seen_region(probability=0.7, of_candidate=0.4, rotated=True))
    assert found["probability"] == pytest.approx(0.7)
    assert found["probability of candidate"] == pytest.approx(0.4)
    assert found["share of candidate"] == pytest.approx(0.5)
    assert (found["joints"], found["rotated"]) == (2, 1)


def test_with_nobody_known_everybody_is_far():
    found = measured(seen_region())
    assert [found[name] for name in REGION_EVIDENCE[5:]] == [0, FAR_M, 0, FAR_M, 0]


def test_how_a_region_lies_to_the_nearest_known_person():
    found = measured(seen_region(pose_at(1.0), pose_at(0.3, "head")))
    assert found["known people"] == 2
    assert found["distance to known person"] == pytest.approx(0.3)
    assert found["joints in common"] == 1


def test_the_surface_is_held_against_all_known_people():
    far, near = (measured(seen_region(pose_at(1.0), pose_at(across_m))) for across_m in (0.8, 0.0))
    assert far["surface to known people"] > 0.7
    assert far["explained by known people"] == 0
    assert near["surface to known people"] < 0.15  # joints at both ends, and the middle of the bone
    assert near["explained by known people"] == 1


def test_poses_without_joints_in_common_are_far():
    found = measured(seen_region(pose_at(0.1, "hip"), pose=pose_at(0.0, "head")))
    assert found["distance to known person"] == pytest.approx(FAR_M)
    assert found["joints in common"] == 0
    assert measured(seen_region(Pose.of({})))["surface to known people"] == pytest.approx(FAR_M)


def test_distances_between_poses_are_of_common_joints():
    assert mean_distance_m(pose_at(0.0), pose_at(0.3)) == pytest.approx(0.3)
    assert mean_distance_m(pose_at(0.0), pose_at(0.4, "hip")) == pytest.approx(0.4)
    assert mean_distance_m(pose_at(0.0, "head"), pose_at(0.0, "hip")) == np.inf


def test_a_skeleton_has_the_middles_of_its_bones():
    np.testing.assert_allclose(skeleton_m(BODY, pose_at(0.5)), [[0.5, -0.2, 2], [0.5, 0.2, 2], [0.5, 0, 2]])
    np.testing.assert_allclose(skeleton_m(BODY, pose_at(0.5, "hip")), [[0.5, 0.2, 2]])
    assert skeleton_m(BODY, Pose.of({})).shape == (0, 3)
