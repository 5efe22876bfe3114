"""Parameters of the joint stages, fitted to labelled frames and stored in a model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.part_moments import N_MOMENTS
from posepipe.landmarks import landmarks_of

N_ALTERNATIVES = 2
"""Proposals of each landmark that the network receives, heaviest first; the third is hardly ever right."""
FUSION_TERMS = 6
"""Terms of a fused confidence: a constant, the log-odds of two models, and these three times their distance."""


def n_inputs(body: BodyDefinition, method: str, moments: bool = True) -> int:
    """Number of network inputs for one person.

    They are four values for each joint and proposal, the ray to the person, and the moments of each part. A network of
    an earlier model file sees no ``moments``.
    """
    n_places = len(body.joints) + (N_ALTERNATIVES + 1) * len(landmarks_of(body, method))
    return 4 * n_places + 3 + moments * N_MOMENTS * len(body.parts)


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """Weights of the network that corrects the joints (`posepipe.joints.refinement`)."""

    input_mean: np.ndarray  #: float32 (N,)
    input_deviation: np.ndarray  #: float32 (N,)
    weights: tuple[np.ndarray, ...]  #: float32 (N, H), (H, K), ... (K, 4 J), a layer each
    biases: tuple[np.ndarray, ...]  #: float32 (H,), (K,), ... (4 J,)
    #: float32 (J, 2), offset and slope of a corrected joint's calibrated log-odds, against the network's
    calibration: np.ndarray
    #: float32 (2, J, FUSION_TERMS), of the log-odds of the prior's joint and of the network's
    fusion_weights: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class JointParameters:
    """Parameters of mean shift for each landmark (`landmarks_of`), and of the models that place the joints.

    The pose prior is a Gaussian over landmarks and joints, one for each camera axis. Joints are its expectation given
    the landmarks found, which may be any subset.
    """

    bandwidth_m: np.ndarray  #: float32 (L,), Gaussian sigma
    #: float32 (L,), minimum probability of a pixel in a surface mode; unused for votes
    min_probability: np.ndarray
    push_back_m: np.ndarray  #: float32 (L,), along the camera's ray, from the surface into the body
    #: float32 (L, 2), offset and slope of a mode's log-odds against ln(mass in m^2)
    confidence: np.ndarray
    mean_m: np.ndarray  #: float32 (3, L + J), mean position relative to the joints' centre; only differences matter
    covariance_m2: np.ndarray  #: float32 (3, L + J, L + J)
    #: float32 (J, 2), offset and slope of a joint's calibrated log-odds, against the prior's
    calibration: np.ndarray
    method: str = "parts"  #: one of METHODS
    refinement: Refinement | None = None  #: None = joints are those of the prior

    @classmethod
    def default(cls, body: BodyDefinition, method: str = "parts") -> JointParameters:
        """Make untrained parameters: the means of Shotton et al. (2011), and a broad, uncorrelated Gaussian."""
        landmarks, n_joints = landmarks_of(body, method), len(body.joints)
        n_landmarks = len(landmarks)
        total = n_landmarks + n_joints
        return cls(
            bandwidth_m=np.full(n_landmarks, 0.065, np.float32),
            min_probability=np.full(n_landmarks, 0.14, np.float32),
            push_back_m=np.array([0.0 if landmark.voted else 0.039 for landmark in landmarks], np.float32),
            confidence=np.tile(np.array([7, 1], np.float32), (n_landmarks, 1)),
            mean_m=np.zeros((3, total), np.float32),
            covariance_m2=np.tile(np.eye(total, dtype=np.float32) * 0.1, (3, 1, 1)),
            calibration=np.tile(np.array([0, 1], np.float32), (n_joints, 1)),
            method=method,
        )
