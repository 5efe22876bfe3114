"""Second pass: the pixels of a person are labelled anew, given their first pose, and the joints found from these."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.proposals import ModeProposer
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.second_pass.relabelling import Relabelling, relabel
from posepipe.second_pass.second_pass_parameters import SecondPassParameters
from posepipe.stage import Share, Stateless


@dataclass(frozen=True, slots=True, eq=False)
class SecondPass(Stateless):
    """Repeats the joint stages with labels that know the first pose.

    Classifier and weighting are those of the first pass. Proposals and pose have parameters of their own: who replaces
    `ModeProposer` or `PoseEstimator` of a pipeline replaces them here too, or leaves out the second pass.
    """

    relabelling: Relabelling
    proposer: ModeProposer
    pose_estimator: PoseEstimator
    min_expected: Share = 0.3  #: expected share of correct joints; labels by a poorer pose would confirm it

    @classmethod
    def of(cls, body: BodyDefinition, parameters: SecondPassParameters) -> SecondPass:
        """Make the stage of a body and its parameters."""
        joints = parameters.joint_parameters
        return cls(parameters.relabelling, ModeProposer(body, joints), PoseEstimator(body, joints))

    def trusts(self, pose: Pose) -> bool:
        """Whether a first pose is good enough to label pixels by."""
        return pose.expected_correct >= self.min_expected * len(self.pose_estimator.body.joints)

    def relabel(self, parts: PartProbabilities, points_m: np.ndarray, pose: Pose) -> PartProbabilities:
        """Part probabilities given a pose; see `posepipe.second_pass.relabelling.relabel`."""
        return relabel(parts, points_m, *joint_arrays(pose, self.pose_estimator.body), self.relabelling)

    def infer(self, stages: JointStages, first: PoseInference, pose: Pose) -> PoseInference | None:
        """Infer the pose once more.

        Parameters
        ----------
        stages : JointStages of the first pass; what its estimator leaves out of poses, the second leaves out, too
        first : the first pass in one view
        pose : its pose, after its search, in the axes of the view

        Returns
        -------
        PoseInference of the same view; None when the first pose is poor, or the new labels give none
        """
        if not self.trusts(pose):
            return None
        own, asked = self.pose_estimator, stages.pose_estimator
        # an estimator of one's own, in place of `PoseEstimator`, may have none of these limits
        limits = {name: getattr(asked, name, getattr(own, name)) for name in ("min_confidence", "min_landmarks")}
        if any(getattr(own, name) != limit for name, limit in limits.items()):
            own = replace(own, **limits)
        parts = self.relabel(first.parts, first.points.points_m, pose)
        again = PoseInference(stages._replace(proposer=self.proposer, pose_estimator=own), first.view, parts)
        return None if again.pose is None else again


def joint_arrays(pose: Pose, body: BodyDefinition) -> tuple[np.ndarray, np.ndarray]:
    """Joints, float32 (J, 3), metres, and their confidences, float32 (J,): both 0 where the pose lacks the joint."""
    joints_m, confidences = pose.in_rows_of(body.joints)
    return np.where(confidences[:, None] > 0, joints_m, 0).astype(np.float32), confidences.astype(np.float32)
