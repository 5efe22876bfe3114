"""Materials in infrared light: which hair and clothes are dark, drawn for each person, and what rooms add."""

from __future__ import annotations

import numpy as np

from posepipe.body import HUMAN, BodyDefinition
from synth.recipe import MaterialRecipe
from synth.render.label_spread import NOTHING
from synth.render.render_frame import RenderedFrame
from synth.render.thing_materials import holes_in_things
from synth.sensors.defects.dark_surfaces import OBJECT_SPREAD, PATCH_M, TOLERATED, dark_holes
from synth.sensors.defects.false_near import blend_with_holes
from synth.sensors.sensor_presets import SensorPreset

OBJECT_PARTS = {
    "hair": ("upper_head",),
    "top": ("torso", "shoulder", "upper_arm", "elbow", "lower_arm"),
    "trousers": ("upper_leg", "knee", "lower_leg"),
    "shoes": ("ankle", "foot"),
}
"""Object -> what the names of the body parts that it covers contain."""


def add_materials(
    rendered: RenderedFrame,
    readings_m: np.ndarray,
    body: BodyDefinition,
    sensor: SensorPreset,
    recipe: MaterialRecipe,
    rng: np.random.Generator,
    still: np.random.Generator | None = None,
) -> np.ndarray:
    """Return readings with holes in dark materials, and false near readings beside holes.

    Nothing is drawn unless the recipe asks for it.

    Parameters
    ----------
    rendered : RenderedFrame
        Without noise.
    readings_m : float32 (H, W), metres
    body : BodyDefinition
        Of the subjects; only people have materials.
    sensor : SensorPreset
    recipe : MaterialRecipe
    rng : numpy.random.Generator
    still : numpy.random.Generator, optional
        Of a sequence: draws the same materials for each of its frames, and ``rng`` draws their flicker.
    """
    of_people, of_things, of_holes = (rng, rng, rng) if still is None else still.spawn(3)
    flicker = None if still is None else rng
    if recipe.dark_share and body == HUMAN:
        tolerated = draw_tolerated(len(rendered.joints_m), recipe.dark_share, of_people)
        image = _paint_tolerated(rendered, tolerated)
        patch_m = None if still is None else PATCH_M
        holes = dark_holes(rendered.depth_m, image, sensor, of_people, flicker, patch_m)
        readings_m = np.where(holes, np.float32(0), readings_m)
    if recipe.infrared_share and of_things.random() < recipe.infrared_share:
        holes = holes_in_things(rendered, sensor, of_things, flicker)
        readings_m = np.where(holes, np.float32(0), readings_m)
    if recipe.false_near_share and of_holes.random() < recipe.false_near_share:
        readings_m = blend_with_holes(readings_m)
    return readings_m


def draw_tolerated(people: int, dark_share: float, rng: np.random.Generator) -> np.ndarray:
    """Draw the loss of light that each person's parts tolerate.

    Returns
    -------
    float32 (people + 1, 256)
        By the person's id and the part's code; infinite for what is not dark.
    """
    table = np.full((people + 1, 256), np.inf, np.float32)
    for person in range(1, people + 1):
        for kind, names in OBJECT_PARTS.items():
            is_dark, spread = rng.random() < dark_share, rng.normal(0, OBJECT_SPREAD)
            if is_dark:
                table[person, _codes(names)] = TOLERATED[kind] + spread
    return table


def _codes(names: tuple[str, ...]) -> list[int]:
    """Codes of the body parts whose names contain one of these."""
    return [code for code, part in enumerate(HUMAN.parts, start=1) if any(name in part for name in names)]


def _paint_tolerated(rendered: RenderedFrame, table: np.ndarray) -> np.ndarray:
    """Tolerated loss at each pixel: float32 (H, W)."""
    shown = rendered.triangle_ids != NOTHING
    ids = rendered.triangle_ids[shown]
    image = np.full(shown.shape, np.inf, np.float32)
    image[shown] = table[rendered.people[ids], rendered.parts[ids]]
    return image
