"""One thread or many: the same answers, in the same order."""

from __future__ import annotations

import numba
import numpy as np
import pytest

from posepipe.learn.tables.estimators.trees.cart import CartClassifier
from posepipe.learn.tables.splitting.threads import MIN_PARALLEL_ROWS, map_in_threads, run_tasks, use_threads

ALL_THREADS = numba.config.NUMBA_NUM_THREADS


@pytest.fixture(params=[1, ALL_THREADS])
def threads(request):
    before = numba.get_num_threads()
    numba.set_num_threads(request.param)
    yield request.param
    numba.set_num_threads(before)


def test_results_come_in_the_order_of_the_jobs(threads):
    assert list(map_in_threads(lambda job: -job, range(50))) == [-job for job in range(50)]


def test_kernels_within_a_job_use_one_thread(threads):
    assert set(map_in_threads(lambda job: numba.get_num_threads(), range(20))) == {1}
    assert numba.get_num_threads() == threads


def test_what_a_job_raises_comes_out(threads):
    with pytest.raises(ZeroDivisionError):
        list(map_in_threads(lambda job: 1 // job, range(-3, 3)))


def test_little_work_runs_in_one_thread(threads):
    assert not use_threads(MIN_PARALLEL_ROWS - 1)
    assert use_threads(MIN_PARALLEL_ROWS) == (threads > 1)


@pytest.mark.parametrize("rows", [10, MIN_PARALLEL_ROWS])
@pytest.mark.parametrize("n_tasks", [0, 1, 3, 1000])
def test_every_task_of_a_kernel_runs_once(n_tasks, rows, threads):
    done = np.zeros(n_tasks, int)
    run_tasks(lambda first, last: done.__setitem__(slice(first, last), done[first:last] + 1), n_tasks, rows)
    assert (done == 1).all()


def test_what_a_task_raises_comes_out(threads):
    with pytest.raises(ZeroDivisionError):
        run_tasks(lambda first, last: 1 // (first - first), 5, MIN_PARALLEL_ROWS)


@pytest.mark.skipif(ALL_THREADS == 1, reason="one core")
@pytest.mark.parametrize("has_gaps", [True, False])
def test_many_threads_grow_the_same_tree_as_one(has_gaps):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(MIN_PARALLEL_ROWS, 4))
    X[rng.random(X.shape) < 0.01 * has_gaps] = np.nan
    y = (np.nansum(X, axis=1) + rng.normal(size=len(X)) > 0).astype(int)
    grown = []
    for n in (1, ALL_THREADS):
        numba.set_num_threads(n)
        try:
            cart = CartClassifier(max_depth=6).fit(X, y)
            grown.append((cart.tree_.tree.feature, cart.tree_.tree.threshold, cart.predict_proba(X)))
        finally:
            numba.set_num_threads(ALL_THREADS)
    for one, many in zip(*grown, strict=True):
        np.testing.assert_array_equal(one, many)
