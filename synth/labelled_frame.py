"""From a scene to a labelled frame: render, add the sensor's noise, quantise, label."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.frames import LabelledFrame
from synth.recipe import MaterialRecipe, Recipe
from synth.recipe.image_recipe import REACH_M, ImageRecipe
from synth.render.label_frame import label_frame
from synth.render.materials import add_materials
from synth.render.render_frame import render_frame
from synth.scene.scene import Scene
from synth.sensors.defects.hole_filling import draw_filling, fill_holes
from synth.sensors.defects.registration import draw_registration, register
from synth.sensors.defects.stereo_defects import add_stereo_defects
from synth.sensors.quantise_depth import quantise_depth
from synth.sensors.sensor_noise import add_sensor_noise, within_range
from synth.sensors.sensor_presets import SensorPreset

PLAIN, UNCHANGED = MaterialRecipe(), ImageRecipe()


@dataclass(frozen=True, slots=True)
class Sensing:
    """What a sensor makes of a scene."""

    sensor: SensorPreset
    noise: bool = True  #: whether the sensor's noise is added
    material: MaterialRecipe = PLAIN  #: of people and things; by default nothing is dark
    image: ImageRecipe = UNCHANGED  #: what is made of the readings of rooms; by default nothing

    @classmethod
    def of(cls, recipe: Recipe) -> Sensing:
        """Take what a recipe says of it."""
        return cls(recipe.sensor, recipe.noise, recipe.material, recipe.image)


def render_labelled_frame(
    scene: Scene,
    body: BodyDefinition,
    sensing: Sensing,
    index: int,
    rng: np.random.Generator,
    still: np.random.Generator | None = None,
) -> LabelledFrame:
    """Render what a sensor reads of a scene, with the truth about it.

    Depth is quantised before it is labelled, so that a frame in memory equals the one read back from a recording.

    Parameters
    ----------
    scene : Scene
    body : BodyDefinition
        Of the subjects.
    sensing : Sensing
    index : int
        Of the frame.
    rng : numpy.random.Generator
        Draws the noise.
    still : numpy.random.Generator, optional
        Draws materials and drivers of a sequence: it begins anew with each frame, and ``rng`` draws what flickers. None
        = ``rng`` draws them, of a single frame.
    """
    sensor, material, image = sensing.sensor, sensing.material, sensing.image
    rendered = render_frame(scene, sensor)
    if sensing.noise:
        readings_m = add_sensor_noise(rendered.depth_m, sensor, rng)
    else:
        readings_m = within_range(rendered.depth_m, sensor)
    if scene.room is None:  # beside people who are cut out there are no holes
        material, image = replace(material, false_near_share=0.0), UNCHANGED
    of_image = rng if still is None or image == UNCHANGED else still.spawn(1)[0]
    if sensor.family == "stereo" and is_drawn(image.stereo_defects_share, of_image):
        readings_m = add_stereo_defects(rendered.depth_m, readings_m, sensor, of_image, rng)
    readings_m = add_materials(rendered, readings_m, body, sensor, material, rng, still)
    if is_drawn(image.registered_share, of_image):
        registration = draw_registration(sensor.width, of_image)
        readings_m, source = register(readings_m, sensor.intrinsics, registration)
        rendered = replace(rendered, triangle_ids=rendered.triangle_ids.ravel()[source])
    if is_drawn(image.filled_share, of_image):
        readings_m, source = fill_holes(readings_m, draw_filling(sensor.width, of_image))
        rendered = replace(rendered, triangle_ids=rendered.triangle_ids.ravel()[source])
    if is_drawn(image.limited_range_share, of_image):
        readings_m = np.where(readings_m <= of_image.uniform(*REACH_M), readings_m, 0)
    return label_frame(rendered, quantise_depth(readings_m), sensor.intrinsics, body, index)


def is_drawn(share: float, rng: np.random.Generator) -> bool:
    """Draw whether something happens; nothing is drawn for what is off."""
    return share > 0 and bool(rng.random() < share)
