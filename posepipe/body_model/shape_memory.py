"""The build of one person over time: what each frame says about the shape coefficients, averaged."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from posepipe.body_model.kernels.normal_equations import factor, solve

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
        known, shape = self.precision + np.eye(len(self.information)), np.zeros(len(self.information))
        if factor(known):
            solve(known, self.information.copy(), shape)
        return shape

    def updated(self, precision: np.ndarray, information: np.ndarray) -> ShapeMemory:
        """The memory after another frame, of a `Curvature`."""
        frames = min(self.frames + 1, MAX_FRAMES)
        return ShapeMemory(
            self.precision + (precision - self.precision) / frames,
            self.information + (information - self.information) / frames,
            frames,
        )
