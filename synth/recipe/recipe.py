"""A recipe: everything that decides what a dataset shows, in a few lines of TOML.

A frame depends on the recipe and its index alone. The recipe is stored in the dataset's manifest. Each stage is given
its own section: poses, camera, scene, clothing, backgrounds, materials, images or proportions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from typing import Any

from synth.recipe.background_recipe import BackgroundRecipe
from synth.recipe.camera_recipe import CameraRecipe
from synth.recipe.clothing_recipe import ClothingRecipe
from synth.recipe.image_recipe import ImageRecipe
from synth.recipe.material_recipe import MaterialRecipe
from synth.recipe.pose_recipe import PoseRecipe
from synth.recipe.proportion_recipe import ProportionRecipe
from synth.recipe.recipe_values import MAX_FRAMES, check_flag, check_sequences, check_whole, shown
from synth.recipe.scene_recipe import SceneRecipe
from synth.sensors.sensor_presets import PRESETS, SensorPreset, sensor_preset

FPS = 30
"""Frame rate of everything that is rendered."""
OLD_NAMES = {
    "aside": "lateral_offset",
    "carried_share": "held_object_share",
    "support_share": "furniture_share",
    "tumble_share": "random_rotation_share",
}
"""Former name of a field -> its name now. Recipes and manifests with the former names still read."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to render. The default of a new field changes nothing, so that older datasets can be resumed.

    Raises
    ------
    ValueError
        For fewer than 1 frame, a negative seed, frames that make no whole sequences, or a sequence of people who sit or
        lie.
    """

    frames: int = 1000
    seed: int = 0
    sensor: SensorPreset = PRESETS["kinect-v1-320"]  #: a preset's name is accepted, or a table of a sensor's fields
    noise: bool = True  #: whether the sensor's noise is added
    sequence_frames: int = 0  #: length of each sequence (`synth.sequences`); 0 = frames are independent
    pose: PoseRecipe = field(default_factory=PoseRecipe)
    camera: CameraRecipe = field(default_factory=CameraRecipe)
    scene: SceneRecipe = field(default_factory=SceneRecipe)
    clothing: ClothingRecipe = field(default_factory=ClothingRecipe)
    background: BackgroundRecipe = field(default_factory=BackgroundRecipe)
    material: MaterialRecipe = field(default_factory=MaterialRecipe)
    image: ImageRecipe = field(default_factory=ImageRecipe)
    proportion: ProportionRecipe = field(default_factory=ProportionRecipe)

    def __post_init__(self) -> None:
        check_whole("frames", self.frames, 1, MAX_FRAMES)
        check_whole("seed", self.seed, 0)
        check_flag("noise", self.noise)
        check_sequences(self.sequence_frames, self.frames)
        if self.camera.orbit_deg is not None and not self.sequence_frames:
            raise ValueError("recipe: orbit_deg moves the camera of sequences; give sequence_frames, or leave it out")
        if self.camera.orbit_deg is not None and self.pose.motions != "captured":
            raise ValueError("recipe: orbit_deg moves the camera of captured motions; leave it out for others")
        if self.pose.motions != "captured" and not self.sequence_frames:
            raise ValueError("recipe: motions are of sequences; give sequence_frames, or leave out motions")
        single_only = self.pose.seated_share, self.pose.lying_share, self.scene.furniture_share
        if self.sequence_frames and max(self.pose.standing_share, self.pose.bent_share, self.scene.table_share) > 0:
            raise ValueError("recipe: standing_share, bent_share and table_share need single frames, got sequences")
        if self.sequence_frames and max(single_only) > 0:
            raise ValueError("recipe: seated_share, lying_share and furniture_share need single frames, got sequences")
        if self.sequence_frames and max(self.scene.model_seat_share, self.scene.walking_aid_share) > 0:
            raise ValueError("recipe: model_seat_share and walking_aid_share need single frames, got sequences")
        if self.sequence_frames and self.scene.empty_room_share > 0:
            raise ValueError("recipe: empty_room_share needs single frames, got sequences")
        object.__setattr__(self, "sensor", _as_sensor(self.sensor))

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON: general fields, then a table for each section.

        A preset sensor is given by its name, any other sensor by its values.
        """
        is_preset = PRESETS.get(self.sensor.name) == self.sensor
        return {**asdict(self), "sensor": self.sensor.name if is_preset else self.sensor.to_dict()}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Recipe:
        """Make a recipe from fields by section, from flat fields, or from a mixture; former names are accepted.

        Raises
        ------
        ValueError
            For a name that is no field, a field that is given twice, or a value that is not allowed.
        """
        flat = flat_fields(data)
        unknown = sorted(set(flat) - set(_section_of()))
        if tables := [name for name in unknown if isinstance(flat[name], Mapping)]:
            raise ValueError(f"recipe: no section {', '.join(tables)}; it has {', '.join(SECTIONS)} and sensor")
        if unknown:
            raise ValueError(f"recipe: no field {', '.join(unknown)}; it has {', '.join(sorted(_section_of()))}")
        by_section: dict[str | None, dict[str, Any]] = {None: {}, **{name: {} for name in SECTIONS}}
        for name, value in flat.items():
            by_section[_section_of()[name]][name] = value
        return cls(**by_section[None], **{name: section(**by_section[name]) for name, section in SECTIONS.items()})


SECTIONS = {
    "pose": PoseRecipe,
    "camera": CameraRecipe,
    "scene": SceneRecipe,
    "clothing": ClothingRecipe,
    "background": BackgroundRecipe,
    "material": MaterialRecipe,
    "image": ImageRecipe,
    "proportion": ProportionRecipe,
}


@cache
def _section_of() -> dict[str, str | None]:
    """Field -> the section that holds it; None = the recipe itself."""
    own = {each.name: None for each in fields(Recipe) if each.name not in SECTIONS}
    return own | {each.name: name for name, section in SECTIONS.items() for each in fields(section)}


def flat_fields(data: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of flat or sectioned data in one table, under their names of today.

    Names that no recipe has are kept.

    Raises
    ------
    ValueError
        For a section that is no table or has a field of another section, or a field that is given twice.
    """
    flat: dict[str, Any] = {}
    for name, value in data.items():
        for given, content in _table(name, value).items() if name in SECTIONS else [(name, value)]:
            current = OLD_NAMES.get(given, given)
            if current in flat:
                raise ValueError(f"recipe: {current} is given twice; give it once")
            flat[current] = content
    return flat


def _table(section: str, value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise ValueError(f"recipe: {section} is a section and must be a table, got {shown(value)}")
    own = [name for name, home in _section_of().items() if home == section]
    if wrong := [name for name in value if OLD_NAMES.get(name, name) not in own]:
        raise ValueError(f"recipe: section {section} has no field {', '.join(wrong)}; it has {', '.join(own)}")
    return value


def _as_sensor(sensor: object) -> SensorPreset:
    if isinstance(sensor, str):
        return sensor_preset(sensor)
    if isinstance(sensor, dict):
        return SensorPreset.from_dict(sensor)
    if not isinstance(sensor, SensorPreset):
        raise ValueError(f"recipe: sensor must be a preset's name, a TOML file or a table, got {shown(sensor)}")
    return sensor
