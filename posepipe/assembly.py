"""Proposals become a pose: the likeliest place of every landmark, and the other joints inferred from them.

A Gaussian over landmarks and joints together, learned from rendered people, gives each joint's
expectation given the landmarks at hand. So a hip, which owns no part, follows from torso and legs,
and a hidden wrist from the elbow. Where the whole person stands is unknown to the Gaussian: a flat
prior on translation lets any subset of landmarks place him. A joint that was itself seen keeps its
own place, unless that is the less certain of the two.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joint_parameters import JointParameters, landmark_names
from posepipe.results import RIGHT_M, JointProposal, Pose

TRANSLATION_VARIANCE_M2 = 100.0
"""Prior variance of where a person stands: flat, for every practical purpose."""


def share_within(sigma_m: np.ndarray, radius_m: float = RIGHT_M) -> np.ndarray:
    """Probability that an isotropic 3D Gaussian error of ``sigma_m`` an axis is below ``radius_m`` (Maxwell)."""
    ratio = radius_m / np.maximum(sigma_m, 1e-9)
    erf = np.vectorize(math.erf)(ratio / math.sqrt(2))
    return np.clip(erf - math.sqrt(2 / math.pi) * ratio * np.exp(-(ratio**2) / 2), 0, 1)


def infer_joints(
    landmarks_m: np.ndarray, found: np.ndarray, noise_m2: np.ndarray, parameters: JointParameters
) -> tuple[np.ndarray, np.ndarray]:
    """Expect the joints, given some landmarks.

    Parameters
    ----------
    landmarks_m : float (L, 3), metres; only rows of ``found`` are read
    found : bool (L,)
    noise_m2 : float (L,), extra variance of a landmark's place, for those not to be trusted much
    parameters : JointParameters

    Returns
    -------
    joints_m : float64 (J, 3), metres, camera axes
    sigma_m : float64 (J,), metres, standard deviation an axis

    References
    ----------
    Conditional Gaussian, e.g. Bishop 2006, eq. 2.81-2.82.
    """
    n_landmarks = len(found)
    seen = np.nonzero(found)[0]
    n_joints = parameters.mean_m.shape[1] - n_landmarks
    centre = landmarks_m[seen].mean(axis=0)
    joints = np.empty((n_joints, 3))
    variance = np.zeros(n_joints)
    for axis in range(3):
        covariance = parameters.covariance_m2[axis].astype(np.float64) + TRANSLATION_VARIANCE_M2
        mean = parameters.mean_m[axis].astype(np.float64)
        seen_seen = covariance[np.ix_(seen, seen)] + np.diag(noise_m2[seen] + 1e-6)
        joint_seen = covariance[n_landmarks:, seen]
        gain = np.linalg.solve(seen_seen, joint_seen.T).T
        surprise = landmarks_m[seen, axis] - centre[axis] - mean[seen]
        joints[:, axis] = centre[axis] + mean[n_landmarks:] + gain @ surprise
        variance += np.maximum(np.diag(covariance)[n_landmarks:] - (gain * joint_seen).sum(axis=1), 0)
    return joints, np.sqrt(variance / 3)


@dataclass(frozen=True, slots=True, eq=False)
class PoseAssembler:
    """Chooses one proposal a landmark and places the joints."""

    body: BodyDefinition
    parameters: JointParameters
    min_landmarks: int = 3  #: fewer say too little about a body
    min_confidence: float = 0.1  #: a joint less certain is left out of the pose

    def assemble(self, proposals: Sequence[JointProposal]) -> Pose | None:
        """The pose that the proposals of one person speak for; None when too few were found."""
        names = {name: row for row, name in enumerate(landmark_names(self.body))}
        place = np.zeros((len(names), 3))
        confidence = np.zeros(len(names))
        for proposal in proposals:
            row = names[proposal.joint]
            if proposal.confidence > confidence[row]:
                place[row], confidence[row] = proposal.xyz_m, proposal.confidence
        found = confidence > 0
        if found.sum() < self.min_landmarks:
            return None
        inferred, sigma = infer_joints(place, found, landmark_noise(confidence), self.parameters)
        joints = {}
        for row, (name, certainty) in enumerate(zip(self.body.joints, share_within(sigma), strict=True)):
            xyz_m = inferred[row]
            if name in names and confidence[names[name]] >= certainty:
                xyz_m, certainty = place[names[name]], confidence[names[name]]
            if certainty >= self.min_confidence:
                x, y, z = (float(v) for v in xyz_m)
                joints[name] = JointProposal(name, (x, y, z), float(certainty))
        return Pose(joints)


def landmark_noise(confidence: np.ndarray) -> np.ndarray:
    """Extra variance of a landmark that is right with probability ``confidence``, square metres.

    A wrong mode lies about 30 cm off; its share of the mixture's variance stands for the doubt.
    """
    return (1 - confidence) * 0.3**2 / np.maximum(confidence, 0.05)
