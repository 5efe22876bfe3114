"""Second pass: the pixels of a person are labelled anew, given their first pose, and the joints found from these."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.parts import PartProbabilities
from posepipe.results import Pose
from posepipe.second_pass.relabelling import Relabelling, relabel
from posepipe.second_pass.second_pass_parameters import SecondPassParameters
from posepipe.stage import Stateless


@dataclass(frozen=True, slots=True, eq=False)
class SecondPass(Stateless):
    """Repeats the joint stages with labels that know the first pose."""

    relabelling: Relabelling
    joint_stages: JointStages  #: the first pass's classifier; joint parameters of its own

    @classmethod
    def of(cls, first: JointStages, parameters: SecondPassParameters) -> SecondPass:
        """Make the stage of the first pass's stages and the parameters of the second."""
        return cls(parameters.relabelling, JointStages.of(first.classifier, parameters.joint_parameters))

    def relabel(self, parts: PartProbabilities, points_m: np.ndarray, pose: Pose) -> PartProbabilities:
        """Part probabilities given a pose; see `posepipe.second_pass.relabelling.relabel`."""
        joints = joint_arrays(pose, self.joint_stages.classifier.body)
        return relabel(parts, points_m, *joints, self.relabelling)

    def infer(self, first: PoseInference, pose: Pose, min_confidence: float) -> PoseInference | None:
        """Infer the pose once more.

        Parameters
        ----------
        first : of the first pass
        pose : of the first pass, after its search, in the axes of the view
        min_confidence : of a joint; others are left out of the pose

        Returns
        -------
        PoseInference of the same view; None when its labels give no pose
        """
        estimator = self.joint_stages.pose_estimator
        if estimator.min_confidence != min_confidence:
            estimator = replace(estimator, min_confidence=min_confidence)
        parts = self.relabel(first.parts, first.points.points_m, pose)
        again = PoseInference(self.joint_stages._replace(pose_estimator=estimator), first.view, parts)
        return None if again.pose is None else again


def joint_arrays(pose: Pose, body: BodyDefinition) -> tuple[np.ndarray, np.ndarray]:
    """Joints, float32 (J, 3), metres, and their confidences, float32 (J,): both 0 where the pose lacks the joint."""
    joints_m, confidences = np.zeros((len(body.joints), 3), np.float32), np.zeros(len(body.joints), np.float32)
    rows = [body.joint_index(name) for name in pose.names]
    joints_m[rows], confidences[rows] = pose.joints_m, pose.confidences
    return joints_m, confidences
