"""Straight lines stay straight: what a real lens bends, undone on a depth image.

Depth must not be blended across a silhouette, so every pixel of the straight picture takes the reading nearest to
where its ray falls in the bent one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera.intrinsics import Intrinsics

MODELS = {"plumb_bob": (4, 5), "rational_polynomial": (8,), "equidistant": (4,)}
"""ROS's name of each model (REP 104 and image_pipeline) -> how many coefficients it has."""


@dataclass(frozen=True, slots=True)
class LensDistortion:
    """How a lens bends: OpenCV's coefficients in OpenCV's order, k1 k2 p1 p2 [k3 [k4 k5 k6]]; fish-eye k1 k2 k3 k4.

    Raises
    ------
    ValueError
        For a model that is not known, or the wrong number of coefficients.
    """

    model: str
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"lens distortion {self.model!r} cannot be undone; known are {', '.join(MODELS)}")
        if len(self.coefficients) not in MODELS[self.model] or not all(map(math.isfinite, self.coefficients)):
            wanted = " or ".join(map(str, MODELS[self.model]))
            raise ValueError(f"lens distortion {self.model} has {wanted} numbers, got {list(self.coefficients)}")


class Undistortion:
    """Undo the distortion of one lens, for pictures of one size; the straight picture keeps the same intrinsics.

    Parameters
    ----------
    intrinsics : of the bent picture
    distortion : LensDistortion
    shape : rows and columns

    References
    ----------
    Brown 1971; Kannala and Brandt 2006; as OpenCV has them.
    """

    def __init__(self, intrinsics: Intrinsics, distortion: LensDistortion, shape: tuple[int, int]) -> None:
        lens = np.array([[intrinsics.fx, 0, intrinsics.cx], [0, intrinsics.fy, intrinsics.cy], [0, 0, 1.0]])
        bends = np.array(distortion.coefficients)
        size = (shape[1], shape[0])
        make = cv2.fisheye.initUndistortRectifyMap if distortion.model == "equidistant" else cv2.initUndistortRectifyMap
        self._cols, self._rows = make(lens, bends, np.eye(3), lens, size, cv2.CV_32FC1)

    def straighten(self, depth: np.ndarray) -> np.ndarray:
        """Depth (H, W), uint16 or float32, along the optical axis; what the bent picture does not hold becomes 0."""
        return cv2.remap(depth, self._cols, self._rows, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT)
