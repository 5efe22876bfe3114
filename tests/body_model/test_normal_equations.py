"""The factor of normal equations of a tree of segments."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body_model.kernels.normal_equations import factor, solve_half
from tests.body_model.random_residuals import N_SHAPE, PARENTS, random_residuals, random_starts_m
from tests.reference.body_model import normal_equations as naive


def _equations():
    """Normal matrix, definite, and gradient."""
    rng = np.random.default_rng(0)
    normal, gradient = naive.normal_equations(PARENTS, random_starts_m(rng), N_SHAPE, random_residuals(rng))
    return normal + 0.1 * np.eye(len(normal)), gradient


def test_the_factor_keeps_zeros_of_other_branches():
    factored = np.tril(_equations()[0])
    assert factor(factored)
    first = N_SHAPE + 3
    assert not factored[first + 15 : first + 18, first + 6 : first + 12].any()  # segment 5 is not beyond 2 or 3


def test_rows_of_the_factor_marginalize_and_condition():
    whole, gradient = _equations()
    factored, half = np.tril(whole), np.zeros(len(whole))
    assert factor(factored)
    first = factored[:N_SHAPE, :N_SHAPE]
    np.testing.assert_allclose(first.T @ first, np.linalg.inv(np.linalg.inv(whole)[:N_SHAPE, :N_SHAPE]), atol=1e-11)
    solve_half(factored, gradient.copy(), N_SHAPE, half)
    rest = gradient[N_SHAPE:]
    variance = rest @ np.linalg.solve(whole[N_SHAPE:, N_SHAPE:], rest)
    assert half[N_SHAPE:] @ half[N_SHAPE:] == pytest.approx(variance)


def test_an_indefinite_matrix_has_no_factor():
    assert not factor(np.diag([1.0, -1.0, 1.0]))
