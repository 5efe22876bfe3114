"""Read a user's sensor: the fields of a `SensorPreset` in a few lines of TOML (docs/reference/formats.md)."""

from __future__ import annotations

from pathlib import Path

from posepipe.errors import FormatError
from posepipe.io.toml_file import read_toml
from synth.sensors.sensor_presets import PRESETS, SensorPreset


def find_sensor(sensor: str, folder: Path = Path()) -> SensorPreset:
    """Return a preset by its name, or a sensor from a TOML file.

    Parameters
    ----------
    sensor : str
        Name of a preset, or path of a file.
    folder : Path
        Where a relative path starts.

    Raises
    ------
    ValueError
        When it is neither.
    FormatError
        When the file does not make a sensor.
    """
    if sensor in PRESETS:
        return PRESETS[sensor]
    path = folder / sensor
    if not path.is_file():
        raise ValueError(f"no sensor {sensor!r}; known are {', '.join(PRESETS)}, or give a TOML file")
    return read_sensor(path)


def read_sensor(path: str | Path) -> SensorPreset:
    """Read a sensor from a TOML file. Raises FormatError for one that does not make a sensor."""
    data = read_toml(path)
    try:
        return SensorPreset.from_dict(data)
    except ValueError as error:
        raise FormatError(path, str(error)) from None
