"""Proposals: pushed back along the ray, heaviest first, with a confidence that rises with the mass."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posepipe.joints.calibration import confidence_of_mass
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.modes.push_back import push_back
from posepipe.joints.part_moments import N_MOMENTS
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.weighted_points import WeightedPoints
from posepipe.landmarks import landmark_names
from tests.support import random_inputs
from tests.support.toy_person import TOY

POINTS = hnp.arrays(np.float64, (5, 3), elements=st.floats(0.2, 5))


@given(POINTS, hnp.arrays(np.float64, 5, elements=st.floats(0, 0.3)))
def test_a_point_is_pushed_so_many_metres_away_along_its_ray(points, metres):
    pushed = push_back(points, metres)
    np.testing.assert_allclose(np.linalg.norm(pushed, axis=-1) - np.linalg.norm(points, axis=-1), metres, atol=1e-9)
    np.testing.assert_allclose(np.cross(points, pushed), 0, atol=1e-9)


def test_pushing_by_nothing_moves_nothing():
    points = np.random.default_rng(1).uniform(-1, 3, (4, 2, 3))
    np.testing.assert_array_equal(push_back(points, np.zeros((4, 2))), points)


def test_one_length_may_do_for_many_points():
    points = np.random.default_rng(2).uniform(-1, 3, (3, 4, 3))
    metres = np.array([[0.01], [0.02], [0.03]])
    np.testing.assert_array_equal(push_back(points, metres), push_back(points, metres.repeat(4, axis=1)))
    with pytest.raises(ValueError, match="broadcast"):
        push_back(points, np.zeros(5))


def test_a_mode_that_does_not_exist_stays_at_the_origin():
    np.testing.assert_array_equal(push_back(np.zeros((2, 3)), np.full(2, 0.04)), np.zeros((2, 3)))


@given(st.floats(-10, 20), st.floats(0, 5))
def test_a_heavier_mode_is_never_less_confident(offset, slope):
    masses = np.geomspace(1e-6, 1, 50)[None]
    confidence = confidence_of_mass(masses, np.array([[offset, slope]]))
    assert (np.diff(confidence) >= 0).all()
    assert (confidence >= 0).all()
    assert (confidence <= 1).all()


def test_confidence_is_one_half_where_the_log_odds_are_0():
    # offset 7, slope 1: even odds at a mass of exp(-7) square metres, 3 : 1 at three times that
    masses = np.exp(-7) * np.array([[1, 3, 1 / 3]])
    np.testing.assert_allclose(confidence_of_mass(masses, np.array([[7.0, 1.0]])), [[0.5, 0.75, 0.25]], atol=1e-12)


def test_no_mass_and_huge_mass_are_no_accident():
    confidence = confidence_of_mass(np.array([[0.0, 1e30]]), np.array([[7.0, 5.0]]))
    assert np.isfinite(confidence).all()
    assert confidence[0, 0] < 1e-6 < 1 - 1e-6 < confidence[0, 1]


def points_of(places: dict[str, list]) -> WeightedPoints:
    """Blobs of 50 points of high probability: landmark -> places."""
    rng = np.random.default_rng(2)
    names = landmark_names(TOY)
    points, probabilities = [], []
    for landmark, centres in places.items():
        for heavy, centre in enumerate(centres):
            points.append(random_inputs.blobs(rng, np.array([centre]), 50, 0.01))
            row = np.zeros((50, len(names)), np.float32)
            row[:, names.index(landmark)] = 0.9 - 0.2 * heavy
            probabilities.append(row)
    points, probabilities = np.concatenate(points), np.concatenate(probabilities)
    return WeightedPoints(points, probabilities, np.full(len(points), 1e-4, np.float32))


def test_every_mode_of_every_landmark_is_proposed_heaviest_first():
    places = {"left_hand": [[0.5, 0, 2], [-0.5, 0, 2]], "legs": [[0, 0.7, 2]]}
    proposals = ModeProposer(TOY, JointParameters.default(TOY)).find(points_of(places))
    assert [p.joint for p in proposals] == ["left_hand", "left_hand", "legs"]
    assert proposals[0].xyz_m[0] > 0 > proposals[1].xyz_m[0]
    assert proposals[0].confidence > proposals[1].confidence
    assert all(0 <= p.confidence <= 1 for p in proposals)


def test_a_proposal_lies_its_own_push_back_behind_the_surface():
    parameters = replace(
        JointParameters.default(TOY), push_back_m=np.linspace(0.01, 0.09, len(landmark_names(TOY)), dtype=np.float32)
    )
    places = {name: [[0.6 * k - 1, 0.1 * k, 2]] for k, name in enumerate(landmark_names(TOY))}
    for k, proposal in enumerate(ModeProposer(TOY, parameters).find(points_of(places))):
        wanted = push_back(np.array(places[proposal.joint][0], float), parameters.push_back_m[k])
        assert np.linalg.norm(np.subtract(proposal.xyz_m, wanted)) < 0.005  # the blob's own scatter


def test_no_points_have_no_proposals():
    empty = WeightedPoints(
        np.zeros((0, 3), np.float32), np.zeros((0, len(landmark_names(TOY))), np.float32), np.zeros(0, np.float32)
    )
    assert list(ModeProposer(TOY, JointParameters.default(TOY)).find(empty)) == []


def test_proposals_come_with_the_moments_of_the_parts():
    proposer, points = ModeProposer(TOY, JointParameters.default(TOY)), points_of({"head": [[0, 0, 2]]})
    assert proposer.find(points).moments is None  # of landmarks alone nothing is known of the parts
    values = np.zeros((50, TOY.n_classes), np.float32)
    values[:, 1] = 1
    moments = proposer.find(replace(points, part_probabilities=values)).moments
    assert moments.shape == (len(TOY.parts), N_MOMENTS)
    np.testing.assert_allclose(moments[0, :4], [50e-4, *points.points_m.mean(axis=0)], rtol=1e-5)
    np.testing.assert_allclose(moments[0, 4:7], points.points_m.var(axis=0), atol=1e-8)
    assert not moments[1:].any()


def test_results_are_plain_numbers():
    proposal = ModeProposer(TOY, JointParameters.default(TOY)).find(points_of({"head": [[0, 0, 2]]}))[0]
    assert [type(value) for value in (*proposal.xyz_m, proposal.confidence)] == [float] * 4
