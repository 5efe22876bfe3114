"""The build of one person over time: what each frame says about the shape coefficients, averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body_model.kernels.fit_arrays import Equations
from posepipe.body_model.kernels.normal_equations import factor, solve_half

MAX_FRAMES = 90
"""Frames that the average remembers; a later frame replaces their share."""


class ShapeMemory(NamedTuple):
    """Mean information of the frames of a track about the shape coefficients.

    Frames of one person err alike, by clothes and by what is hidden. Together they therefore weigh as much as one, and
    how people are built always counts.
    """

    precision: np.ndarray  #: float64 (K, K), inverse covariance by the mean frame, without how people are built
    information: np.ndarray  #: float64 (K,), precision times the coefficients
    frames: int = 0

    @classmethod
    def unknown(cls, coefficients: int) -> ShapeMemory:
        """No frame was seen."""
        return cls(np.zeros((coefficients, coefficients)), np.zeros(coefficients))

    @property
    def shape(self) -> np.ndarray:
        """Coefficients, float64 (K,): the mean of the frames and of people, whose coefficients have unit variance."""
        return np.linalg.solve(self.precision + np.eye(len(self.information)), self.information)

    def updated(self, precision: np.ndarray, information: np.ndarray) -> ShapeMemory:
        """The memory after another frame, of `frame_information`."""
        frames = min(self.frames + 1, MAX_FRAMES)
        return ShapeMemory(
            self.precision + (precision - self.precision) / frames,
            self.information + (information - self.information) / frames,
            frames,
        )


def frame_information(equations: Equations, shape: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """What one frame says about the shape coefficients, whatever the posture.

    Parameters
    ----------
    equations : Equations, at ``shape`` and the posture found, without knowledge of the shape; they are used up
    shape : float64 (K,)

    Returns
    -------
    precision : float64 (K, K), inverse covariance
    information : float64 (K,), precision times the coefficients
    """
    k = len(shape)
    normal, half = equations.normal, np.zeros(len(equations.gradient))
    normal[np.diag_indices_from(normal)] += 1e-6
    if not factor(normal):
        return np.zeros((k, k)), np.zeros(k)
    solve_half(normal, equations.gradient, half)
    first = np.tril(normal[: 3 + k, : 3 + k])  # the turns are eliminated: they come last, and go first
    marginal, gradient = first.T @ first, first.T @ half[: 3 + k]
    across = np.linalg.solve(marginal[:3, :3], marginal[:3, 3:])
    precision = marginal[3:, 3:] - marginal[3:, :3] @ across
    return precision, precision @ shape - (gradient[3:] - gradient[:3] @ across)
