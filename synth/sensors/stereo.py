"""What a stereo camera (RealSense D435) makes of a perfect depth image.

Two cameras look for the same texture, a window of it at a time. So sigma grows with z^2 and the surface
is bumpy in smooth blobs; near things are fattened, as a window that holds part of one finds that one;
holes gape where there is no texture to match, and to the left of things, where the second camera sees
something else.

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
from synth.sensors.presets import SensorPreset
from synth.sensors.triangulation import SAME_SURFACE_PX, disparity_seen_twice, match_windows, rough_windows

SUBPIXEL_PX = 0.08  #: sigma of disparity
STEPS_PER_PX = 32.0  #: of reported disparity
BLOB_PX, FINE_PX = 6.0, 2.0  #: sigma of the windows through which errors are common to neighbours
FINE_SHARE = 0.08  #: of the variance of disparity
RADIUS_PX = 3  #: of the matching window
NEEDED_SHARE = 0.3  #: of a window: what is less is a hole. A straight edge leaves 0.5, a corner 0.25
FAT_PX = 2  #: by which near things grow, where they do
FRINGE_PX = 2.5  #: size of the pieces of an outline that are fattened or not, half of them
REACH_PX = FAT_PX + RADIUS_PX  #: from how far away readings depend on what is there
BARE_PX = 8.0  #: size of a patch without texture
BARE_SIGMAS = 2.7  #: where the patch noise is above this there is no texture: about 0.5 % of the picture
BARE_RAGGED = 0.3  #: of the fringe noise is added there, or patches were round


def add_stereo_noise(depth_m: np.ndarray, preset: SensorPreset, fields: NoiseFields) -> np.ndarray:
    """What the camera reports where a perfect one would see ``depth_m``.

    Parameters
    ----------
    depth_m : float32 (h, w), metres, 0 = nothing; the window of the picture that ``fields`` has
    preset : SensorPreset of family stereo
    fields : NoiseFields

    Returns
    -------
    float32 (h, w), metres, 0 = no reading; not yet cut to the camera's range
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
    """Near things grown over what lies behind them, where ``fat``: float32 (h, w), matching pixels, 0 = none."""
    side = 2 * FAT_PX + 1
    nearest = cv2.dilate(disparity, cv2.getStructuringElement(cv2.MORPH_ELLIPSE, (side, side)))
    return np.where(fat & (nearest - disparity > SAME_SURFACE_PX), nearest, disparity)
