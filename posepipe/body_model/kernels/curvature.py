"""Kernel: what the curvature of the cost at the fitted posture says of joints and of the build."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from posepipe.body_model.kernels.fit_arrays import EQUATIONS_TYPE
from posepipe.body_model.kernels.normal_equations import factor, solve_half
from posepipe.body_model.kernels.placement import BODY_ARRAYS_TYPE, PLACEMENT_TYPE
from posepipe.compilation import compiled_for, helper, njit


class Curvature(NamedTuple):
    """What one frame says of joints and build, where all residuals are independent and Gaussian."""

    sigmas_m: np.ndarray  #: float64 (J,), along an axis, of a known build; NaN = unknown
    precision: np.ndarray  #: float64 (K, K), inverse covariance of the shape coefficients, whatever the posture
    information: np.ndarray  #: float64 (K,), precision times the coefficients

    @classmethod
    def empty(cls, joints: int, coefficients: int) -> Curvature:
        """Arrays to be filled by `curve`."""
        return cls(np.zeros(joints), np.zeros((coefficients, coefficients)), np.zeros(coefficients))


CURVATURE_TYPE = Curvature, "f8[::1], f8[:,::1], f8[::1]"


@compiled_for(BODY_ARRAYS_TYPE, PLACEMENT_TYPE, "f8[::1]", EQUATIONS_TYPE, CURVATURE_TYPE)
@njit(cache=True, error_model="numpy")
def curve(body, placement, shape, equations, out):
    """Fill in a `Curvature`; leave it unknown where the equations determine no posture.

    Parameters
    ----------
    body : BodyArrays, of K coefficients
    placement : Placement
    shape : float64 (K,), coefficients
    equations : Equations of posture and shape, of `linearize`; used up
    out : Curvature, written in place
    """
    factored, size, coefficients = equations.normal, len(equations.gradient), len(shape)
    for j in range(len(out.sigmas_m)):
        out.sigmas_m[j] = math.nan
    for i in range(coefficients):
        out.information[i] = 0.0
        for j in range(coefficients):
            out.precision[i, j] = 0.0
    for i in range(size):
        factored[i, i] += 1e-6
    if not factor(factored):
        return
    _sigmas(body, placement, factored, coefficients, out.sigmas_m)
    half = np.empty(size)
    solve_half(factored, equations.gradient, 0, half)
    for i in range(coefficients):
        for j in range(coefficients):
            for k in range(max(i, j), coefficients):
                out.precision[i, j] += factored[k, i] * factored[k, j]
            out.information[i] += out.precision[i, j] * shape[j]
        for k in range(i, coefficients):
            out.information[i] -= factored[k, i] * half[k]


@helper(cache=True, error_model="numpy")
def _sigmas(body, placement, factored, coefficients, out):
    """Fill ``out``, float64 (J,), metres, by the factor of the normal equations."""
    size = len(factored)
    right, half = np.empty(size), np.empty(size)
    for j in range(len(out)):
        variance = 0.0
        for a in range(3):
            for i in range(size):
                right[i] = 0.0
            right[coefficients + a] = 1.0
            s = body.joint_segments[j]
            while s >= 0:
                first = coefficients + 3 + 3 * s
                b, c = (a + 1) % 3, (a + 2) % 3  # the motion along a by a turn w: w_b x_c - w_c x_b
                right[first + b] = placement.joints_m[j, c] - placement.starts_m[s, c]
                right[first + c] = -(placement.joints_m[j, b] - placement.starts_m[s, b])
                s = body.parents[s]
            solve_half(factored, right, coefficients, half)
            for i in range(coefficients, size):
                variance += half[i] * half[i] / 3
        out[j] = math.sqrt(variance)
