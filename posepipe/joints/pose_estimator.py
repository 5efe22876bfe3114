"""Proposals become a pose: the most plausible place of every landmark, and all joints inferred from them.

A Gaussian over landmarks and joints together, learned from rendered people, knows how they lie to
each other. It does two things. It says where each landmark should be, given all the others, and so
chooses between alternative proposals, such as two feet that both look like the left one. And it gives
every joint's expectation given the landmarks: a hip, which owns no part, follows from torso and legs,
a hidden wrist from the elbow, and a knee that was seen is corrected by what surrounds it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.calibration import calibrate, fuse, share_within
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.pose_prior import choose_proposals, infer_joints, landmark_noise
from posepipe.joints.refinement import Evidence, Mirror, refine
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.results import JointProposal, Pose, Proposals


@dataclass(frozen=True, slots=True, eq=False)
class PoseEstimator:
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
            source_proposals=Proposals(self._landmarks, place[:, None], confidence[:, None]),
        )

    def _joints_of(
        self, alternatives: Proposals, place: np.ndarray, confidence: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Joints (J, 3), metres, and how likely each lies right, (J,)."""
        parameters, network = self.parameters, self.parameters.refinement
        expected = infer_joints(place, confidence > 0, landmark_noise(confidence), parameters)
        joints_m, certainty = expected[0], calibrate(share_within(expected[1]), parameters.calibration)
        if network is None:
            return joints_m, certainty
        evidence = Evidence.gather((alternatives.places_m, alternatives.confidence), (place, confidence), expected)
        (corrected_m,), (share,) = refine(network, evidence, self._mirror)
        corrected = corrected_m, calibrate(share, network.calibration)
        return fuse(network.certainty, (joints_m, certainty), corrected)
