"""Holes in infrared-dark surfaces: where too little of the camera's own light comes back.

The light that returns falls with darkness, squared distance and oblique incidence. A reading is missing where this loss
exceeds what the camera can bear, with an error that neighbours share. Holes are therefore large and connected, and
solid islands remain on faces that look at the camera. Visible colour says little about darkness in infrared.

The tolerated losses are fitted to frames of a Kinect v1 with people in black and white clothes at 1.4 to 3.7 m. The
advantage of other families is an assumption.
"""

from __future__ import annotations

import numpy as np

from synth.sensors.incidence import squared_tangents
from synth.sensors.noise_fields import NoiseFields, Window
from synth.sensors.sensor_presets import SensorPreset

TOLERATED = {"hair": 3.2, "top": 2.35, "trousers": 2.35, "shoes": 2.9}
"""Mean tolerated loss of dark objects: the logarithm of squared metres, divided by the cosine of incidence."""
OBJECT_SPREAD = 0.5
"""Standard deviation of an object's tolerated loss around the mean of its kind."""
SPATIAL_SPREAD = 0.7
"""Standard deviation of the error that neighbours share."""
TYPICAL_M = 2.5
"""Distance at which patches of a size that does not follow the surface are measured."""
PATCH_M = 0.05
"""Sigma of the Gaussian over which they share it, on the surface."""
FAMILY_ADVANTAGE = {"structured_light": 0.0, "time_of_flight": 0.6, "stereo": 1.0, "ideal": np.inf}
"""Loss that a family of cameras tolerates beyond structured light."""
FLICKER_RANGE = 0.58
"""Bound of the error that changes from frame to frame, fitted to a leather sofa: a third of its pixels flicker, and
their readings come or go in a third of the frames."""
FLICKER_PX = 1.5
"""Sigma of the Gaussian over which neighbours share it."""
FULL_DISTANCE_M, FAR_SHARE = 2.6, 0.1
"""Beyond this distance, the loss grows with only FAR_SHARE of the distance, as was measured."""


def dark_holes(
    depth_m: np.ndarray,
    tolerated: np.ndarray,
    preset: SensorPreset,
    rng: np.random.Generator,
    flicker: np.random.Generator | None = None,
    patch_m: float | None = None,
) -> np.ndarray:
    """Draw where readings of dark surfaces are missing.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
        Without noise.
    tolerated : float32 (H, W)
        Loss that the surface at each pixel tolerates under structured light; infinite where it is not dark, and minus
        infinity where it never has a reading.
    preset : SensorPreset
    rng : numpy.random.Generator
    flicker : numpy.random.Generator, optional
        Draws what changes from frame to frame, while ``rng`` begins anew with each; None = nothing does.
    patch_m : float, metres, optional
        Sigma of the error that neighbours share, at TYPICAL_M; None = PATCH_M, at the distance of the dark surfaces.

    Returns
    -------
    bool (H, W)
    """
    dark = (depth_m > 0) & (tolerated < np.inf)
    holes = np.zeros(depth_m.shape, bool)
    advantage = FAMILY_ADVANTAGE[preset.family]
    if not dark.any() or not np.isfinite(advantage):
        return holes
    window = Window.around(dark, 1)
    part_m = window.of(depth_m)
    tangents = np.empty(part_m.shape, np.float32)
    squared_tangents(part_m, np.float32(preset.intrinsics.fx), np.float32(preset.intrinsics.fy), tangents)
    if patch_m is None:
        sigma_px = max(PATCH_M * preset.intrinsics.fx / float(np.median(depth_m[dark])), 1.0)
    else:
        sigma_px = max(patch_m * preset.intrinsics.fx / TYPICAL_M, 1.0)
    shared = SPATIAL_SPREAD * NoiseFields(depth_m.shape, window, rng).smooth(sigma_px)
    if flicker is not None:
        changing = NoiseFields(depth_m.shape, window, flicker).smooth(FLICKER_PX)
        shared = shared + np.float32(FLICKER_RANGE) * np.tanh(changing / 2)  # bounded: most pixels never change
    missing = optical_loss(part_m, tangents) + shared > window.of(tolerated) + advantage
    return window.within(depth_m.shape, missing & window.of(dark))


def optical_loss(depth_m: np.ndarray, squared_tangent: np.ndarray) -> np.ndarray:
    """Return the loss of light by distance and incidence: float32, of the shape of depth, metres."""
    beyond_m = np.maximum(depth_m - np.float32(FULL_DISTANCE_M), np.float32(0))
    effective_m = np.maximum(depth_m - np.float32(1 - FAR_SHARE) * beyond_m, np.float32(0.1))
    return 2 * np.log(effective_m) + np.log1p(squared_tangent) / 2
