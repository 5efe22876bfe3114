"""Noise of a structured-light camera (Kinect v1).

For a window of 9x9 pixels the camera measures the disparity of projected dots, in eighths of a pixel. Depth therefore
has steps that grow with z^2, silhouettes are ragged, fingers and hair break up, and what the projector does not see has
no reading. The strength of each frame is drawn around the one measured on real frames (people at 2.2-4 m in a 320x240
stream), so that training covers better and worse cameras.

Random numbers are drawn before any kernel runs: a frame depends on the generator's state alone.

References
----------
Handa et al., ICRA 2014, and Barron & Malik, CVPR 2013 (shifted look-ups, disparity in eighths); Nguyen et
al., 3DIMPVT 2012 (sigma of depth and of look-ups); Khoshelham & Elberink, Sensors 2012 (depth from disparity).
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from posepipe.compilation import njit
from synth.sensors.incidence import squared_tangents
from synth.sensors.noise_fields import NoiseFields
from synth.sensors.sensor_presets import SensorPreset
from synth.sensors.triangulation import disparity_seen_twice, match_windows, rough_windows

STEPS_PER_PX = 8.0  #: disparity is measured in eighths of a matching pixel
WINDOW_PX = 9  #: matching pixels
BLIND_COLUMNS_PX = 8  #: matching pixels at the right border, where no window fits
NEEDED_SHARE = 0.3  #: of a window; with less, the reading is missing. A straight edge leaves 0.5, a corner 0.25
NEEDED_SPREAD = 0.06  #: sigma of that share over the image, for hair, dark cloth and reflections
GRAZING_TANGENT = 20.0  #: steeper surfaces (87 degrees) have no reading
LATERAL_PX = 0.62  #: sigma of look-ups, matching pixels. Handa: 0.5, Nguyen: 0.8; this fits real silhouettes best
AXIAL_SHARE = 0.85  #: of Nguyen's sigma of depth, in a frame of usual strength; this fits real bodies best
WHITE_SHARE = 0.3  #: of the noise that is independent for each pixel; overlapping windows share the rest
STRENGTH_SPREAD = 0.25  #: of the logarithm of a frame's strength
MAX_SIGMAS = 16.0  #: of a look-up: the largest patchy value, 6, in a frame stronger than all but one in 20,000

_STEPS, _GRAZING = np.float32(STEPS_PER_PX), np.float32(GRAZING_TANGENT**2)


@njit(cache=True)
def _look_up_shifted(disparity, shifts, sigma, out):
    """Fill ``out`` with the disparity a random step away; nearest pixel, because surfaces must not be mixed.

    Parameters
    ----------
    disparity, out : float32 (H, W), matching pixels
    shifts : two of float32 (H, W), unit normal: rows and columns
    sigma : float, image pixels

    References
    ----------
    Handa et al. 2014. Naive twin: tests/reference/synth/sensors/structured_light.py
    """
    height, width = disparity.shape
    down, across = shifts
    for row in range(height):
        for col in range(width):
            r = row + int(math.floor(down[row, col] * sigma + 0.5))
            c = col + int(math.floor(across[row, col] * sigma + 0.5))
            out[row, col] = disparity[min(max(r, 0), height - 1), min(max(c, 0), width - 1)]


@njit(cache=True, inline="always", error_model="numpy")
def _axial_sigma(z, squared_tangent):
    """Sigma of a reading, metres: Nguyen et al. 2012, eq. of sigma_z; measured up to about 80 degrees."""
    tangent = math.sqrt(min(squared_tangent, _GRAZING))
    # pi/2 - atan(tangent) within 0.005, needed from 45 degrees on: below them the angle adds at most 0.1 mm.
    rest = tangent / (tangent * tangent + np.float32(0.28))
    oblique = np.float32(math.pi / 2) / rest - np.float32(1)
    level = np.float32(0.0012) + np.float32(0.0019) * (z - np.float32(0.4)) * (z - np.float32(0.4))
    return level + (np.float32(0.0001) * oblique * oblique / math.sqrt(z) if squared_tangent > 1 else np.float32(0))


@njit(cache=True, error_model="numpy")
def _read_out(disparity, tangents, jitter, strength, focal_baseline, out):
    """Fill ``out`` with metres: disparity with noise, rounded to eighths; 0 where the view is too oblique.

    There are no branches, so that the compiler vectorises the loop. The values of missing pixels are discarded.

    Parameters
    ----------
    disparity : float32 (H, W), matching pixels, 0 = no reading
    tangents : float32 (H, W), squared, of the angle of view on the true surface
    jitter : float32 (H, W), unit normal
    strength : float32, factor on Nguyen's sigma
    focal_baseline : float32, matching pixels x metres
    out : float32 (H, W), metres, written in place

    References
    ----------
    z = f b / d, Khoshelham & Elberink 2012. Naive twin: tests/reference/synth/sensors/structured_light.py
    """
    height, width = disparity.shape
    steps_at_1_m = focal_baseline * _STEPS
    for row in range(height):
        for col in range(width):
            d, squared_tangent = disparity[row, col], tangents[row, col]
            z = focal_baseline / d
            sigma = strength * _axial_sigma(z, squared_tangent) * steps_at_1_m / (z * z)  # now in steps
            # the measured sigma includes the rounding error, 1/12 step^2, which is added by rounding below
            sigma = math.sqrt(max(sigma * sigma - np.float32(1 / 12), np.float32(0)))
            steps = np.floor(d * _STEPS + jitter[row, col] * sigma + np.float32(0.5))
            seen = (d > 0) & (steps > 0) & (squared_tangent <= _GRAZING)
            out[row, col] = steps_at_1_m / steps if seen else np.float32(0)


def reach_px(preset: SensorPreset) -> int:
    """Return the maximum distance, in image pixels, from which a reading may come."""
    return math.ceil(MAX_SIGMAS * LATERAL_PX * _image_pixels_per_match(preset)) + 1


def _image_pixels_per_match(preset: SensorPreset) -> float:
    return preset.intrinsics.fx / preset.matching_fx


def add_structured_light_noise(depth_m: np.ndarray, preset: SensorPreset, fields: NoiseFields) -> np.ndarray:
    """Return the camera's readings where a perfect camera would see ``depth_m``.

    Parameters
    ----------
    depth_m : float32 (h, w), metres
        0 = nothing; the window of the image that ``fields`` has.
    preset : SensorPreset
        Of family structured_light.
    fields : NoiseFields

    Returns
    -------
    float32 (h, w), metres
        0 = no reading; not yet limited to the camera's range.
    """
    shape = depth_m.shape
    scale = _image_pixels_per_match(preset)
    focal_baseline = preset.matching_fx * preset.baseline_m
    radius = max(int(WINDOW_PX * scale / 2), 1)
    depth_strength, edge_strength = np.exp(fields.rng.normal(0, STRENGTH_SPREAD, 2))
    shifts = fields.patchy(radius), fields.patchy(radius)
    needed = fields.patchy(radius) * np.float32(NEEDED_SPREAD * edge_strength) + np.float32(NEEDED_SHARE)
    jitter = _depth_jitter(fields, radius)

    seen, disparity = np.empty(shape, np.float32), np.empty(shape, np.float32)
    disparity_seen_twice(depth_m, focal_baseline, scale, seen)
    _look_up_shifted(seen, shifts, LATERAL_PX * scale * edge_strength, disparity)
    match_windows(disparity, rough_windows(disparity, radius), needed, radius, seen)
    readings_m, tangents = disparity, np.empty(shape, np.float32)  # reuses the array
    squared_tangents(depth_m, np.float32(preset.intrinsics.fx), np.float32(preset.intrinsics.fy), tangents)
    strength = np.float32(AXIAL_SHARE * depth_strength)
    _read_out(seen, tangents, jitter, strength, np.float32(focal_baseline), readings_m)
    blind = fields.shape[1] - round(BLIND_COLUMNS_PX * scale) - fields.window.left
    readings_m[:, max(blind, 0) :] = 0
    return readings_m


def _depth_jitter(fields: NoiseFields, radius: int) -> np.ndarray:
    """Unit noise, part shared by a window and part independent for each pixel: float32 (h, w)."""
    shared = fields.patchy(radius)
    own = fields.uniform()  # uniform is faster to draw, and good enough for a small share
    own_scale = WHITE_SHARE * math.sqrt(12)
    return cv2.addWeighted(shared, math.sqrt(1 - WHITE_SHARE**2), own, own_scale, -0.5 * own_scale)
