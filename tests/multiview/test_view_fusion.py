"""People of several views: who is who, and which view a joint comes from."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.multiview.view_fusion import ViewedPerson, ViewFusion, fuse_joints
from tests.support.toy_person import TOY

STANDING_M = np.array([[0.0, 2.0, 1.6], [0.0, 2.0, 1.2], [0.3, 2.0, 0.9], [-0.3, 2.0, 0.9]])
FUSION = ViewFusion(TOY)


def viewed(camera, row, shift_m=(0, 0, 0), confidence=0.8):
    return ViewedPerson(camera, row, STANDING_M + shift_m, np.full(4, confidence))


def members(people):
    return sorted(sorted((view.camera, view.row) for view in person.views) for person in people)


def test_views_of_one_person_become_one():
    assert members(FUSION.fuse([[viewed(0, 0)], [viewed(1, 0, (0.1, 0, 0))]])) == [[(0, 0), (1, 0)]]


def test_people_apart_stay_apart():
    assert members(FUSION.fuse([[viewed(0, 0)], [viewed(1, 0, (0.8, 0, 0))]])) == [[(0, 0)], [(1, 0)]]


def test_the_sum_of_distances_decides():
    first = [viewed(0, 0), viewed(0, 1, (0.45, 0, 0))]
    second = [viewed(1, 0, (0.3, 0, 0)), viewed(1, 1, (0.6, 0, 0))]
    assert members(FUSION.fuse([first, second])) == [[(0, 0), (1, 0)], [(0, 1), (1, 1)]]


def test_three_views_make_one_person_and_an_empty_view_none():
    views = [[viewed(0, 0)], [], [viewed(2, 0, (0.05, 0, 0)), viewed(2, 1, (2, 0, 0))]]
    assert members(FUSION.fuse(views)) == [[(0, 0), (2, 0)], [(2, 1)]]


def test_a_view_of_the_legs_joins_one_of_the_whole_person():
    """Another view of the group shows head and trunk alone, without joints in common."""
    upper, lower = (
        ViewedPerson(camera, 0, np.where(has[:, None], STANDING_M, np.nan), np.where(has, 0.8, 0.0))
        for camera, has in ((0, STANDING_M[:, 2] > 1), (2, STANDING_M[:, 2] < 1))
    )
    (person,) = FUSION.fuse([[upper], [viewed(1, 0)], [lower]])
    assert [view.camera for view in person.views] == [0, 1, 2]
    np.testing.assert_allclose(person.joints_m, STANDING_M)
    assert (person.confidence > 0.9).all()


def test_nobody_in_view_is_nobody():
    assert FUSION.fuse([[], []]) == []


def test_a_fragment_in_the_place_of_a_person_is_left_out():
    fragment_m = STANDING_M[:, [1, 0, 2]] * [0.1, 1, 0.3] + [0, 2.0, 0]  # far from the joints, near the middle
    fragment = ViewedPerson(0, 1, fragment_m, np.full(4, 0.3))
    assert members(FUSION.fuse([[viewed(0, 0), fragment], [viewed(1, 0)]])) == [[(0, 0), (1, 0)]]
    strong = ViewedPerson(0, 1, fragment_m, np.full(4, 0.6))
    assert len(FUSION.fuse([[viewed(0, 0), strong], [viewed(1, 0)]])) == 2
    aside = ViewedPerson(0, 1, fragment_m + [0.5, 0, 0], np.full(4, 0.3))
    assert len(FUSION.fuse([[viewed(0, 0), aside], [viewed(1, 0)]])) == 2


def test_a_person_without_joints_is_nobody():
    nobody = ViewedPerson(0, 0, np.full((4, 3), np.nan), np.zeros(4))
    assert FUSION.fuse([[nobody], []]) == []
    assert members(FUSION.fuse([[nobody], [viewed(1, 0)]])) == [[(1, 0)]]


def fused(places_m, confidence):
    """One joint of several views."""
    joints_m, out = fuse_joints(np.array(places_m, float)[:, None], np.array(confidence, float)[:, None], 0.15)
    return joints_m[0], float(out[0])


def test_equal_views_meet_in_the_middle():
    place_m, confidence = fused([(0, 0, 1), (0.1, 0, 1)], [0.8, 0.8])
    np.testing.assert_allclose(place_m, [0.05, 0, 1])
    assert confidence == pytest.approx(0.96)


def test_a_view_weighs_the_odds_of_its_confidence():
    place_m, _ = fused([(0, 0, 1), (0.1, 0, 1)], [0.9, 0.5])  # odds 9 and 1
    np.testing.assert_allclose(place_m, [0.01, 0, 1])


def test_a_joint_of_one_view_comes_from_it():
    place_m, confidence = fused([(np.nan, np.nan, np.nan), (0.1, 0, 1)], [0, 0.3])
    np.testing.assert_allclose(place_m, [0.1, 0, 1])
    assert confidence == pytest.approx(0.3)


def test_a_joint_of_no_view_is_absent():
    place_m, confidence = fused([(np.nan,) * 3, (np.nan,) * 3], [0, 0])
    assert np.isnan(place_m).all()
    assert confidence == 0


def test_views_that_disagree_are_not_averaged():
    place_m, confidence = fused([(0, 0, 1), (0.5, 0, 1)], [0.9, 0.4])
    np.testing.assert_allclose(place_m, [0, 0, 1])
    assert confidence == pytest.approx(0.9 * (1 - 0.4 / 2))


def test_two_views_that_agree_outweigh_one():
    place_m, _ = fused([(0, 0, 1), (0.04, 0, 1), (0.5, 0, 1)], [0.6, 0.6, 0.7])
    np.testing.assert_allclose(place_m, [0.02, 0, 1])


def test_the_order_of_views_changes_no_joint():
    rng = np.random.default_rng(3)
    joints_m, confidence = rng.normal(0, 0.1, (3, 20, 3)), rng.uniform(0, 1, (3, 20))
    confidence[rng.random((3, 20)) < 0.3] = 0
    joints_m[confidence == 0] = np.nan
    one, other = (fuse_joints(joints_m[order], confidence[order], 0.15) for order in ([0, 1, 2], [2, 0, 1]))
    np.testing.assert_allclose(one[0], other[0])
    np.testing.assert_allclose(one[1], other[1])


def test_guesses_neither_part_two_views_nor_make_somebody():
    confidence = np.array([0.9, 0.9, 0.28, 0.28])
    elsewhere_m = STANDING_M + np.array([[0, 0, 0], [0, 0, 0], [3, 0, 0], [0, 3, 0]])
    one, other = ViewedPerson(0, 0, STANDING_M, confidence), ViewedPerson(1, 0, elsewhere_m, confidence)
    assert members(FUSION.fuse([[one], [other]])) == [[(0, 0), (1, 0)]]
    few = ViewedPerson(0, 1, STANDING_M - [0, 0, 0.9], np.array([0.9, 0.29, 0.29, 0.29]))
    whole = [viewed(camera, 0, confidence=0.6) for camera in (0, 1)]
    assert members(FUSION.fuse([[whole[0], few], [whole[1]]])) == [[(0, 0), (1, 0)]]
