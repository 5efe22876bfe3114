"""Modes of the density become proposals: pushed into the body, with a calibrated confidence."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.joints.calibration import confidence_of_mass
from posepipe.joints.joint_parameters import JointParameters
from posepipe.joints.mean_shift import MAX_MODES, find_modes
from posepipe.joints.offset_votes import PackedVotes, cast_votes, find_vote_modes
from posepipe.joints.push_back import push_back
from posepipe.joints.weighted_points import WeightedPoints
from posepipe.landmarks import Landmark, landmark_classes, landmarks_of
from posepipe.results import Proposals


def find_landmarks(
    density: WeightedPoints, parameters: JointParameters, votes: PackedVotes | None
) -> tuple[np.ndarray, np.ndarray]:
    """Modes of every landmark, surfaces first, not yet pushed back.

    Parameters
    ----------
    density : WeightedPoints
    parameters : JointParameters
    votes : of the trees whose leaves the density names; None = none are cast

    Returns
    -------
    modes : float32 (L, M, 3), metres
    masses : float32 (L, M), square metres; 0 = no mode
    """
    n_surfaces = density.probabilities.shape[1] if parameters.method != "votes" else 0
    found = []
    if n_surfaces:
        own = slice(n_surfaces)
        bandwidth_m, least = parameters.bandwidth_m[own], parameters.min_probability[own]
        found.append(find_modes(density.points_m, density.probabilities, density.area_m2, bandwidth_m, least))
    if parameters.method != "parts":
        bandwidth_m = parameters.bandwidth_m[n_surfaces:]
        if votes is None or density.leaves is None:
            empty = np.zeros((len(bandwidth_m), MAX_MODES, 4), np.float32)
            found.append((empty[..., :3], empty[..., 3]))
        else:
            cast = cast_votes(density.points_m, density.area_m2, density.leaves, votes)
            found.append(find_vote_modes(*cast, bandwidth_m))
    modes, masses = zip(*found, strict=True)
    return np.concatenate(modes), np.concatenate(masses)


@dataclass(frozen=True, slots=True, eq=False)
class ModeProposer:
    """Proposes places for every landmark: surfaces of joints and of parts, and joints that are voted for."""

    body: BodyDefinition
    parameters: JointParameters
    votes: PackedVotes | None = None
    surfaces: np.ndarray = field(init=False, repr=False)  #: bool (S, C), the classes of each surface that has modes
    _landmarks: tuple[Landmark, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "surfaces", landmark_classes(self.body))
        object.__setattr__(self, "_landmarks", landmarks_of(self.body, self.parameters.method))

    def find(self, density: WeightedPoints) -> Proposals:
        """All proposals of every landmark, the heaviest first."""
        modes, masses = find_landmarks(density, self.parameters, self.votes)
        places_m = push_back(modes, self.parameters.push_back_m[:, None])
        return Proposals(self._landmarks, places_m, confidence_of_mass(masses, self.parameters.confidence))
