"""What the joint stages learn from a validation set and a model file carries beside its forest."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.landmarks import landmarks_of

N_ALTERNATIVES = 2
"""Proposals of each landmark that the network sees, the heaviest first; the third is hardly ever right."""


FUSION_TERMS = 6
"""What certainty follows from: a constant and the log-odds of two models, and these three times their distance."""


def n_inputs(body: BodyDefinition, method: str) -> int:
    """How many numbers the network sees of a person: joints and what is proposed, each with a certainty, and a ray."""
    return 4 * (len(body.joints) + (N_ALTERNATIVES + 1) * len(landmarks_of(body, method))) + 3


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """Weights of the network that corrects the joints (`refinement`)."""

    input_mean: np.ndarray  #: float32 (N,)
    input_deviation: np.ndarray  #: float32 (N,)
    weights: tuple[np.ndarray, ...]  #: float32 (N, H), (H, K), ... (K, 4 J), a layer each
    biases: tuple[np.ndarray, ...]  #: float32 (H,), (K,), ... (4 J,)
    #: float32 (J, 2): offset and slope of a corrected joint's log-odds to lie right, against the network's own
    calibration: np.ndarray
    #: float32 (2, J, FUSION_TERMS): log-odds that the Gaussian's joint lies right, and that the network's does
    certainty: np.ndarray


@dataclass(frozen=True, slots=True, eq=False)
class JointParameters:
    """Parameters of mean shift per landmark (`landmarks_of`), and of the models that place the joints.

    The linear model is a Gaussian of landmarks and joints together, one for each camera axis: a joint
    is its expectation given the landmarks that were found, so that any subset of them will do.
    """

    bandwidth_m: np.ndarray  #: float32 (L,), Gaussian sigma
    #: float32 (L,), pixels below it neither start nor feed a mode of a surface; votes are asked for none
    min_probability: np.ndarray
    push_back_m: np.ndarray  #: float32 (L,), along the camera's ray, from the surface into the body
    #: float32 (L, 2): offset and slope of the log-odds, against ln(mass in m^2), that a mode lies right
    confidence: np.ndarray
    mean_m: np.ndarray  #: float32 (3, L + J), mean position about the joints' centre; only differences matter
    covariance_m2: np.ndarray  #: float32 (3, L + J, L + J)
    calibration: (
        np.ndarray
    )  #: float32 (J, 2): offset and slope of a joint's log-odds to lie right, against the model's own
    method: str = "parts"  #: one of METHODS
    refinement: Refinement | None = None  #: None = joints stay where the Gaussian expects them

    @classmethod
    def default(cls, body: BodyDefinition, method: str = "parts") -> JointParameters:
        """Untrained values: the means that Shotton et al. (2011) report; a broad, uncorrelated Gaussian."""
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
