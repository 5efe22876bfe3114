"""What normal equations say of joints and build, by inverting them."""

from __future__ import annotations

import numpy as np

from tests.reference.body_model.placement import place, take_step

STEP = 1e-5


def curvature(body, posture, normal, gradient):
    """Standard deviation of joints at a known build; inverse covariance of the shape, and that times its mean."""
    k = len(posture.shape)
    whole = np.tril(normal) + np.tril(normal, -1).T + 1e-6 * np.eye(len(normal))
    covariance = np.linalg.inv(whole)
    precision = np.linalg.inv(covariance[:k, :k])
    mean = posture.shape - (covariance @ gradient)[:k]
    moved = np.zeros((len(gradient), 2, len(body.joint_segments), 3))
    for unknown in range(len(gradient)):
        step = STEP * np.eye(len(gradient))[unknown]
        moved[unknown] = [place(body, take_step(body, posture, sign * step))[2] for sign in (1, -1)]
    jacobian = (moved[k:, 0] - moved[k:, 1]) / (2 * STEP)
    variances = np.einsum("uja,uv,vja->j", jacobian, np.linalg.inv(whole[k:, k:]), jacobian) / 3
    return np.sqrt(variances), precision, precision @ mean
