"""A depth frame, and a depth frame with the truth painted on it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera import Intrinsics

MIN_DEPTH_M = 0.1
"""Nearer readings are noise: no depth camera measures them."""
MAX_DEPTH_M = 9.5
"""Further readings are dropped, so that every reading stays clear of BACKGROUND_M (10 m)."""


def clean_depth(depth: np.ndarray) -> np.ndarray:
    """Check a depth image at the public edge and make it float32 metres with 0 = no reading.

    Parameters
    ----------
    depth : (H, W); floating point is metres, uint16 is millimetres

    Returns
    -------
    float32 (H, W), metres; NaN, infinities and what lies outside [MIN_DEPTH_M, MAX_DEPTH_M] become 0

    Raises
    ------
    ValueError
        For another number of axes or another dtype.
    """
    depth = np.asarray(depth)
    if depth.ndim != 2 or depth.size == 0:
        raise ValueError(f"a depth image has two axes (rows, columns) and at least one pixel, got shape {depth.shape}")
    if depth.dtype == np.uint16:
        depth_m = depth.astype(np.float32) * np.float32(0.001)
    elif depth.dtype.kind == "f":
        with np.errstate(over="ignore"):  # what float32 cannot hold becomes infinite, and so no reading
            depth_m = depth.astype(np.float32, copy=False)
    else:
        raise ValueError(f"depth must be floating point metres or uint16 millimetres, got {depth.dtype}")
    depth_m = np.ascontiguousarray(depth_m)  # row by row, whatever view came in: kernels are compiled for one layout
    with np.errstate(invalid="ignore"):
        usable = (depth_m >= MIN_DEPTH_M) & (depth_m <= MAX_DEPTH_M)
    return cv2.copyTo(depth_m, usable.view(np.uint8))  # a new image, 0 elsewhere; np.where takes five times as long


def window_of(mask: np.ndarray) -> tuple[slice, slice]:
    """Rows and columns that hold all of a mask, (H, W); empty for an empty one."""
    if mask.itemsize > 1:
        mask = mask != 0
    left, top, width, height = cv2.boundingRect(mask.view(np.uint8))
    return slice(top, top + height), slice(left, left + width)


@dataclass(frozen=True, slots=True, eq=False)
class DepthFrame:
    """One image of a depth camera.

    `depth_m` is cleaned on the way in (see `clean_depth`), so that every later stage may trust it.
    Raises ValueError for depth that is no image.
    """

    depth_m: np.ndarray  #: float32 (H, W), metres; 0 = no reading
    intrinsics: Intrinsics
    timestamp_s: float = 0.0  #: seconds since the first frame of the source
    index: int = 0  #: position in the source, unchanged by frames that were skipped or dropped

    def __post_init__(self) -> None:
        if not math.isfinite(self.timestamp_s):
            raise ValueError(f"a frame's time must be a finite number of seconds, got {self.timestamp_s}")
        object.__setattr__(self, "depth_m", clean_depth(self.depth_m))


@dataclass(frozen=True, slots=True, eq=False)
class LabelledFrame:
    """A depth frame with its truth: what a renderer knows and a camera does not."""

    depth: DepthFrame
    parts: np.ndarray  #: uint8 (H, W), label code of the body part, 0 = nobody
    people: np.ndarray  #: uint8 (H, W), id of the person, 0 = nobody
    joints_m: np.ndarray  #: float32 (P, J, 3), camera axes, metres; person of id k is row k - 1
    visible: np.ndarray  #: bool (P, J), whether the joint's surface is seen (docs/reference/formats.md)
