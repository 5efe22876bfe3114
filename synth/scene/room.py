"""Rooms: a floor, walls and a ceiling around a camera and the people in front of it, and where furniture stands.

World axes as in `synth.scene.placement`: y up, the floor at y = 0, the camera above the origin, looking along -z.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.geometry.mesh import BACKGROUND, Mesh, box
from synth.scene.seats.furniture import draw_standing_furniture

CAMERA_CLEARANCE_M = 1.0
"""Minimum distance of furniture from the camera, which it would hide everything from."""
OVERHEAD_M = 2.25
"""Minimum height of a camera that looks over all furniture, which may then stand anywhere in the room."""
CEILING_GAP_M = 0.1
"""Minimum distance of the ceiling above the camera."""
THICKNESS_M = 0.1
"""Of walls and floor. They are slabs, because rounding would open gaps at the corners of thin sheets."""
CLEARANCE_M = 0.3
"""Minimum distance of furniture from where people stand."""
MAX_PIECES = 5
PLACE_TRIES = 5
"""Places tried for each piece of furniture."""


def build_room(
    people_xz_m: Sequence[np.ndarray],
    rng: np.random.Generator,
    clearances_m: Sequence[float] | None = None,
    camera_height_m: float = 0.0,
) -> Mesh:
    """Draw a room for some people.

    Parameters
    ----------
    people_xz_m : sequence of float (2,), metres
        Where each person stands on the floor, world axes.
    rng : numpy.random.Generator
    clearances_m : sequence of float, metres, optional
        Distance from each person within which nothing else stands; None = CLEARANCE_M.
    camera_height_m : float, metres
        Of the camera above the floor. The ceiling is higher.

    Returns
    -------
    Mesh
        World axes, labelled BACKGROUND.
    """
    places = np.array(people_xz_m, float).reshape(-1, 2)
    clear = np.full(len(places), CLEARANCE_M) if clearances_m is None else np.asarray(clearances_m, float)
    wider = (clear - CLEARANCE_M)[:, None]
    low, high = (places - wider).min(axis=0), (places + wider).max(axis=0)
    back = low[1] - rng.uniform(0.3, 3.0)
    left, right = low[0] - rng.uniform(0.6, 3.0), high[0] + rng.uniform(0.6, 3.0)
    front, ceiling = 1.0, max(rng.uniform(2.3, 3.2), camera_height_m + CEILING_GAP_M)
    nearest, is_overhead = -CAMERA_CLEARANCE_M, camera_height_m >= OVERHEAD_M
    if is_overhead:  # it sees what is behind it, too
        front = nearest = max(high[1], 0) + rng.uniform(0.6, 3.0)
    meshes = [box((left, -THICKNESS_M, back), (right, 0, front), BACKGROUND)]
    meshes.append(box((left, 0, back - THICKNESS_M), (right, ceiling, back), BACKGROUND))
    if is_overhead:
        meshes.append(box((left, 0, front), (right, ceiling, front + THICKNESS_M), BACKGROUND))
    if rng.random() < 0.8:
        meshes.append(box((left - THICKNESS_M, 0, back), (left, ceiling, front), BACKGROUND))
    if rng.random() < 0.8:
        meshes.append(box((right, 0, back), (right + THICKNESS_M, ceiling, front), BACKGROUND))
    if rng.random() < 0.5:
        meshes.append(box((left, ceiling, back), (right, ceiling + THICKNESS_M, front), BACKGROUND))
    if back >= nearest:  # no space for furniture
        return Mesh.join(meshes)
    for _ in range(rng.integers(0, MAX_PIECES + 1)):
        for _ in range(PLACE_TRIES):
            at = np.array([rng.uniform(left, right), rng.uniform(back, nearest)])
            boxes = draw_standing_furniture(at, rng)
            if (_gaps_m(boxes, places) >= clear).all():
                meshes += boxes
                break
    return Mesh.join(meshes)


def _gaps_m(boxes: Sequence[Mesh], places: np.ndarray) -> np.ndarray:
    """Metres along the floor between the boxes, taken together, and each of some places (P, 2): (P,)."""
    footprint = np.concatenate([b.vertices_m for b in boxes])[:, [0, 2]]
    outside = np.maximum(np.maximum(footprint.min(axis=0) - places, places - footprint.max(axis=0)), 0)
    return np.linalg.norm(outside, axis=1)
