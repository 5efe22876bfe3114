"""Modes of the density become proposals: pushed into the body, with a calibrated confidence."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.density import Density
from posepipe.joint_parameters import JointParameters, landmark_names
from posepipe.mean_shift import find_modes
from posepipe.results import JointProposal


def push_back(modes_m: np.ndarray, push_back_m: np.ndarray) -> np.ndarray:
    """Move surface points away from the camera along their own rays: (..., 3) and (...), metres."""
    distance = np.linalg.norm(modes_m, axis=-1)
    return modes_m * (1 + push_back_m / np.maximum(distance, 1e-6))[..., None]


def calibrated(masses_m2: np.ndarray, confidence: np.ndarray) -> np.ndarray:
    """Share of modes of such a mass that lie right: logistic in ln(mass); masses (L, M), confidence (L, 2)."""
    log_odds = confidence[:, :1] + confidence[:, 1:] * np.log(np.maximum(masses_m2, 1e-9))
    return 1 / (1 + np.exp(-np.clip(log_odds, -30, 30)))


@dataclass(frozen=True, slots=True, eq=False)
class ModeProposer:
    """Proposes places for every landmark: joints that own parts, and parts that no joint owns."""

    body: BodyDefinition
    parameters: JointParameters

    def find(self, density: Density) -> tuple[JointProposal, ...]:
        """All proposals, landmark by landmark, the heaviest of each first."""
        p = self.parameters
        modes, masses = find_modes(
            density.points_m, density.probabilities, density.area_m2, p.bandwidth_m, p.min_probability
        )
        places = push_back(modes, np.broadcast_to(p.push_back_m[:, None], masses.shape))
        confidence = calibrated(masses, p.confidence)
        return tuple(
            JointProposal(name, (float(x), float(y), float(z)), float(confidence[row, m]))
            for row, name in enumerate(landmark_names(self.body))
            for m, (x, y, z) in enumerate(places[row])
            if masses[row, m] > 0
        )
