"""Facing check: where a pose is in doubt, a network that sees the surface says whether left and right are exchanged."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.facing.facing_network import Facing, FacingNetwork
from posepipe.facing.person_picture import person_picture
from posepipe.frames import window_of
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.results import Pose
from posepipe.segmentation.views.view import View
from posepipe.stage import Share, Stateless


@dataclass(frozen=True, slots=True, eq=False)
class FacingCheck(Stateless):
    """Asks the facing network about people whom the border cuts off, and exchanges left and right where it contradicts.

    The same labels say where a person's left is and how they are turned. A back that is labelled as a front has both
    wrong, and its pose is as likely as any. The body fit begins with the direction that the network sees.

    Nobody else is asked about: of those who are hidden behind others, what is left may be an arm.
    """

    network: FacingNetwork
    body: BodyDefinition  #: of parts and poses
    enough: Share = 0.5  #: expected share of correct joints above which the pose itself says which way they face
    border: Share = 0.02  #: share of the image's sides; whoever lies nearer to its border may be cut off
    min_agreement: Share = 0.4  #: probability that they face as their pose does, below which that is wrong

    def look(self, view: View, pose: Pose) -> Facing | None:
        """Which way the person of an unrotated view faces; None where their pose, in camera axes, is not in doubt."""
        if pose.expected_correct >= self.enough * len(self.body.joints) or not self._is_cut_off(view.mask):
            return None
        return self.network.predict(person_picture(view.depth_m, view.mask, view.intrinsics))

    def _is_cut_off(self, mask: np.ndarray) -> bool:
        """Whether a person reaches the border of the image; the outermost pixels of many cameras have no readings."""
        sides = zip(window_of(mask), mask.shape, strict=True)
        return any(own.start < self.border * size or own.stop > (1 - self.border) * size for own, size in sides)

    def exchanged(self, stages: JointStages, seen: PoseInference) -> PoseInference:
        """The same view, with the labels of left and right exchanged."""
        mirrored = seen.parts.probabilities[:, self.body.mirrored_classes()]
        parts = replace(seen.parts, probabilities=np.ascontiguousarray(mirrored))
        return PoseInference(stages, seen.view, parts)

    def renamed(self, pose: Pose) -> Pose:
        """The same pose, with the names of left and right exchanged."""
        joints_m, confidences = pose.in_rows_of(self.body.joints)
        rows = self.body.mirrored_joints()
        found = np.flatnonzero(confidences[rows] > 0)
        names = tuple(self.body.joints[row] for row in found)
        sources = tuple(replace(each, joint=mirror_name(each.joint)) for each in pose.source_proposals)
        return Pose(names, joints_m[rows[found]], confidences[rows[found]], sources)

    def contradicts(self, facing: Facing, pose: Pose) -> bool:
        """Whether a person hardly faces as their pose does. A pose without left and right is never contradicted."""
        return self._agreement(facing, pose) < self.min_agreement

    def confirms(self, facing: Facing, pose: Pose) -> bool:
        """Whether a person faces as a pose does, as surely as another pose may be contradicted."""
        return self._agreement(facing, pose) > 1 - self.min_agreement

    def _agreement(self, facing: Facing, pose: Pose) -> float:
        """Probability that a person faces as their pose does; 0.5 for a pose without left and right."""
        joints_m, confidences = pose.in_rows_of(self.body.joints)
        across_m = self.body.across(np.where(confidences[:, None] > 0, joints_m, np.nan))[[0, 2]]
        return facing.agreement(across_m) if np.isfinite(across_m).all() else 0.5
