"""Proposals: modes of weighted points and of votes, pushed into the body, with calibrated confidences."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.calibration import confidence_of_mass
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.modes.mean_shift import find_modes
from posepipe.joints.modes.offset_votes import find_vote_modes
from posepipe.joints.modes.push_back import push_back
from posepipe.joints.part_moments import part_moments
from posepipe.joints.weighted_points import WeightedPoints
from posepipe.landmarks import Landmark, landmarks_of
from posepipe.results import Proposals
from posepipe.stage import Stateless


def find_landmarks(points: WeightedPoints, parameters: JointParameters) -> tuple[np.ndarray, np.ndarray]:
    """Find the modes of every landmark, surfaces first, before push-back.

    Parameters
    ----------
    points : WeightedPoints
    parameters : JointParameters

    Returns
    -------
    modes : float32 (L, M, 3), metres
    masses : float32 (L, M), square metres; 0 = no mode

    Raises
    ------
    ValueError
        When the parameters need votes and the points have none.
    """
    n_surfaces = points.landmark_probabilities.shape[1] if parameters.method != "votes" else 0
    found = []
    if n_surfaces:
        own = slice(n_surfaces)
        bandwidth_m, min_probability = parameters.bandwidth_m[own], parameters.min_probability[own]
        found.append(
            find_modes(points.points_m, points.landmark_probabilities, points.area_m2, bandwidth_m, min_probability)
        )
    if parameters.method != "parts":
        if points.votes is None:
            raise ValueError(
                f"joints from {parameters.method!r} need a classifier with votes, and this one has none;"
                " use one with votes, or joint parameters fitted without votes"
            )
        found.append(find_vote_modes(points.votes, parameters.bandwidth_m[n_surfaces:]))
    modes, masses = zip(*found, strict=True)
    return np.concatenate(modes), np.concatenate(masses)


@dataclass(frozen=True, slots=True, eq=False)
class ModeProposer(Stateless):
    """Proposes places of every landmark: surfaces of joints and of parts, and voted joints."""

    body: BodyDefinition
    parameters: JointParameters
    _landmarks: tuple[Landmark, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_landmarks", landmarks_of(self.body, self.parameters.method))

    def find(self, points: WeightedPoints) -> Proposals:
        """Propose places of every landmark, heaviest first. Raises ValueError when needed votes are absent."""
        return self.propose(*self.modes(points), self.moments(points))

    def modes(self, points: WeightedPoints) -> tuple[np.ndarray, np.ndarray]:
        """Modes of every landmark after push-back, float64 (L, M, 3) metres, and their masses, float32 (L, M)."""
        modes, masses = find_landmarks(points, self.parameters)
        return push_back(modes, self.parameters.push_back_m[:, None]), masses

    def moments(self, points: WeightedPoints) -> np.ndarray | None:
        """Moments of all parts, from `part_moments`; None where only the landmarks' probabilities are known."""
        parts = points.part_probabilities
        return None if parts is None else part_moments(points.points_m, points.area_m2, parts)

    def propose(self, places_m: np.ndarray, masses_m2: np.ndarray, moments: np.ndarray | None = None) -> Proposals:
        """Give modes their confidence: places, float64 (L, M, 3) metres, and masses, float (L, M) square metres."""
        confidence = confidence_of_mass(masses_m2, self.parameters.confidence)
        return Proposals(self._landmarks, places_m, confidence, moments)
