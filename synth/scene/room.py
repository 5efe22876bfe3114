"""Rooms: a floor, walls, and furniture of boxes, round a camera and the people before it.

World axes as in `scenes`: y up, the floor at y = 0, the camera above the origin looking along -z.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.geometry.mesh import ROOM, Mesh, box

CAMERA_CLEAR_M = 1.0
"""Nothing stands so near to the camera that it hides all else."""
THICK_M = 0.1
"""Walls and floor are slabs, so that rounding opens no gap at a corner."""
CLEAR_M = 0.3
"""Furniture keeps at least this far from where people stand."""


def build_room(
    people_xz_m: Sequence[np.ndarray], rng: np.random.Generator, clear_m: Sequence[float] | None = None
) -> Mesh:
    """Draw a room for some people.

    Parameters
    ----------
    people_xz_m : where each stands on the floor, (2,), world axes
    rng : numpy.random.Generator
    clear_m : how far from each all else keeps; None = CLEAR_M

    Returns
    -------
    Mesh, world axes, labelled ROOM
    """
    places = np.array(people_xz_m, float).reshape(-1, 2)
    clear = np.full(len(places), CLEAR_M) if clear_m is None else np.asarray(clear_m, float)
    wider = (clear - CLEAR_M)[:, None]
    low, high = (places - wider).min(axis=0), (places + wider).max(axis=0)
    back = low[1] - rng.uniform(0.3, 3.0)
    left, right = low[0] - rng.uniform(0.6, 3.0), high[0] + rng.uniform(0.6, 3.0)
    front, ceiling = 1.0, rng.uniform(2.3, 3.2)
    pieces = [box((left, -THICK_M, back), (right, 0, front), ROOM)]
    pieces.append(box((left, 0, back - THICK_M), (right, ceiling, back), ROOM))
    if rng.random() < 0.8:
        pieces.append(box((left - THICK_M, 0, back), (left, ceiling, front), ROOM))
    if rng.random() < 0.8:
        pieces.append(box((right, 0, back), (right + THICK_M, ceiling, front), ROOM))
    if rng.random() < 0.5:
        pieces.append(box((left, ceiling, back), (right, ceiling + THICK_M, front), ROOM))
    for _ in range(rng.integers(0, 6)):
        for _ in range(5):  # a few tries to find a place where nobody stands
            at = np.array([rng.uniform(left, right), rng.uniform(back, -CAMERA_CLEAR_M)])
            boxes = furniture(at, rng)
            if (_gaps_m(boxes, places) >= clear).all():
                pieces += boxes
                break
    return Mesh.join(pieces)


def _gaps_m(boxes: Sequence[Mesh], places: np.ndarray) -> np.ndarray:
    """Metres along the floor between the boxes, taken together, and each of some places (P, 2): (P,)."""
    footprint = np.concatenate([b.vertices_m for b in boxes])[:, [0, 2]]
    outside = np.maximum(np.maximum(footprint.min(axis=0) - places, places - footprint.max(axis=0)), 0)
    return np.linalg.norm(outside, axis=1)


def furniture(at_xz_m: np.ndarray, rng: np.random.Generator) -> list[Mesh]:
    """A table, chair, cupboard or lamp standing somewhere on the floor."""
    x, z = at_xz_m
    kind = rng.choice(["table", "chair", "cupboard", "lamp"])
    if kind == "cupboard":
        w, h, d = rng.uniform([0.3, 0.6, 0.3], [1.2, 2.2, 0.6])
        return [box((x - w / 2, 0, z - d / 2), (x + w / 2, h, z + d / 2), ROOM)]
    if kind == "lamp":
        h = rng.uniform(1.2, 1.9)
        return [
            box((x - 0.02, 0, z - 0.02), (x + 0.02, h, z + 0.02), ROOM),
            box((x - 0.18, h - 0.25, z - 0.18), (x + 0.18, h, z + 0.18), ROOM),
        ]
    w, d = rng.uniform([0.6, 0.5], [1.6, 0.9]) if kind == "table" else rng.uniform([0.4, 0.4], [0.5, 0.5])
    h = rng.uniform(0.68, 0.78) if kind == "table" else rng.uniform(0.4, 0.5)
    legs = [
        box((x + sx * (w / 2 - 0.03) - 0.02, 0, z + sz * (d / 2 - 0.03) - 0.02),
            (x + sx * (w / 2 - 0.03) + 0.02, h, z + sz * (d / 2 - 0.03) + 0.02), ROOM)
        for sx in (-1, 1)
        for sz in (-1, 1)
    ]  # fmt: skip
    top = box((x - w / 2, h, z - d / 2), (x + w / 2, h + 0.04, z + d / 2), ROOM)
    if kind == "table":
        return [*legs, top]
    back = box((x - w / 2, h, z - d / 2), (x + w / 2, h + 0.45, z - d / 2 + 0.04), ROOM)
    return [*legs, top, back]
