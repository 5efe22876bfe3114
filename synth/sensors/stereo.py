"""Noise of a stereo camera (RealSense D435).

Two cameras match windows of texture. Sigma grows with z^2, and errors are smooth over the size of a window. Foreground
is fattened, because a window that contains part of it matches its disparity. Readings are missing where there is no
texture, and to the left of foreground, where the second camera's view is blocked.

References
----------
sigma_z = z^2 s / (f B) follows from z = f B / d. A sub-pixel error s of about 0.08 reproduces the accuracy that
Intel states for the D435, whose disparity has five binary places. Scharstein & Szeliski, IJCV 2002 (foreground
fattening). The sizes and shares of blobs, fringes and holes are assumptions.
"""

from __future__ import annotations

import math

import cv2
import numpy as np

from synth.sensors.noise_fields import NoiseFields
from synth.sensors.sensor_presets import SensorPreset
from synth.sensors.triangulation import SAME_SURFACE_PX, disparity_seen_twice, match_windows, rough_windows

SUBPIXEL_PX = 0.08  #: sigma of disparity
STEPS_PER_PX = 32.0  #: of reported disparity
BLOB_PX, FINE_PX = 6.0, 2.0  #: sigma of the windows over which neighbours share errors
FINE_SHARE = 0.08  #: of the variance of disparity
RADIUS_PX = 3  #: of the matching window
NEEDED_SHARE = 0.3  #: of a window; with less, the reading is missing. A straight edge leaves 0.5, a corner 0.25
FAT_PX = 2  #: by which foreground grows
FRINGE_PX = 2.5  #: size of the sections of an outline that are fattened or not; half of them are
REACH_PX = FAT_PX + RADIUS_PX  #: distance from which a surface influences a reading
BARE_PX = 8.0  #: size of a patch without texture
BARE_SIGMAS = 2.7  #: no texture where the patch noise exceeds this: about 0.5 % of the image
BARE_RAGGED = 0.3  #: share of the fringe noise that is added, to make the outlines of patches irregular


def add_stereo_noise(depth_m: np.ndarray, preset: SensorPreset, fields: NoiseFields) -> np.ndarray:
    """Return the camera's readings where a perfect camera would see ``depth_m``.

    Parameters
    ----------
    depth_m : float32 (h, w), metres
        0 = nothing; the window of the image that ``fields`` has.
    preset : SensorPreset
        Of family stereo.
    fields : NoiseFields

    Returns
    -------
    float32 (h, w), metres
        0 = no reading; not yet limited to the camera's range.
    """
    shape = depth_m.shape
    focal_baseline = preset.matching_fx * preset.baseline_m
    blobs, fine = fields.smooth(BLOB_PX), fields.smooth(FINE_PX)
    jitter = blobs * np.float32(math.sqrt(1 - FINE_SHARE)) + fine * np.float32(math.sqrt(FINE_SHARE))
    ragged = fields.smooth(FRINGE_PX)
    bare = fields.smooth(BARE_PX) + np.float32(BARE_RAGGED) * ragged > BARE_SIGMAS

    seen, matched = np.empty(shape, np.float32), np.empty(shape, np.float32)
    disparity_seen_twice(depth_m, focal_baseline, preset.intrinsics.fx / preset.matching_fx, seen)
    seen = _fattened(seen, ragged > 0)
    needed = np.full(shape, NEEDED_SHARE, np.float32)
    match_windows(seen, rough_windows(seen, RADIUS_PX), needed, RADIUS_PX, matched)
    steps = np.rint((matched + np.float32(SUBPIXEL_PX) * jitter) * np.float32(STEPS_PER_PX))
    found = (matched > 0) & (steps > 0) & ~bare
    readings_m = np.zeros(shape, np.float32)
    np.divide(np.float32(focal_baseline * STEPS_PER_PX), steps, out=readings_m, where=found)
    return readings_m


def _fattened(disparity: np.ndarray, fat: np.ndarray) -> np.ndarray:
    """Disparity with the foreground grown where ``fat``: float32 (h, w), matching pixels, 0 = none."""
    side = 2 * FAT_PX + 1
    nearest = cv2.dilate(disparity, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
    return np.where(fat & (nearest - disparity > SAME_SURFACE_PX), nearest, disparity)
