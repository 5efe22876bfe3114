"""Turn a perfect depth image into the readings of a real camera, by its preset."""

from __future__ import annotations

import cv2
import numpy as np

from synth.sensors import stereo, structured_light, time_of_flight
from synth.sensors.noise_fields import NoiseFields, Window
from synth.sensors.sensor_presets import PRESETS, SensorPreset, sensor_preset

__all__ = ["PRESETS", "SensorPreset", "add_sensor_noise", "sensor_preset", "within_range"]

_FAMILY_NOISE = {
    "ideal": lambda depth_m, preset, fields: depth_m.copy(),
    "structured_light": structured_light.add_structured_light_noise,
    "time_of_flight": time_of_flight.add_time_of_flight_noise,
    "stereo": stereo.add_stereo_noise,
}
_FAMILY_REACH_PX = {
    "ideal": lambda preset: 0,
    "structured_light": structured_light.reach_px,
    "time_of_flight": lambda preset: time_of_flight.REACH_PX,
    "stereo": lambda preset: stereo.REACH_PX,
}


def margin_px(preset: SensorPreset) -> int:
    """Return the distance from all surfaces beyond which the camera reads nothing and no reading depends on."""
    return _FAMILY_REACH_PX[preset.family](preset) + 1  # one more pixel, so that windows at the border contain nothing


def add_sensor_noise(depth_m: np.ndarray, preset: SensorPreset, rng: np.random.Generator) -> np.ndarray:
    """Turn the depth of a perfect camera into the readings of the preset's camera.

    The result depends only on the depth, the preset and the generator's state.

    Parameters
    ----------
    depth_m : float32 (H, W), metres
        0 = nothing; of the preset's size.
    preset : SensorPreset
    rng : numpy.random.Generator

    Returns
    -------
    float32 (H, W), metres
        0 = no reading; a new array.

    Raises
    ------
    ValueError
        When ``depth_m`` is not a float32 image of the preset's size.
    """
    wanted = (preset.height, preset.width)
    if depth_m.dtype != np.float32 or depth_m.shape != wanted:
        raise ValueError(
            f"sensor {preset.name!r} wants float32 metres of shape {wanted}, got {depth_m.dtype} {depth_m.shape}"
        )
    window = Window.around(depth_m > 0, margin_px(preset))
    fields = NoiseFields((preset.height, preset.width), window, rng)
    readings_m = _FAMILY_NOISE[preset.family](window.of(depth_m), preset, fields)
    return window.within(depth_m.shape, within_range(readings_m, preset))


def within_range(readings_m: np.ndarray, preset: SensorPreset) -> np.ndarray:
    """Drop readings that are nearer or farther than the preset's camera reads.

    Parameters
    ----------
    readings_m : float32 (H, W), metres
    preset : SensorPreset

    Returns
    -------
    float32 (H, W), metres
        0 = no reading; a new array.
    """
    near, far = np.float32(preset.min_range_m), np.float32(preset.max_range_m)
    return cv2.copyTo(readings_m, cv2.inRange(readings_m, float(near), float(far)))
