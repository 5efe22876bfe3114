"""Things on furniture: small ones on tables and shelves, bedding and cushions on beds and sofas."""

from __future__ import annotations

import math

import numpy as np

from synth.furniture.model_bank import FurnitureModel
from synth.geometry.surface_heights import surface_heights_m
from synth.scene.placement import rotation_about
from synth.scene.room_kinds import HOSTS, ON_FURNITURE, SOFT_HOSTS
from synth.scene.room_plan import RoomPlan
from synth.scene.seats.furnishings import Furnishings

THINGS_PER_HOST = 4
MAX_CUSHIONS = 6
"""On each bed, sofa and armchair: tried, where they have space."""
MAX_THING_M = 0.75
"""Largest extent of what stands on furniture."""
HARD_M, SOFT_M = 0.015, 0.15
"""Unevenness of tops that things stand on, and of beds and sofas that bedding lies on."""
MIN_HOST_M = 0.35
"""Minimum height of what things stand on."""
UNDER = np.array([[x, 0, z] for x in (-0.5, 0, 0.5) for z in (-0.5, 0, 0.5)])
"""Places under a thing at which the top is probed, in its sizes."""


def put_things(plan: RoomPlan, density: float, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Put small things on tables, cabinets and shelves, and bedding on beds and sofas."""
    for number, host in enumerate(tuple(plan.placed)):
        if host.model.kind in SOFT_HOSTS and rng.random() < 0.6:
            put_on(plan, number, furnishings.draw("bedding", rng), SOFT_M, rng)
        if host.model.kind in HOSTS and host.low_m[1] < 0.1:
            for _ in range(rng.poisson(THINGS_PER_HOST * density * rng.random())):
                model = furnishings.draw(furnishings.draw_kind(ON_FURNITURE, rng), rng)
                if max(model.size_m) <= MAX_THING_M and model.elevation_m == 0:
                    put_on(plan, number, model, HARD_M, rng)


def put_cushions(plan: RoomPlan, furnishings: Furnishings, rng: np.random.Generator) -> None:
    """Put cushions on beds, sofas and armchairs."""
    for number, host in enumerate(tuple(plan.placed)):
        if host.model.kind in SOFT_HOSTS:
            for _ in range(int(rng.integers(0, MAX_CUSHIONS + 1))):
                put_on(plan, number, furnishings.draw("cushion", rng), SOFT_M, rng)


def put_on(plan: RoomPlan, number: int, model: FurnitureModel, unevenness_m: float, rng: np.random.Generator) -> None:
    """Put a model on another where its top is even enough under all of the model."""
    host = plan.placed[number]
    vertices_m = host.vertices_m
    middle, reach = (host.low_m + host.high_m)[[0, 2]] / 2, (host.high_m - host.low_m)[[0, 2]] / 2
    reach = np.maximum(reach - model.size_m[[0, 2]].max() / 2, 0)
    for _ in range(2):
        at = middle + reach * rng.uniform(-1, 1, 2)
        yaw = rng.uniform(-math.pi, math.pi) if rng.random() < 0.4 else host.yaw_rad
        footprint = (UNDER * model.size_m) @ rotation_about("y", yaw).T
        heights = surface_heights_m(vertices_m, host.model.triangles, at + footprint[:, [0, 2]])
        if heights.min() <= MIN_HOST_M or np.ptp(heights) > unevenness_m:
            continue
        height_m = heights.max() if unevenness_m == HARD_M else heights.min()
        if plan.add(model, np.array([at[0], height_m, at[1]]), yaw, number):
            return
