"""Height of a mesh above places on the floor."""

from __future__ import annotations

import numpy as np

from posepipe.compilation import njit

ON_EDGE = 1e-9
"""Places that lie outside of a triangle by this share of it count as inside, so that edges leave no gap."""
MIN_AREA_M2 = 1e-12
"""Double area on the floor below which a triangle stands upright and has no height of its own."""


@njit(cache=True)
def _fill_heights(vertices_m, triangles, places_m, out):
    """Raise ``out``, float64 (P,), to the highest triangle above each place.

    Parameters
    ----------
    vertices_m : float64 (V, 3), metres
    triangles : int32 (T, 3)
    places_m : float64 (P, 2), metres, along x and z
    out : float64 (P,), metres, written in place

    References
    ----------
    Naive twin: tests/reference/synth/geometry/surface_heights.py
    """
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ax, ay, az = vertices_m[i, 0], vertices_m[i, 1], vertices_m[i, 2]
        bx, by, bz = vertices_m[j, 0], vertices_m[j, 1], vertices_m[j, 2]
        cx, cy, cz = vertices_m[k, 0], vertices_m[k, 1], vertices_m[k, 2]
        area = (bx - ax) * (cz - az) - (bz - az) * (cx - ax)
        if abs(area) < MIN_AREA_M2:
            continue
        left, right = min(ax, bx, cx) - ON_EDGE, max(ax, bx, cx) + ON_EDGE
        near, far = min(az, bz, cz) - ON_EDGE, max(az, bz, cz) + ON_EDGE
        for n in range(places_m.shape[0]):
            x, z = places_m[n, 0], places_m[n, 1]
            if x < left or x > right or z < near or z > far:
                continue
            of_a = ((bx - x) * (cz - z) - (bz - z) * (cx - x)) / area
            of_b = ((cx - x) * (az - z) - (cz - z) * (ax - x)) / area
            of_c = 1.0 - of_a - of_b
            if of_a >= -ON_EDGE and of_b >= -ON_EDGE and of_c >= -ON_EDGE:
                out[n] = max(out[n], of_a * ay + of_b * by + of_c * cy)


def surface_heights_m(vertices_m: np.ndarray, triangles: np.ndarray, places_m: np.ndarray) -> np.ndarray:
    """Return the height of a mesh's highest point above some places, -inf where there is none.

    Parameters
    ----------
    vertices_m : float (V, 3), metres
    triangles : int (T, 3)
    places_m : float (P, 2), metres
        Along x and z.

    Returns
    -------
    float64 (P,), metres
    """
    out = np.full(len(places_m), -np.inf)
    vertices = np.ascontiguousarray(vertices_m, np.float64)
    places = np.ascontiguousarray(places_m, np.float64)
    _fill_heights(vertices, np.ascontiguousarray(triangles, np.int32), places, out)
    return out
