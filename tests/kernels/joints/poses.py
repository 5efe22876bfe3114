"""Kernels from modes to joints: prior, network, calibration."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.calibration import (
    FULL_OVERRIDE_MARGIN,
    MAX_DISAGREEMENT_M,
    calibrate,
    fuse,
    fusion_terms,
    probability_within,
)
from posepipe.joints.conditional_gaussian import NUGGET, condition, precision
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.limb_changes import MIN_CONFIDENCE, change_limbs
from posepipe.joints.mlp import mlp_forward
from posepipe.joints.pose_prior import (
    MAX_PASSES,
    TRANSLATION_VARIANCE_M2,
    LandmarkPrior,
    choose_proposals,
    improve_choice,
    infer_joints,
)
from posepipe.joints.refinement_features import decode_output, encode_features
from tests.kernels.kernel import Kernel
from tests.reference.joints import calibration as naive_calibration
from tests.reference.joints import conditional_gaussian as naive_conditional_gaussian
from tests.reference.joints import limb_changes as naive_limb_changes
from tests.reference.joints import mlp as naive_mlp
from tests.reference.joints import pose_prior as naive_pose_prior
from tests.reference.joints import refinement_features as naive_refinement_features
from tests.support import random_inputs


def _mlp_forward(rng, size):
    sizes = (60, 32, 16, size)  # one person: rows of output are units
    return SimpleNamespace(
        inputs=rng.normal(0, 1, (1, sizes[0])).astype(np.float32),
        weights=[rng.normal(0, 0.2, shape).astype(np.float32) for shape in pairwise(sizes)],
        biases=[rng.normal(0, 0.1, n).astype(np.float32) for n in sizes[1:]],
    )


def _infer_joints(rng, size, landmarks=8):
    """A body of so many joints beside its landmarks, five of which were found."""
    body = BodyDefinition(
        "random", tuple(f"part_{k}" for k in range(landmarks)), tuple(f"joint_{k}" for k in range(size)), {}
    )
    parameters = replace(
        JointParameters.default(body),
        mean_m=rng.uniform(-0.8, 0.8, (3, landmarks + size)).astype(np.float32),
        covariance_m2=random_inputs.covariances(rng, landmarks + size),
    )
    found = np.ones(landmarks, bool)
    found[rng.permutation(landmarks)[:3]] = False
    places = parameters.mean_m[:, :landmarks].T + [0.4, -0.2, 2.5] + rng.normal(0, 0.1, (landmarks, 3))
    return SimpleNamespace(
        landmarks_m=np.where(found[:, None], places, np.nan),
        found=found,
        noise_m2=rng.uniform(0.001, 0.02, landmarks),
        parameters=parameters,
    )


def _measured_values(rng, size, values=9):
    """So many values to ask for beside nine, of which six were measured."""
    seen = np.sort(rng.permutation(values)[:6])
    measured = np.isin(np.arange(values + size), seen)
    return SimpleNamespace(
        surprise=np.where(measured[:, None], rng.normal(0, 0.2, (values + size, 3)), np.nan),
        noise=np.where(measured, rng.uniform(0.001, 0.02, values + size), np.nan),
        covariance=random_inputs.covariances(rng, values + size),
        seen=seen,
        asked=np.arange(values, values + size),
        shared=100.0,
    )


def _inferred_naively(inputs):
    """Places with a truly flat prior on translation; deviations with the wide one, for a flat one has none."""
    p = inputs.parameters
    known = (inputs.landmarks_m, inputs.found, inputs.noise_m2, p.mean_m, p.covariance_m2)
    return (
        naive_pose_prior.infer_joints_placed_freely(*known),
        naive_pose_prior.infer_joints(*known, TRANSLATION_VARIANCE_M2)[1],
    )


def _alternative_proposals(rng, size):
    """Up to three proposals of each of eight landmarks, two without any; confidence does not decide alone."""
    inputs = _infer_joints(rng, size)
    places = np.nan_to_num(inputs.landmarks_m, nan=2.0)[:, None] + rng.normal(0, 0.3, (8, 3, 3))
    confidence = rng.uniform(0.1, 0.9, (8, 3)) * (rng.random((8, 3)) < 0.8)
    confidence[:2] = 0
    first = np.where(confidence > 0, rng.random((8, 3)), 0).argmax(axis=1)
    starts = rng.integers(-1, 8, (6, 8)), rng.random(6) < 0.5
    return SimpleNamespace(
        places_m=places, confidence=confidence, parameters=inputs.parameters, first=first, starts=starts
    )


def _shares(rng, size):
    return SimpleNamespace(
        shares=rng.uniform(0.001, 0.999, (size, 4)), confidence=rng.uniform([-2, 0], [2, 2], (4, 2)).astype(np.float32)
    )


def _two_models(rng, size):
    """Two models' joints of so many people, some of them far apart, and the confidence of each."""
    expected_m = rng.uniform(-1, 3, (size, 4, 3))
    apart_m = rng.normal(0, 0.1, (size, 4, 3)) * np.arange(1, 5)[:, None]
    return SimpleNamespace(
        expected=(expected_m, rng.uniform(0.01, 0.99, (size, 4))),
        corrected=((expected_m + apart_m).astype(np.float32), rng.uniform(0.01, 0.99, (size, 4))),
        weights=rng.normal(0, 1, (2, 4, 6)).astype(np.float32),
        sigma_m=rng.uniform(0.01, 0.5, size),
    )


def _evidence(rng, size, landmarks=6, joints=5, parts=4):
    """What is known of so many people, not every landmark of whom was proposed, and some answers."""
    alternatives = rng.random((size, landmarks, 2)) * (rng.random((size, landmarks, 2)) < 0.7)
    chosen = rng.random((size, landmarks)) * (rng.random((size, landmarks)) < 0.7)
    evidence = (
        rng.normal(0, 0.3, (size, joints, 3)) + [0.3, 0.1, 2.5],
        rng.uniform(0.001, 1.5, (size, joints)),
        rng.normal(0, 0.3, (size, landmarks, 2, 3)) + [0.3, 0.1, 2.5],
        alternatives,
        rng.normal(0, 0.3, (size, landmarks, 3)) + [0.3, 0.1, 2.5],
        chosen,
        random_inputs.moments(rng, (size, parts)),
    )
    return SimpleNamespace(
        evidence=tuple(array.astype(np.float32) for array in evidence),
        answers=rng.normal(0, 1, (2 * size, 4 * joints)).astype(np.float32),
        mirrored_joints=np.array([0, 2, 1, 4, 3]),
    )


KERNELS = (
    Kernel(
        "mlp_forward",
        lambda i: mlp_forward(i.inputs, i.weights, i.biases)[0],
        lambda i: naive_mlp.mlp_forward(i.inputs, i.weights, i.biases)[0],
        _mlp_forward,
        size=80,
        tolerance=1e-5,
        reason="float32 sums",
    ),
    Kernel(
        "probability_within",
        lambda i: probability_within(i.sigma_m, 0.12),
        lambda i: naive_calibration.probability_within(i.sigma_m, 0.12),
        _two_models,
        size=60,
        tolerance=1e-7,
        reason="the twin adds up a density in steps",
    ),
    Kernel(
        "fusion_terms",
        lambda i: fusion_terms(i.expected, i.corrected),
        lambda i: naive_calibration.fusion_terms(i.expected, i.corrected, MAX_DISAGREEMENT_M),
        _two_models,
        size=60,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "fuse",
        lambda i: fuse(i.weights, i.expected, i.corrected),
        lambda i: naive_calibration.fuse(i.weights, i.expected, i.corrected, FULL_OVERRIDE_MARGIN, MAX_DISAGREEMENT_M),
        _two_models,
        size=60,
        tolerance=1e-12,
        reason="order of float64 sums",
    ),
    Kernel(
        "encode_features",
        lambda i: encode_features(*i.evidence),
        lambda i: naive_refinement_features.encode_features(*i.evidence),
        _evidence,
        size=40,
        tolerance=1e-6,
        reason="float32 metres up to 4",
    ),
    Kernel(
        "decode_output",
        lambda i: decode_output(i.answers, i.evidence[0], i.mirrored_joints),
        lambda i: naive_refinement_features.decode_output(i.answers, i.evidence[0], i.mirrored_joints),
        _evidence,
        size=40,
        tolerance=1e-6,
        reason="float32 metres up to 4",
    ),
    Kernel(
        "condition",
        lambda i: condition(i.surprise, i.noise, i.covariance, i.seen, i.asked, i.shared),
        lambda i: naive_conditional_gaussian.condition(
            i.surprise, i.noise, i.covariance, i.seen, i.asked, i.shared, NUGGET
        ),
        _measured_values,
        size=6,
        tolerance=1e-6,
        reason="a variance of 100 is shared by values that differ by hundredths",
    ),
    Kernel(
        "precision",
        lambda i: precision(i.noise, i.covariance, i.seen, i.shared),
        lambda i: naive_conditional_gaussian.precision(i.noise, i.covariance, i.seen, i.shared, NUGGET),
        _measured_values,
        size=6,
        tolerance=1e-6,
        reason="as for condition",
    ),
    Kernel(
        "infer_joints",
        lambda i: infer_joints(i.landmarks_m, i.found, i.noise_m2, i.parameters),
        _inferred_naively,
        _infer_joints,
        size=6,
        tolerance=(3e-4, 1e-5),
        reason="a prior of 10 m on translation is flat to some hundredths of a millimetre, and a millimetre is added"
        " to the landmarks' noise for stability",
    ),
    Kernel(
        "choose_proposals",
        lambda i: choose_proposals(i.places_m, i.confidence, i.parameters),
        lambda i: naive_pose_prior.improve_choice(
            i.places_m,
            i.confidence,
            i.parameters.mean_m,
            i.parameters.covariance_m2,
            TRANSLATION_VARIANCE_M2,
            i.confidence.argmax(axis=1),
            MAX_PASSES,
        ),
        _alternative_proposals,
        size=6,
    ),
    Kernel(
        "improve_choice",
        lambda i: improve_choice(i.places_m, i.confidence, LandmarkPrior.of(i.confidence, i.parameters), i.first),
        lambda i: naive_pose_prior.improve_choice(
            i.places_m,
            i.confidence,
            i.parameters.mean_m,
            i.parameters.covariance_m2,
            TRANSLATION_VARIANCE_M2,
            i.first,
            MAX_PASSES,
        ),
        _alternative_proposals,
        size=6,
    ),
    Kernel(
        "change_limbs",
        lambda i: change_limbs(i.places_m, i.confidence, i.first, *i.starts),
        lambda i: naive_limb_changes.change_limbs(i.places_m, i.confidence, i.first, *i.starts, MIN_CONFIDENCE),
        _alternative_proposals,
        size=6,
    ),
    Kernel(
        "calibrate",
        lambda i: calibrate(i.shares, i.confidence),
        lambda i: naive_calibration.calibrate(i.shares, i.confidence),
        _shares,
        size=200,
        tolerance=1e-12,
        reason="order of float64 products",
    ),
)
