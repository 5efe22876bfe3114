"""Models of furniture that people use: seats under those who sit, beds under those who lie, and walking aids."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.geometry.mesh import Mesh
from synth.geometry.surface_heights import surface_heights_m
from synth.motion.poses.pose_kinds import KINDS
from synth.scene.seats.body_axes import BodyAxes, hips_forward, joint_of
from synth.scene.seats.furnishings import Furnishings

SEATS = {"chair": 5.0, "armchair": 2.0, "sofa": 3.0, "stool": 1.5, "wheelchair": 1.0, "bench": 0.5}
"""Kind of seat -> how often it is drawn."""
TRIES = 4
"""Models tried under one person; a seat of boxes takes their place where none fits."""
SEAT_HEIGHTS_M = (0.3, 0.8)
STRETCH = (0.8, 1.25)
"""A seat may be scaled to a person's height of sitting by a factor in this range."""
MAX_SUNK = 0.03
"""Share of the body above the seat that may lie in arms and back of a seat."""
SUNK_M = 0.05
"""Depth from which on a point of the body counts as sunk in."""
BED_STRETCH = 1.2


def draw_model_seat(
    skin_m: np.ndarray, joints_m: np.ndarray, furnishings: Furnishings, rng: np.random.Generator
) -> Mesh | None:
    """Draw a real seat or bed under a person who sits or lies.

    Parameters
    ----------
    skin_m : float (V, 3), metres
        Skin and close-fitting clothes, body axes, y up.
    joints_m : float (20, 3), metres
    furnishings : Furnishings
    rng : numpy.random.Generator

    Returns
    -------
    Mesh or None
        In the same axes; None for a person who does neither, or whom no model fits.
    """
    lies = KINDS["lying"](joints_m[None])[0]
    if not lies and not KINDS["seated"](joints_m[None])[0]:
        return None
    kinds = {"bed": 1.0} if lies else SEATS
    known = [kind for kind in kinds if furnishings.has(kind)]
    shares = np.array([kinds[kind] for kind in known])
    for _ in range(TRIES if known else 0):
        model = furnishings.draw(str(rng.choice(known, p=shares / shares.sum())), rng)
        fitted = _bed_under(model, skin_m, joints_m) if lies else _seat_under(model, skin_m, joints_m)
        if fitted is not None:
            return fitted
    return None


def _seat_under(model: FurnitureModel, skin_m: np.ndarray, joints_m: np.ndarray) -> Mesh | None:
    """Scale and shift a seat to a person's height of sitting, thighs and back; None where it does not fit."""
    pelvis = joint_of(joints_m, "pelvis")
    knees = np.stack([joint_of(joints_m, f"{side}_knee") for side in ("left", "right")])
    axes = BodyAxes(pelvis, knees.mean(axis=0) - pelvis)
    body = axes.into(skin_m)
    floor = float(body[:, 1].min())
    seat = float(body[np.hypot(body[:, 0], body[:, 2]) < 0.15, 1].min(initial=np.inf)) - floor
    height, back = _seat_geometry(model)
    if not SEAT_HEIGHTS_M[0] < height < SEAT_HEIGHTS_M[1] or not STRETCH[0] < seat / height < STRETCH[1]:
        return None
    trunk = body[(np.abs(body[:, 0]) < 0.2) & (body[:, 1] > floor + seat) & (body[:, 1] < floor + seat + 0.6)]
    front = model.size_m[2] / 2
    shift = min(float(trunk[:, 2].min()) - back - 0.01, float(axes.into(knees)[:, 2].min()) - 0.04 - front)
    stretched = model.vertices_m * [1, seat / height, 1] + [0, floor, shift]
    above = body[body[:, 1] > floor + seat + 0.05][::8]
    heights = surface_heights_m(stretched, model.triangles, above[:, [0, 2]])
    if np.mean(heights - above[:, 1] > SUNK_M) > MAX_SUNK:
        return None
    return replace(model.mesh(), vertices_m=axes.out_of(stretched))


def _seat_geometry(model: FurnitureModel) -> tuple[float, float]:
    """Height of a seat's middle, and where along z its back begins (its rear end without one)."""
    half_d = model.size_m[2] / 2
    across = np.linspace(-0.15, 0.15, 5) * min(model.size_m[0], 1.0)
    along = np.linspace(half_d * 0.6, -half_d, 25)
    places = np.stack(np.meshgrid(across, along), axis=-1)
    heights = surface_heights_m(model.vertices_m, model.triangles, places.reshape(-1, 2)).reshape(25, 5)
    profile = np.median(heights, axis=1)
    height = float(np.median(profile[:12]))
    behind = np.flatnonzero(profile > height + 0.15)
    return height, float(along[behind[0]]) if len(behind) else -half_d


def _bed_under(model: FurnitureModel, skin_m: np.ndarray, joints_m: np.ndarray) -> Mesh | None:
    """Lay a bed under a person, head to the head end; None where the person is longer than the bed can be."""
    pelvis, neck = joint_of(joints_m, "pelvis"), joint_of(joints_m, "neck")
    axes = BodyAxes(pelvis, pelvis - neck)  # the head end of a model is its rear
    body = axes.into(skin_m)
    low, high = body.min(axis=0), body.max(axis=0)
    stretch = np.maximum((high - low)[[0, 2]] / (model.size_m[[0, 2]] - [0.05, 0.25]), 1.0)
    if stretch.max() > BED_STRETCH:
        return None
    scaled = model.vertices_m * [stretch[0], 1, stretch[1]] + [(low[0] + high[0]) / 2, 0, (low[2] + high[2]) / 2 - 0.05]
    heights = surface_heights_m(scaled, model.triangles, body[::12][:, [0, 2]])
    if not np.isfinite(heights).all() or not 0.15 < np.median(heights) < 0.9:
        return None
    gaps = body[::12, 1] - heights  # the body sinks into pillows and blankets a little
    return replace(model.mesh(), vertices_m=axes.out_of(scaled + [0, float(np.percentile(gaps, 4)), 0]))


def draw_walking_aid(
    skin_m: np.ndarray, joints_m: np.ndarray, furnishings: Furnishings, rng: np.random.Generator
) -> Mesh | None:
    """Draw a walking frame before a person who stands, or one or two crutches at their hands.

    Parameters
    ----------
    skin_m : float (V, 3), metres
        Body axes, y up.
    joints_m : float (20, 3), metres
    furnishings : Furnishings
    rng : numpy.random.Generator

    Returns
    -------
    Mesh or None
        In the same axes; None for a person who does not stand upright, or whose hands hold no crutch.
    """
    up = joint_of(joints_m, "neck") - joint_of(joints_m, "pelvis")
    stands = joint_of(joints_m, "pelvis")[1] - skin_m[:, 1].min() > 0.65 and up[1] > 0.85 * np.linalg.norm(up)
    if not stands:
        return None
    return (
        _frame(skin_m, joints_m, furnishings, rng)
        if rng.random() < 0.5
        else _crutches(skin_m, joints_m, furnishings, rng)
    )


def _frame(skin_m: np.ndarray, joints_m: np.ndarray, furnishings: Furnishings, rng: np.random.Generator) -> Mesh:
    axes = BodyAxes(joint_of(joints_m, "pelvis"), hips_forward(joints_m))
    body = axes.into(skin_m)
    model = furnishings.draw("walking frame", rng)
    legs = body[body[:, 1] < body[:, 1].min() + model.size_m[1]]
    front = float(legs[np.abs(legs[:, 0]) < 0.25, 2].max(initial=0.0))  # the cross bars pass before the legs
    at = [0, float(body[:, 1].min()), front + rng.uniform(0.03, 0.15) + 0.12 - model.size_m[2] / 2]
    at[2] = max(at[2], front - model.size_m[2] / 2 + 0.2)
    return replace(model.mesh(), vertices_m=axes.out_of(model.vertices_m + at))


def _crutches(
    skin_m: np.ndarray, joints_m: np.ndarray, furnishings: Furnishings, rng: np.random.Generator
) -> Mesh | None:
    """Crutches under hands that hang at the height of a grip, a little away from the feet."""
    floor = float(skin_m[:, 1].min())
    pelvis = joint_of(joints_m, "pelvis")
    meshes = []
    for side in ("left", "right"):
        hand = joint_of(joints_m, f"{side}_hand")
        away = (hand - pelvis) * [1, 0, 1]
        distance = float(np.linalg.norm(away))
        if not 0.55 < hand[1] - floor < 1.1 or distance < 0.15 or rng.random() < 0.2:
            continue
        model = furnishings.draw("crutch", rng)
        grip = 0.75 * model.size_m[1]
        stretched = (model.vertices_m - [0, 0, model.vertices_m[:, 2].max() - 0.06]) * [1, (hand[1] - floor) / grip, 1]
        lean = away / distance * rng.uniform(0.02, 0.15)
        share = 1 - stretched[:, 1:2] / (hand[1] - floor)
        axes = BodyAxes(hand, hips_forward(joints_m))
        meshes.append(replace(model.mesh(), vertices_m=axes.out_of(stretched + [0, floor, 0]) + share * lean))
    return Mesh.join(meshes) if meshes else None
