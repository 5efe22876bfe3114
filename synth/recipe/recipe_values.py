"""Checks of single values of a recipe. Every message names the field, what is allowed and what came."""

from __future__ import annotations

import math
from dataclasses import fields
from numbers import Integral, Real
from typing import Any

MAX_PEOPLE = 8
MAX_FRAMES = 100_000_000
MAX_SHOWN = 60
"""Maximum number of characters of a wrong value in a message."""

RANGES = {
    "distance_m": (0.0, 100.0),
    "camera_height_m": (-100.0, 100.0),
    "roll_deg": (-360.0, 360.0),
    "aim_height_m": (-100.0, 100.0),
    "aim_limits_deg": (-90.0, 90.0),
    "pitch_deg": (-90.0, 90.0),
    "lateral_offset": (-10.0, 10.0),
    "density": (0.0, 1.0),
    "room_scale": (0.5, 2.0),
    "upper_arm_scale": (0.5, 2.0),
    "forearm_scale": (0.5, 2.0),
    "thigh_scale": (0.5, 2.0),
    "shank_scale": (0.5, 2.0),
}
"""Field that is a range -> bounds of its min and max."""
SPREADS = {"jitter_deg": 180.0, "facing_spread_deg": 360.0, "room_turn_deg": 45.0}
"""Field that is a standard deviation -> its maximum."""
_PITCHES = ("aim_limits_deg", "pitch_deg")


def shown(value: object) -> str:
    """Return a value for a message, cut to `MAX_SHOWN` characters."""
    return f"{value!r:.{MAX_SHOWN}}"


def check_whole(name: str, value: object, low: int, high: int | None = None) -> None:
    """Raise ValueError unless a value is a whole number of at least ``low`` and at most ``high``."""
    if not _is_whole(value) or value < low:  # type: ignore[operator]
        raise ValueError(f"recipe: {name} must be a whole number, at least {low}, got {shown(value)}")
    if high is not None and value > high:  # type: ignore[operator]
        raise ValueError(f"recipe: {name} must be at most {high}, got {shown(value)}")


def check_flag(name: str, value: object) -> None:
    """Raise ValueError unless a value is true or false."""
    if not isinstance(value, bool):
        raise ValueError(f"recipe: {name} must be true or false, got {shown(value)}")


def check_number(name: str, value: object, low: float, high: float) -> None:
    """Raise ValueError unless a value is a number between ``low`` and ``high``."""
    if not _is_number(value) or not low <= value <= high:  # type: ignore[operator]
        raise ValueError(f"recipe: {name} must lie between {low:g} and {high:g}, got {shown(value)}")


def check_section(section: Any) -> None:
    """Raise ValueError unless the shares and standard deviations of a section, a dataclass, are within their bounds."""
    for each in fields(section):
        value = getattr(section, each.name)
        if each.name.endswith("_share"):
            check_number(each.name, value, 0, 1)
        elif each.name in SPREADS:
            check_number(each.name, value, 0, SPREADS[each.name])


def check_sequences(sequence_frames: object, frames: int) -> None:
    """Raise ValueError unless frames make whole sequences of ``sequence_frames``, 0 for none."""
    if not _is_whole(sequence_frames) or sequence_frames < 0 or sequence_frames == 1:  # type: ignore[operator]
        raise ValueError(
            f"recipe: sequence_frames must be a number from 2 up, or 0 for none, got {shown(sequence_frames)}"
        )
    if sequence_frames and frames % sequence_frames:  # type: ignore[operator]
        whole = -(-frames // sequence_frames) * sequence_frames  # type: ignore[operator]
        raise ValueError(f"recipe: wanted whole sequences of {sequence_frames} frames, got {frames}; give {whole}")


def as_range(name: str, value: object) -> tuple[float, float]:
    """Return a range as two floats. Raises ValueError unless it lies within the bounds of `RANGES`."""
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(map(_is_number, value)):
        raise ValueError(f"recipe: {name} must be (min, max), two numbers, got {shown(value)}")
    low, high = value
    if not all(map(math.isfinite, value)):
        raise ValueError(f"recipe: {name} must be (min, max), two finite numbers, got {shown(value)}")
    if not low <= high:
        raise ValueError(f"recipe: {name} must be (min, max), the min first, got {shown(value)}")
    lowest, highest = RANGES[name]
    if not lowest <= low <= high <= highest:
        ends = " (straight up)", " (straight down)"
        from_end, to_end = ends if name in _PITCHES else ("", "")
        raise ValueError(
            f"recipe: {name} must be (min, max) between {lowest:g}{from_end} and {highest:g}{to_end},"
            f" got {shown(value)}"
        )
    if name == "distance_m" and high == 0:  # the camera would always be inside of people
        raise ValueError(f"recipe: {name} must be (min, max) with a max above 0, got {shown(value)}")
    return float(low), float(high)


def as_count_range(value: object) -> tuple[int, int]:
    """Return the numbers of people, min and max. Raises ValueError outside [1, MAX_PEOPLE]."""
    if not isinstance(value, tuple | list) or len(value) != 2 or not all(map(_is_whole, value)):
        raise ValueError(f"recipe: people must be two whole numbers (min, max), got {shown(value)}")
    low, high = value
    if not 1 <= low <= high <= MAX_PEOPLE:
        raise ValueError(f"recipe: people must lie between 1 and {MAX_PEOPLE}, got {shown(value)}")
    return low, high


def _is_whole(value: object) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)
