"""Instance splitting: people who touch form one candidate, which is split by their heads."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.camera import CAMERA_UP, Intrinsics
from posepipe.landmarks import Landmark
from posepipe.results import Proposals
from posepipe.stage import Stateless


@dataclass(frozen=True, slots=True)
class HeadSplit(Stateless):
    """Splits a candidate with several heads: each pixel goes to the nearest head, seen from above.

    Each part is then classified separately. A body without a joint of this name is never split.
    """

    joint: str = "head"
    min_head: float = 0.5  #: minimum confidence of a head proposal
    min_distance_m: float = 0.35  #: minimum distance between two heads; nearer proposals are of the same head
    min_confidence: float = 0.45  #: minimum mean confidence of a pose; a part of the split below it is no person

    def split(
        self,
        proposals: Proposals,
        depth_m: np.ndarray,
        mask: np.ndarray,
        intrinsics: Intrinsics,
        up: Sequence[float] = CAMERA_UP,
    ) -> list[np.ndarray]:
        """Split a candidate into one mask for each head.

        Parameters
        ----------
        proposals : Proposals of the candidate
        depth_m : float32 (H, W), metres
        mask : bool (H, W), the candidate
        intrinsics : Intrinsics
        up : unit vector, camera axes

        Returns
        -------
        Masks, bool (H, W), that partition the candidate; none where there are fewer than two heads
        """
        heads_m = self._heads(proposals)
        if len(heads_m) < 2:
            return []
        rows, cols = np.nonzero(mask)
        points_m = intrinsics.deproject_pixels(rows, cols, depth_m[rows, cols])
        level = np.eye(3) - np.outer(up, up)  # projects onto the ground
        distances_m = np.linalg.norm((points_m[:, None] - heads_m) @ level, axis=2)
        nearest = np.zeros(mask.shape, np.uint8)
        nearest[rows, cols] = distances_m.argmin(axis=1) + 1
        return [nearest == number for number in range(1, len(heads_m) + 1)]

    def _heads(self, proposals: Proposals) -> np.ndarray:
        """Places (N, 3), metres, highest confidence first; surface modes only, as votes of two heads may mix."""
        places_m, confidence = proposals.of(Landmark(self.joint, voted=False))
        order = np.argsort(-confidence, kind="stable")
        kept: list[np.ndarray] = []
        for place in places_m[order[confidence[order] >= self.min_head]]:
            if all(np.linalg.norm(place - other) >= self.min_distance_m for other in kept):
                kept.append(place)
        return np.array(kept).reshape(-1, 3)
