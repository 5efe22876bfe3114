"""Instance splitting: people who touch one another, or furniture, form one candidate; their heads tell them apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.camera import CAMERA_UP, Intrinsics
from posepipe.landmarks import Landmark
from posepipe.results import Pose, Proposals
from posepipe.stage import Share, Stateless


@dataclass(frozen=True, slots=True)
class HeadSplit(Stateless):
    """Divides a candidate by its heads: among the people it shows, or into what is around a head and the rest.

    Each part is then classified separately. A body without a joint of this name is never divided.
    """

    joint: str = "head"
    min_head: Share = 0.5  #: minimum confidence of a head proposal
    min_distance_m: float = 0.35  #: minimum distance between two heads; nearer proposals are of the same head
    min_confidence: Share = 0.45  #: minimum mean confidence of a pose; a part of the split below it is no person
    max_heads: int = 3  #: maximum number of heads whose surroundings are cut out of a candidate
    reach_m: float = 0.5  #: maximum horizontal distance of a person's surface from the head
    above_m: float = 0.3  #: maximum height of a person's surface above the head
    below_m: float = 2.0  #: maximum height of a head above a person's surface

    def accepts(self, pose: Pose) -> bool:
        """Whether a part of the split, of this pose, is a person."""
        return pose.confidence >= self.min_confidence

    def split(
        self,
        proposals: Proposals,
        depth_m: np.ndarray,
        mask: np.ndarray,
        intrinsics: Intrinsics,
        up: Sequence[float] = CAMERA_UP,
    ) -> list[np.ndarray]:
        """Split a candidate into one mask for each head: each pixel goes to the nearest, seen from above.

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
        distances_m, _ = _from_heads(heads_m, rows, cols, depth_m, intrinsics, up)
        nearest = np.zeros(mask.shape, np.uint8)
        nearest[rows, cols] = distances_m.argmin(axis=1) + 1
        return [nearest == number for number in range(1, len(heads_m) + 1)]

    def cut_out(
        self,
        proposals: Proposals,
        depth_m: np.ndarray,
        mask: np.ndarray,
        intrinsics: Intrinsics,
        up: Sequence[float] = CAMERA_UP,
    ) -> list[np.ndarray]:
        """Cut what may be people out of a candidate that is more than a person: what is around each of its heads.

        Parameters are those of `split`.

        Returns
        -------
        Masks, bool (H, W), which may overlap, highest confidence of the head first; at most ``max_heads``, and none
        that is the whole candidate
        """
        heads_m = self._heads(proposals)[: self.max_heads]
        if not len(heads_m):
            return []
        rows, cols = np.nonzero(mask)
        distances_m, heights_m = _from_heads(heads_m, rows, cols, depth_m, intrinsics, up)
        around = (distances_m <= self.reach_m) & (heights_m <= self.above_m) & (heights_m >= -self.below_m)
        parts = np.zeros((len(heads_m), *mask.shape), bool)
        parts[:, rows, cols] = around.T
        return [part for part, own in zip(parts, around.T, strict=True) if own.any() and not own.all()]

    def _heads(self, proposals: Proposals) -> np.ndarray:
        """Places (N, 3), metres, highest confidence first; surface modes only, as votes of two heads may mix."""
        places_m, confidence = proposals.of(Landmark(self.joint, voted=False))
        order = np.argsort(-confidence, kind="stable")
        kept: list[np.ndarray] = []
        for place in places_m[order[confidence[order] >= self.min_head]]:
            if all(np.linalg.norm(place - other) >= self.min_distance_m for other in kept):
                kept.append(place)
        return np.array(kept).reshape(-1, 3)


def _from_heads(
    heads_m: np.ndarray,
    rows: np.ndarray,
    cols: np.ndarray,
    depth_m: np.ndarray,
    intrinsics: Intrinsics,
    up: Sequence[float],
) -> tuple[np.ndarray, np.ndarray]:
    """Level distance and height of N pixels from K heads, float64 (N, K) each, metres."""
    offsets_m = intrinsics.deproject_pixels(rows, cols, depth_m[rows, cols])[:, None] - heads_m
    heights_m = offsets_m @ np.asarray(up, float)
    return np.linalg.norm(offsets_m - heights_m[..., None] * np.asarray(up, float), axis=2), heights_m
