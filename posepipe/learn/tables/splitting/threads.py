"""Use of threads: within one kernel, or for whole trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import numba
import numpy as np

MIN_PARALLEL_ROWS = 20_000
"""Minimum rows for a kernel in several threads; with fewer, it finishes before other threads have started."""
PARTS_PER_THREAD = 8
"""Parts of the tasks of one kernel for each thread, so that long tasks delay no other thread."""

Job = TypeVar("Job")
Result = TypeVar("Result")


def use_threads(rows: int) -> bool:
    """Whether a kernel over this many rows should run in parallel."""
    return rows >= MIN_PARALLEL_ROWS and numba.get_num_threads() > 1


def run_tasks(kernel: Callable[..., object], n_tasks: int, rows: int, *arguments: Any) -> None:
    """Run the tasks of a kernel, in threads where they are about many rows.

    Threads of Python serve instead of a parallel kernel, which would take twice as long to compile.

    Parameters
    ----------
    kernel : callable (first, last, *arguments), runs these tasks; compiled with ``nogil``
    n_tasks : int
    rows : int, of all tasks together
    arguments : of the kernel, the same for all tasks
    """
    if n_tasks < 2 or not use_threads(rows):
        kernel(0, n_tasks, *arguments)
        return
    n_threads = numba.get_num_threads()
    edges = np.linspace(0, n_tasks, min(n_tasks, PARTS_PER_THREAD * n_threads) + 1).astype(np.int64).tolist()
    with ThreadPoolExecutor(n_threads) as pool:
        list(pool.map(lambda first, last: kernel(first, last, *arguments), edges[:-1], edges[1:]))


def map_in_threads(work: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
    """Run jobs in as many threads as Numba uses, with one thread for the kernels inside each job.

    A speed-up needs work that releases the global interpreter lock, like kernels compiled with ``nogil``.

    Parameters
    ----------
    work : callable, applied to each job
    jobs : iterable

    Yields
    ------
    result of each job, in the order of the jobs
    """
    n_threads = numba.get_num_threads()
    if n_threads == 1:
        yield from map(work, jobs)
        return
    # Numba keeps the number of threads of a kernel for each calling thread
    with ThreadPoolExecutor(n_threads, initializer=numba.set_num_threads, initargs=(1,)) as pool:
        yield from pool.map(work, jobs)
