"""A single frame as a still camera would go on seeing it: the same scene, with noise and flicker."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import cv2
import numpy as np

from posepipe.frames import DepthFrame

RATE_HZ = 30.0
NOISE_M, NOISE_GROWTH, NOISE_NEAR_M = 0.0012, 0.0019, 0.4
"""Standard deviation of a reading z of a Kinect v1: NOISE_M + NOISE_GROWTH (z - NOISE_NEAR_M)^2, metres."""
FLICKER = 0.3
"""Probability that a reading beside a hole is absent in a frame."""


def still_camera(frame: DepthFrame, seconds: float, seed: int = 0) -> Iterator[DepthFrame]:
    """Yield a frame, and then repeat it with noise at RATE_HZ.

    Each reading gets Gaussian noise. Those that touch a hole flicker.

    Parameters
    ----------
    frame : the first frame, unchanged
    seconds : time between the first frame and the last, 0 or more
    seed : of the noise

    Yields
    ------
    DepthFrame

    References
    ----------
    Nguyen, Izadi, Lovell: Modeling Kinect Sensor Noise for Improved 3D Reconstruction and Tracking, 3DIMPVT 2012.
    """
    rng = np.random.default_rng(seed)
    measured = frame.depth_m > 0
    inner = cv2.erode(measured.astype(np.uint8), np.ones((3, 3), np.uint8), borderValue=1) > 0
    edge = measured & ~inner
    spread_m = np.where(measured, NOISE_M + NOISE_GROWTH * (frame.depth_m - NOISE_NEAR_M) ** 2, 0).astype(np.float32)
    yield frame
    for step in range(1, round(seconds * RATE_HZ) + 1):
        depth_m = frame.depth_m + spread_m * rng.standard_normal(frame.depth_m.shape, np.float32)
        depth_m[edge & (rng.random(frame.depth_m.shape, np.float32) < FLICKER)] = 0
        yield replace(frame, depth_m=depth_m, timestamp_s=frame.timestamp_s + step / RATE_HZ, index=frame.index)
