"""Registered images: depth warped by a driver to the view of a colour camera beside the depth camera.

The image is that of the colour camera. What the depth camera does not see from its own place has no reading there. A
driver without a depth test gives it the reading of what hides it: edges of near things show twice. The colour camera
sees farther to the sides: the border is black.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from posepipe.camera import Intrinsics

BASELINES_M = (0.012, 0.06)
"""Distance of the two cameras: 0.015 m in a RealSense, 0.025 m in a Kinect v1, 0.052 m in a Kinect v2."""
ZOOMS = (1.0, 1.14)
"""Focal length of the depth camera, in those of the colour camera: 1.11 in a Kinect v1."""
SHIFT_SHARE = 0.02
"""Maximum error of the depth image's centre, image widths."""
DOUBLED_SHARE = 0.5
"""Of the drivers, those that look up without a depth test."""
SAME_SURFACE_SHARE = 0.02
"""Difference of depth, as a share of it, up to which two readings are of one surface."""


@dataclass(frozen=True, slots=True)
class Registration:
    """How a driver registers depth."""

    baseline_m: float  #: from the colour camera to the depth camera, to the left; below 0 to the right
    zoom: float  #: focal length of the depth camera, in those of the colour camera
    shift_px: tuple[float, float]  #: rows and columns by which the depth image lies off the middle
    doubled: bool  #: whether hidden places show what hides them


def draw_registration(width: int, rng: np.random.Generator) -> Registration:
    """Draw a driver and a pair of cameras, for images of this width, pixels."""
    side = 1.0 if rng.random() < 0.5 else -1.0
    shift = rng.uniform(-SHIFT_SHARE, SHIFT_SHARE, 2) * width
    return Registration(
        side * rng.uniform(*BASELINES_M),
        rng.uniform(*ZOOMS),
        (float(shift[0]), float(shift[1])),
        bool(rng.random() < DOUBLED_SHARE),
    )


def register(readings_m: np.ndarray, lens: Intrinsics, registration: Registration) -> tuple[np.ndarray, np.ndarray]:
    """Return what remains of readings in the view of a colour camera when another camera takes them.

    Parameters
    ----------
    readings_m : float32 (H, W), metres
        As they would be in the colour camera; 0 = no reading.
    lens : Intrinsics
        Of the colour camera.
    registration : Registration

    Returns
    -------
    registered_m : float32 (H, W), metres
    source : int64 (H, W)
        Flat index of the pixel whose surface is shown: its own but at doubled edges.
    """
    height, width = readings_m.shape
    source = np.arange(readings_m.size).reshape(readings_m.shape)
    rows, cols = np.nonzero(readings_m)
    depth_m = readings_m[rows, cols]
    at_cols = np.rint(cols + lens.fx * registration.baseline_m / depth_m).astype(np.int64)
    margin = int(np.abs(at_cols - cols).max(initial=0))
    cell = rows * (width + 2 * margin) + at_cols + margin
    nearest = np.full(height * (width + 2 * margin), -1, np.int64)
    farthest_first = np.argsort(-depth_m, kind="stable")
    nearest[cell[farthest_first]] = (rows * width + cols)[farthest_first]  # the nearest is written last
    hiding = nearest[cell]
    hiding_m = readings_m.ravel()[hiding]
    hidden = hiding_m < depth_m * (1 - SAME_SURFACE_SHARE)
    registered_m = readings_m.copy()
    registered_m[rows[hidden], cols[hidden]] = hiding_m[hidden] if registration.doubled else 0
    if registration.doubled:
        source[rows[hidden], cols[hidden]] = hiding[hidden]
    off_rows = np.abs(rows - lens.cy - registration.shift_px[0]) * registration.zoom > height / 2
    off_cols = np.abs(at_cols - lens.cx - registration.shift_px[1]) * registration.zoom > width / 2
    registered_m[rows[off_rows | off_cols], cols[off_rows | off_cols]] = 0
    return registered_m, source
