"""What people rest on in rooms: seats and beds under bodies that sit or lie, in the body's own axes, y up."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from posepipe.body import HUMAN
from synth.geometry.mesh import ROOM, Mesh, box
from synth.motion.poses.pose_kinds import KINDS

LOWEST_SEAT_M = 0.15
"""Who sits lower sits on the floor."""
SEAT_RADIUS_M = 0.15
"""So far round the pelvis a body rests on its seat."""
BED_SHARE = 0.5
"""Of those who lie; the others lie on the floor."""
BED_LENGTH_M = 1.9
LEG_M = 0.04
HIPS_M, ARM_CLEAR_M = 0.2, 0.02
"""Half the room that hips take up on a seat, and how near to an arm that hangs beside them it ends."""


def support(vertices_m: np.ndarray, joints_m: np.ndarray, rng: np.random.Generator) -> Mesh | None:
    """Draw a seat or a bed for a body in a pose.

    Parameters
    ----------
    vertices_m : float (V, 3), its skin and what clings to it; a skirt hangs over the seat
    joints_m : float (20, 3)
    rng : numpy.random.Generator

    Returns
    -------
    Mesh, labelled ROOM; None for who stands, or rests on the floor
    """
    if KINDS["lying"](joints_m[None])[0]:
        return _bed(vertices_m, joints_m, rng) if rng.random() < BED_SHARE else None
    return _seat(vertices_m, joints_m, rng) if KINDS["seated"](joints_m[None])[0] else None


class _Axes:
    """Level axes at a body's pelvis: x aside, y up, z along a direction."""

    def __init__(self, pelvis_m: np.ndarray, along_m: np.ndarray) -> None:
        along = np.array([along_m[0], 0.0, along_m[2]])
        along /= max(float(np.linalg.norm(along)), 1e-9)
        self._origin_m = pelvis_m * [1.0, 0, 1.0]  # heights stay as they are
        self._rows = np.stack([np.cross([0, 1.0, 0], along), [0, 1.0, 0], along])

    def into(self, points_m: np.ndarray) -> np.ndarray:
        return (points_m - self._origin_m) @ self._rows.T

    def boxes(self, corners_m: Sequence[tuple[Sequence[float], Sequence[float]]]) -> Mesh:
        """Boxes between corners in these axes, in the body's."""
        mesh = Mesh.join([box(least, most, ROOM) for least, most in corners_m])
        return Mesh(mesh.vertices_m @ self._rows + self._origin_m, mesh.triangles, mesh.labels)


def _joint(joints_m: np.ndarray, name: str) -> np.ndarray:
    return joints_m[HUMAN.joint_index(name)]


def _seat(vertices_m: np.ndarray, joints_m: np.ndarray, rng: np.random.Generator) -> Mesh | None:
    """A stool, chair or sofa of the height that the legs allow."""
    knees_m = np.stack([_joint(joints_m, f"{side}_knee") for side in ("left", "right")])
    ankles_m = np.stack([_joint(joints_m, f"{side}_ankle") for side in ("left", "right")])
    axes = _Axes(_joint(joints_m, "pelvis"), knees_m.mean(axis=0) - _joint(joints_m, "pelvis"))
    body = axes.into(vertices_m)
    floor = body[:, 1].min()
    top = body[np.hypot(body[:, 0], body[:, 2]) < SEAT_RADIUS_M, 1].min(initial=np.inf)
    if not LOWEST_SEAT_M < top - floor < np.inf:
        return None
    trunk = body[(np.abs(body[:, 0]) < 0.2) & (body[:, 1] > top) & (body[:, 1] < top + 0.6)]
    back = trunk[:, 2].min()
    front = max(axes.into(knees_m)[:, 2].min() - rng.uniform(0.05, 0.2), 0.1)
    is_sofa = rng.random() < 0.3
    half = rng.uniform(0.5, 1.0) if is_sofa else rng.uniform(0.2, 0.27)
    left = -half + (rng.uniform(-0.5, 0.5) * (half - 0.25) if is_sofa else 0.0)
    right = left + 2 * half
    is_solid = is_sofa and axes.into(ankles_m)[:, 2].min() > front
    thick = top - floor if is_solid else rng.uniform(0.03, 0.12)
    left, right = _between_arms(body, (left, right), (top - thick, top), (back, front))
    pieces = [((left, top - thick, back), (right, top + 0.01, front))]
    if not is_solid:
        pieces += _legs((left, right), (back, front), floor, top - thick)
    if is_sofa or rng.random() < 0.7:
        deep = 0.2 if is_sofa else rng.uniform(0.03, 0.08)
        low = floor if is_solid else top
        pieces.append(((left, low, back - deep), (right, top + rng.uniform(0.25, 0.65), back)))
    return axes.boxes(pieces)


def _between_arms(body, x_m, y_m, z_m) -> tuple[float, float]:
    """A seat's left and right end, drawn in before what hangs beside the hips."""
    within = (body[:, 1] > y_m[0]) & (body[:, 1] < y_m[1]) & (body[:, 2] > z_m[0]) & (body[:, 2] < z_m[1])
    aside = body[within, 0]
    left = aside[aside < -HIPS_M].max(initial=-np.inf) + ARM_CLEAR_M
    right = aside[aside > HIPS_M].min(initial=np.inf) - ARM_CLEAR_M
    return max(x_m[0], left), min(x_m[1], right)


def _bed(vertices_m: np.ndarray, joints_m: np.ndarray, rng: np.random.Generator) -> Mesh:
    """A bed, or a bench as wide, along the trunk."""
    axes = _Axes(_joint(joints_m, "pelvis"), _joint(joints_m, "neck") - _joint(joints_m, "pelvis"))
    body = axes.into(vertices_m)
    low, high = body.min(axis=0), body.max(axis=0)
    top, tall = low[1] + rng.uniform(0.0, 0.04), rng.uniform(0.25, 0.7)
    longer = max(BED_LENGTH_M - (high[2] - low[2]), 0.1) * rng.dirichlet([2.0, 2.0])
    wide = rng.uniform(0.7, 1.8)
    left = rng.uniform(0.3, 0.7) * -wide
    thick = rng.uniform(0.12, 0.25)
    ends = low[2] - longer[0], high[2] + longer[1]
    if rng.random() < 0.5:
        return axes.boxes([((left, top - tall, ends[0]), (left + wide, top, ends[1]))])
    legs = _legs((left, left + wide), ends, top - tall, top - thick)
    return axes.boxes([((left, top - thick, ends[0]), (left + wide, top, ends[1])), *legs])


def _legs(x_m: tuple[float, float], z_m: tuple[float, float], floor_m: float, top_m: float):
    """Four of them, at the corners of an oblong."""
    return [
        ((x, floor_m, z), (x + LEG_M, top_m, z + LEG_M))
        for x in (x_m[0], x_m[1] - LEG_M)
        for z in (z_m[0], z_m[1] - LEG_M)
    ]
