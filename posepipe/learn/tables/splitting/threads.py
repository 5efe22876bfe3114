"""Use of threads: within one kernel, or for whole trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numba

MIN_PARALLEL_ROWS = 20_000
"""Minimum rows for a parallel kernel; with fewer, it finishes before other threads have started."""

Job = TypeVar("Job")
Result = TypeVar("Result")


def use_threads(rows: int) -> bool:
    """Whether a kernel over this many rows should run in parallel."""
    return rows >= MIN_PARALLEL_ROWS and numba.get_num_threads() > 1


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
