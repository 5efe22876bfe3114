"""Disparity of a Kinect for Xbox 360, and its conversion to millimetres.

References
----------
libfreenect: src/registration.c (``freenect_raw_to_mm``).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

NO_DISPARITY = 2047
"""Maximum 11-bit value: no reading."""
MAX_DEPTH_MM = 10_000
"""libfreenect reports no larger depth."""


@dataclass(frozen=True, slots=True)
class ZeroPlane:
    """Reference plane of a Kinect's disparity. The defaults are those of libfreenect, measured on one Kinect."""

    dcmos_emitter_distance: float = 7.5  #: between projector and depth camera, cm
    reference_distance: float = 120.0  #: of the plane, cm
    reference_pixel_size: float = 0.1042  #: mm
    const_shift: float = 200.0  #: disparity of the plane, pixels

    def millimetres(self) -> np.ndarray:
        """Depth of every disparity from 0 to 2047: uint16 (2048,), rounded down, 0 = no reading."""
        emitter, distance, pixel = np.array(  # libfreenect stores them as float and computes in double
            [self.dcmos_emitter_distance, self.reference_distance, self.reference_pixel_size], np.float32
        ).tolist()
        metric = ((np.arange(NO_DISPARITY + 1) - 4 * self.const_shift) / 4 - 0.375) * pixel
        with np.errstate(divide="ignore", invalid="ignore"):
            depth = 10 * (metric * distance / (emitter - metric) + distance)
        depth[NO_DISPARITY] = 0
        return np.where((depth > 0) & (depth < MAX_DEPTH_MM), depth, 0).astype(np.uint16)
