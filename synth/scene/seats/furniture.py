"""Furniture made of boxes: seats and beds under people who sit or lie, and what else stands in a room."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from synth.geometry.mesh import BACKGROUND, Mesh, box
from synth.motion.poses.pose_kinds import KINDS
from synth.scene.seats.body_axes import BodyAxes, joint_of

MIN_SEAT_M = 0.15
"""Minimum height of a seat. A person who sits lower sits on the floor."""
SEAT_RADIUS_M = 0.15
"""Radius around the pelvis within which a body rests on its seat."""
BED_SHARE = 0.5
"""Of the people who lie; the others lie on the floor."""
BED_LENGTH_M = 1.9
LEG_M = 0.04
HIPS_M = 0.2
"""Half the width that hips take up on a seat."""
ARM_CLEARANCE_M = 0.02
"""Distance between a seat and an arm that hangs beside it."""

_Corners = tuple[Sequence[float], Sequence[float]]  # of a box: min and max along each axis


def draw_standing_furniture(at_xz_m: np.ndarray, rng: np.random.Generator) -> list[Mesh]:
    """Draw a table, chair, cupboard or lamp that stands at a place on the floor, float (2,), world axes."""
    x, z = at_xz_m
    kind = rng.choice(["table", "chair", "cupboard", "lamp"])
    if kind == "cupboard":
        w, h, d = rng.uniform([0.3, 0.6, 0.3], [1.2, 2.2, 0.6])
        return [box((x - w / 2, 0, z - d / 2), (x + w / 2, h, z + d / 2), BACKGROUND)]
    if kind == "lamp":
        h = rng.uniform(1.2, 1.9)
        return [
            box((x - 0.02, 0, z - 0.02), (x + 0.02, h, z + 0.02), BACKGROUND),
            box((x - 0.18, h - 0.25, z - 0.18), (x + 0.18, h, z + 0.18), BACKGROUND),
        ]
    w, d = rng.uniform([0.6, 0.5], [1.6, 0.9]) if kind == "table" else rng.uniform([0.4, 0.4], [0.5, 0.5])
    h = rng.uniform(0.68, 0.78) if kind == "table" else rng.uniform(0.4, 0.5)
    legs = [
        box((x + sx * (w / 2 - 0.03) - 0.02, 0, z + sz * (d / 2 - 0.03) - 0.02),
            (x + sx * (w / 2 - 0.03) + 0.02, h, z + sz * (d / 2 - 0.03) + 0.02), BACKGROUND)
        for sx in (-1, 1)
        for sz in (-1, 1)
    ]  # fmt: skip
    top = box((x - w / 2, h, z - d / 2), (x + w / 2, h + 0.04, z + d / 2), BACKGROUND)
    if kind == "table":
        return [*legs, top]
    back = box((x - w / 2, h, z - d / 2), (x + w / 2, h + 0.45, z - d / 2 + 0.04), BACKGROUND)
    return [*legs, top, back]


def draw_resting_furniture(skin_m: np.ndarray, joints_m: np.ndarray, rng: np.random.Generator) -> Mesh | None:
    """Draw a seat or a bed for a person in a pose.

    Parameters
    ----------
    skin_m : float (V, 3), metres
        Skin and close-fitting clothes, body axes, y up. A skirt hangs over the seat.
    joints_m : float (20, 3), metres
    rng : numpy.random.Generator

    Returns
    -------
    Mesh or None
        In the same axes, labelled BACKGROUND; None for a person who stands, or rests on the floor.
    """
    if KINDS["lying"](joints_m[None])[0]:
        return _bed(skin_m, joints_m, rng) if rng.random() < BED_SHARE else None
    return _seat(skin_m, joints_m, rng) if KINDS["seated"](joints_m[None])[0] else None


def _boxes(axes: BodyAxes, corners_m: Sequence[_Corners]) -> Mesh:
    """Return boxes between corners in some axes, in the body's axes."""
    mesh = Mesh.join([box(min_m, max_m, BACKGROUND) for min_m, max_m in corners_m])
    return Mesh(axes.out_of(mesh.vertices_m), mesh.triangles, mesh.labels)


def _seat(skin_m: np.ndarray, joints_m: np.ndarray, rng: np.random.Generator) -> Mesh | None:
    """Draw a stool, chair or sofa at the height of the pelvis."""
    knees_m = np.stack([joint_of(joints_m, f"{side}_knee") for side in ("left", "right")])
    ankles_m = np.stack([joint_of(joints_m, f"{side}_ankle") for side in ("left", "right")])
    axes = BodyAxes(joint_of(joints_m, "pelvis"), knees_m.mean(axis=0) - joint_of(joints_m, "pelvis"))
    body = axes.into(skin_m)
    floor = body[:, 1].min()
    top = body[np.hypot(body[:, 0], body[:, 2]) < SEAT_RADIUS_M, 1].min(initial=np.inf)
    if not MIN_SEAT_M < top - floor < np.inf:
        return None
    trunk = body[(np.abs(body[:, 0]) < 0.2) & (body[:, 1] > top) & (body[:, 1] < top + 0.6)]
    back = trunk[:, 2].min()
    front = max(axes.into(knees_m)[:, 2].min() - rng.uniform(0.05, 0.2), 0.1)
    is_sofa = rng.random() < 0.3
    half = rng.uniform(0.5, 1.0) if is_sofa else rng.uniform(0.2, 0.27)
    left = -half + (rng.uniform(-0.5, 0.5) * (half - 0.25) if is_sofa else 0.0)
    right = left + 2 * half
    is_solid = is_sofa and axes.into(ankles_m)[:, 2].min() > front
    thickness = top - floor if is_solid else rng.uniform(0.03, 0.12)
    left, right = _between_arms(body, (left, right), (top - thickness, top), (back, front))
    boxes: list[_Corners] = [((left, top - thickness, back), (right, top + 0.01, front))]
    if not is_solid:
        boxes += _legs((left, right), (back, front), floor, top - thickness)
    if is_sofa or rng.random() < 0.7:
        deep = 0.2 if is_sofa else rng.uniform(0.03, 0.08)
        low = floor if is_solid else top
        boxes.append(((left, low, back - deep), (right, top + rng.uniform(0.25, 0.65), back)))
    return _boxes(axes, boxes)


def _between_arms(
    body: np.ndarray, x_m: tuple[float, float], y_m: tuple[float, float], z_m: tuple[float, float]
) -> tuple[float, float]:
    """Left and right end of a seat, narrowed to end before arms that hang beside the hips."""
    within = (body[:, 1] > y_m[0]) & (body[:, 1] < y_m[1]) & (body[:, 2] > z_m[0]) & (body[:, 2] < z_m[1])
    x = body[within, 0]
    left = x[x < -HIPS_M].max(initial=-np.inf) + ARM_CLEARANCE_M
    right = x[x > HIPS_M].min(initial=np.inf) - ARM_CLEARANCE_M
    return max(x_m[0], left), min(x_m[1], right)


def _bed(skin_m: np.ndarray, joints_m: np.ndarray, rng: np.random.Generator) -> Mesh:
    """Draw a bed, or a wide bench, along the trunk."""
    axes = BodyAxes(joint_of(joints_m, "pelvis"), joint_of(joints_m, "neck") - joint_of(joints_m, "pelvis"))
    body = axes.into(skin_m)
    low, high = body.min(axis=0), body.max(axis=0)
    top, height = low[1] + rng.uniform(0.0, 0.04), rng.uniform(0.25, 0.7)
    longer = max(BED_LENGTH_M - (high[2] - low[2]), 0.1) * rng.dirichlet([2.0, 2.0])
    width = rng.uniform(0.7, 1.8)
    left = rng.uniform(0.3, 0.7) * -width
    thickness = rng.uniform(0.12, 0.25)
    ends = low[2] - longer[0], high[2] + longer[1]
    if rng.random() < 0.5:
        return _boxes(axes, [((left, top - height, ends[0]), (left + width, top, ends[1]))])
    legs = _legs((left, left + width), ends, top - height, top - thickness)
    return _boxes(axes, [((left, top - thickness, ends[0]), (left + width, top, ends[1])), *legs])


def _legs(x_m: tuple[float, float], z_m: tuple[float, float], floor_m: float, top_m: float) -> list[_Corners]:
    """Four legs, at the corners of a rectangle."""
    return [
        ((x, floor_m, z), (x + LEG_M, top_m, z + LEG_M))
        for x in (x_m[0], x_m[1] - LEG_M)
        for z in (z_m[0], z_m[1] - LEG_M)
    ]
