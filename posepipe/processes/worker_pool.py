"""Worker processes that leave nothing behind: stopped at once, and ended when their parent is gone.

Importing this module is cheap, and it imports nothing of ours but what signals need: a worker watches its parent before
anything else. Workers know no locks or shared memory, so a killed one leaves none behind.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from multiprocessing import connection
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from multiprocessing.reduction import ForkingPickler
from typing import Any, Generic, TypeVar

from posepipe.processes.interrupts import STOP_SIGNALS, blocked_in_children, delayed_interrupt

Job = TypeVar("Job")
Result = TypeVar("Result")
Work = Callable[[Job, Callable[[int], None]], Result]
"""Does one job; its second argument is called with the progress since the last call."""


class WorkerDiedError(Exception):
    """A worker process ended by itself: it was killed, perhaps for memory."""


class WorkerPool(Generic[Job, Result]):
    """Processes that do jobs; a context manager. Leaving it kills workers that are still busy.

    Ctrl-C and SIGTERM are for the parent alone: they are blocked in workers.

    Parameters
    ----------
    work : what a worker does; pickled
    count : number of workers
    """

    def __init__(self, work: Work[Job, Result], count: int) -> None:
        self._work = work
        self._count = count
        self._workers: dict[Connection, BaseProcess] = {}

    def __enter__(self) -> WorkerPool[Job, Result]:
        context = multiprocessing.get_context("spawn")  # a fork after Numba's threads have started would hang
        try:
            for _ in range(self._count):
                with delayed_interrupt(), blocked_in_children(STOP_SIGNALS):
                    ours, theirs = context.Pipe()
                    process = context.Process(target=_serve, args=(theirs,), daemon=True)
                    process.start()  # quick: the work itself is sent below, where signals are handled
                    self._workers[ours] = process
                    theirs.close()
            for worker in self._workers:
                _send(worker, self._work)
        except BaseException:
            self._kill()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self._kill()

    def run(self, jobs: Iterable[Job], on_progress: Callable[[int], None]) -> Iterator[Result]:
        """Do jobs; yields the result of each as it is finished.

        Raises
        ------
        WorkerDiedError
            When a worker was killed.
        Exception
            What a job raised.
        """
        waiting = iter(jobs)
        busy = {worker for worker in self._workers if _send_next(worker, waiting)}
        while busy:
            for worker in connection.wait(list(busy)):
                assert isinstance(worker, Connection)
                kind, value = _receive(worker)
                if kind == "progress":
                    on_progress(value)
                elif kind == "failed":
                    raise value
                else:
                    if not _send_next(worker, waiting):
                        busy.discard(worker)
                    yield value

    def _kill(self) -> None:
        with delayed_interrupt():
            for worker, process in self._workers.items():
                process.kill()
                worker.close()
            for process in self._workers.values():
                process.join()
            self._workers.clear()


def _send_next(worker: Connection, waiting: Iterator[Any]) -> bool:
    """Send a worker the next job; returns whether there was one."""
    for job in waiting:
        _send(worker, job)
        return True
    return False


def _send(worker: Connection, value: object) -> None:
    try:
        worker.send(value)
    except OSError:
        raise WorkerDiedError from None


def _receive(worker: Connection) -> tuple[str, Any]:
    try:
        return worker.recv()
    except (EOFError, OSError):
        raise WorkerDiedError from None


def _serve(parent: Connection) -> None:
    """Do jobs in a worker process until its parent hangs up."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # on Windows, where signals cannot be blocked
    threading.Thread(target=_end_with_parent, name="posepipe-parent", daemon=True).start()
    try:
        work = parent.recv()  # imports what it needs
        while True:
            job = parent.recv()
            parent.send(_outcome(work, job, lambda count: parent.send(("progress", count))))
    except (EOFError, OSError):
        os._exit(1)  # the parent is gone


def _outcome(work: Work[Any, Any], job: object, report: Callable[[int], None]) -> tuple[str, Any]:
    try:
        return "done", work(job, report)
    except Exception as error:
        error.add_note(traceback.format_exc())
        return "failed", _sendable(error)


def _sendable(error: Exception) -> Exception:
    """The error, or one that says the same where another process could not restore it."""
    try:
        ForkingPickler.loads(ForkingPickler.dumps(error))  # as the connection will
    except Exception:
        plain = RuntimeError(f"{type(error).__name__}: {error}")
        plain.add_note(traceback.format_exc())
        return plain
    return error


def _end_with_parent() -> None:
    """End this process when its parent ends, however that happens."""
    parent = multiprocessing.parent_process()
    assert parent is not None
    parent.join()
    os._exit(1)
