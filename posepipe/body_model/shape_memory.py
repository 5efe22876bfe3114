"""The build of one person over time: how sure the shape coefficients are after each frame."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

FRAME_SHARE = 0.15
"""Share of a frame's curvature that counts as new: errors of neighbouring frames are alike."""
MAX_PRECISION = 1e6
"""Bound of the precision of a coefficient, to keep it finite; a millionth of a deviation changes nothing."""


class ShapeMemory(NamedTuple):
    """Gaussian over shape coefficients; its precision grows from frame to frame, so that the shape settles."""

    mean: np.ndarray  #: float64 (K,)
    precision: np.ndarray  #: float64 (K, K), inverse covariance

    @classmethod
    def unknown(cls, coefficients: int) -> ShapeMemory:
        """How people are built: coefficients of unit variance."""
        return cls(np.zeros(coefficients), np.eye(coefficients))

    def updated(self, shape: np.ndarray, normal: np.ndarray) -> ShapeMemory:
        """The memory after a frame whose fit ended at ``shape``.

        Parameters
        ----------
        shape : float64 (K,)
        normal : float64 (D, D), normal equations at the end of the fit, lower triangle; they include this memory
        """
        n = len(self.mean)
        normal = np.tril(normal) + np.tril(normal, -1).T
        others = np.r_[0:3, 3 + n : len(normal)]
        rest = normal[np.ix_(others, others)] + 1e-6 * np.eye(len(others))
        across = normal[np.ix_(range(3, 3 + n), others)]
        marginal = normal[3 : 3 + n, 3 : 3 + n] - across @ np.linalg.solve(rest, across.T)
        gained = _positive(marginal - self.precision) * FRAME_SHARE
        precision = self.precision + gained
        if np.trace(precision) > MAX_PRECISION:
            return self
        # the fit ended at the mean of memory and frame; the memory moves by the share of the frame that is new
        moved = np.linalg.solve(
            precision, gained @ (shape - self.mean) + FRAME_SHARE * self.precision @ (shape - self.mean)
        )
        return ShapeMemory(self.mean + moved, precision)


def _positive(matrix: np.ndarray) -> np.ndarray:
    """Nearest positive semidefinite matrix."""
    sizes, axes = np.linalg.eigh((matrix + matrix.T) / 2)
    return (axes * np.maximum(sizes, 0)) @ axes.T
