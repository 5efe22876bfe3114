"""Whether a candidate is a person, and which of its pixels are: what the forest's class 0 says."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.parts import PartProbabilities


@dataclass(frozen=True, slots=True)
class PresenceCheck:
    """Takes away the pixels that are no person's, and refuses what then is too small a part or a surface.

    And a pose of which little is certain, for a strip of furniture that looks like a leg has no head. A forest that
    was trained on cut-out people alone knows no class 0: to it everything is a person.
    """

    min_share: float = 0.5  #: of the candidate's surface that must be a person
    min_area_m2: float = 0.04  #: of a person's surface, seen face on
    min_confidence: float = 0.35  #: mean of a pose's joints

    @classmethod
    def of_cut_out(cls) -> PresenceCheck:
        """Of candidates that are known to be people: nobody is refused."""
        return cls(min_share=0, min_area_m2=0, min_confidence=0)

    def person_mask(
        self, depth_m: np.ndarray, mask: np.ndarray, intrinsics: Intrinsics, parts: PartProbabilities
    ) -> np.ndarray | None:
        """Find the person in a candidate.

        Parameters
        ----------
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics
        parts : PartProbabilities of the candidate's pixels

        Returns
        -------
        bool (H, W), within the candidate; None when it shows no person
        """
        if not len(parts.pixels):
            return None
        is_person = parts.values[:, 0] <= 0.5
        area_m2 = depth_m[parts.pixels[:, 0], parts.pixels[:, 1]] ** 2 * np.float32(
            parts.stride**2 / (intrinsics.fx * intrinsics.fy)
        )
        person_m2 = area_m2[is_person].sum()
        if person_m2 < self.min_area_m2 or person_m2 < self.min_share * area_m2.sum():
            return None
        return mask if is_person.all() else mask & ~_spread(parts, ~is_person, mask.shape)


def _spread(parts: PartProbabilities, chosen: np.ndarray, shape: tuple[int, int]) -> np.ndarray:
    """Chosen pixels (N,) of the grid as a mask of whole cells: bool (H, W)."""
    grid = np.zeros([-(-side // parts.stride) for side in shape], bool)
    grid[tuple(parts.pixels[chosen].T // parts.stride)] = True
    return grid.repeat(parts.stride, axis=0).repeat(parts.stride, axis=1)[: shape[0], : shape[1]]
