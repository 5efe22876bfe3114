"""Kernels: tapered capsules, the union of the spheres between two ends."""

from __future__ import annotations

import math

from posepipe.compilation import compiled_for, helper, njit

MAX_SLOPE = 0.95
"""Bound of the change of radius along a capsule; beyond 1 the larger end would hold the other."""


@njit(cache=True, error_model="numpy")
def set_axis(ends_m, radii_m, c, axes):
    """Fill in what the distances from a capsule need: its unit axis, its length and its slope.

    Parameters
    ----------
    ends_m : float64 (C, 2, 3), metres
    radii_m : float64 (C, 2), metres
    c : int, the capsule
    axes : float64 (C, 5), written in place: x, y, z of the axis; length, metres; tangent of the cone's half angle,
        positive where the capsule narrows
    """
    x, y, z = ends_m[c, 1, 0] - ends_m[c, 0, 0], ends_m[c, 1, 1] - ends_m[c, 0, 1], ends_m[c, 1, 2] - ends_m[c, 0, 2]
    length = math.sqrt(x * x + y * y + z * z)
    if length < 1e-9:  # a sphere, the larger one
        axes[c, 0] = axes[c, 1] = axes[c, 2] = axes[c, 3] = 0.0
        axes[c, 4] = radii_m[c, 0] - radii_m[c, 1]
        return
    slope = min(max((radii_m[c, 0] - radii_m[c, 1]) / length, -MAX_SLOPE), MAX_SLOPE)
    axes[c, 0], axes[c, 1], axes[c, 2], axes[c, 3] = x / length, y / length, z / length, length
    axes[c, 4] = slope / math.sqrt(1 - slope * slope)


@njit(cache=True, error_model="numpy")
def nearest_on_capsule(points_m, n, ends_m, radii_m, axes, c):
    """Share of the axis at which the sphere nearest to a point lies, and the signed distance from it.

    The distance is the smallest from any sphere of the capsule. At that sphere it does not change with the share, so
    that its derivative is that of the distance from a fixed sphere.

    Parameters
    ----------
    points_m : float64 (N, 3), metres
    n : int, the point
    ends_m : float64 (C, 2, 3), metres
    radii_m : float64 (C, 2), metres
    axes : float64 (C, 5), of `set_axis`
    c : int, the capsule

    Returns
    -------
    share, 0 at the first end and 1 at the second; distance, metres, negative inside

    References
    ----------
    Naive twin: tests/reference/body_model/capsules.py
    """
    x, y, z = points_m[n, 0] - ends_m[c, 0, 0], points_m[n, 1] - ends_m[c, 0, 1], points_m[n, 2] - ends_m[c, 0, 2]
    length, tangent = axes[c, 3], axes[c, 4]
    along = x * axes[c, 0] + y * axes[c, 1] + z * axes[c, 2]
    aside2 = max(x * x + y * y + z * z - along * along, 0.0)
    if length > 0:
        at = min(max(along - tangent * math.sqrt(aside2), 0.0), length)
        share = at / length
    else:
        at, share = 0.0, 1.0 if tangent < 0 else 0.0
    radius = radii_m[c, 0] + share * (radii_m[c, 1] - radii_m[c, 0])
    return share, math.sqrt((along - at) * (along - at) + aside2) - radius


@compiled_for("f8[:,:,::1]", "i8", "i8")
@njit(cache=True, error_model="numpy")
def nearest_shares(ends_m, i, j):
    """Shares of two segments at their nearest points.

    Parameters
    ----------
    ends_m : float64 (C, 2, 3), metres
    i, j : int, the segments

    References
    ----------
    Ericson, Real-Time Collision Detection, 2005, section 5.1.9. Naive twin: tests/reference/body_model/capsules.py
    """
    uu = vv = uv = ur = vr = 0.0
    for k in range(3):
        u, v = ends_m[i, 1, k] - ends_m[i, 0, k], ends_m[j, 1, k] - ends_m[j, 0, k]
        r = ends_m[i, 0, k] - ends_m[j, 0, k]
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


@helper(cache=True, error_model="numpy")
def sphere_at(ends_m, radii_m, c, share):
    """Centre x, y, z and radius of a sphere of a capsule, metres."""
    return (
        ends_m[c, 0, 0] + share * (ends_m[c, 1, 0] - ends_m[c, 0, 0]),
        ends_m[c, 0, 1] + share * (ends_m[c, 1, 1] - ends_m[c, 0, 1]),
        ends_m[c, 0, 2] + share * (ends_m[c, 1, 2] - ends_m[c, 0, 2]),
        radii_m[c, 0] + share * (radii_m[c, 1] - radii_m[c, 0]),
    )
