"""What a stereo camera (RealSense D435) makes of rooms, beyond its noise.

Floors are bare and seen at a grazing angle: their readings are speckled with holes. Readings are missing in a wide band
left of near things, and along the left border of the image: the second camera sees something else there, or nothing.
Far surfaces are smeared: matching windows are large there, in metres, and errors too. Strengths are assumptions.
"""

from __future__ import annotations

import cv2
import numpy as np

from synth.sensors.incidence import squared_tangents
from synth.sensors.noise_fields import NoiseFields, Window
from synth.sensors.sensor_presets import SensorPreset

SPECKLE_PX = (1.2, 3.0)
"""Sigma of the holes in floors."""
SPECKLE_SIGMAS = (0.6, 2.2)
"""Holes are where noise of unit variance exceeds this on a floor seen at 80 degrees; by GRAZING more where steeper."""
GRAZING = 1.2
"""Sigmas of this limit for each factor of e by which the tangent of incidence differs from that at 80 degrees."""
REFERENCE_TANGENT = np.tan(np.radians(80))
MIN_TANGENT = np.tan(np.radians(55))
"""Surfaces seen less obliquely have no such holes."""
SHADOW_PX = (3.0, 12.0)
"""Width that is added to shadows, matching pixels."""
HIDDEN_PX = 0.75
"""Overlap of two surfaces in the second camera from which on the farther one is hidden."""
FAR_M = (3.0, 5.0)
"""Depth from which on readings are smeared."""
SMEAR_PX = (2.0, 6.0)
"""Sigma of the smear."""
WAVE_PX, WAVE_SHARE = 14.0, 0.015
"""Sigma of the errors of far surfaces, pixels, and their size: a share of depth for each metre beyond FAR_M."""


def add_stereo_defects(
    depth_m: np.ndarray,
    readings_m: np.ndarray,
    preset: SensorPreset,
    strengths: np.random.Generator,
    rng: np.random.Generator,
) -> np.ndarray:
    """Return the readings of a room with holes in floors, wide shadows and a smeared distance.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
        Without noise.
    readings_m : float32 (H, W), metres, 0 = no reading
    preset : SensorPreset
        Of family stereo.
    strengths : numpy.random.Generator
        Draws what is the same in all frames of a camera.
    rng : numpy.random.Generator
        Draws the noise.
    """
    fields = NoiseFields(depth_m.shape, Window(0, depth_m.shape[0], 0, depth_m.shape[1]), rng)
    smeared_m = _smeared(readings_m, strengths, fields)
    lost = _speckles(depth_m, preset, strengths, fields) | _shadows(depth_m, preset, strengths)
    return np.where(lost, np.float32(0), smeared_m)


def _speckles(
    depth_m: np.ndarray, preset: SensorPreset, strengths: np.random.Generator, fields: NoiseFields
) -> np.ndarray:
    """Small holes in surfaces that are seen at a grazing angle from above: bool (H, W)."""
    size_px, sigmas = strengths.uniform(*SPECKLE_PX), strengths.uniform(*SPECKLE_SIGMAS)
    tangents = np.empty_like(depth_m)
    squared_tangents(depth_m, np.float32(preset.intrinsics.fx), np.float32(preset.intrinsics.fy), tangents)
    tangent = np.sqrt(cv2.blur(tangents, (5, 5)))
    limit = sigmas - GRAZING * np.log(np.maximum(tangent, 1e-3) / REFERENCE_TANGENT)
    below = np.zeros(depth_m.shape, bool)
    below[:-1] = (depth_m[1:] < depth_m[:-1]) & (depth_m[1:] > 0)  # rows below are nearer, as on a floor
    return below & (tangent > MIN_TANGENT) & (fields.smooth(size_px) > limit)


def _shadows(depth_m: np.ndarray, preset: SensorPreset, strengths: np.random.Generator) -> np.ndarray:
    """Where the second camera sees something else, widened to the left, or nothing: bool (H, W)."""
    scale = preset.intrinsics.fx / preset.matching_fx
    seen = depth_m > 0
    columns = np.arange(depth_m.shape[1], dtype=np.float32)
    disparity_px = np.divide(preset.intrinsics.fx * preset.baseline_m, depth_m, out=np.zeros_like(depth_m), where=seen)
    second = np.where(seen, columns - disparity_px, np.float32(np.inf))  # columns of the second camera
    reached = np.minimum.accumulate(second[:, ::-1], axis=1)[:, ::-1]  # by what lies to the right
    hidden = seen & (second > reached + HIDDEN_PX)
    wide = max(round(strengths.uniform(*SHADOW_PX) * scale), 1)
    reach = np.zeros((1, 2 * wide + 1), np.uint8)
    reach[0, wide:] = 1  # a pixel is lost where one of those to its right is hidden
    return cv2.dilate(hidden.view(np.uint8), reach).view(bool) | (seen & (second < 0))


def _smeared(readings_m: np.ndarray, strengths: np.random.Generator, fields: NoiseFields) -> np.ndarray:
    """Readings, of which far ones are averaged with their neighbours and wavy."""
    from_m, sigma_px = strengths.uniform(*FAR_M), strengths.uniform(*SMEAR_PX)
    far = readings_m > from_m
    if not far.any():
        return readings_m
    weights = cv2.GaussianBlur(far.astype(np.float32), (0, 0), sigma_px)
    total = cv2.GaussianBlur(np.where(far, readings_m, np.float32(0)), (0, 0), sigma_px)
    mean_m = total / np.maximum(weights, np.float32(1e-6))
    waves = 1 + np.float32(WAVE_SHARE) * (mean_m - np.float32(from_m)) * fields.smooth(WAVE_PX)
    return np.where(far, np.clip(mean_m * waves, np.float32(from_m), None), readings_m).astype(np.float32)
