"""A perfect depth image through the eyes of a real camera: presets and noise, by name."""

from __future__ import annotations

import cv2
import numpy as np

from synth.sensors import stereo, structured_light, time_of_flight
from synth.sensors.noise_fields import NoiseFields, Window
from synth.sensors.presets import PRESETS, SensorPreset, sensor_preset

__all__ = ["PRESETS", "SensorPreset", "add_sensor_noise", "sensor_preset"]

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
    """Beyond this far from everything the camera reads nothing, and no reading depends on what is there."""
    return _FAMILY_REACH_PX[preset.family](preset) + 1  # what looks over the border finds nothing there


def add_sensor_noise(depth_m: np.ndarray, preset: SensorPreset, rng: np.random.Generator) -> np.ndarray:
    """Turn what a perfect camera sees into what the preset's camera reports.

    The result depends on the depth, the preset and the generator's state, on nothing else. Labels stay those of
    the perfect image; where they disagree with the readings, by a pixel at silhouettes, so do a real camera's.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing; of the preset's size
    preset : SensorPreset
    rng : numpy.random.Generator, advanced

    Returns
    -------
    float32 (H, W), metres, 0 = no reading; a new array

    Raises
    ------
    ValueError
        When ``depth_m`` is no float32 image of the preset's size.
    """
    wanted = (preset.height, preset.width)
    if depth_m.dtype != np.float32 or depth_m.shape != wanted:
        raise ValueError(
            f"sensor {preset.name!r} wants float32 metres of shape {wanted}, got {depth_m.dtype} {depth_m.shape}"
        )
    window = Window.around(depth_m > 0, margin_px(preset))
    fields = NoiseFields((preset.height, preset.width), window, rng)
    readings_m = _FAMILY_NOISE[preset.family](window.of(depth_m), preset, fields)
    near, far = np.float32(preset.min_range_m), np.float32(preset.max_range_m)
    within_range = cv2.inRange(readings_m, float(near), float(far))
    return window.within(depth_m.shape, cv2.copyTo(readings_m, within_range))
