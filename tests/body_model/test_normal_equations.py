"""Residuals summed by segment give the normal equations of one dense row each."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.body_model.kernels.normal_equations import add_residual, factor, solve, solve_half, spread
from tests.reference.body_model import normal_equations as naive

PARENTS, N_SHAPE = np.array([-1, 0, 1, 1, 0, 4]), 2


def _summed(seed=0):
    rng = np.random.default_rng(seed)
    starts_m = rng.normal(size=(len(PARENTS), 3))
    residuals = [
        (
            int(rng.integers(len(PARENTS))),
            *rng.normal(size=(2, 3)),
            rng.normal(size=N_SHAPE),
            rng.normal(),
            rng.random(),
        )
        for _ in range(60)
    ]
    sums, forces = np.zeros((len(PARENTS), 6 + N_SHAPE, 6 + N_SHAPE)), np.zeros((len(PARENTS), 6 + N_SHAPE))
    for residual in residuals:
        segment, point_m, direction, by_shape, value, weight = residual
        add_residual(sums, forces, segment, *point_m, *direction, by_shape, value, weight)
    size = N_SHAPE + 3 + 3 * len(PARENTS)
    normal, gradient = np.zeros((size, size)), np.zeros(size)
    spread(PARENTS, starts_m, sums, forces, normal, gradient)
    return normal, gradient, naive.normal_equations(PARENTS, starts_m, N_SHAPE, residuals)


def test_sums_by_segment_agree_with_dense_rows():
    normal, gradient, (dense, dense_gradient) = _summed()
    np.testing.assert_allclose(np.tril(normal), np.tril(dense), atol=1e-11)
    np.testing.assert_allclose(gradient, dense_gradient, atol=1e-12)


def test_the_factor_solves_and_keeps_zeros_of_other_branches():
    normal, gradient, (dense, _) = _summed()
    factored, found = np.tril(normal) + 0.1 * np.eye(len(normal)), np.zeros(len(gradient))
    assert factor(factored)
    solve(factored, gradient.copy(), found)
    np.testing.assert_allclose(found, np.linalg.solve(dense + 0.1 * np.eye(len(dense)), gradient), atol=1e-11)
    first = N_SHAPE + 3
    assert not factored[first + 15 : first + 18, first + 6 : first + 12].any()  # segment 5 is not beyond 2 or 3


def test_rows_of_the_factor_marginalize_and_condition():
    normal, gradient, _ = _summed()
    whole = np.tril(normal) + np.tril(normal, -1).T + 0.1 * np.eye(len(normal))
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
