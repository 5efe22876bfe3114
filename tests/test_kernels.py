"""Every fast kernel says what its naive twin says."""

from __future__ import annotations

from dataclasses import fields, is_dataclass

import numba
import numpy as np
import pytest

from tests.kernels.registry import KERNELS

SEEDS = (1, 2, 3)
LEAST_TOLERANCE = 1e-3 if numba.config.DISABLE_JIT else 0.0
"""Interpreted kernels keep float32 where compiled ones compute in float64."""


def arrays_of(output) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(part, np.float64) for part in (output if isinstance(output, tuple) else (output,)))


def share_beyond(fast: np.ndarray, naive: np.ndarray, tolerance: float) -> float:
    """Share of rows that differ by more than the tolerance; infinities must agree."""
    assert fast.shape == naive.shape
    close = np.atleast_1d(np.isclose(fast, naive, rtol=0, atol=tolerance))
    return float((~close.reshape(len(close), -1).all(1)).mean())


def arrays_in(inputs) -> list[np.ndarray]:
    """Arrays among inputs, and in the tuples, lists and dataclasses among them."""
    if isinstance(inputs, np.ndarray):
        return [inputs]
    if isinstance(inputs, dict):
        inputs = list(inputs.values())
    if is_dataclass(inputs):
        inputs = [getattr(inputs, field.name) for field in fields(inputs)]
    return [array for each in inputs for array in arrays_in(each)] if isinstance(inputs, list | tuple) else []


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_kernel_agrees_with_its_naive_twin(kernel, seed):
    inputs = kernel.make_inputs(np.random.default_rng(seed), kernel.size)
    fast, naive = arrays_of(kernel.fast(inputs)), arrays_of(kernel.naive(inputs))
    for one, other, tolerance in zip(fast, naive, np.broadcast_to(kernel.tolerance, len(fast)), strict=True):
        assert share_beyond(one, other, max(tolerance, LEAST_TOLERANCE)) <= kernel.may_differ, kernel.reason


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_one_thread_and_many_give_the_same_numbers(kernel):
    inputs = kernel.make_inputs(np.random.default_rng(4), kernel.size)
    many = arrays_of(kernel.fast(inputs))
    threads = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        one = arrays_of(kernel.fast(inputs))
    finally:
        numba.set_num_threads(threads)
    for a, b in zip(one, many, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_no_kernel_changes_its_inputs(kernel):
    inputs, untouched = (kernel.make_inputs(np.random.default_rng(5), kernel.size) for _ in range(2))
    kernel.fast(inputs)
    for one, other in zip(arrays_in(vars(inputs)), arrays_in(vars(untouched)), strict=True):
        np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.name)
def test_a_tolerance_comes_with_its_reason(kernel):
    exact = not np.any(kernel.tolerance) and kernel.may_differ == 0
    assert (kernel.reason == "exact") == exact
