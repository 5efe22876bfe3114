"""People of labelled frames as the fit of joint parameters sees them: weighted points, true landmarks and joints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.frames import LabelledFrame
from posepipe.inference.pose_inference import JointStages, PoseInference
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.modes.mean_shift import find_modes
from posepipe.joints.weighted_points import WeightedPoints
from posepipe.landmarks import landmarks_of
from posepipe.parts import PartProbabilities
from posepipe.segmentation.views.view import View


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPerson:
    """The weighted points of one person, with true landmarks and joints."""

    points: WeightedPoints
    landmarks_m: np.ndarray  #: float64 (L, 3), metres; NaN where a landmark has no visible surface
    joints_m: np.ndarray  #: float64 (J, 3), metres


def training_people(
    stages: JointStages,
    frames: Iterable[LabelledFrame],
    on_frame: Callable[[], object],
    method: str,
    parts_of: Callable[[View], PartProbabilities] | None,
) -> Iterator[TrainingPerson]:
    """Yield each person of labelled frames of whom a pixel was classified.

    The true place of a joint's surface is the joint, if visible; that of a part is the mode of its true pixels. The
    true place of a voted joint is the joint, visible or not.

    Parameters
    ----------
    stages : JointStages, of the classifier
    frames : labelled frames
    on_frame : called after each frame
    method : one of METHODS, which says what the landmarks are
    parts_of : the parts of a person; None = those of the classifier
    """
    body = stages.classifier.body
    for frame in frames:
        depth_m = frame.depth.depth_m
        for person in range(1, len(frame.joints_m) + 1):
            view = View(depth_m, (frame.people == person) & (depth_m > 0), frame.depth.intrinsics)
            found = PoseInference(stages, view, None if parts_of is None else parts_of(view))
            if len(found.parts.pixels):
                truth = PoseInference(stages, view, _with_true_labels(found.parts, frame.parts)).points
                joints_m = frame.joints_m[person - 1]
                yield TrainingPerson(
                    found.points,
                    _true_landmarks(truth, joints_m, frame.visible[person - 1], body, method),
                    joints_m.astype(np.float64),
                )
        on_frame()


def _with_true_labels(parts: PartProbabilities, truth: np.ndarray) -> PartProbabilities:
    labels = truth[parts.pixels[:, 0], parts.pixels[:, 1]]
    return replace(parts, probabilities=np.eye(parts.probabilities.shape[1], dtype=np.float32)[labels], cast_votes=None)


def _true_landmarks(
    truth: WeightedPoints, joints_m: np.ndarray, visible: np.ndarray, body: BodyDefinition, method: str
) -> np.ndarray:
    default = JointParameters.default(body)
    modes, masses = find_modes(
        truth.points_m, truth.landmark_probabilities, truth.area_m2, default.bandwidth_m, default.min_probability
    )
    places = []
    for row, (name, voted) in enumerate(landmarks_of(body, method)):
        if name in body.joints:
            joint = body.joint_index(name)
            places.append(joints_m[joint] if voted or visible[joint] else np.full(3, np.nan))
        else:  # surfaces come first in every method
            places.append(modes[row, 0] if masses[row, 0] > 0 else np.full(3, np.nan))
    return np.array(places, np.float64)
