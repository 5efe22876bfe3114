"""From where a scene is looked at."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

FOV_DEG = 40.0
"""Vertical; a long lens keeps bodies in proportion."""
MARGIN = 1.25
"""Round what is looked at."""
LEAST_REACH_M = 0.9
"""Half the height of what is looked at, at least: a person's."""
DIRECTIONS = {
    "front": (0.0, -1.0, 0.0),
    "side": (1.0, 0.0, 0.0),
    "top": (0.0, -0.001, 1.0),  # not straight down: up in the picture is ahead
    "corner": (0.55, -1.0, 0.3),
}
"""Towards where we stand: the picture's right, ahead, up. The depth camera is in front."""
AT_FIRST = "corner"


@dataclass(frozen=True, slots=True)
class Viewpoint:
    """A place and what is looked at from there, world, metres."""

    position_m: tuple[float, float, float]
    look_at_m: tuple[float, float, float]


@dataclass(frozen=True, slots=True)
class Subject:
    """What there is to look at."""

    centre_m: tuple[float, float, float] = (0.0, 2.5, 0.0)
    reach_m: float = 1.3
    ahead: tuple[float, float] = (0.0, 1.0)  #: where the depth camera looks along the floor, unit length

    @classmethod
    def of(cls, places_m: np.ndarray, ahead: tuple[float, float] = (0.0, 1.0)) -> Subject | None:
        """Of joints, or points, float (N, 3), world; None of none."""
        if not len(places_m):
            return None
        low_m, high_m = np.percentile(places_m, [2, 98], axis=0)
        x, y, z = ((low_m + high_m) / 2).tolist()
        return cls((x, y, z), max(float((high_m - low_m).max()) / 2, LEAST_REACH_M), ahead)

    def seen_from(self, name: str) -> Viewpoint:
        """The viewpoint of that name in `DIRECTIONS`."""
        (x, y), (right, forth, up) = self.ahead, DIRECTIONS[name]
        direction = np.array([right * y + forth * x, forth * y - right * x, up])
        away_m = MARGIN * self.reach_m / math.tan(math.radians(FOV_DEG) / 2)
        x, y, z = (np.array(self.centre_m) + away_m * direction / np.linalg.norm(direction)).tolist()
        return Viewpoint((x, y, z), self.centre_m)
