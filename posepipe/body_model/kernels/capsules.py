"""Kernels: tapered capsules, the union of the spheres between two ends."""

from __future__ import annotations

import math

from posepipe.compilation import njit

MAX_SLOPE = 0.95
"""Bound of the change of radius along a capsule; beyond 1 the larger end would hold the other."""


@njit(cache=True)
def nearest_on_capsule(point_m, ends_m, radii_m):
    """Share of the axis at which the sphere nearest to a point lies, and the signed distance from it.

    The distance is the smallest from any sphere of the capsule. At that sphere it does not change with the share, so
    that its derivative is that of the distance from a fixed sphere.

    Parameters
    ----------
    point_m : float64 (3,), metres
    ends_m : float64 (2, 3), metres
    radii_m : float64 (2,), metres

    Returns
    -------
    share, 0 at the first end and 1 at the second; distance, metres, negative inside

    References
    ----------
    Naive twin: tests/reference/body_model/capsules.py
    """
    axis2 = along = from2 = 0.0
    for a in range(3):
        step, from_start = ends_m[1, a] - ends_m[0, a], point_m[a] - ends_m[0, a]
        axis2 += step * step
        along += step * from_start
        from2 += from_start * from_start
    length = math.sqrt(axis2)
    if length < 1e-9:
        larger = 1.0 if radii_m[1] > radii_m[0] else 0.0
        return larger, math.sqrt(from2) - max(radii_m[0], radii_m[1])
    along /= length
    aside = math.sqrt(max(from2 - along * along, 0.0))
    slope = min(max((radii_m[0] - radii_m[1]) / length, -MAX_SLOPE), MAX_SLOPE)
    at = min(max(along - slope * aside / math.sqrt(1 - slope * slope), 0.0), length)
    share = at / length
    return share, math.sqrt((along - at) ** 2 + aside * aside) - (radii_m[0] + share * (radii_m[1] - radii_m[0]))


@njit(cache=True)
def nearest_shares(one_m, other_m):
    """Shares of two segments, float64 (2, 3), metres, at their nearest points.

    References
    ----------
    Ericson, Real-Time Collision Detection, 2005, section 5.1.9. Naive twin: tests/reference/body_model/capsules.py
    """
    uu = vv = uv = ur = vr = 0.0
    for k in range(3):
        u, v, r = one_m[1, k] - one_m[0, k], other_m[1, k] - other_m[0, k], one_m[0, k] - other_m[0, k]
        uu += u * u
        vv += v * v
        uv += u * v
        ur += u * r
        vr += v * r
    slant = uu * vv - uv * uv
    s = min(max((uv * vr - vv * ur) / slant, 0.0), 1.0) if slant > 1e-12 else 0.0  # parallel: any s is right
    t = (uv * s + vr) / vv if vv > 1e-12 else 0.0
    if t < 0 or t > 1 or vv <= 1e-12:
        t = min(max(t, 0.0), 1.0)
        s = min(max((uv * t - ur) / uu if uu > 1e-12 else 0.0, 0.0), 1.0)
    return s, t


@njit(cache=True)
def sphere_at(ends_m, radii_m, share, centre_m):
    """Write the centre of a sphere of a capsule to ``centre_m``, float64 (3,), and return its radius, metres."""
    for a in range(3):
        centre_m[a] = ends_m[0, a] + share * (ends_m[1, a] - ends_m[0, a])
    return radii_m[0] + share * (radii_m[1] - radii_m[0])
