"""A recipe: everything that decides what a dataset shows, in a few lines of TOML.

A frame depends on the recipe and its index alone; the recipe travels in the dataset's manifest.
"""

from __future__ import annotations

import math
import tomllib
from dataclasses import asdict, dataclass, fields
from pathlib import Path

from posepipe.errors import FormatError, PosepipeError
from synth.sensors.presets import PRESETS, SensorPreset, sensor_preset
from synth.sensors.sensor_file import find_sensor

RECIPES_DIR = Path(__file__).parent / "recipes"
RANGES = ("distance_m", "camera_height_m", "roll_deg", "aim_height_m", "aim_limits_deg", "pitch_deg", "aside")
FPS = 30
"""Frames a second of all that is rendered."""
MAX_PEOPLE = 8
PITCHES = ("aim_limits_deg", "pitch_deg")


@dataclass(frozen=True, slots=True)
class Recipe:
    """What to render. Ranges are (least, most) and drawn evenly; angles in degrees.

    A field that joins has a default under which nothing changes: datasets begun before it can go on.

    Raises
    ------
    ValueError
        For a number of frames below 1 or that makes no whole sequences, a share outside [0, 1], a range that falls,
        or a camera pitched past the vertical.
    """

    frames: int = 1000
    seed: int = 0
    sensor: SensorPreset = PRESETS["kinect-v1-320"]  #: a preset's name will do, or a table of a sensor's fields
    poses: str = "train"  #: "train", "validation" (whole clips held out of training) or "all"
    only_clips: tuple[str, ...] = ()  #: of these, only these clips; empty = all
    leave_out_clips: tuple[str, ...] = ()  #: and never these
    distance_m: tuple[float, float] = (1.0, 4.0)  #: along the floor, camera to pelvis
    camera_height_m: tuple[float, float] = (0.4, 2.2)
    roll_deg: tuple[float, float] = (-5.0, 5.0)
    aim_height_m: tuple[float, float] = (0.6, 1.3)  #: the camera is pitched to look at this height of the person
    aim_limits_deg: tuple[float, float] = (-25.0, 35.0)  #: but no further up and down than this; down is positive
    pitch_deg: tuple[float, float] | None = None  #: of the camera, down is positive; None = it looks at aim_height_m
    aside: tuple[float, float] = (-0.35, 0.35)  #: where the pelvis is, in image widths from the centre; 0.5 = border
    facing_share: float = 0.0  #: people who roughly face the camera; the others turn over the full circle
    facing_spread_deg: float = 35.0  #: standard deviation of their yaw
    mirror_share: float = 0.5
    recombine_share: float = 0.2  #: arms of another pose
    relax_share: float = 0.3  #: poses drawn part of the way towards standing at ease
    jitter_deg: float = 4.0  #: standard deviation of the joint noise
    tumble_share: float = 0.0  #: people tipped over as a whole, by any angle in any direction
    seated_share: float = 0.0  #: people who are made to sit, beside those whom the captures show so
    lying_share: float = 0.0  #: people laid down on back, belly or side
    support_share: float = 0.0  #: in rooms, of those who sit or lie: on a seat, on a bed or the floor; others float
    clothes: bool = True
    wardrobe: str = "plain"  #: "plain", close-fitting; or "full", with skirts, coats, hats and long hair
    carried_share: float = 0.0  #: people with a bag, cup, stick or ball in one hand
    people: tuple[int, int] = (1, 1)  #: in a frame, least and most
    room_share: float = 0.0  #: frames in a furnished room; in the others people are cut out
    noise: bool = True
    sequence_frames: int = 0  #: of each sequence (`synth.sequences`), one a recording; 0 = every frame by itself

    def __post_init__(self) -> None:
        if self.frames < 1:
            raise ValueError(f"recipe: frames must be at least 1, got {self.frames}")
        if self.poses not in ("train", "validation", "all"):
            raise ValueError(f"recipe: poses must be train, validation or all, got {self.poses!r}")
        if self.wardrobe not in ("plain", "full"):
            raise ValueError(f"recipe: wardrobe must be plain or full, got {self.wardrobe!r}")
        _check_sequences(self.sequence_frames, self.frames)
        if self.sequence_frames and max(self.seated_share, self.lying_share, self.support_share) > 0:
            raise ValueError("recipe: seated_share, lying_share and support_share are of single frames, got sequences")
        object.__setattr__(self, "sensor", _as_sensor(self.sensor))
        object.__setattr__(self, "people", _as_count_range(self.people))
        for field in fields(self):
            value = getattr(self, field.name)
            if field.name.endswith("_share") and not 0 <= value <= 1:
                raise ValueError(f"recipe: {field.name} must lie between 0 and 1, got {value}")
            if field.name.endswith("_clips"):
                if not isinstance(value, tuple | list) or not all(isinstance(clip, str) for clip in value):
                    raise ValueError(f"recipe: {field.name} must be a list of clip names, got {value!r}")
                object.__setattr__(self, field.name, tuple(value))
            elif field.name in RANGES and value is not None:
                object.__setattr__(self, field.name, _as_range(field.name, value))

    def to_dict(self) -> dict:
        """Plain data, ready for JSON; a preset goes by its name, any other sensor by its values."""
        is_preset = PRESETS.get(self.sensor.name) == self.sensor
        return {**asdict(self), "sensor": self.sensor.name if is_preset else self.sensor.to_dict()}

    @classmethod
    def from_dict(cls, data: dict) -> Recipe:
        """The inverse of `to_dict`. Raises ValueError for names that are no field."""
        known = {field.name for field in fields(cls)}
        if unknown := sorted(set(data) - known):
            raise ValueError(f"recipe: no field {', '.join(unknown)}; it has {', '.join(sorted(known))}")
        return cls(**data)


def _check_sequences(sequence_frames: object, frames: int) -> None:
    if not isinstance(sequence_frames, int) or sequence_frames < 0 or sequence_frames == 1:
        raise ValueError(f"recipe: sequence_frames must be a number from 2 up, or 0 for none, got {sequence_frames!r}")
    if sequence_frames and frames % sequence_frames:
        whole = -(-frames // sequence_frames) * sequence_frames
        raise ValueError(f"recipe: {frames} frames are no whole sequences of {sequence_frames}; give {whole}")


def _as_sensor(sensor: object) -> SensorPreset:
    if isinstance(sensor, str):
        return sensor_preset(sensor)
    if isinstance(sensor, dict):
        return SensorPreset.from_dict(sensor)
    if not isinstance(sensor, SensorPreset):
        raise ValueError(f"recipe: sensor must be a preset's name, a TOML file or a table, got {sensor!r}")
    return sensor


def _as_range(name: str, value: object) -> tuple[float, float]:
    if not isinstance(value, tuple | list) or len(value) != 2 or not -math.inf < value[0] <= value[1] < math.inf:
        raise ValueError(f"recipe: {name} must be (least, most), got {value!r}")
    least, most = map(float, value)
    if name in PITCHES and not -90 <= least <= most <= 90:
        raise ValueError(f"recipe: {name} must lie between -90 (straight up) and 90 (straight down), got {value}")
    return least, most


def _as_count_range(value: object) -> tuple[int, int]:
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(isinstance(n, int) for n in value):
        raise ValueError(f"recipe: people must be two whole numbers (least, most), got {value!r}")
    least, most = value
    if not 1 <= least <= most <= MAX_PEOPLE:
        raise ValueError(f"recipe: people must lie between 1 and {MAX_PEOPLE}, got {value}")
    return least, most


def recipe_names() -> tuple[str, ...]:
    """Names of the recipes that come with posepipe."""
    return tuple(sorted(path.stem for path in RECIPES_DIR.glob("*.toml")))


def read_recipe(recipe: str | Path) -> Recipe:
    """Read a recipe by its name, or from a TOML file; a sensor's file that it names is looked for beside it.

    Raises
    ------
    PosepipeError
        When it is neither, or the file does not make a recipe.
    """
    named = RECIPES_DIR / f"{recipe}.toml"
    path = named if str(recipe) in recipe_names() else Path(recipe)
    if not path.is_file():
        raise PosepipeError(f"no recipe {str(recipe)!r}: give a TOML file or one of {', '.join(recipe_names())}")
    try:
        data = tomllib.loads(path.read_text())
        if isinstance(data.get("sensor"), str):
            data["sensor"] = find_sensor(data["sensor"], path.parent)
        return Recipe.from_dict(data)
    except (ValueError, TypeError) as error:
        raise FormatError(path, str(error)) from None
