"""Materials of things in infrared light: furniture, screens and glass, drawn for each thing.

Visible colour says little about darkness in infrared: a dark leather sofa loses half of its readings, a dark wooden
chair a third, a plaid as dark as they are none. Leather and wood are fitted to these. The losses of other materials
and the shares of things that are dark are assumptions.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from synth.furniture.kinds import MATERIALS
from synth.render.label_spread import NOTHING
from synth.render.render_frame import UNKNOWN, RenderedFrame
from synth.sensors.defects.dark_surfaces import OBJECT_SPREAD, dark_holes
from synth.sensors.sensor_presets import SensorPreset


@dataclass(frozen=True, slots=True)
class Reflectance:
    """How a material returns infrared light."""

    dark_share: float  #: of things of it, those that are dark
    tolerated: float  #: mean tolerated loss of dark ones, see `dark_holes`; minus infinity = they have no reading


REFLECTANCES = {
    "other": Reflectance(0.2, 2.4),  # plastics and what is not known
    "wood": Reflectance(0.25, 2.2),
    "cloth": Reflectance(0.1, 2.4),
    "leather": Reflectance(0.6, 1.7),
    "metal": Reflectance(0.4, 1.8),
    "glass": Reflectance(0.9, -np.inf),
    "screen": Reflectance(0.9, -np.inf),
    "plant": Reflectance(0.0, np.inf),
}
"""Material -> its reflectance; leaves are bright in infrared."""
UNKNOWN_MATERIALS = ("wood", "cloth", "leather", "other")
"""What a thing made of boxes may be of."""
SOLID_SHARES = {"structured_light": 1.0, "time_of_flight": 0.8, "stereo": 0.5, "ideal": 0.0}
"""Of screens and glass without a reading under structured light, those that other families do not read: assumptions."""
THING_PATCH_M = 0.09
"""Sigma of the error that neighbours on furniture share."""


def holes_in_things(
    rendered: RenderedFrame,
    sensor: SensorPreset,
    rng: np.random.Generator,
    flicker: np.random.Generator | None = None,
) -> np.ndarray:
    """Draw materials of all things, and where their readings are missing: bool (H, W).

    Parameters
    ----------
    rendered : RenderedFrame
        Without noise.
    sensor : SensorPreset
    rng : numpy.random.Generator
    flicker : numpy.random.Generator, optional
        Draws what changes from frame to frame of a sequence, while ``rng`` begins anew with each.
    """
    table = draw_thing_tolerated(int(rendered.objects.max(initial=0)), sensor.family, rng)
    shown = (rendered.triangle_ids != NOTHING) & (rendered.triangle_ids < len(rendered.objects))
    ids = rendered.triangle_ids[shown]
    image = np.full(shown.shape, np.inf, np.float32)
    image[shown] = table[rendered.objects[ids], rendered.materials[ids]]
    return dark_holes(rendered.depth_m, image, sensor, rng, flicker, THING_PATCH_M)


def draw_thing_tolerated(things: int, family: str, rng: np.random.Generator) -> np.ndarray:
    """Draw the loss of light that each thing's materials tolerate.

    Returns
    -------
    float32 (things + 1, 256)
        By the number of the thing and the material; infinite for what is not dark, and for number 0.
    """
    chance, spread = rng.random((things, len(MATERIALS))), rng.normal(0, OBJECT_SPREAD, (things, len(MATERIALS)))
    unknown = rng.integers(len(UNKNOWN_MATERIALS), size=things)
    table = np.full((things + 1, 256), np.inf, np.float32)
    for row, name in enumerate(MATERIALS):
        own = REFLECTANCES[name]
        share = own.dark_share * (1.0 if np.isfinite(own.tolerated) else SOLID_SHARES[family])
        table[1:, row] = np.where(chance[:, row] < share, own.tolerated + spread[:, row], np.inf)
    drawn = np.array([MATERIALS.index(name) for name in UNKNOWN_MATERIALS])[unknown]
    table[1:, UNKNOWN] = table[np.arange(1, things + 1), drawn]
    return table
