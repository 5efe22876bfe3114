"""A recipe: everything that decides what a dataset shows, in a few lines of TOML.

A frame depends on the recipe and its index alone. The recipe is stored in the dataset's manifest. Each stage is given
its own section: poses, camera, scene, clothing, backgrounds, materials, images or proportions.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from functools import cache
from pathlib import Path
from typing import Any

from posepipe.errors import FormatError, PosepipeError
from posepipe.io.files import is_absent
from posepipe.io.toml_file import read_toml
from synth.background_recipe import BackgroundRecipe
from synth.image_recipe import ImageRecipe
from synth.material_recipe import MaterialRecipe
from synth.proportion_recipe import ProportionRecipe
from synth.recipe_values import (
    MAX_FRAMES,
    RANGES,
    as_count_range,
    as_range,
    check_flag,
    check_number,
    check_section,
    check_sequences,
    check_whole,
    shown,
)
from synth.sensors.sensor_file import find_sensor
from synth.sensors.sensor_presets import PRESETS, SensorPreset, sensor_preset

RECIPES_DIR = Path(__file__).parent / "recipes"
FPS = 30
"""Frame rate of everything that is rendered."""
OLD_NAMES = {
    "aside": "lateral_offset",
    "carried_share": "held_object_share",
    "support_share": "furniture_share",
    "tumble_share": "random_rotation_share",
}
"""Former name of a field -> its name now. Recipes and manifests with the former names still read."""
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class PoseRecipe:
    """Which captured poses are taken, and how they are varied. Angles in degrees.

    Raises
    ------
    ValueError
        For unknown poses or motions, clip names that are not a list of text, a share outside [0, 1], or a jitter
        outside [0, 180].
    """

    poses: str = "train"  #: "train", "validation" (whole clips held out of training) or "all"
    only_clips: tuple[str, ...] = ()  #: of these poses, only these clips; empty = all clips
    leave_out_clips: tuple[str, ...] = ()  #: and never these
    mirror_share: float = 0.5
    recombine_share: float = 0.2  #: poses that get the arms of another pose
    relax_share: float = 0.3  #: poses interpolated towards standing at ease
    jitter_deg: float = 4.0  #: standard deviation of the joint noise
    random_rotation_share: float = 0.0  #: people rotated as a whole, by any angle about any level axis
    seated_share: float = 0.0  #: people who are made to sit, beside those whom the captures show seated
    lying_share: float = 0.0  #: people laid down on back, belly or side
    standing_share: float = 0.0  #: people who stand or walk upright, in captured poses, as most people in a room do
    bent_share: float = 0.0  #: people who bend by 45 degrees or more, on their own legs, captured or made to
    motions: str = "captured"  #: of sequences: "captured"; or "exercises" or "resting", from curves of joint angles

    def __post_init__(self) -> None:
        if self.poses not in ("train", "validation", "all"):
            raise ValueError(f"recipe: poses must be train, validation or all, got {shown(self.poses)}")
        if self.motions not in ("captured", "exercises", "resting"):
            raise ValueError(f"recipe: motions must be captured, exercises or resting, got {shown(self.motions)}")
        for name in ("only_clips", "leave_out_clips"):
            clips = getattr(self, name)
            if not isinstance(clips, tuple | list) or not all(isinstance(clip, str) for clip in clips):
                raise ValueError(f"recipe: {name} must be a list of clip names, got {shown(clips)}")
            object.__setattr__(self, name, tuple(clips))
        check_section(self)


@dataclass(frozen=True, slots=True)
class CameraRecipe:
    """Where the camera is, and where and how people stand in front of it.

    Ranges are (min, max) and drawn evenly; angles in degrees.

    Raises
    ------
    ValueError
        For a range whose min exceeds its max or that leaves its bounds, a share outside [0, 1], or a negative spread.
    """

    distance_m: tuple[float, float] = (1.0, 4.0)  #: along the floor, camera to pelvis
    camera_height_m: tuple[float, float] = (0.4, 2.2)
    roll_deg: tuple[float, float] = (-5.0, 5.0)
    aim_height_m: tuple[float, float] = (0.6, 1.3)  #: the camera is pitched to look at this height of the person
    aim_limits_deg: tuple[float, float] = (-25.0, 35.0)  #: within these pitches; down is positive
    pitch_deg: tuple[float, float] | None = None  #: of the camera, down is positive; None = it looks at aim_height_m
    lateral_offset: tuple[float, float] = (-0.35, 0.35)  #: of the pelvis from the centre, image widths; 0.5 = border
    facing_share: float = 0.0  #: people who roughly face the camera; the others have any yaw
    facing_spread_deg: float = 35.0  #: standard deviation of the yaw of people who face the camera
    orbit_deg: float | None = None  #: sequences of several cameras: this one is moved so far around the scene

    def __post_init__(self) -> None:
        if self.orbit_deg is not None:
            check_number("orbit_deg", self.orbit_deg, -360, 360)
        for name in [each.name for each in fields(self) if each.name in RANGES]:
            if (value := getattr(self, name)) is not None or name != "pitch_deg":
                object.__setattr__(self, name, as_range(name, value))
        check_section(self)


@dataclass(frozen=True, slots=True)
class SceneRecipe:
    """How many people a frame shows, and what surrounds them.

    Raises
    ------
    ValueError
        For a number of people outside [1, MAX_PEOPLE], or a share or density outside [0, 1].
    """

    people: tuple[int, int] = (1, 1)  #: in a frame, min and max
    room_share: float = 0.0  #: frames in a furnished room; in the others people are cut out
    furniture_share: float = 0.0  #: of people who sit or lie: on a seat, a bed or the floor; the others float
    model_share: float = 0.0  #: of rooms: furnished with models of real furniture; the others with boxes
    density: tuple[float, float] = (0.0, 1.0)  #: of these rooms, drawn evenly: 0 = empty, 1 = cluttered
    wall_fitting_share: float = 0.0  #: of these rooms: with doors, windows, screens, pictures and curtains
    things_share: float = 0.0  #: of these rooms: with things on tables and shelves, and bedding
    hanging_clothes_share: float = 0.0  #: of these rooms: with clothes on hooks
    draped_chair_share: float = 0.0  #: of these rooms: with jackets over the backs of chairs
    pet_share: float = 0.0  #: of these rooms: with a cat or dog
    doll_share: float = 0.0  #: of these rooms: with dolls and stuffed animals
    clutter_share: float = 0.0  #: of these rooms: wider, with pillars, sofas, coat stands and cushions
    model_seat_share: float = 0.0  #: of seats and beds: models of real ones, or wheelchairs
    walking_aid_share: float = 0.0  #: of people who stand: with a walking frame or crutches
    table_share: float = 0.0  #: of people who bend: over a table, where one fits
    empty_room_share: float = 0.0  #: of rooms: everybody has left, and their seats and tables stay
    near_seat_share: float = 0.0  #: of these empty rooms with models: a chair, armchair or sofa close to the camera

    def __post_init__(self) -> None:
        object.__setattr__(self, "people", as_count_range(self.people))
        object.__setattr__(self, "density", as_range("density", self.density))
        check_section(self)


@dataclass(frozen=True, slots=True)
class ClothingRecipe:
    """What people wear and hold.

    Raises
    ------
    ValueError
        For an unknown wardrobe, or a share outside [0, 1].
    """

    clothes: bool = True
    wardrobe: str = "plain"  #: "plain", close-fitting; or "full", with skirts, coats, hats and long hair
    held_object_share: float = 0.0  #: people with a bag, cup, stick or ball in one hand

    def __post_init__(self) -> None:
        check_flag("clothes", self.clothes)
        if self.wardrobe not in ("plain", "full"):
            raise ValueError(f"recipe: wardrobe must be plain or full, got {shown(self.wardrobe)}")
        check_section(self)


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


def recipe_names() -> tuple[str, ...]:
    """Return the names of the recipes that come with posepipe."""
    return tuple(sorted(path.stem for path in RECIPES_DIR.glob("*.toml")))


def read_recipe(recipe: str | Path, **instead: Any) -> Recipe:
    """Read a recipe by its name, or from a TOML file; ``instead`` are general fields that replace its own.

    The path of a sensor file is relative to the recipe's folder. Former names of fields are accepted. For a user's
    file, each former name is logged once.

    Raises
    ------
    PosepipeError
        When it is neither, or the file does not make a recipe.
    """
    named = RECIPES_DIR / f"{recipe}.toml"
    is_named = str(recipe) in recipe_names()
    path = named if is_named else Path(recipe)
    if is_absent(path):
        raise PosepipeError(f"no recipe {str(recipe)!r}: give a TOML file or one of {', '.join(recipe_names())}")
    data = read_toml(path) | instead  # before they are checked: frames make whole sequences
    try:
        if isinstance(data.get("sensor"), str):
            data["sensor"] = find_sensor(data["sensor"], path.parent)
        read = Recipe.from_dict(data)
    except ValueError as error:
        raise FormatError(path, str(error)) from None
    if not is_named:
        tables = [data, *(data[section] for section in SECTIONS if section in data)]
        for name in sorted({name for table in tables for name in table} & set(OLD_NAMES)):
            _hint_at_new_name(name)
    return read


@cache  # once for each name
def _hint_at_new_name(old: str) -> None:
    _log.warning("recipe: %s is now called %s; the former name works for one release", old, OLD_NAMES[old])
