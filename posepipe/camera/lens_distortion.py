"""Lens distortion of depth images, and its removal.

Every pixel of the undistorted image takes the nearest reading of the distorted one. Interpolation would blend depth
across silhouettes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.camera.intrinsics import Intrinsics

MODELS = {"plumb_bob": (4, 5), "rational_polynomial": (8,), "equidistant": (4,)}
"""Name of each model in ROS (REP 104 and image_pipeline) -> allowed numbers of coefficients."""
RADII = 4096
"""Number of radii, from the optical axis to the farthest pixel, at which a model is checked."""
_NOWHERE = -2.0  # a column outside of every image


@dataclass(frozen=True, slots=True)
class LensDistortion:
    """Distortion model of a lens, with OpenCV's coefficients in OpenCV's order.

    These are k1 k2 p1 p2 [k3 [k4 k5 k6]]; for the fish-eye model (equidistant) k1 k2 k3 k4.

    Raises
    ------
    ValueError
        For an unknown model, or the wrong number of coefficients.
    """

    model: str  #: a key of `MODELS`
    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        if self.model not in MODELS:
            raise ValueError(f"lens distortion {self.model!r} cannot be undone; known are {', '.join(MODELS)}")
        if len(self.coefficients) not in MODELS[self.model] or not all(map(math.isfinite, self.coefficients)):
            wanted = " or ".join(map(str, MODELS[self.model]))
            raise ValueError(f"lens distortion {self.model} has {wanted} numbers, got {list(self.coefficients)}")


class Undistortion:
    """Remove the distortion of one lens from images of one size; the intrinsics stay the same.

    Pixels at which the model has folded back have no source: beyond the radius to which a model holds, its polynomial
    returns to places of the distorted image that were shown nearer to the axis.

    Parameters
    ----------
    intrinsics : Intrinsics, of the distorted image
    distortion : LensDistortion
    shape : rows and columns

    References
    ----------
    Brown 1971; Kannala and Brandt 2006; as implemented by OpenCV.
    """

    def __init__(self, intrinsics: Intrinsics, distortion: LensDistortion, shape: tuple[int, int]) -> None:
        matrix = np.array([[intrinsics.fx, 0, intrinsics.cx], [0, intrinsics.fy, intrinsics.cy], [0, 0, 1.0]])
        coefficients = np.array(distortion.coefficients)
        size = (shape[1], shape[0])
        make = cv2.fisheye.initUndistortRectifyMap if distortion.model == "equidistant" else cv2.initUndistortRectifyMap
        self._cols, self._rows = make(matrix, coefficients, np.eye(3), matrix, size, cv2.CV_32FC1)
        rows, cols = np.ogrid[: shape[0], : shape[1]]
        radii = np.hypot((cols - intrinsics.cx) / intrinsics.fx, (rows - intrinsics.cy) / intrinsics.fy)
        self._cols[radii > _fold(distortion, float(radii.max()))] = _NOWHERE

    def undistort(self, depth: np.ndarray) -> np.ndarray:
        """Undistort depth (H, W), uint16 or float32, along the optical axis; pixels without a source become 0."""
        return cv2.remap(depth, self._cols, self._rows, cv2.INTER_NEAREST, borderMode=cv2.BORDER_CONSTANT)


def _fold(distortion: LensDistortion, farthest: float) -> float:
    """Radius without distortion, focal lengths, up to which the distorted radius rises; infinite if to ``farthest``."""
    radii = np.linspace(0, farthest, RADII)
    with np.errstate(all="ignore"):
        if distortion.model == "equidistant":
            bent = np.arctan(radii)
            bent = bent * _polynomial(distortion.coefficients, bent**2)
        else:
            k1, k2, _, _, k3, *others = (*distortion.coefficients, 0.0)[: max(5, len(distortion.coefficients))]
            bent = radii * _polynomial((k1, k2, k3), radii**2) / _polynomial(others, radii**2)
        falls = np.flatnonzero(~(np.diff(bent) > 0))
    return float(radii[falls[0]]) if len(falls) else math.inf


def _polynomial(coefficients: Sequence[float], x: np.ndarray) -> np.ndarray:
    """1 + c1 x + c2 x^2 + ..."""
    return np.polynomial.polynomial.polyval(x, (1.0, *coefficients))
