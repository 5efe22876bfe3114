"""A cluster of processes over dask.distributed: opened, given work, asked for results, closed.

The only file that imports dask. Peers of a cluster unpickle each other's messages: whoever reaches a scheduler or a
worker runs code there. A cluster that is started here therefore listens on 127.0.0.1 alone, without a dashboard.
"""

from __future__ import annotations

import itertools
import logging
import signal
import time
import uuid
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING, Any, TypeVar

from posepipe import __version__
from posepipe.cluster.address import ClusterAddress
from posepipe.errors import PosepipeError
from posepipe.loopback import LOOPBACK
from posepipe.processes.interrupts import blocked_in_children

if TYPE_CHECKING:
    from distributed import Client, Future, LocalCluster

Job = TypeVar("Job")
Result = TypeVar("Result")

CONNECT_S = 60.0
"""Maximum time until a scheduler answers and has a worker, seconds."""
MAX_STARTS = 3
"""How often workers on this machine are started before it is given up."""
WITHOUT_WORKERS_S = 120.0
"""Time after which a cluster that has lost all its workers is given up, seconds."""
REPORT_S = 0.2
"""Minimum time between two reports of progress of one job, seconds."""
LOOK_S = 1.0
"""Time between two looks at which workers there are, seconds."""
SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1GB"}  # the splits of a deep level
LOCAL_SETTINGS = {
    **SETTINGS,
    "distributed.scheduler.allowed-failures": 100,  # workers that may die on the same work
    "distributed.deploy.lost-worker-timeout": "1 hour",  # 15 s are too short to restart a worker on a busy machine
    "distributed.scheduler.http.routes": [],  # a port without pages
    "distributed.worker.http.routes": [],
    "distributed.worker.profile.enabled": False,  # nobody looks at it without a dashboard
}
"""Settings of dask for any cluster, and for one that is started here."""

log = logging.getLogger(__name__)


class Cluster:
    """Workers that compute; `open_cluster` makes one.

    Arguments and results are pickled. A result stays with its worker until it is fetched or its handle is dropped.
    What a lost worker held is computed again by another, from the same arguments: functions must therefore give the
    same result every time.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Client) -> None:
        self._client = client
        self._events: SimpleQueue[tuple[int, int] | None] = SimpleQueue()  # job and its progress; None = look again
        self._topic = f"posepipe-{uuid.uuid4().hex}"
        self._numbers = itertools.count()
        self._reported: dict[int, tuple[Callable[[int], None], int]] = {}  # job -> where to report, progress so far
        self._workers = set(client.nthreads())
        self._looked, self._seen_worker = time.monotonic(), time.monotonic()
        client.subscribe_topic(self._topic, lambda event: self._events.put(event[1]))

    @property
    def count(self) -> int:
        """Number of workers, as last seen; at least 1."""
        return max(1, len(self._workers))

    def submit(self, function: Callable[..., Any], *args: Any) -> Future:
        """Start ``function(*args)`` on a worker. Arguments may be handles of other results, also in lists."""
        return self._submit(_call, function, *args)

    def submit_reporting(self, function: Callable[..., Any], *args: Any, on_progress: Callable[[int], None]) -> Future:
        """Start ``function(*args, report)``; counts that it reports reach ``on_progress`` while this process waits.

        Work that is done again because a worker was lost is counted once.
        """
        number = next(self._numbers)
        self._reported[number] = on_progress, 0
        return self._submit(_call_reporting, function, self._topic, number, *args)

    def result(self, handle: Future) -> Any:
        """Wait for a result and fetch it.

        Raises
        ------
        PosepipeError
            When the cluster is lost, or the work ends every worker that does it.
        Exception
            What the function raised.
        """
        handle.add_done_callback(lambda done: self._events.put(None))
        while not handle.done():
            self._wait()
        self._report_all()
        return _fetched(handle)

    def run(
        self,
        work: Callable[[Job, Callable[[int], None]], Result],
        jobs: Iterable[Job],
        on_progress: Callable[[int], None],
    ) -> Iterator[Result]:
        """Do jobs; yields the result of each as it is finished. Raises as `result` does.

        Parameters
        ----------
        work : does a job; calls its second argument with the progress since the last call
        jobs : any number
        on_progress : is called with what the jobs report
        """
        shared = self.submit(_same, work)  # sent once, and not with every job
        waiting = [self.submit_reporting(_do, shared, job, on_progress=on_progress) for job in jobs]
        for handle in waiting:
            handle.add_done_callback(lambda done: self._events.put(None))
        while waiting:
            done = [handle for handle in waiting if handle.done()]
            waiting = [handle for handle in waiting if handle not in done]
            self._report_all()
            for handle in done:
                yield _fetched(handle)
            if waiting and not done:
                self._wait()

    def _submit(self, call: Callable[..., Any], function: Callable[..., Any], *args: Any) -> Future:
        """Submit a call of a function of a module."""
        key = f"{function.__name__}-{uuid.uuid4().hex}"
        return self._client.submit(call, __version__, function, *args, key=key, pure=False)

    def _wait(self) -> None:
        """Wait for the next event, and look after the workers now and then."""
        with suppress(Empty):
            self._report(self._events.get(timeout=LOOK_S))
        if time.monotonic() - self._looked > LOOK_S:
            self._look_at_workers()

    def _report_all(self) -> None:
        while not self._events.empty():
            self._report(self._events.get())

    def _report(self, event: tuple[int, int] | None) -> None:
        if event is not None:
            number, done = event
            on_progress, before = self._reported[number]
            if done > before:  # less where a lost worker's job began anew
                self._reported[number] = on_progress, done
                on_progress(done - before)

    def _look_at_workers(self) -> None:
        """Say which workers were lost; raises PosepipeError when there have been none for long."""
        try:
            now = set(self._client.nthreads())
        except OSError as error:
            raise PosepipeError(f"the cluster's scheduler does not answer any more: {error}") from error
        for lost in sorted(self._workers - now):
            log.info("worker %s was lost; others do its work again", lost)
        self._workers, self._looked = now, time.monotonic()
        if now:
            self._seen_worker = self._looked
        elif self._looked - self._seen_worker > WITHOUT_WORKERS_S:
            raise PosepipeError(
                f"the cluster has had no worker for {WITHOUT_WORKERS_S:.0f} s; start some, and give --resume to go on"
            )


@contextmanager
def open_cluster(address: ClusterAddress) -> Iterator[Cluster]:
    """Start workers on this machine, or connect to a cluster that runs.

    Parameters
    ----------
    address : ClusterAddress

    Yields
    ------
    Cluster; workers that were started here end with the context

    Raises
    ------
    PosepipeError
        When dask is not installed, or no scheduler with a worker answers.
    """
    try:
        import dask
        from distributed import Client, LocalCluster
    except ImportError:
        raise PosepipeError('--cluster needs dask: pip install "posepipe[cluster]"') from None
    if address.is_open:
        log.warning("messages to %s are not encrypted, and whoever reaches it can run code there; use tls://", address)
    with dask.config.set(LOCAL_SETTINGS if address.workers else SETTINGS):
        if not address.workers:
            with _connected(Client, address.scheduler) as client:
                yield Cluster(client)
            return
        with _started(LocalCluster, address.workers) as local, _connected(Client, local.scheduler_address) as client:
            client.wait_for_workers(address.workers)
            yield Cluster(client)


def _started(start: type[LocalCluster], workers: int) -> LocalCluster:
    """Start workers on this machine; dask gives up where one is killed while it starts, and is asked again."""
    starts = 1
    while True:
        try:
            with blocked_in_children([signal.SIGINT]):  # Ctrl-C is for this process alone, which ends the others
                return start(
                    n_workers=workers,
                    host=LOOPBACK,
                    dashboard_address="127.0.0.1:0",
                    scheduler_kwargs={"dashboard": False},
                    silence_logs=logging.CRITICAL,
                )
        except RuntimeError as error:
            if starts == MAX_STARTS:
                raise PosepipeError(f"the workers do not start ({error}); give fewer, and --resume to go on") from error
            log.info("a worker ended while it was started; all are started again")
            starts += 1


@contextmanager
def _connected(connect: type[Client], scheduler: str) -> Iterator[Client]:
    _check_certificates(scheduler)
    try:
        client = connect(scheduler, timeout=CONNECT_S, set_as_default=False)
    except (OSError, ValueError) as error:
        raise PosepipeError(
            f"no dask scheduler answers at {scheduler} ({error}); start one with `dask scheduler`"
        ) from error
    with client:
        try:
            client.wait_for_workers(1, timeout=CONNECT_S)
        except TimeoutError:
            raise PosepipeError(
                f"the scheduler at {scheduler} has no worker; start some with `dask worker {scheduler} --nthreads 1`"
            ) from None
        yield client


def _check_certificates(scheduler: str) -> None:
    """Refuse TLS without certificates; dask would notice when it connects, and wait two minutes to close again."""
    from distributed import Security

    if scheduler.startswith("tls:") and Security().get_connection_args("client").get("ssl_context") is None:
        raise PosepipeError(
            f"{scheduler} wants a certificate, and the settings of dask name none; docs/guides/cluster.md shows how"
        )


def _fetched(handle: Future) -> Any:
    from concurrent.futures import CancelledError  # dask's own is one of these, not of asyncio's

    from distributed import KilledWorker

    try:
        return handle.result()
    except KilledWorker as error:
        raise PosepipeError(
            f"workers died one after another on the same work, the last at {error.last_worker.address}, perhaps for"
            " memory; give fewer workers to a machine, and --resume to go on"
        ) from error
    except CancelledError as error:
        raise PosepipeError("the cluster's scheduler was lost; start it again, and give --resume to go on") from error


def _call(version: str, function: Callable[..., Any], *args: Any) -> Any:
    """Call a function on a worker, in as many threads of kernels as the worker has."""
    import numba
    from distributed import get_worker
    from threadpoolctl import threadpool_limits

    worker = get_worker()
    if version != __version__:
        raise PosepipeError(f"worker {worker.address} has posepipe {__version__}, wanted {version}; install the same")
    threads = worker.state.nthreads
    numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    with threadpool_limits(threads):
        return function(*args)


def _same(work: Any) -> Any:
    return work


def _do(work: Callable[[Any, Callable[[int], None]], Any], job: Any, report: Callable[[int], None]) -> Any:
    return work(job, report)


def _call_reporting(version: str, function: Callable[..., Any], topic: str, number: int, *args: Any) -> Any:
    """Call a function on a worker with a last argument that reports its progress."""
    reporter = _Reporter(topic, number)
    result = _call(version, function, *args, reporter)
    reporter.send()
    return result


class _Reporter:
    """Counts the progress of one job, and tells those who subscribed to a topic."""

    def __init__(self, topic: str, number: int) -> None:
        self._topic, self._number = topic, number
        self._done, self._sent = 0, time.monotonic()

    def __call__(self, count: int) -> None:
        self._done += count
        if time.monotonic() - self._sent > REPORT_S:
            self.send()

    def send(self) -> None:
        from distributed import get_worker

        get_worker().log_event(self._topic, (self._number, self._done))
        self._sent = time.monotonic()
