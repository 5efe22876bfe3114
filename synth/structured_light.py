"""What a structured-light camera (Kinect v1) makes of a perfect depth image.

The camera finds, for a window of 9x9 pixels, how far the projected dots have moved; that disparity,
in eighths of a pixel, is all it knows. So depth comes in steps that grow with z^2, edges are ragged,
what is thinner than half a window vanishes, small jumps are smeared over a window's width, and what
the projector does not see has no reading. A frame's strength is drawn around the strength measured on
real frames, so that a forest trained on many frames meets better and worse cameras.

Random numbers are drawn before any kernel runs: a frame depends on the generator's state alone.

References
----------
Handa et al., ICRA 2014 and Barron & Malik, CVPR 2013 (look-ups, 1/8 pixel); Nguyen et al., 3DIMPVT
2012 (sigma of depth); Khoshelham & Elberink, Sensors 2012 (disparity); Bohg et al., ICRA 2014 (9x9 windows).
"""

from __future__ import annotations

import math

import cv2
import numpy as np
from numba import njit

from synth.sensor_presets import SensorPreset

DISPARITY_STEPS = 8.0  #: a pixel of disparity is measured in eighths
WINDOW_PX = 9  #: matching pixels
BLIND_COLUMNS_PX = 8  #: matching pixels at the right border, where no window fits
SAME_SURFACE_PX = 1.0  #: disparities this near are matched as one surface, and so averaged
FLAT_PX = 0.5  #: where neighbours differ by less, the window need not be looked at: its mean is its centre
NEEDED_SHARE = 0.36  #: of a window's dots: what is less is a hole
NEEDED_SPREAD = 0.08  #: of that share, from place to place: hair, dark cloth, shine
LATERAL_PX = 0.5  #: sigma of a look-up, matching pixels
STRENGTH_SPREAD = 0.25  #: of the logarithm of a frame's strength
DS=1.0
SM=0
WHITE_SHARE = 0.45  #: of the noise that is each pixel's own; the rest it shares with its window


@njit(cache=True)
def _light_up(depth_m, focal_baseline, pixels_per_match, out):
    """Fill ``out`` with disparity, and 0 where there is no depth or the projector's view is blocked.

    The projector stands to the right of the camera, so shadows fall to the left of things. Walking a row
    from right to left, its own columns fall too; where they do not, something nearer was in the way.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
    focal_baseline : float, matching pixels x metres
    pixels_per_match : float, image pixels in a matching pixel
    out : float32 (H, W), matching pixels, written in place
    """
    height, width = depth_m.shape
    for row in range(height):
        reached = np.float32(1e9)
        for col in range(width - 1, -1, -1):
            out[row, col] = 0
            if depth_m[row, col] > 0:
                disparity = np.float32(focal_baseline / depth_m[row, col])
                projector_col = col - disparity * pixels_per_match
                if projector_col <= reached + 0.5:  # half a pixel of overlap is still lit
                    out[row, col] = disparity
                reached = min(reached, projector_col)


@njit(cache=True)
def _shift_lookups(disparity, shifts, sigma, out):
    """Fill ``out`` with what lies a random step away; nearest, because a mixture of two surfaces is neither.

    Parameters
    ----------
    disparity, out : float32 (H, W), matching pixels
    shifts : float32 (2, H, W), unit normal, rows and columns
    sigma : float, image pixels
    """
    height, width = disparity.shape
    for row in range(height):
        for col in range(width):
            r = row + int(math.floor(shifts[0, row, col] * sigma + 0.5))
            c = col + int(math.floor(shifts[1, row, col] * sigma + 0.5))
            out[row, col] = disparity[min(max(r, 0), height - 1), min(max(c, 0), width - 1)]


@njit(cache=True)
def _match_windows(disparity, rough, needed_share, radius, out):
    """Fill ``out`` with the mean disparity of each window's surface, and 0 where too few dots agree.

    Parameters
    ----------
    disparity : float32 (H, W), matching pixels
    rough : bool (H, W), where a window must be looked at
    needed_share : float32 (H, W), of a window's pixels, within SAME_SURFACE_PX of its centre
    radius : int, image pixels
    out : float32 (H, W), matching pixels, written in place

    References
    ----------
    Bohg et al., ICRA 2014. Naive twin: tests/reference/structured_light.py
    """
    height, width = disparity.shape
    area = (2 * radius + 1) ** 2
    for row in range(height):
        for col in range(width):
            centre = disparity[row, col]
            out[row, col] = centre
            if centre == 0 or not rough[row, col]:
                continue
            total, count = np.float32(0), 0
            for r in range(max(row - radius, 0), min(row + radius, height - 1) + 1):
                for c in range(max(col - radius, 0), min(col + radius, width - 1) + 1):
                    if abs(disparity[r, c] - centre) < SAME_SURFACE_PX:
                        total += disparity[r, c]
                        count += 1
            out[row, col] = total / count if count >= needed_share[row, col] * area else np.float32(0)


@njit(cache=True)
def _read_out(disparity, jitter, focal_baseline, camera, strength, limits_m, out):
    """Fill ``out`` with metres: disparity with noise, rounded to eighths; 0 outside the range.

    Parameters
    ----------
    disparity : float32 (H, W), matching pixels, 0 = no reading
    jitter : float32 (H, W), unit normal
    focal_baseline : float, matching pixels x metres
    camera : tuple of 4 floats, pixels: fx, fy, cx, cy
    strength : float, factor on Nguyen's sigma
    limits_m : tuple of 2 floats, metres
    out : float32 (H, W), metres, written in place

    References
    ----------
    Nguyen et al. 2012, eq. for sigma_z. Naive twin: tests/reference/structured_light.py
    """
    height, width = disparity.shape
    for row in range(height):
        for col in range(width):
            d = disparity[row, col]
            out[row, col] = 0
            if d == 0:
                continue
            z = focal_baseline / d
            sigma = strength * _axial_sigma(z, _tangent(disparity, row, col, camera))
            step = z * z / (focal_baseline * DISPARITY_STEPS)
            # The measured sigma holds the rounding error, step^2/12, which comes by itself below.
            before = math.sqrt(max(sigma * sigma - step * step / 12, 0.0))
            d += jitter[row, col] * before * d / z
            steps = math.floor(d * DISPARITY_STEPS + 0.5)
            if steps > 0:
                z = focal_baseline * DISPARITY_STEPS / steps
                if limits_m[0] <= z <= limits_m[1]:
                    out[row, col] = z


@njit(cache=True, inline="always")
def _slope(before, here, after):
    """The smaller of the two differences, relative: it stays on the surface where the other one jumps off."""
    down = abs(here - before) if before > 0 else np.float32(1e9)
    up = abs(after - here) if after > 0 else np.float32(1e9)
    smaller = min(down, up)
    return smaller / here if smaller < np.float32(1e9) else np.float32(0)


@njit(cache=True)
def _tangent(disparity, row, col, camera):
    """Tangent of the angle between line of sight and surface normal (for rays near the optical axis).

    Relative slopes of disparity and of depth are the same but for the sign.
    """
    height, width = disparity.shape
    d = disparity[row, col]
    by_row = _slope(disparity[max(row - 1, 0), col], d, disparity[min(row + 1, height - 1), col])
    by_col = _slope(disparity[row, max(col - 1, 0)], d, disparity[row, min(col + 1, width - 1)])
    return math.hypot(by_col * camera[0], by_row * camera[1])


@njit(cache=True, inline="always")
def _axial_sigma(z, tangent):
    """Sigma of a reading, metres. Nguyen et al. 2012: z in metres, angle of incidence up to about 80 degrees."""
    sigma = 0.0012 + 0.0019 * (z - 0.4) * (z - 0.4)
    if tangent > 1.0:  # below 45 degrees the angle adds less than 0.1 mm
        angle = min(math.atan(tangent), 1.4)
        sigma += 0.0001 / math.sqrt(z) * (angle / (math.pi / 2 - angle)) ** 2
    return sigma


def add_structured_light_noise(depth_m: np.ndarray, preset: SensorPreset, rng: np.random.Generator) -> np.ndarray:
    """What the camera reports where a perfect one would see ``depth_m``.

    Parameters
    ----------
    depth_m : float32 (H, W), metres, 0 = nothing
    preset : SensorPreset of family structured_light, of the same picture size
    rng : numpy.random.Generator

    Returns
    -------
    float32 (H, W), metres, 0 = no reading
    """
    fx, fy, cx, cy = (float(getattr(preset.intrinsics, name)) for name in ("fx", "fy", "cx", "cy"))
    scale = fx / preset.matching_fx  # image pixels in a matching pixel
    focal_baseline = preset.matching_fx * preset.baseline_m
    depth_strength, edge_strength = np.exp(rng.normal(0, STRENGTH_SPREAD, 2))*np.array([DS,1.0])
    shape = depth_m.shape
    shifts = _shifts(shape,scale,rng)
    needed = _window_noise(shape, scale, rng) * np.float32(NEEDED_SPREAD * edge_strength) + np.float32(NEEDED_SHARE)
    jitter = _window_noise(shape, scale, rng) * np.float32(math.sqrt(1 - WHITE_SHARE**2))
    jitter += rng.standard_normal(shape, np.float32) * np.float32(WHITE_SHARE)

    lit, disparity, readings = np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty(shape, np.float32)
    _light_up(depth_m, focal_baseline, scale, lit)
    _shift_lookups(lit, shifts, LATERAL_PX * scale * edge_strength, disparity)
    radius = int(WINDOW_PX * scale / 2)
    _match_windows(disparity, _rough(disparity, radius), needed, radius, lit)
    _read_out(lit, jitter, focal_baseline, (fx, fy, cx, cy), depth_strength, (preset.min_range_m, preset.max_range_m), readings)
    readings[:, shape[1] - round(BLIND_COLUMNS_PX * scale):] = 0
    return readings


def _window_noise(shape: tuple[int, int], scale: float, rng: np.random.Generator) -> np.ndarray:
    """Unit normal noise that neighbours share, as their windows overlap: float32 (H, W)."""
    grid = max(int(WINDOW_PX * scale / 2), 1)
    small = rng.standard_normal((-(-shape[0] // grid), -(-shape[1] // grid)), np.float32)
    weights = (np.arange(grid) + 0.5) / grid
    small /= np.float32(np.mean(weights**2 + (1 - weights) ** 2))  # linear interpolation averages, and so weakens
    large = cv2.resize(small, None, fx=grid, fy=grid, interpolation=cv2.INTER_LINEAR)
    return large[: shape[0], : shape[1]]


def _rough(disparity: np.ndarray, radius: int) -> np.ndarray:
    """Where a window holds more than one surface: bool (H, W)."""
    cross = np.array([[0, 1, 0], [1, 1, 1], [0, 1, 0]], np.uint8)
    jumps = cv2.morphologyEx(disparity, cv2.MORPH_GRADIENT, cross) > FLAT_PX
    return cv2.dilate(jumps.view(np.uint8), np.ones((2 * radius - 1, 2 * radius - 1), np.uint8)).view(bool)

def _shifts(shape,scale,rng):
    if SM==0: return rng.standard_normal((2,*shape),np.float32)
    if SM==1: return np.stack([_window_noise(shape, scale, rng) for _ in range(2)])
    k=2
    a=rng.standard_normal((2,-(-shape[0]//(2 if SM==3 else 1)),-(-shape[1]//2)),np.float32)
    a=np.repeat(a,2,2)
    if SM==3: a=np.repeat(a,2,1)
    return np.ascontiguousarray(a[:,:shape[0],:shape[1]])
