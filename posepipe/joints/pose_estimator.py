"""Pose estimation: one proposal of each landmark is chosen, and all joints are inferred from the chosen ones.

The pose prior, a Gaussian over landmarks and joints fitted to rendered people, serves twice. The expectation of a
landmark given all others decides between its alternative proposals, such as two feet that both resemble the left one.
The expectation of a joint given the landmarks places joints without a surface, such as hips, and hidden joints. A
network then corrects the joints, and the two results are fused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.calibration import calibrate, fuse, probability_within
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.part_moments import N_MOMENTS
from posepipe.joints.pose_prior import choose_proposals, infer_joints, landmark_noise
from posepipe.joints.refinement import Evidence, Mirror, refine
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.results import JointProposal, Pose, Proposals
from posepipe.stage import Share, Stateless


@dataclass(frozen=True, slots=True, eq=False)
class PoseEstimator(Stateless):
    """Chooses one proposal of each landmark and places the joints."""

    body: BodyDefinition
    parameters: JointParameters
    min_landmarks: int = 3
    """Minimum number of landmarks found, without which there is no pose; of a body with fewer surfaces and fewer voted
    joints as many as there are of either. Leaves may hold no votes: those of a body of one part are hardly divided."""
    min_confidence: Share = 0.1  #: minimum confidence of a joint; others are left out of the pose
    _landmarks: tuple[Landmark, ...] = field(init=False, repr=False)
    _mirror: Mirror | None = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_landmarks", landmarks_of(self.body, self.parameters.method))
        object.__setattr__(self, "_mirror", Mirror.of(self.body, self.parameters.method))

    def estimate(self, proposals: Sequence[JointProposal]) -> Pose | None:
        """Estimate the pose of one person from proposals; None when there are too few landmarks."""
        known = Proposals.gather(self._landmarks, proposals)
        voted = sum(landmark.voted for landmark in self._landmarks)
        wanted = max(min(self.min_landmarks, max(voted, len(self._landmarks) - voted)), 1)
        if np.count_nonzero((known.confidence > 0).any(axis=1)) < wanted:
            return None
        (pose,) = self.poses(self.gather(known))
        return pose

    def poses(self, evidence: Evidence) -> list[Pose]:
        """Poses of evidence, each with those joints that reach the minimum confidence, and what it was made from."""
        poses = []
        for person, (joints_m, confidences) in enumerate(zip(*self._fused_joints(evidence), strict=True)):
            kept = np.flatnonzero(confidences >= self.min_confidence)
            places_m, chosen = evidence.chosen_m[person], evidence.chosen_confidence[person]
            poses.append(
                Pose(
                    tuple(self.body.joints[row] for row in kept.tolist()),
                    joints_m[kept].astype(np.float64, copy=False),
                    confidences[kept],
                    Proposals(self._landmarks, places_m[:, None], chosen[:, None]),
                )
            )
        return poses

    def gather(self, proposals: Proposals, ranks: np.ndarray | None = None) -> Evidence:
        """Take one proposal of each landmark, and infer the joints of one person by the prior.

        Parameters
        ----------
        proposals : Proposals of the landmarks of these parameters, at least one of them with a confidence above 0
        ranks : int (L,), column of the proposal of each landmark; None = those of `choose_proposals`

        Returns
        -------
        Evidence of one person: the input of the network
        """
        if ranks is None:
            ranks = choose_proposals(proposals.places_m, proposals.confidence, self.parameters)
        places_m, confidence = proposals.pick(ranks)
        expected = infer_joints(places_m, confidence > 0, landmark_noise(confidence), self.parameters)
        moments = np.zeros((len(self.body.parts), N_MOMENTS)) if proposals.moments is None else proposals.moments
        return Evidence.gather((proposals.places_m, proposals.confidence), (places_m, confidence), expected, moments)

    def _fused_joints(self, evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
        """Joints (P, J, 3), metres, and their calibrated confidences, (P, J)."""
        network = self.parameters.refinement
        expected = evidence.joints_m, calibrate(probability_within(evidence.sigma_m), self.parameters.calibration)
        if network is None:
            return expected
        corrected_m, share = refine(network, evidence, self._mirror)
        return fuse(network.fusion_weights, expected, (corrected_m, calibrate(share, network.calibration)))
