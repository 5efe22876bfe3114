"""People in view of whole frames: who is to be found, and whose a found pose is."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.evaluation.metrics.track_metrics import mean_distance
from posepipe.frames import LabelledFrame
from posepipe.results import Pose

IN_VIEW_JOINTS = 5
"""Minimum number of visible joints of a person in view; others need not be found, and are not counted when found.

Of a body with fewer than ten joints it is half of them; see `joints_in_view`.
"""
SAME_PERSON_M = 0.5
"""Maximum mean distance between found and true joints of the same person: of joints in view, by confidence."""


def joints_in_view(body: BodyDefinition) -> int:
    """Minimum number of visible joints of a person, or creature, in view of a whole frame."""
    return min(IN_VIEW_JOINTS, math.ceil(len(body.joints) / 2))


def people_in_view(frame: LabelledFrame, in_view_joints: int) -> np.ndarray:
    """Who of the P people of a frame shows so many joints: bool (P,)."""
    return frame.visible.sum(axis=1) >= in_view_joints


def distances_to_people(
    frame: LabelledFrame, poses: Sequence[Pose], body: BodyDefinition, in_view_joints: int
) -> np.ndarray:
    """Mean distance of poses to the people of a frame, by confidence: float64 (P, F), metres.

    Of people in view only visible joints count: joints out of sight say where a limb may be, not who was found. Joints
    of low confidence count less for the same reason.
    """
    seen = frame.visible | (frame.visible.sum(axis=1, keepdims=True) < max(in_view_joints, 1))
    truths_m = np.where(seen[..., None], frame.joints_m, np.nan)
    found = [pose.in_rows_of(body.joints) for pose in poses]
    distances_m = np.array([[mean_distance(truth_m, *each) for each in found] for truth_m in truths_m])
    return distances_m.reshape(len(frame.joints_m), len(found))
