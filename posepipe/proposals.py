"""Modes of the density become proposals: pushed into the body, with a calibrated confidence."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.density import Density
from posepipe.joint_parameters import JointParameters, Landmark, landmark_classes, landmarks_of
from posepipe.mean_shift import MAX_MODES, find_modes
from posepipe.results import Proposals
from posepipe.votes import PackedVotes, cast_votes, find_vote_modes


def push_back(modes_m: np.ndarray, push_back_m: np.ndarray) -> np.ndarray:
    """Move surface points away from the camera along their own rays: (..., 3) and (...), metres."""
    distance = np.linalg.norm(modes_m, axis=-1)
    return modes_m * (1 + push_back_m / np.maximum(distance, 1e-6))[..., None]


def calibrated(masses_m2: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Share of modes of such a mass that lie right: logistic in ln(mass); masses (L, M), confidence (L, 2)."""
    log_odds = confidence[:, :1] + confidence[:, 1:] * np.log(np.maximum(masses_m2, 1e-9))
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))


def find_landmarks(
    density: Density, parameters: JointParameters, votes: PackedVotes | None
) -> tuple[np.ndarray, np.ndarray]:
    """Modes of every landmark, surfaces first, not yet pushed back.

    Parameters
    ----------
    density : Density
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

    def find(self, density: Density) -> Proposals:
        """All proposals of every landmark, the heaviest first."""
        modes, masses = find_landmarks(density, self.parameters, self.votes)
        places_m = push_back(modes, self.parameters.push_back_m[:, None])
        confidence = np.where(masses > 0, calibrated(masses, self.parameters.confidence), 0)
        return Proposals(self._landmarks, places_m.astype(np.float64), confidence.astype(np.float64))
