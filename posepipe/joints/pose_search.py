"""Pose search: other choices of proposals are tried for whole limbs, and the most probable pose is kept.

`improve_choice` changes one landmark at a time, so a limb that is wrong as a whole stays wrong: legs are exchanged, or
both at the places of one. The search therefore starts from choices in which limbs are changed as a whole, improves
each, and compares the poses by what the network says of them: their expected number of correct joints.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.joints.limb_changes import STAYS, change_limbs
from posepipe.joints.pose_estimator import PoseEstimator
from posepipe.joints.pose_prior import LandmarkPrior, improve_choice
from posepipe.joints.refinement import Evidence
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.results import Pose, Proposals
from posepipe.stage import Share, Stateless


class Starts(NamedTuple):
    """Choices of proposals that the search starts from, by what changes in the first choice."""

    mirrored: np.ndarray  #: int64 (G, L), mirror image of each landmark that changes; STAYS for the others
    apart: np.ndarray  #: bool (G,), True = changed to be far from the mirror image, False = to take its place

    @classmethod
    def of(cls, body: BodyDefinition, method: str) -> Starts:
        """Make the starts for the landmarks of a body and a method of METHODS.

        First all landmarks take the places of their mirror images, then those of each pair of limbs; and each limb is
        placed apart from its mirror image. There are no starts for a body without limbs on two sides.
        """
        landmarks, limbs = landmarks_of(body, method), limbs_of(body)
        own = np.arange(len(landmarks))
        images = [Landmark(mirror_name(name), voted) for name, voted in landmarks]
        mirrored = np.array([landmarks.index(image) if image in landmarks else row for row, image in enumerate(images)])
        changes, apart = [mirrored != own] * bool(limbs), [False] * bool(limbs)
        for limb in limbs:
            left = np.array([name in limb for name, _ in landmarks]) & (mirrored != own)
            right = np.array([mirror_name(name) in limb for name, _ in landmarks]) & (mirrored != own)
            changes += [left | right, left, right]
            apart += [False, True, True]
        table = np.where(np.reshape(changes, (-1, len(landmarks))), mirrored, STAYS)
        return cls(np.ascontiguousarray(table, np.int64), np.array(apart, bool))


def limbs_of(body: BodyDefinition) -> tuple[tuple[str, ...], ...]:
    """Joints of each limb of the left side: a joint with a side whose parent has none, and all joints beyond it."""
    sided = [joint for joint in body.joints if mirror_name(joint) in body.joints and mirror_name(joint) != joint]
    roots = {joint: joint for joint in sided if body.parents.get(joint) not in sided}
    for _ in sided:  # joints may come before their parents
        roots |= {joint: roots[up] for joint in sided if (up := body.parents.get(joint)) in roots}
    limbs = {root: tuple(joint for joint in sided if roots[joint] == root) for root in roots.values()}
    return tuple(limb for root, limb in limbs.items() if root.startswith("left_"))


@dataclass(frozen=True, slots=True, eq=False)
class PoseSearch(Stateless):
    """Tries other choices of proposals where the first pose is not sure."""

    starts: Starts
    enough: Share = 0.87  #: expected share of correct joints above which there is no search
    min_gain: Share = 0.01  #: in the expected share of correct joints, of another choice: less is noise
    max_moved_m: float = 0.2  #: of the trunk's joints, on average: farther off is something else than this person
    max_rounds: int = 2  #: the second round starts from the best choice of the first

    def search(self, estimator: PoseEstimator, proposals: Proposals, pose: Pose) -> Pose:
        """The pose of most correct joints to be expected: ``pose``, of these proposals, or that of another choice.

        An estimator of one's own, in place of `PoseEstimator`, may have no other choice: its pose is kept.
        """
        if not hasattr(estimator, "parameters"):
            return pose
        n_joints = len(estimator.body.joints)
        if estimator.parameters.refinement is None or pose.expected_correct >= self.enough * n_joints:
            return pose  # the prior alone says nothing of how well proposals agree
        places_m, confidence = proposals.places_m, proposals.confidence
        prior = LandmarkPrior.of(confidence, estimator.parameters)
        ranks, first = improve_choice(places_m, confidence, prior, confidence.argmax(axis=1)), pose
        for _ in range(self.max_rounds):
            starts = change_limbs(places_m, confidence, ranks, *self.starts)
            others = _different([improve_choice(places_m, confidence, prior, start) for start in starts], ranks)
            if not others:
                break
            poses = estimator.poses(Evidence.join([estimator.gather(proposals, other) for other in others], np.float64))
            expected = [each.expected_correct if _moved_m(first, each) <= self.max_moved_m else 0.0 for each in poses]
            best = expected.index(max(expected))
            if expected[best] < pose.expected_correct + self.min_gain * n_joints:
                break
            pose, ranks = poses[best], others[best]
            if pose.expected_correct >= self.enough * n_joints:
                break
        return pose


def _moved_m(one: Pose, other: Pose) -> float:
    """Mean distance between the same joints of two poses, of joints without sides; 0 where there are none."""
    rows, others = one.in_common(other)
    trunk = np.array([mirror_name(one.names[row]) == one.names[row] for row in rows], bool)
    apart_m = np.linalg.norm(one.joints_m[rows[trunk]] - other.joints_m[others[trunk]], axis=1)
    return float(apart_m.mean()) if len(apart_m) else 0.0


def _different(choices: Sequence[np.ndarray], known: np.ndarray) -> list[np.ndarray]:
    """Choices of proposals, each once, without the one that is known."""
    found = {choice.tobytes(): choice for choice in choices}
    found.pop(known.tobytes(), None)
    return list(found.values())
