"""What stands in which kind of room, and how often."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RoomKind:
    """Kinds of furniture and their weights."""

    along_walls: Mapping[str, float]  #: with their back to a wall
    in_the_room: Mapping[str, float]  #: anywhere on the floor
    on_walls: Mapping[str, float]  #: hung at a height


_ON_WALLS = {"window": 3.0, "door": 2.0, "wall thing": 2.0, "curtain": 1.5, "screen": 0.7}
_CLUTTER = {"box": 1.5, "bag": 1.5, "cable": 0.7, "thing": 0.7, "plant": 0.6, "toy": 0.5, "vase": 0.5}

ROOM_KINDS: Mapping[str, RoomKind] = {
    "living room": RoomKind(
        {"sofa": 3, "shelf": 3, "cabinet": 2, "armchair": 1.5, "music": 0.7, "screen": 0.8, "lamp": 1, "plant": 1.5},
        {"table": 2, "armchair": 2, "chair": 2, "stool": 1, "lamp": 1.5, "sofa": 0.7, **_CLUTTER},
        _ON_WALLS,
    ),
    "bedroom": RoomKind(
        {"bed": 3, "cabinet": 3, "bedside table": 2, "shelf": 1.5, "desk": 1, "lamp": 0.7},
        {"chair": 1.5, "stool": 0.7, "lamp": 0.7, "bed": 0.5, "bedding": 0.8, **_CLUTTER},
        {**_ON_WALLS, "clothes": 1.0},
    ),
    "office": RoomKind(
        {"desk": 3, "shelf": 3, "cabinet": 2, "box": 1, "plant": 1},
        {"desk": 2, "table": 1, "chair": 4, "armchair": 0.7, "lamp": 0.5, **_CLUTTER},
        {**_ON_WALLS, "clothes": 0.7},
    ),
    "kitchen": RoomKind(
        {"kitchen": 6, "shelf": 1, "cabinet": 1},
        {"table": 2, "chair": 3, "stool": 2, "box": 1, "bag": 1, "thing": 0.5},
        {"wall cabinet": 4, "window": 2, "door": 1.5, "wall thing": 1},
    ),
    "bathroom": RoomKind(
        {"bathroom": 5, "cabinet": 1, "shelf": 0.7},
        {"stool": 1, "box": 1, "bedding": 0.5},
        {"wall thing": 3, "door": 1.5, "window": 1, "clothes": 0.7},
    ),
    "corridor": RoomKind(
        {"cabinet": 2, "shelf": 1.5, "bench": 1.5, "chair": 1, "plant": 1, "box": 1},
        {"box": 1, "bag": 1, "plant": 0.7, "stool": 0.5},
        {"door": 4, "clothes": 2, "wall thing": 2, "window": 1},
    ),
    "hall": RoomKind(
        {"bench": 2, "chair": 2, "plant": 2, "sport": 1, "screen": 0.5, "cabinet": 1},
        {"chair": 2, "plant": 1.5, "table": 1, "sport": 1, "box": 1, "bag": 1, "wheelchair": 1, "walking frame": 0.7},
        {"door": 3, "window": 3, "wall thing": 2, "screen": 1, "clothes": 0.5},
    ),
}
"""Kind of room -> what it holds."""

ON_FURNITURE: Mapping[str, float] = {"thing": 4, "vase": 2, "lamp": 1, "plant": 1, "screen": 1, "toy": 0.7, "box": 0.5}
"""What stands on tables, desks and cabinets; only what is small."""
HOSTS = ("table", "desk", "cabinet", "shelf", "bedside table", "kitchen", "music", "box", "stool", "bench")
"""Kinds that things stand on."""
SOFT_HOSTS = ("bed", "sofa", "armchair")
"""Kinds that bedding lies on."""
