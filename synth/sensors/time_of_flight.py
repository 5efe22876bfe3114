"""Noise of a time-of-flight camera (Kinect v2, Azure Kinect).

The camera measures reflected light. Surfaces that are far, oblique or dark return little, so their readings are noisy
or missing. A pixel on an edge receives light from both surfaces and reports a depth between them, a flying pixel. The
firmware detects most of these and removes them.

References
----------
Azure Kinect DK hardware specification (random error <= 17 mm, systematic < 11 mm + 0.1 % of the distance);
Sarbolandi et al., CVIU 2015 (Kinect v2: flying pixels, dark surfaces). z^2 / cos t follows from
the inverse-square law of light; its constant is set to meet the specification at 3.86 m.
"""

from __future__ import annotations

import math

import numpy as np

from posepipe.compilation import njit
from synth.sensors.incidence import squared_tangents
from synth.sensors.noise_fields import NoiseFields
from synth.sensors.sensor_presets import SensorPreset

SIGMA_AT_1_M = 0.00114  #: metres, head-on, on a surface of usual brightness; 17 mm at 3.86 m
SYSTEMATIC_M, SYSTEMATIC_SHARE = 0.011, 0.001  #: bounds of an error common to a whole frame
NO_SIGNAL = 0.005  #: brightness x cos t / z^2, 1 = white at 1 m; surfaces that return less have no reading
BRIGHTNESS_SPREAD = 0.35  #: of the logarithm of brightness, for dark hair and cloth
BRIGHTNESS_PATCH_PX = 12
EDGE_M = 0.1  #: jumps larger than this make flying pixels
FLYING_SHARE = 0.25  #: of the pixels at an edge that keep their mixed depth; another FLYING_SHARE is removed
WHITE = 0.6  #: brightness of a usual surface
REACH_PX = 1  #: distance of the neighbours that a reading depends on


@njit(cache=True)
def _measure(depth_m, tangents, brightness, own, chance, bias, out):
    """Fill ``out`` with noisy metres, mixed at edges, 0 where too little light returns.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
    tangents : float32 (H, W), squared, of the angle of view
    brightness : float32 (H, W), share of light that a surface returns
    own : float32 (H, W), unit normal
    chance : float32 (H, W), uniform in [0, 1)
    bias : float, share of the bounds of the systematic error, -1 to 1
    out : float32 (H, W), metres, written in place

    References
    ----------
    Naive twin: tests/reference/synth/sensors/time_of_flight.py
    """
    height, width = depth_m.shape
    for row in range(height):
        for col in range(width):
            z = depth_m[row, col]
            out[row, col] = 0
            if z == 0:
                continue
            secant = math.sqrt(1.0 + tangents[row, col])
            signal = brightness[row, col] / (secant * z * z)
            if signal < NO_SIGNAL:
                continue
            other = _across_edge(depth_m, row, col)
            if other != z and chance[row, col] < 2 * FLYING_SHARE:
                if chance[row, col] >= FLYING_SHARE:
                    continue
                if other > 0:  # without a surface behind there is nothing to mix
                    z += (other - z) * chance[row, col] / FLYING_SHARE
            sigma = SIGMA_AT_1_M * WHITE / signal
            out[row, col] = z + sigma * own[row, col] + bias * (SYSTEMATIC_M + SYSTEMATIC_SHARE * z)


@njit(cache=True, inline="always")
def _across_edge(depth_m, row, col):
    """Depth of the neighbour beyond an edge (0 = nothing there), or the pixel's own depth where there is no edge."""
    height, width = depth_m.shape
    z = depth_m[row, col]
    for step_row, step_col in ((0, -1), (0, 1), (-1, 0), (1, 0)):
        r, c = row + step_row, col + step_col
        if 0 <= r < height and 0 <= c < width and abs(depth_m[r, c] - z) > EDGE_M:
            return depth_m[r, c]
    return z


def add_time_of_flight_noise(depth_m: np.ndarray, preset: SensorPreset, fields: NoiseFields) -> np.ndarray:
    """Return the camera's readings where a perfect camera would see ``depth_m``.

    Parameters
    ----------
    depth_m : float32 (h, w), metres
        0 = nothing; the window of the image that ``fields`` has.
    preset : SensorPreset
        Of family time_of_flight.
    fields : NoiseFields

    Returns
    -------
    float32 (h, w), metres
        0 = no reading; not yet limited to the camera's range.
    """
    shape = depth_m.shape
    bias = fields.rng.uniform(-1, 1)
    patches = fields.patchy(BRIGHTNESS_PATCH_PX)
    brightness = np.minimum(WHITE * np.exp(patches * np.float32(BRIGHTNESS_SPREAD)), 1).astype(np.float32, copy=False)
    own = fields.normal()
    chance = fields.uniform()
    readings_m = np.empty(shape, np.float32)
    tangents = np.empty(shape, np.float32)
    squared_tangents(depth_m, np.float32(preset.intrinsics.fx), np.float32(preset.intrinsics.fy), tangents)
    _measure(depth_m, tangents, brightness, own, chance, bias, readings_m)
    return readings_m
