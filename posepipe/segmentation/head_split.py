"""People who touch are one candidate: they are told apart by their heads, and each is looked at by himself."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.results import JointProposal

CAMERA_UP = (0.0, -1.0, 0.0)
"""Up, where neither a floor nor the camera's place says otherwise: camera axes, of a level camera."""


@dataclass(frozen=True, slots=True)
class HeadSplit:
    """Gives every head of a candidate the pixels that stand nearer to it than to any other, seen from above.

    Whether each is a person, a look at his pixels says. A body without a joint of this name is never separated.
    """

    joint: str = "head"
    min_head: float = 0.5  #: confidence of a proposal, to be a head
    apart_m: float = 0.35  #: two heads are no nearer: that is one, proposed twice
    min_confidence: float = 0.45  #: mean of a pose's joints; below it a part of the split is no person

    def split(
        self,
        proposals: Sequence[JointProposal],
        depth_m: np.ndarray,
        mask: np.ndarray,
        intrinsics: Intrinsics,
        up: Sequence[float] = CAMERA_UP,
    ) -> list[np.ndarray]:
        """Cut a candidate into one component a head.

        Parameters
        ----------
        proposals : of the candidate
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics
        up : unit vector, camera axes

        Returns
        -------
        Masks, bool (H, W), that make up the candidate; none where there are less than two heads
        """
        heads_m = self._heads(proposals)
        if len(heads_m) < 2:
            return []
        rows, cols = np.nonzero(mask)
        points_m = intrinsics.deproject_pixels(rows, cols, depth_m[rows, cols])
        level = np.eye(3) - np.outer(up, up)  # onto the ground
        away_m = np.linalg.norm((points_m[:, None] - heads_m) @ level, axis=2)
        nearest = np.zeros(mask.shape, np.uint8)
        nearest[rows, cols] = away_m.argmin(axis=1) + 1
        return [nearest == number for number in range(1, len(heads_m) + 1)]

    def _heads(self, proposals: Sequence[JointProposal]) -> np.ndarray:
        """Places (N, 3), metres, the surest first: modes of the surface, for votes for a head may meet between two."""
        heads = [p for p in proposals if p.joint == self.joint and not p.voted and p.confidence >= self.min_head]
        kept: list[np.ndarray] = []
        for place in (np.array(p.xyz_m) for p in sorted(heads, key=lambda p: -p.confidence)):
            if all(np.linalg.norm(place - other) >= self.apart_m for other in kept):
                kept.append(place)
        return np.array(kept).reshape(-1, 3)
