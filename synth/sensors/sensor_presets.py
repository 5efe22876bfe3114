"""The depth cameras that can be simulated: image size, lens, range and type of noise."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from posepipe.camera import Intrinsics, check_lens
from posepipe.camera.presets import CAMERA_PRESETS
from posepipe.frames import MAX_DEPTH_M, MIN_DEPTH_M

FAMILIES = ("ideal", "structured_light", "time_of_flight", "stereo")
TRIANGULATING = ("structured_light", "stereo")
"""Families that measure disparity; they need a baseline and a matching focal length."""
FIELDS = ("name", "width", "height", "fx", "fy", "cx", "cy", "family", "min_range_m", "max_range_m")
TRIANGULATING_FIELDS = ("baseline_m", "matching_fx")
MAX_PIXELS_PER_SIDE = 4096
_MAX_VALUE = 1e9  # of any number; also excludes NaN, infinities and integers that no float holds


@dataclass(frozen=True, slots=True)
class SensorPreset:
    """One mode of one depth camera.

    Raises
    ------
    ValueError
        For an image without pixels, an unknown family, a range that is empty or exceeds that of depth images, or a
        sensor that triangulates without a baseline or a matching focal length.
    """

    name: str
    width: int
    height: int
    intrinsics: Intrinsics
    family: str  #: one of FAMILIES
    min_range_m: float
    max_range_m: float
    baseline_m: float = 0.0  #: between projector and camera, or between the two cameras
    matching_fx: float = 0.0  #: focal length, pixels, of the image in which the sensor measures disparity

    def __post_init__(self) -> None:
        if min(self.width, self.height) < 1:
            raise ValueError(f"sensor {self.name!r}: an image needs at least one pixel, got {self.width}x{self.height}")
        if self.family not in FAMILIES:
            raise ValueError(f"sensor {self.name!r}: family must be one of {', '.join(FAMILIES)}, got {self.family!r}")
        if not MIN_DEPTH_M <= self.min_range_m < self.max_range_m <= MAX_DEPTH_M:
            raise ValueError(
                f"sensor {self.name!r}: wanted {MIN_DEPTH_M} <= min_range_m < max_range_m <= {MAX_DEPTH_M},"
                f" got {self.min_range_m} and {self.max_range_m} m"
            )
        for name in TRIANGULATING_FIELDS:
            value = getattr(self, name)
            if value < 0 or (value == 0 and self.family in TRIANGULATING):
                raise ValueError(f"sensor {self.name!r}: family {self.family} wants {name} > 0, got {value}")

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, ready for JSON and TOML; the intrinsics are flat among the other fields."""
        values = asdict(self)
        values.update(values.pop("intrinsics"))
        return {name: values[name] for name in (*FIELDS, *TRIANGULATING_FIELDS)}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> SensorPreset:
        """Invert `to_dict`. Raises ValueError for missing or unknown fields, and for values that are wrong."""
        every = FIELDS + TRIANGULATING_FIELDS
        if unknown := sorted(set(data) - set(every)):
            raise ValueError(f"sensor: no field {', '.join(unknown)}; it has {', '.join(every)}")
        wanted = every if data.get("family") in TRIANGULATING else FIELDS
        if missing := [name for name in wanted if name not in data]:
            raise ValueError(f"sensor: {', '.join(missing)} missing; wanted {', '.join(wanted)}")
        values = {name: _checked(name, value) for name, value in data.items()}
        intrinsics = Intrinsics(*(values.pop(name) for name in ("fx", "fy", "cx", "cy")))
        sensor = cls(intrinsics=intrinsics, **values)
        try:
            check_lens(intrinsics, sensor.width, sensor.height)
        except ValueError as error:
            raise ValueError(f"sensor {sensor.name!r}: {error}") from error
        return sensor


def _checked(name: str, value: Any) -> Any:
    """A field's value; numbers other than the image's size become floats."""
    if name in ("name", "family"):
        if not isinstance(value, str) or not value:
            raise ValueError(f"sensor: {name}: wanted text, got {value!r:.60}")
        return value
    if name in ("width", "height"):
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValueError(f"sensor: {name}: wanted a whole number of pixels, got {value!r:.60}")
        if value > MAX_PIXELS_PER_SIDE:
            raise ValueError(f"sensor: {name}: wanted at most {MAX_PIXELS_PER_SIDE} pixels, got {value!r:.60}")
        return value
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _MAX_VALUE:
        raise ValueError(f"sensor: {name}: wanted a number, got {value!r:.60}")
    return float(value)


def _preset(
    name: str,
    family: str,
    range_m: tuple[float, float],
    baseline_m: float = 0.0,
    matching_fx: float = 0.0,
) -> SensorPreset:
    camera = CAMERA_PRESETS[name]
    return SensorPreset(name, camera.width, camera.height, camera.intrinsics, family, *range_m, baseline_m, matching_fx)


# The 320x240 stream of a Kinect v1 is the 640x480 stream, subsampled. Disparity is still measured in pixels of the
# larger image, so the matching focal length is twice its own.
PRESETS: dict[str, SensorPreset] = {
    preset.name: preset
    for preset in (
        _preset("ideal", "ideal", (0.1, 9.5)),
        _preset("kinect-v1", "structured_light", (0.5, 8.0), 0.075, 585.0),
        _preset("kinect-v1-320", "structured_light", (0.5, 8.0), 0.075, 571.2),
        _preset("kinect-v2", "time_of_flight", (0.5, 8.0)),
        _preset("azure-nfov", "time_of_flight", (0.5, 5.5)),
        _preset("d435", "stereo", (0.2, 9.5), 0.05, 385.0),
    )
}


def sensor_preset(name: str) -> SensorPreset:
    """Look up a camera by name. Raises ValueError for an unknown name, listing the known ones."""
    if name not in PRESETS:
        raise ValueError(f"no sensor {name!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name]
