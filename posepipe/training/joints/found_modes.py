"""Modes found for many people and for their mirror images, beside the truth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.joints.proposals import ModeProposer
from posepipe.joints.refinement import MOMENTS_ACROSS
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.training.joints.training_people import TrainingPerson


@dataclass(frozen=True, slots=True, eq=False)
class FoundModes:
    """Modes of P people after push-back, and the truth; the second half are mirror images of the first."""

    modes_m: np.ndarray  #: float64 (P, L, M, 3), metres
    masses_m2: np.ndarray  #: float64 (P, L, M), square metres; 0 where there is no mode
    landmarks_m: np.ndarray  #: float64 (P, L, 3), metres; NaN where a landmark has no visible surface
    joints_m: np.ndarray  #: float64 (P, J, 3), metres
    moments: np.ndarray  #: float64 (P, K, N_MOMENTS), of the parts

    @classmethod
    def of(cls, people: Iterable[TrainingPerson], proposer: ModeProposer) -> Self:
        """Find the modes of all people and of their mirror images, without keeping their points."""
        rows = [
            (*proposer.modes(each.points), each.landmarks_m, each.joints_m, proposer.moments(each.points))
            for each in people
        ]
        found = cls(*(np.array(column, np.float64) for column in zip(*rows, strict=True)))
        return found._with_mirror_images(proposer.body, proposer.parameters.method)

    @property
    def heaviest_m(self) -> np.ndarray:
        """Heaviest mode of each landmark: float64 (P, L, 3), metres; NaN where there is none."""
        return np.where(self.masses_m2[:, :, :1] > 0, self.modes_m[:, :, 0], np.nan)

    @property
    def number(self) -> np.ndarray:
        """Number of each person, which their mirror image shares: int (P,)."""
        people = len(self.joints_m)
        return np.arange(people) % (people // 2)

    def _with_mirror_images(self, body: BodyDefinition, method: str) -> Self:
        """Add the mirror images of all people, so that left and right get the same parameters."""
        landmarks = landmarks_of(body, method)
        swap = [landmarks.index(Landmark(mirror_name(name), voted)) for name, voted in landmarks]
        across, parts = np.array([-1.0, 1.0, 1.0]), body.mirrored_classes()[1:] - 1
        return type(self)(
            np.concatenate([self.modes_m, self.modes_m[:, swap] * across]),
            np.concatenate([self.masses_m2, self.masses_m2[:, swap]]),
            np.concatenate([self.landmarks_m, self.landmarks_m[:, swap] * across]),
            np.concatenate([self.joints_m, self.joints_m[:, body.mirrored_joints()] * across]),
            np.concatenate([self.moments, self.moments[:, parts] * MOMENTS_ACROSS]),
        )
