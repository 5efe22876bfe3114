"""What a stereo camera (RealSense D435) makes of a perfect depth image.

Two cameras look for the same texture, so sigma grows with z^2, holes gape where there is no texture to
match and to the left of things, where the second camera sees something else.

References
----------
sigma_z = z^2 s / (f B) follows from z = f B / d. A sub-pixel error s of about 0.08 reproduces the accuracy that
Intel states for the D435; the rounding to 1/32 pixel and the size and share of holes are assumptions.
"""

from __future__ import annotations

import numpy as np

from synth.noise_fields import NoiseFields
from synth.sensor_presets import SensorPreset
from synth.triangulation import disparity_seen_twice, match_windows, rough_windows

SUBPIXEL_PX = 0.08  #: sigma of disparity
STEPS_PER_PX = 32.0  #: of reported disparity
RADIUS_PX = 3  #: of the matching window
NEEDED_SHARE, NEEDED_SPREAD = 0.36, 0.08
BARE_PATCH_PX = 16  #: size of a patch without texture
BARE_SIGMAS = 2.2  #: above this many sigmas of the patch noise there is no texture: about 1 % of the picture


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
    needed = fields.patchy(RADIUS_PX) * np.float32(NEEDED_SPREAD) + np.float32(NEEDED_SHARE)
    jitter = fields.patchy(RADIUS_PX)
    bare = fields.patchy(BARE_PATCH_PX) > BARE_SIGMAS

    seen, matched = np.empty(shape, np.float32), np.empty(shape, np.float32)
    disparity_seen_twice(depth_m, focal_baseline, preset.intrinsics.fx / preset.matching_fx, seen)
    match_windows(seen, rough_windows(seen, RADIUS_PX), needed, RADIUS_PX, matched)
    steps = np.rint((matched + np.float32(SUBPIXEL_PX) * jitter) * np.float32(STEPS_PER_PX))
    found = (matched > 0) & (steps > 0) & ~bare
    readings_m = np.zeros(shape, np.float32)
    np.divide(np.float32(focal_baseline * STEPS_PER_PX), steps, out=readings_m, where=found)
    return readings_m
