"""Who works side by side: the tasks of one kernel, or whole trees."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import numba

WORTH_WAKING = 20_000
"""Rows to be looked at, some ten nanoseconds each, below which a kernel is done before other threads wake up."""

Job = TypeVar("Job")
Result = TypeVar("Result")


def worth_threads(rows: int) -> bool:
    """Whether a kernel should use its threads, of which there may be one only."""
    return rows >= WORTH_WAKING and numba.get_num_threads() > 1


def side_by_side(work: Callable[[Job], Result], jobs: Iterable[Job]) -> Iterator[Result]:
    """Do jobs in as many threads as Numba has, the kernels within them in one; results in the order of the jobs.

    What is done must let go of Python's lock, as kernels compiled with ``nogil`` do, for this to be of use.
    """
    n_threads = numba.get_num_threads()
    if n_threads == 1:
        yield from map(work, jobs)
        return
    # the number of threads that a kernel may use is kept for each calling thread
    with ThreadPoolExecutor(n_threads, initializer=numba.set_num_threads, initargs=(1,)) as pool:
        yield from pool.map(work, jobs)
