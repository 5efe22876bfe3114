"""Tables before people who bend: they lean over one, or reach for what lies on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from synth.geometry.mesh import BACKGROUND, Mesh, box
from synth.motion.poses.pose_kinds import bends_on_legs
from synth.scene.seats.body_axes import BodyAxes, hips_forward, joint_of
from synth.scene.seats.furnishings import Furnishings

KINDS_OF_TABLES = ("table", "desk")
HEIGHTS_M = (0.5, 1.0)
"""Heights of tables and counters."""
STRETCH = (0.8, 1.25)
"""A model may be scaled to the height by a factor in this range."""
TRIES = 4
GAP_M = (0.02, 0.15)
"""Between the legs and the table's edge."""
LEG_REACH_M = 0.09
"""How far flesh and clothes reach before the joints of a leg."""
CLEAR_M = 0.012
"""Distance of the top below arms and trunk."""
BOARD_M, LEG_M = 0.035, 0.05


def draw_table(
    skin_m: np.ndarray, joints_m: np.ndarray, furnishings: Furnishings | None, rng: np.random.Generator
) -> Mesh | None:
    """Draw a table before a person who bends, its top below their trunk and hands.

    Parameters
    ----------
    skin_m : float (V, 3), metres
        Skin and close-fitting clothes, body axes, y up.
    joints_m : float (20, 3), metres
    furnishings : Furnishings, optional
        Of models of tables; None = one of boxes, as where no model fits.
    rng : numpy.random.Generator

    Returns
    -------
    Mesh or None
        In the same axes; None for a person who does not bend, or whose hands are too low or too high.
    """
    if not bends_on_legs(joints_m[None])[0]:
        return None
    axes = BodyAxes(joint_of(joints_m, "pelvis"), hips_forward(joints_m))
    body = axes.into(skin_m)
    floor = float(body[:, 1].min())
    legs = [axes.into(joint_of(joints_m, f"{s}_{j}"))[2] for s in ("left", "right") for j in ("hip", "knee", "foot")]
    edge = max(map(float, legs)) + LEG_REACH_M + rng.uniform(*GAP_M)
    if furnishings is not None and (known := [kind for kind in KINDS_OF_TABLES if furnishings.has(kind)]):
        for _ in range(TRIES):
            model = furnishings.draw(str(rng.choice(known)), rng)
            at_m, height = _place(body, floor, edge, model.size_m, rng)
            if height is not None and STRETCH[0] < height / model.size_m[1] < STRETCH[1]:
                stretched = model.vertices_m * [1, height / model.size_m[1], 1] + at_m
                return replace(model.mesh(), vertices_m=axes.out_of(stretched))
    size_m = rng.uniform([0.8, 0, 0.5], [1.8, 0, 0.95])
    at_m, height = _place(body, floor, edge, size_m, rng)
    return None if height is None else _of_boxes(axes, size_m, height, at_m)


def _place(
    body_m: np.ndarray, floor_m: float, edge_m: float, size_m: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, float | None]:
    """Place of a table behind its edge, a little aside, and its height below the body; None where it cannot be."""
    aside = rng.uniform(-0.3, 0.3) * size_m[0]
    at_m = np.array([aside, floor_m, edge_m + size_m[2] / 2])
    within = (np.abs(body_m[:, 0] - aside) < size_m[0] / 2) & (np.abs(body_m[:, 2] - at_m[2]) < size_m[2] / 2)
    height = float(body_m[within, 1].min(initial=np.inf)) - floor_m - CLEAR_M
    return at_m, height if HEIGHTS_M[0] < height < HEIGHTS_M[1] else None


def _of_boxes(axes: BodyAxes, size_m: np.ndarray, height_m: float, at_m: np.ndarray) -> Mesh:
    """A board on four legs, in the body's axes."""
    half_w, half_d = size_m[0] / 2, size_m[2] / 2
    boxes = [box((-half_w, height_m - BOARD_M, -half_d), (half_w, height_m, half_d), BACKGROUND)]
    for x in (-half_w, half_w - LEG_M):
        for z in (-half_d, half_d - LEG_M):
            boxes.append(box((x, 0, z), (x + LEG_M, height_m - BOARD_M, z + LEG_M), BACKGROUND))
    mesh = Mesh.join(boxes)
    return Mesh(axes.out_of(mesh.vertices_m + at_m), mesh.triangles, mesh.labels)
