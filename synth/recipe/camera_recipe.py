"""The section of a recipe about the camera: where it is, and where people stand before it."""

from __future__ import annotations

from dataclasses import dataclass, fields

from synth.recipe.recipe_values import RANGES, as_range, check_number, check_section


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
