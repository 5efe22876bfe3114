"""A room that is being furnished: what stands where, and whether one more thing has space.

Room axes: y up, the floor at y = 0, walls along x and z.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.scene.placement import rotation_about

GAP_M = 0.005
"""Distance that things keep from each other and from walls."""
BODY_CELL_M = 0.05
"""Points on people are thinned to one in each cell of this size."""
BODY_GAP_M = BODY_CELL_M * math.sqrt(2)
"""Distance that things keep from these points: none of those left out, in axes turned by any angle, is nearer."""
CAMERA_GAP_M = 0.6
"""Distance that things keep from the camera."""


@dataclass(frozen=True, slots=True, eq=False)
class Placed:
    """A model at its place, room axes."""

    model: FurnitureModel
    at_m: np.ndarray  #: float64 (3,), of the model's origin
    low_m: np.ndarray  #: float64 (3,), corners of a box that contains it
    high_m: np.ndarray
    yaw_rad: float
    host: int | None = None  #: number of what it stands on; None = the floor, a wall or the ceiling

    @property
    def vertices_m(self) -> np.ndarray:
        """Vertices in room axes: float64 (V, 3)."""
        return self.model.vertices_m @ rotation_about("y", self.yaw_rad).T + self.at_m


def thinned(points_m: np.ndarray) -> np.ndarray:
    """Return one of the points (N, 3) in each cell of BODY_CELL_M, in the order of the cells."""
    axes = np.ascontiguousarray(points_m.T)
    x, y, z = ((axes - axes.min(axis=1, keepdims=True)) / BODY_CELL_M).astype(np.int64)
    _, first = np.unique((x * (y.max() + 1) + y) * (z.max() + 1) + z, return_index=True)
    return np.ascontiguousarray(points_m[first])


@dataclass(slots=True, eq=False)
class RoomPlan:
    """Space of a room, and what it holds so far.

    Parameters
    ----------
    low_m, high_m : float (3,), metres
        Inner corners of the room.
    body_m : float (N, 3), metres
        Points on all people, see `thinned`.
    taken_m : list of (low, high)
        Boxes around what people rest on.
    camera_m : float (3,), metres
    """

    low_m: np.ndarray
    high_m: np.ndarray
    body_m: np.ndarray
    taken_m: list[tuple[np.ndarray, np.ndarray]]
    camera_m: np.ndarray
    placed: list[Placed] = field(default_factory=list)

    def add(
        self, model: FurnitureModel, at_m: np.ndarray, yaw_rad: float = 0.0, host: int | None = None
    ) -> Placed | None:
        """Put a model at a place if there is space for it.

        Parameters
        ----------
        model : FurnitureModel
        at_m : float (3,), metres
            Of the model's origin: the middle of its bottom.
        yaw_rad : float
            Turn about the vertical; at 0 its front faces +z.
        host : int, optional
            Number of the thing in ``placed`` that it may touch from above.

        Returns
        -------
        Placed or None
            None where something is in the way.
        """
        cos, sin = abs(math.cos(yaw_rad)), abs(math.sin(yaw_rad))
        width, height, depth = model.size_m
        half = np.array([cos * width + sin * depth, 0, sin * width + cos * depth]) / 2
        low_m, high_m = at_m - half, at_m + half + [0, height, 0]
        if not self.is_free(low_m, high_m, host):
            return None
        new = Placed(model, at_m, low_m, high_m, yaw_rad, host)
        self.placed.append(new)
        return new

    def is_free(self, low_m: np.ndarray, high_m: np.ndarray, host: int | None = None) -> bool:
        """Whether a box lies in the room, clear of people, of the camera and of what else is there."""
        if (low_m < self.low_m - 1e-6).any() or (high_m > self.high_m + 1e-6).any():
            return False
        if np.linalg.norm(np.maximum(np.maximum(low_m - self.camera_m, self.camera_m - high_m), 0)) < CAMERA_GAP_M:
            return False
        others = [(each.low_m, each.high_m) for k, each in enumerate(self.placed) if k != host] + self.taken_m
        if others:
            lows, highs = (np.array(corners) for corners in zip(*others, strict=True))
            if ((low_m < highs + GAP_M) & (high_m > lows - GAP_M)).all(axis=1).any():
                return False
        x, y, z = self.body_m.T
        low, high = low_m - BODY_GAP_M, high_m + BODY_GAP_M
        inside = (x > low[0]) & (x < high[0]) & (z > low[2]) & (z < high[2])
        return not (inside & (y > low[1]) & (y < high[1])).any()
