"""Proposals become a pose: the most plausible place of every landmark, and all joints inferred from them.

A Gaussian over landmarks and joints together, learned from rendered people, knows how they lie to
each other. It does two things. It says where each landmark should be, given all the others, and so
chooses between rival proposals, such as two feet that both look like the left one. And it gives
every joint's expectation given the landmarks: a hip, which owns no part, follows from torso and legs,
a hidden wrist from the elbow, and a knee that was seen is corrected by what surrounds it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.special import erf

from posepipe.body import BodyDefinition
from posepipe.gaussian_pose import choose_proposals, infer_joints, landmark_noise
from posepipe.joint_parameters import JointParameters, Landmark, landmarks_of
from posepipe.refinement import Evidence, Mirror, reconcile, refine
from posepipe.results import RIGHT_M, JointProposal, Pose, Proposals


def share_within(sigma_m: np.ndarray, radius_m: float = RIGHT_M) -> np.ndarray:
    """Probability that an isotropic 3D Gaussian error of ``sigma_m`` an axis is below ``radius_m`` (Maxwell)."""
    ratio = radius_m / np.maximum(sigma_m, 1e-9)
    return np.clip(erf(ratio / math.sqrt(2)) - math.sqrt(2 / math.pi) * ratio * np.exp(-(ratio**2) / 2), 0, 1)


@dataclass(frozen=True, slots=True, eq=False)
class PoseAssembler:
    """Chooses one proposal a landmark and places the joints."""

    body: BodyDefinition
    parameters: JointParameters
    min_landmarks: int = 3  #: fewer say too little about a body
    min_confidence: float = 0.1  #: a joint less certain is left out of the pose
    _landmarks: tuple[Landmark, ...] = field(init=False, repr=False)
    _mirror: Mirror | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_landmarks", landmarks_of(self.body, self.parameters.method))
        object.__setattr__(self, "_mirror", Mirror.of(self.body, self.parameters.method))

    def assemble(self, proposals: Sequence[JointProposal]) -> Pose | None:
        """The pose that the proposals of one person speak for; None when too few were found."""
        known = Proposals.gather(self._landmarks, proposals)
        if np.count_nonzero((known.confidence > 0).any(axis=1)) < max(self.min_landmarks, 1):
            return None
        place, confidence = known.pick(choose_proposals(known.places_m, known.confidence, self.parameters))
        joints_m, certainty = self._joints_of(known, place, confidence)
        return Pose(
            {
                name: JointProposal(name, tuple(at), sure)
                for name, at, sure in zip(self.body.joints, joints_m.tolist(), certainty.tolist(), strict=True)
                if sure >= self.min_confidence
            },
            made_from=Proposals(self._landmarks, place[:, None], confidence[:, None]),
        )

    def _joints_of(self, rivals: Proposals, place: np.ndarray, confidence: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Joints (J, 3), metres, and how likely each lies right, (J,)."""
        parameters, network = self.parameters, self.parameters.refinement
        expected = infer_joints(place, confidence > 0, landmark_noise(confidence), parameters)
        joints_m, certainty = expected[0], calibrate(share_within(expected[1]), parameters.calibration)
        if network is None:
            return joints_m, certainty
        evidence = Evidence.gather((rivals.places_m, rivals.confidence), (place, confidence), expected)
        (corrected_m,), (share,) = refine(network, evidence, self._mirror)
        return reconcile(network, (joints_m, certainty), (corrected_m, calibrate(share, network.calibration)))


def calibrate(share: np.ndarray, calibration: np.ndarray) -> np.ndarray:
    """Stated confidence from the Gaussian's own, which is too sure of itself: logistic in its log-odds.

    ``share`` (..., J) and ``calibration`` (J, 2), offset and slope.
    """
    share = np.clip(share, 1e-4, 1 - 1e-4)
    log_odds = calibration[:, 0] + calibration[:, 1] * np.log(share / (1 - share))
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))
