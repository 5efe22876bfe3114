"""The depth cameras that can be imitated: picture size, lens, range and what limits each of them."""

from __future__ import annotations

from dataclasses import dataclass

from posepipe.camera import Intrinsics

FAMILIES = ("ideal", "structured_light", "time_of_flight", "stereo")


@dataclass(frozen=True, slots=True)
class SensorPreset:
    """One mode of one depth camera.

    Raises
    ------
    ValueError
        For a family nobody has written noise for, or a range that is empty.
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
        if self.family not in FAMILIES:
            raise ValueError(f"sensor {self.name!r}: family must be one of {', '.join(FAMILIES)}, got {self.family!r}")
        if not 0 <= self.min_range_m < self.max_range_m:
            raise ValueError(f"sensor {self.name!r}: no range between {self.min_range_m} and {self.max_range_m} m")


def _preset(
    name: str,
    family: str,
    size: tuple[int, int],
    focal: float,
    range_m: tuple[float, float],
    baseline_m: float = 0.0,
    matching_fx: float = 0.0,
) -> SensorPreset:
    width, height = size
    intrinsics = Intrinsics(focal, focal, (width - 1) / 2, (height - 1) / 2)
    return SensorPreset(name, width, height, intrinsics, family, *range_m, baseline_m, matching_fx)


# The 320x240 stream of a Kinect v1 is the 640x480 one thinned out: disparity is still measured in the pixels of the
# larger picture, whence a matching focal length of twice its own.
PRESETS: dict[str, SensorPreset] = {
    preset.name: preset
    for preset in (
        _preset("ideal", "ideal", (320, 240), 285.6, (0.1, 9.5)),
        _preset("kinect-v1", "structured_light", (640, 480), 585.0, (0.5, 8.0), 0.075, 585.0),
        _preset("kinect-v1-320", "structured_light", (320, 240), 285.6, (0.5, 8.0), 0.075, 571.2),
        _preset("kinect-v2", "time_of_flight", (512, 424), 365.0, (0.5, 8.0)),
        _preset("azure-nfov", "time_of_flight", (640, 576), 504.0, (0.5, 5.5)),
        _preset("d435", "stereo", (640, 480), 385.0, (0.2, 9.5), 0.05, 385.0),
    )
}


def sensor_preset(name: str) -> SensorPreset:
    """Look a camera up by name. Raises ValueError, naming the known ones, for any other."""
    if name not in PRESETS:
        raise ValueError(f"no sensor {name!r}; known are {', '.join(PRESETS)}")
    return PRESETS[name]
