"""Rotation vectors, quaternions and the derivative between them."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from posepipe.body_model.kernels.aiming import nearest_rotation
from posepipe.body_model.kernels.rotations import inverse_jacobian, quaternions_of, rotation_of, vector_of
from tests.reference.body_model import aiming as naive

VECTORS = [np.zeros(3), np.array([1e-7, -2e-7, 0]), np.array([0, 3.1415, 0]), np.array([-2.2, 0.3, 2.1])]
VECTORS += list(np.random.default_rng(0).normal(0, 0.8, (6, 3)))


@pytest.mark.parametrize("vector", VECTORS)
def test_a_rotation_agrees_with_scipy_and_back(vector):
    rotation, back, quaternions = np.empty((3, 3)), np.empty(3), np.empty((1, 4))
    rotation_of(vector, rotation)
    np.testing.assert_allclose(rotation, Rotation.from_rotvec(vector).as_matrix(), atol=1e-12)
    vector_of(rotation[None], 0, back)
    np.testing.assert_allclose(back, vector, atol=1e-7)
    quaternions_of(rotation[None], np.array([0]), quaternions)
    np.testing.assert_allclose(quaternions[0], Rotation.from_rotvec(vector).as_quat(canonical=True), atol=1e-9)


@pytest.mark.parametrize("vector", [v for v in VECTORS if np.linalg.norm(v) < 3])
def test_the_jacobian_is_the_finite_difference(vector):
    jacobian = np.empty((3, 3))
    inverse_jacobian(vector, jacobian)
    for axis, step in enumerate(1e-6 * np.eye(3)):
        moved = [(Rotation.from_rotvec(s * step) * Rotation.from_rotvec(vector)).as_rotvec() for s in (1, -1)]
        np.testing.assert_allclose(jacobian[:, axis], (moved[0] - moved[1]) / 2e-6, atol=1e-6)


def test_the_nearest_rotation_agrees_with_its_naive_twin():
    rng, found = np.random.default_rng(1), np.empty((3, 3))
    for rank_one in (False, True) * 10:
        matrix = rng.normal(size=(3, 3))
        if rank_one:  # what one joint says, and a little of the mean turn
            matrix = np.outer(matrix[0], matrix[1]) + 0.02 * np.eye(3)
        nearest_rotation(matrix, found)
        np.testing.assert_allclose(found, naive.nearest_rotation(matrix), atol=1e-8)
