"""The network that corrects joints: what it sees, what it answers, how it learns."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from posepipe.body import mirror_name
from posepipe.joints.calibration import FULL_OVERRIDE_MARGIN, fuse, fusion_terms
from posepipe.joints.joint_parameters import FUSION_TERMS, N_ALTERNATIVES, JointParameters, Refinement, n_inputs
from posepipe.joints.part_moments import N_MOMENTS
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.refinement import ACROSS, MOMENTS_ACROSS, Evidence, Mirror, forward, inputs_of, refine
from posepipe.joints.refinement_features import decode_output
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.results import JointProposal
from posepipe.training.joints import fit_refinement as refinement_fitting
from posepipe.training.joints.fit_refinement import fit_fusion, gradients, loss, train_refinement, with_noise
from tests.reference.joints import mlp as reference
from tests.support import random_inputs
from tests.support.toy_person import TOY

LANDMARKS, JOINTS = len(landmarks_of(TOY, "both")), len(TOY.joints)
MIRROR = Mirror.of(TOY, "both")
assert MIRROR is not None
NO_PARTS = np.zeros((len(TOY.parts), N_MOMENTS))


def evidence(people: int = 6, seed: int = 0) -> Evidence:
    rng = np.random.default_rng(seed)

    def places(*shape: int) -> np.ndarray:
        return (rng.normal(0, 0.3, (people, *shape, 3)) + [0.2, 0.1, 2.5]).astype(np.float32)

    def confidences(*shape: int) -> np.ndarray:
        return (rng.random((people, *shape)) * (rng.random((people, *shape)) < 0.8)).astype(np.float32)

    return Evidence(
        alternatives_m=places(LANDMARKS, N_ALTERNATIVES),
        alternatives_confidence=confidences(LANDMARKS, N_ALTERNATIVES),
        chosen_m=places(LANDMARKS),
        chosen_confidence=confidences(LANDMARKS),
        joints_m=places(JOINTS),
        sigma_m=rng.uniform(0.02, 0.3, (people, JOINTS)).astype(np.float32),
        moments=random_inputs.moments(rng, (people, len(TOY.parts))).astype(np.float32),
    )


def in_a_mirror(people: Evidence) -> Evidence:
    """The same people, left for right, with x pointing the other way."""
    landmarks, joints, parts = landmarks_of(TOY, "both"), TOY.mirrored_joints(), TOY.mirrored_classes()[1:] - 1
    other = [landmarks.index(Landmark(mirror_name(name), voted)) for name, voted in landmarks]
    return Evidence(
        people.alternatives_m[:, other] * ACROSS,
        people.alternatives_confidence[:, other],
        people.chosen_m[:, other] * ACROSS,
        people.chosen_confidence[:, other],
        people.joints_m[:, joints] * ACROSS,
        people.sigma_m[:, joints],
        people.moments[:, parts] * MOMENTS_ACROSS,
    )


def network(seed: int = 1, units: int = 7) -> Refinement:
    rng = np.random.default_rng(seed)
    sizes = (n_inputs(TOY, "both"), units, 5, 4 * JOINTS)
    return Refinement(
        rng.normal(0, 0.1, sizes[0]).astype(np.float32),
        rng.uniform(0.2, 1, sizes[0]).astype(np.float32),
        tuple(rng.normal(0, 0.2, shape).astype(np.float32) for shape in pairwise(sizes)),
        tuple(rng.normal(0, 0.1, n).astype(np.float32) for n in sizes[1:]),
        np.tile(np.array([0, 1], np.float32), (JOINTS, 1)),
        own_confidences(),
    )


def own_confidences() -> np.ndarray:
    """Weights by which each model has its own confidence."""
    weights = np.zeros((2, JOINTS, FUSION_TERMS), np.float32)
    weights[0, :, 1] = weights[1, :, 2] = 1
    return weights


def shifted(moments: np.ndarray, shift_m: np.ndarray) -> np.ndarray:
    """The same parts elsewhere, each person (P,) by their own shift; those that are not there stay so."""
    there = moments[..., :1] > 0
    return np.concatenate([moments[..., :1], moments[..., 1:4] + shift_m[:, None] * there, moments[..., 4:]], axis=-1)


# inputs


def test_the_network_has_as_many_inputs_as_the_model_file_check():
    assert inputs_of(evidence(3)).shape == (3, n_inputs(TOY, "both"))


def test_distance_along_the_same_ray_changes_no_correction():
    near = evidence()
    middle = near.joints_m.mean(axis=1)
    further = replace(
        near,
        joints_m=near.joints_m + middle[:, None],
        chosen_m=near.chosen_m + middle[:, None],
        alternatives_m=near.alternatives_m + middle[:, None, None],
        moments=shifted(near.moments, middle),
    )
    np.testing.assert_allclose(inputs_of(further), inputs_of(near), atol=1e-5)


def test_the_place_of_an_absent_proposal_is_ignored():
    one = evidence()
    other = replace(
        one,
        alternatives_m=np.where(one.alternatives_confidence[..., None] > 0, one.alternatives_m, 99).astype(np.float32),
        chosen_m=np.where(one.chosen_confidence[..., None] > 0, one.chosen_m, 99).astype(np.float32),
    )
    np.testing.assert_array_equal(inputs_of(one), inputs_of(other))


def test_the_heaviest_proposals_of_each_landmark_are_gathered():
    places_m, confidence = np.zeros((LANDMARKS, N_ALTERNATIVES + 1, 3)), np.zeros((LANDMARKS, N_ALTERNATIVES + 1))
    places_m[0, :, 0], confidence[0] = np.arange(N_ALTERNATIVES + 1), 0.9 - np.arange(N_ALTERNATIVES + 1) / 10
    confidence[1, 0] = 0.5
    chosen = np.zeros((LANDMARKS, 3)), np.zeros(LANDMARKS)
    found = Evidence.gather((places_m, confidence), chosen, (np.zeros((JOINTS, 3)), np.ones(JOINTS)), NO_PARTS)
    np.testing.assert_array_equal(found.alternatives_m[0, 0, :, 0], np.arange(N_ALTERNATIVES))
    np.testing.assert_allclose(found.alternatives_confidence[0, 0], 0.9 - np.arange(N_ALTERNATIVES) / 10)
    assert found.alternatives_confidence[0, 1].tolist() == [0.5] + [0] * (N_ALTERNATIVES - 1)
    assert not found.alternatives_confidence[0, 2:].any()


def test_fewer_proposals_than_it_sees_are_made_up_by_none():
    places_m, confidence = np.ones((LANDMARKS, 1, 3)), np.full((LANDMARKS, 1), 0.5)
    chosen = places_m[:, 0], confidence[:, 0]
    found = Evidence.gather((places_m, confidence), chosen, (np.zeros((JOINTS, 3)), np.ones(JOINTS)), NO_PARTS)
    assert found.alternatives_m.shape == (1, LANDMARKS, N_ALTERNATIVES, 3)
    assert found.alternatives_confidence[0, :, 0].tolist() == [0.5] * LANDMARKS
    assert not found.alternatives_confidence[0, :, 1:].any()


# what it answers


def test_the_network_sees_its_inputs_in_standard_units():
    net, inputs = network(), inputs_of(evidence(3))
    naive = reference.mlp_forward((inputs - net.input_mean) / net.input_deviation, net.weights, net.biases)
    np.testing.assert_allclose(forward(net, inputs), naive, atol=1e-4)


def test_a_network_of_an_earlier_file_does_not_see_the_moments():
    people, net = evidence(), network()
    n_seen = n_inputs(TOY, "both", moments=False)
    early = replace(
        net,
        input_mean=net.input_mean[:n_seen],
        input_deviation=net.input_deviation[:n_seen],
        weights=(net.weights[0][:n_seen], *net.weights[1:]),
    )
    with_others = replace(people, moments=people.moments[::-1].copy())
    for one, other in zip(refine(early, people, MIRROR), refine(early, with_others, MIRROR), strict=True):
        np.testing.assert_array_equal(one, other)
    assert (refine(net, people, MIRROR)[0] != refine(net, with_others, MIRROR)[0]).all()


def test_mirrored_people_get_mirrored_corrections():
    people = evidence()
    joints_m, share = refine(network(), people, MIRROR)
    mirrored_m, mirrored_share = refine(network(), in_a_mirror(people), MIRROR)
    back = TOY.mirrored_joints()
    np.testing.assert_allclose(mirrored_m, joints_m[:, back] * ACROSS, atol=1e-6)
    np.testing.assert_allclose(mirrored_share, share[:, back], atol=1e-6)


def test_the_mirror_of_what_is_seen_is_what_is_seen_in_a_mirror():
    people = evidence()
    seen = inputs_of(people)[:, MIRROR.inputs] * MIRROR.signs
    np.testing.assert_allclose(seen, inputs_of(in_a_mirror(people)), atol=1e-6)


def test_a_mirror_s_mirror_shows_what_is_there():
    np.testing.assert_array_equal(MIRROR.inputs[MIRROR.inputs], np.arange(n_inputs(TOY, "both")))
    np.testing.assert_array_equal(MIRROR.signs[MIRROR.inputs], MIRROR.signs)


def test_a_person_is_answered_alike_alone_and_in_company():
    people = evidence(5)
    together, _ = refine(network(), people, MIRROR)
    alone, _ = refine(network(), people[3:4], MIRROR)
    np.testing.assert_allclose(alone[0], together[3], atol=1e-5)


def test_answers_of_other_people_are_refused():
    people = evidence(3)
    with pytest.raises(ValueError, match="3 people need outputs"):
        decode_output(np.zeros((3, 4 * JOINTS), np.float32), people.joints_m, MIRROR.joints)


def test_the_gaussian_overrides_by_its_confidence_margin():
    expected, corrected = np.zeros((JOINTS, 3)), np.ones((JOINTS, 3))
    confidence = np.full(JOINTS, 0.5)
    other = confidence - FULL_OVERRIDE_MARGIN * np.array([-1, 0, 0.25, 2])
    joints_m, fused = fuse(own_confidences(), (expected, confidence), (corrected, other))
    np.testing.assert_allclose(joints_m[:, 0], [1, 1, 0.75, 0])
    np.testing.assert_allclose(fused[[0, 1, 3]], [other[0], other[1], 0.5])
    assert other[2] < fused[2] < 0.5


def test_a_joint_goes_from_one_model_to_the_other_without_a_leap():
    confidence = np.linspace(0, 1, 1001)[:, None] * np.ones(JOINTS)
    expected, corrected = np.zeros((1001, JOINTS, 3)), np.full((1001, JOINTS, 3), 0.1)
    joints_m, fused = fuse(own_confidences(), (expected, confidence), (corrected, np.full((1001, JOINTS), 0.4)))
    assert np.abs(np.diff(joints_m, axis=0)).max() < 0.001
    assert np.abs(np.diff(fused, axis=0)).max() < 0.01
    assert joints_m[0, 0, 0] == 0.1
    assert joints_m[-1, 0, 0] == 0


def test_fused_confidence_follows_both_models_and_their_distance():
    """Two models that are right half of the time, and always when they agree."""
    rng = np.random.default_rng(3)
    agree = rng.random((4000, JOINTS)) < 0.5
    expected = np.zeros((4000, JOINTS, 3))
    corrected = expected + np.where(agree, 0.01, 0.2)[..., None] * [1, 0, 0]
    half = np.full((4000, JOINTS), 0.5)
    terms = fusion_terms((expected, half), (corrected, half))
    weights = np.stack([fit_fusion(terms, agree), fit_fusion(terms, ~agree)])
    _, fused = fuse(weights, (expected, half + 0.3), (corrected, half))
    # the Gaussian overrides, and its confidence is the fitted one, not its own
    assert fused[agree].min() > 0.7
    assert fused[~agree].max() < 0.3
    of_all = fit_fusion(terms, np.ones_like(agree))
    assert (fusion_terms((expected, half), (corrected, half)) @ of_all[0] > 5).all()


def test_an_estimator_with_a_network_moves_the_joints():
    plain = JointParameters.default(TOY, "both")
    net = network()
    nothing = tuple(np.zeros_like(w) for w in net.weights)
    right = np.tile(np.array([0.0, 0.1, 0.0], np.float32), JOINTS)
    last = np.concatenate([right, np.full(JOINTS, 9, np.float32)])
    net = replace(net, weights=nothing, biases=(*(np.zeros_like(b) for b in net.biases[:-1]), last))
    proposals = [
        JointProposal(name, (0.1 * row, 0.2, 2.5), 0.9, voted)
        for row, (name, voted) in enumerate(landmarks_of(TOY, "both"))
    ]
    still = PoseEstimator(TOY, plain, min_confidence=0).estimate(proposals)
    moved = PoseEstimator(TOY, replace(plain, refinement=net), min_confidence=0).estimate(proposals)
    assert still is not None
    assert moved is not None
    for name in TOY.joints:
        step = np.subtract(moved.joints[name].xyz_m, still.joints[name].xyz_m)
        np.testing.assert_allclose(step, [0, 0.1, 0], atol=1e-6)
        assert moved.joints[name].confidence > 0.99


# how it learns


def test_slopes_are_those_of_the_loss():
    net, people = network(), evidence(4)
    inputs = inputs_of(people).astype(np.float64)
    missing_m = np.random.default_rng(5).normal(0, 0.1, (4, JOINTS, 3))
    exact = replace(
        net,
        weights=tuple(w.astype(np.float64) for w in net.weights),
        biases=tuple(b.astype(np.float64) for b in net.biases),
    )
    slopes = gradients(exact, inputs, missing_m)
    rng = np.random.default_rng(6)
    for parameter, slope in zip([*exact.weights, *exact.biases], slopes, strict=True):
        for _ in range(5):
            at = tuple(rng.integers(0, n) for n in parameter.shape)
            kept, step = parameter[at], 1e-6
            values = []
            for moved in (kept + step, kept - step):
                parameter[at] = moved
                values.append(loss(forward(exact, inputs), missing_m)[0])
            parameter[at] = kept
            assert slope[at] == pytest.approx((values[0] - values[1]) / (2 * step), rel=1e-3, abs=1e-6)


def test_what_is_shaken_keeps_its_shape_and_invents_nothing():
    people = evidence(40)
    seen = with_noise(people, np.random.default_rng(0))
    for name in Evidence.__dataclass_fields__:
        assert getattr(seen, name).shape == getattr(people, name).shape
        assert getattr(seen, name).dtype == np.float32
    assert (seen.chosen_confidence <= 1).all()
    assert not seen.chosen_confidence[people.chosen_confidence == 0].any()
    assert not seen.moments[people.moments[..., 0] == 0].any()
    assert (seen.moments[people.moments[..., 0] > 0, :4] != people.moments[people.moments[..., 0] > 0, :4]).all()
    lost = (seen.chosen_confidence == 0) & (people.chosen_confidence > 0)
    np.testing.assert_array_equal(seen.alternatives_confidence.any(axis=2) & lost, False)
    assert 0.05 < lost.mean() < 0.25


def test_the_network_learns_what_no_linear_model_can(monkeypatch):
    """The right hand follows another landmark to one side, and stays where it is when that goes to the other."""
    for name, value in {
        "EPOCHS": 15,
        "HIDDEN_UNITS": (64, 32),
        "BATCH": 32,
        "PLACE_NOISE_M": 0.005,
        "DROPPED_SHARE": 0,
    }.items():
        monkeypatch.setattr(refinement_fitting, name, value)
    people = evidence(4000, seed=9)
    people = replace(people, chosen_confidence=np.full_like(people.chosen_confidence, 0.9))
    lateral_m = people.chosen_m[:, 0, 0] - people.joints_m[:, :, 0].mean(axis=1)
    hand, truth_m = TOY.joint_index("right_hand"), people.joints_m.copy()
    truth_m[:, hand, 0] += np.maximum(lateral_m, 0)
    network = train_refinement(people[:3500], truth_m[:3500], np.random.default_rng(0))
    answer = forward(network, inputs_of(people[3500:]))
    missing = (truth_m - people.joints_m)[3500:, hand, 0]
    line = np.polyval(np.polyfit(lateral_m[3500:], missing, 1), lateral_m[3500:])
    assert np.abs(answer[:, 3 * hand] - missing).mean() < 0.6 * np.abs(line - missing).mean()
    others = [3 * k for k in range(JOINTS) if k != hand]
    assert np.abs(answer[:, others]).mean() < 0.02
