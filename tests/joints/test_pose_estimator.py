"""A pose from proposals: the conditional Gaussian, and the choice of the most likely proposals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.body import BodyDefinition
from posepipe.joints.calibration import calibrate, probability_within
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.pose_prior import (
    LandmarkPrior,
    choose_proposals,
    improve_choice,
    infer_joints,
    landmark_noise,
)
from posepipe.landmarks import landmark_names, landmarks_of
from posepipe.results import JointProposal, Proposals
from tests.support import random_inputs
from tests.support.toy_person import TOY

LANDMARKS = landmark_names(TOY)  #: head, left_hand, right_hand, trunk, legs
JOINTS = len(TOY.joints)  #: head, torso, left_hand, right_hand
SINGLE_M = 1e-4  #: means and covariances are float32, and a covariance magnifies the rounding of a mean
ALL = np.ones(len(LANDMARKS), bool)
#: where landmarks and joints of a standing toy person lie, metres from its middle
STANDING = np.array(
    [[0, -0.6, 0], [0.3, 0, 0], [-0.3, 0, 0], [0, -0.2, -0.1], [0, 0.5, -0.1]]
    + [[0, -0.6, 0], [0, -0.2, 0], [0.3, 0, 0], [-0.3, 0, 0]]
)


def parameters(seed: int = 1, spread_m: float = 0.2) -> JointParameters:
    rng = np.random.default_rng(seed)
    covariance = random_inputs.covariances(rng, len(LANDMARKS) + JOINTS) * (spread_m / 0.2) ** 2
    return replace(
        JointParameters.default(TOY), mean_m=STANDING.T.astype(np.float32), covariance_m2=covariance.astype(np.float32)
    )


def places(seed: int = 2) -> np.ndarray:
    rng = np.random.default_rng(seed)
    return STANDING[: len(LANDMARKS)] + [0.5, 0.1, 2.5] + rng.normal(0, 0.05, (len(LANDMARKS), 3))


def proposals(at: np.ndarray, confidence) -> list[JointProposal]:
    confidence = np.broadcast_to(confidence, len(LANDMARKS))
    return [
        JointProposal(name, tuple(map(float, place)), float(c))
        for name, place, c in zip(LANDMARKS, at, confidence, strict=True)
    ]


# the Gaussian


@given(st.tuples(st.floats(-3, 3), st.floats(-2, 2), st.floats(-1, 4)), st.integers(0, 100))
def test_moving_the_landmarks_moves_the_joints(shift, seed):
    found = np.random.default_rng(seed).permutation(len(LANDMARKS)) < 3
    still, sigma = infer_joints(places(seed), found, np.full(len(LANDMARKS), 0.01), parameters(seed))
    moved, moved_sigma = infer_joints(places(seed) + shift, found, np.full(len(LANDMARKS), 0.01), parameters(seed))
    np.testing.assert_allclose(moved, still + shift, atol=1e-9)
    np.testing.assert_array_equal(moved_sigma, sigma)


def test_a_person_of_average_shape_has_joints_in_average_places():
    joints, _ = infer_joints(STANDING[: len(LANDMARKS)] + [0.5, 0.1, 2.5], ALL, np.zeros(5), parameters())
    np.testing.assert_allclose(joints, STANDING[len(LANDMARKS) :] + [0.5, 0.1, 2.5], atol=SINGLE_M)


def test_three_landmarks_of_an_average_person_place_all_joints():
    found = np.array([True, False, True, False, True])
    at = np.where(found[:, None], STANDING[: len(LANDMARKS)] + [0.5, 0.1, 2.5], np.nan)
    joints, sigma = infer_joints(at, found, np.zeros(5), parameters())
    np.testing.assert_allclose(joints, STANDING[len(LANDMARKS) :] + [0.5, 0.1, 2.5], atol=SINGLE_M)
    assert np.isfinite(sigma).all()


def test_an_uncorrelated_gaussian_puts_joints_at_average_offsets():
    covariance = np.tile(np.eye(len(LANDMARKS) + JOINTS, dtype=np.float32) * 0.04, (3, 1, 1))
    p = replace(parameters(), covariance_m2=covariance)
    at = places()
    shift = (at - STANDING[: len(LANDMARKS)]).mean(0)
    joints, sigma = infer_joints(at, ALL, np.zeros(5), p)
    np.testing.assert_allclose(joints, STANDING[len(LANDMARKS) :] + shift, atol=1e-4)
    # its own variance and that of the mean of five landmarks
    np.testing.assert_allclose(sigma, np.sqrt(0.04 + 0.04 / 5), rtol=1e-3)


def test_one_more_landmark_never_widens_the_deviation_of_a_joint():
    found = np.array([True, True, True, False, False])
    _, few = infer_joints(places(), found, np.full(5, 0.01), parameters())
    found[3] = True
    _, more = infer_joints(places(), found, np.full(5, 0.01), parameters())
    assert (more <= few + 1e-12).all()


def test_a_noisier_landmark_moves_the_joints_less():
    p, at = parameters(), places()
    without, _ = infer_joints(at, np.array([False, True, True, True, True]), np.zeros(5), p)
    gaps = []
    for noise in (0.0, 0.1, 10.0, 1e6):
        joints, _ = infer_joints(at, ALL, np.array([noise, 0, 0, 0, 0]), p)
        gaps.append(np.abs(joints - without).max())
    assert gaps[0] > gaps[1] > gaps[2] > gaps[3]
    assert gaps[3] < SINGLE_M


@pytest.mark.parametrize("sigma_m", [0.02, 0.05, 0.1, 0.3])
def test_probability_within_a_radius_is_that_of_samples(sigma_m):
    errors = np.linalg.norm(np.random.default_rng(1).normal(0, sigma_m, (1_000_000, 3)), axis=1)
    # five standard deviations of a share of a million throws
    assert probability_within(np.array([sigma_m]))[0] == pytest.approx((errors < 0.1).mean(), abs=2.5e-3)
    assert probability_within(np.array([sigma_m]), 0.15)[0] == pytest.approx((errors < 0.15).mean(), abs=2.5e-3)


def test_probability_within_falls_from_1_to_0():
    share = probability_within(np.array([0.0, 1e-6, 0.01, 0.03, 0.1, 1.0, 1e3, 1e9]))
    assert share[0] == share[1] == 1
    assert (np.diff(share) <= 0).all()
    assert share[-1] == pytest.approx(0, abs=1e-12)
    assert ((share >= 0) & (share <= 1)).all()


def test_the_noise_of_a_landmark_falls_from_much_to_none():
    noise = landmark_noise(np.linspace(0.05, 1, 50))
    assert (np.diff(noise) < 0).all()
    assert noise[-1] == 0
    assert np.isfinite(landmark_noise(np.zeros(1))).all()


def test_an_untrained_calibration_changes_nothing():
    shares = np.linspace(0.01, 0.99, 20)[:, None]
    np.testing.assert_allclose(calibrate(shares, np.array([[0.0, 1.0]])), shares)


@given(st.floats(-5, 5), st.floats(0, 5))
def test_calibration_keeps_the_order_and_stays_within_0_and_1(offset, slope):
    stated = calibrate(np.linspace(0, 1, 50)[:, None], np.array([[offset, slope]]))
    assert (np.diff(stated[:, 0]) >= 0).all()
    assert (stated >= 0).all()
    assert (stated <= 1).all()


# the choice


def choice_of(*landmarks, among=None) -> tuple[np.ndarray, np.ndarray]:
    """Places and confidences of those chosen among the proposals (place, confidence) of each landmark."""
    alternatives = [
        JointProposal(name, tuple(map(float, place)), confidence)
        for name, own in zip(LANDMARKS, landmarks, strict=True)
        for place, confidence in own
    ]
    known = Proposals.gather(landmarks_of(TOY), alternatives)
    return known.pick(choose_proposals(known.places_m, known.confidence, among or parameters()))


AVERAGE = STANDING[: len(LANDMARKS)] + [0.5, 0.1, 2.5]


def test_a_plausible_proposal_beats_one_of_higher_confidence():
    head, left, right, trunk, legs = AVERAGE
    place, confidence = choice_of(
        [(head, 0.9)],
        [(left + [1, 0, 0], 0.6), (left, 0.5)],
        [(right, 0.9)],
        [(trunk, 0.9)],
        [(legs, 0.9)],
        among=parameters(spread_m=0.1),
    )
    np.testing.assert_array_equal(place[1], left)
    assert confidence[1] == 0.5


def test_of_equally_plausible_proposals_confidence_decides():
    head, left, right, trunk, legs = AVERAGE
    beside = [0.001, 0, 0]
    _, confidence = choice_of(
        [(head, 0.9)], [(left, 0.3), (left + beside, 0.8)], [(right, 0.9)], [(trunk, 0.9)], [(legs, 0.9)]
    )
    assert confidence[1] == 0.8


def test_two_hands_that_resemble_each_other_are_told_apart():
    head, left, right, trunk, legs = AVERAGE
    place, _ = choice_of(
        [(head, 0.9)],
        [(left, 0.5), (right, 0.49)],
        [(left, 0.55), (right, 0.5)],  # the wrong one has the higher confidence
        [(trunk, 0.9)],
        [(legs, 0.9)],
        among=parameters(spread_m=0.1),
    )
    np.testing.assert_array_equal(place[1:3], [left, right])


@pytest.mark.parametrize("row", range(len(LANDMARKS)))
@pytest.mark.parametrize("seed", range(5))
def test_a_landmark_is_chosen_whatever_was_chosen_before(row, seed):
    places_m, confidence = np.repeat(places(seed)[:, None], 3, axis=1), np.full((len(LANDMARKS), 3), 0.0)
    places_m[row] += np.random.default_rng(seed).normal(0, 0.3, (3, 3))
    confidence[:, 0], confidence[row] = 0.7, [0.7, 0.6, 0.5]
    p = parameters(seed)
    start, prior = np.zeros(len(LANDMARKS), np.int64), LandmarkPrior.of(confidence, p)
    chosen = []
    for rank in range(3):
        start[row] = rank
        chosen.append(improve_choice(places_m, confidence, prior, start)[row])
        assert start[row] == rank  # not written to
    assert len(set(chosen)) == 1


def test_a_choice_that_has_settled_stays():
    rng = np.random.default_rng(4)
    places_m, confidence = places()[:, None] + rng.normal(0, 0.2, (5, 3, 3)), rng.uniform(0.2, 0.9, (5, 3))
    best = choose_proposals(places_m, confidence, parameters())
    np.testing.assert_array_equal(
        improve_choice(places_m, confidence, LandmarkPrior.of(confidence, parameters()), best), best
    )


def test_a_landmark_without_proposals_stays_without():
    head, left, _, trunk, legs = AVERAGE
    _, confidence = choice_of([(head, 0.9)], [(left, 0.9)], [], [(trunk, 0.9)], [(legs, 0.9)])
    assert confidence.tolist() == [0.9, 0.9, 0, 0.9, 0.9]


def test_a_proposal_without_alternatives_is_chosen():
    place, confidence = choice_of(*[[(at, 0.4)] for at in places()])
    np.testing.assert_array_equal(place, places())
    np.testing.assert_array_equal(confidence, 0.4)


# the pose


def test_an_average_person_has_all_joints_in_their_places():
    pose = PoseEstimator(TOY, parameters(spread_m=0.05)).estimate(proposals(AVERAGE, 0.99))
    assert set(pose.joints) == set(TOY.joints)
    for joint, place in zip(TOY.joints, STANDING[len(LANDMARKS) :] + [0.5, 0.1, 2.5], strict=True):
        np.testing.assert_allclose(pose.joints[joint].xyz_m, place, atol=1e-3)


def test_a_joint_in_an_unlikely_place_is_corrected_by_the_others():
    # a stiff body: the others outweigh a proposal of confidence 0.15, 40 cm off
    outlier = AVERAGE.copy()
    outlier[0, 1] -= 0.4
    pose = PoseEstimator(TOY, parameters(spread_m=0.02)).estimate(proposals(outlier, [0.15, 0.99, 0.99, 0.99, 0.99]))
    assert np.linalg.norm(np.subtract(pose.joints["head"].xyz_m, AVERAGE[0])) < 0.05


def test_a_part_named_like_a_joint_is_not_that_joint():
    # the part "torso" belongs to no joint, and the joint "torso" owns no part: the surface is no torso
    parts = tuple("torso" if part == "trunk" else part for part in TOY.parts)
    try:
        body = replace(TOY, parts=parts)
    except ValueError:
        return  # to refuse such a body is an answer too
    seen = [replace(p, joint="torso") if p.joint == "trunk" else p for p in proposals(AVERAGE, 0.99)]
    pose = PoseEstimator(body, parameters(spread_m=0.05)).estimate(seen)
    np.testing.assert_allclose(pose.joints["torso"].xyz_m, [0.5, -0.1, 2.5], atol=1e-3)


def test_proposals_may_come_in_any_order():
    wrong = JointProposal("left_hand", (3.0, 3.0, 3.0), 0.5)
    estimator = PoseEstimator(TOY, parameters())
    first = estimator.estimate([wrong, *proposals(AVERAGE, 0.9)])
    last = estimator.estimate([*proposals(AVERAGE, 0.9), wrong])
    assert first == last == estimator.estimate(proposals(AVERAGE, 0.9))


@pytest.mark.parametrize("count", [0, 1, 2])
def test_too_few_landmarks_make_no_pose(count):
    assert PoseEstimator(TOY, parameters()).estimate(proposals(places(), 0.9)[:count]) is None


def test_a_body_of_few_landmarks_has_a_pose_where_all_are_found():
    body = BodyDefinition("ball and bat", ("ball", "bat"), ("ball", "bat"), {"ball": ("ball",), "bat": ("bat",)})
    estimator = PoseEstimator(body, JointParameters.default(body), min_confidence=0)
    found = [JointProposal(name, (0.1, 0.2, 2.0), 0.9) for name in body.joints]
    assert set(estimator.estimate(found).joints) == set(body.joints)
    assert estimator.estimate(found[:1]) is None
    assert estimator.estimate([]) is None


def test_a_body_of_one_joint_has_a_pose_by_surface_or_votes():
    """The forest of a body of one part has nothing to tell apart: its leaves may be too coarse for votes."""
    body = BodyDefinition("ball", ("ball",), ("ball",), {"ball": ("ball",)})
    estimator = PoseEstimator(body, JointParameters.default(body, "both"), min_confidence=0)
    for voted in (False, True):
        assert set(estimator.estimate([JointProposal("ball", (0.1, 0.2, 2.0), 0.9, voted)]).joints) == {"ball"}
    assert estimator.estimate([]) is None


def test_no_proposals_make_no_pose_whatever_the_minimum():
    assert PoseEstimator(TOY, parameters(), min_landmarks=0).estimate([]) is None


def test_proposals_of_negative_confidence_make_no_pose():
    assert PoseEstimator(TOY, parameters(), min_confidence=0).estimate(proposals(places(), -0.5)) is None


def test_proposals_of_one_landmark_count_once():
    same = [JointProposal("head", (0.0, 0.0, 2.0), 0.5 + 0.1 * k) for k in range(4)]
    assert PoseEstimator(TOY, parameters()).estimate(same) is None


def test_proposals_of_confidence_0_make_a_finite_pose_or_none():
    pose = PoseEstimator(TOY, parameters(), min_confidence=0).estimate(proposals(places(), 0.0))
    assert pose is None or np.isfinite([joint.xyz_m for joint in pose.joints.values()]).all()


def test_joints_below_the_minimum_confidence_are_left_out():
    loose = parameters(spread_m=2.0)
    assert PoseEstimator(TOY, loose, min_confidence=0.5).estimate(proposals(places(), 0.9)).joints == {}
    every = PoseEstimator(TOY, loose, min_confidence=0.0).estimate(proposals(places(), 0.9))
    assert set(every.joints) == set(TOY.joints)


def test_confidence_is_the_calibrated_share_of_the_gaussian():
    p = replace(parameters(), calibration=np.array([[-1, 0.5], [0, 1], [1, 2], [-3, 0]], np.float32))
    pose = PoseEstimator(TOY, p, min_confidence=0).estimate(proposals(places(), 1.0))
    _, sigma = infer_joints(places(), ALL, np.zeros(5), p)
    share = probability_within(sigma)
    stated = 1 / (1 + np.exp(-(p.calibration[:, 0] + p.calibration[:, 1] * np.log(share / (1 - share)))))
    np.testing.assert_allclose([pose.joints[joint].confidence for joint in TOY.joints], stated, rtol=1e-5)


@given(st.integers(0, 1000), st.tuples(st.floats(-2, 2), st.floats(-2, 2), st.floats(-1, 3)))
def test_moving_the_proposals_moves_the_pose(seed, shift):
    confidence = np.random.default_rng(seed).uniform(0.1, 1, len(LANDMARKS))
    estimator = PoseEstimator(TOY, parameters(seed), min_confidence=0)
    still = estimator.estimate(proposals(places(seed), confidence))
    moved = estimator.estimate(proposals(places(seed) + shift, confidence))
    for joint in TOY.joints:
        np.testing.assert_allclose(moved.joints[joint].xyz_m, np.add(still.joints[joint].xyz_m, shift), atol=1e-9)
        assert moved.joints[joint].confidence == pytest.approx(still.joints[joint].confidence)
        assert 0 <= moved.joints[joint].confidence <= 1


def test_a_pose_is_made_of_plain_numbers():
    pose = PoseEstimator(TOY, parameters(), min_confidence=0).estimate(proposals(places(), 0.9))
    for name, joint in pose.joints.items():
        assert joint.name == name
        assert [type(value) for value in (*joint.xyz_m, joint.confidence)] == [float] * 4


def test_a_body_without_joints_has_an_empty_pose():
    body = BodyDefinition("parts alone", ("trunk", "head"), (), {})
    seen = [JointProposal(part, (0.0, 0.1 * k, 2.0), 0.9) for k, part in enumerate(body.parts)]
    pose = PoseEstimator(body, JointParameters.default(body), min_landmarks=1).estimate(seen)
    assert pose is not None
    assert pose.joints == {}
