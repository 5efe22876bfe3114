"""Viewpoints of the scene: front, side, top and corner."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FOV_DEG = 40.0
"""Vertical field of view, degrees; a narrow one distorts bodies little."""
MARGIN = 1.25
"""Viewing distance relative to the one that fills the page."""
MIN_RADIUS_M = 0.9
"""Minimum radius of a view target, metres: half the height of a person."""
DIRECTIONS = {
    "front": (0.0, -1.0, 0.0),
    "side": (1.0, 0.0, 0.0),
    "top": (0.0, -0.001, 1.0),  # not exactly down, so that forward is up on the page
    "corner": (0.55, -1.0, 0.3),
}
"""Name -> direction from the target to the viewer: right, forward and up of the depth camera, which is in front."""
INITIAL_VIEW = "corner"


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """Position of the viewer and the point they look at, world axes, metres."""

    position_m: tuple[float, float, float]
    target_m: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class ViewTarget:
    """The region of the scene that fills the page."""

    centre_m: tuple[float, float, float] = (0.0, 2.5, 0.0)
    radius_m: float = 1.3
    forward: tuple[float, float] = (0.0, 1.0)  #: viewing direction of the depth camera along the floor, unit length

    @classmethod
    def of(cls, points_m: np.ndarray, forward: tuple[float, float] = (0.0, 1.0)) -> ViewTarget | None:
        """Make the target of joints or points, float (N, 3), world axes; None without points."""
        if not len(points_m):
            return None
        low_m, high_m = np.percentile(points_m, [2, 98], axis=0)
        x, y, z = ((low_m + high_m) / 2).tolist()
        return cls((x, y, z), max(float((high_m - low_m).max()) / 2, MIN_RADIUS_M), forward)

    def viewpoint(self, name: str) -> Viewpoint:
        """Return the viewpoint with a name of `DIRECTIONS`."""
        (x, y), (right, forth, up) = self.forward, DIRECTIONS[name]
        direction = np.array([right * y + forth * x, forth * y - right * x, up])
        distance_m = MARGIN * self.radius_m / math.tan(math.radians(FOV_DEG) / 2)
        x, y, z = (np.array(self.centre_m) + distance_m * direction / np.linalg.norm(direction)).tolist()
        return Viewpoint((x, y, z), self.centre_m)
