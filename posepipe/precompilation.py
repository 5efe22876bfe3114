"""Compile the kernels of a pipeline in several processes, before their first call.

Numba compiles a kernel when it is called, one after the other. On a machine that has none in its cache, processes
compile them at the same time, while this one reads the model. It then takes them from the cache on disk. A process that
fails costs time and nothing else: what is missing is compiled when it is called.
"""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable
from queue import SimpleQueue
from types import TracebackType
from typing import IO, Any, Self

from numba.core.dispatcher import Dispatcher
from numba.core.sigutils import normalize_signature
from numba.core.types import NamedTuple, NamedUniTuple

from posepipe.compilation import DECLARED, DeclaredTypes

MAX_PROCESSES = 4
"""More would wait for the kernel that takes longest."""
PARALLEL = 2
"""Time of compiling a kernel for several threads, beside one of as much code for one."""


class Precompilation:
    """Compiles all kernels that modules imported so far declare, and that the cache on disk lacks.

    A context: processes start with it, and end with it at the latest.

    Attributes
    ----------
    missing : names of the kernels that the cache lacks; empty = nothing to do
    """

    def __init__(self, processes: int | None = None) -> None:
        self.missing = sorted((name for name in DECLARED if not _is_cached(name)), key=_size, reverse=True)
        cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
        wanted = min(processes or cores, MAX_PROCESSES, len(self.missing))
        self._wanted = wanted if wanted > 1 or processes else 0  # one process would save nothing: `wait` compiles
        self._processes: list[subprocess.Popen[str]] = []
        self._open = deque(self.missing)
        self._finished: SimpleQueue[str | None] = SimpleQueue()  # names, and None for each process that has ended

    def __enter__(self) -> Self:
        for _ in range(self._wanted):
            # -P: a folder `posepipe` where the user stands is not this package
            command = [sys.executable, "-P", "-c", f"from {__name__} import serve; serve()"]
            path = os.pathsep.join(entry or os.getcwd() for entry in sys.path)
            environment = {**os.environ, "PYTHONPATH": path}
            try:
                process = subprocess.Popen(  # nosec B603 - this interpreter, and a program of ours
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.DEVNULL,
                    text=True,
                    env=environment,
                )
            except OSError:
                continue
            self._processes.append(process)
            threading.Thread(target=self._feed, args=(process.stdin, process.stdout), daemon=True).start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open.clear()
        for process in self._processes:
            process.kill()
            process.wait()

    def wait(self, on_kernel: Callable[[], object] = lambda: None) -> None:
        """Wait until all kernels are in the cache, or compile them here; ``on_kernel`` is called for each."""
        running = len(self._processes)
        if not running:
            self._compile_here(on_kernel)
        while running:
            name = self._finished.get()
            if name is None:
                running -= 1
            else:
                on_kernel()

    def _compile_here(self, on_kernel: Callable[[], object]) -> None:
        for name in self._open:
            compile_declared(name)  # Ctrl-C may come as an error of the compiler, so that none is passed over
            on_kernel()

    def _feed(self, orders: IO[str], answers: IO[str]) -> None:
        """Give a process one kernel after the other."""
        try:
            while self._open:
                name = self._open.popleft()
                print(name, file=orders, flush=True)
                if not answers.readline():
                    break
                self._finished.put(name)
        except (OSError, IndexError, ValueError):  # the process, or the last kernel, is gone
            pass
        finally:
            self._finished.put(None)


def serve() -> None:
    """Compile the kernels whose names come on standard input, one a line, and answer each with its name."""
    for line in sys.stdin:
        compile_declared(line.strip())
        print(line, end="", flush=True)


def load_kernels() -> None:
    """Load all kernels that modules imported so far declare, or compile them; their first calls then take no longer."""
    for name in DECLARED:
        compile_declared(name)


def compile_declared(name: str) -> None:
    """Compile a kernel for the types that it declares, or load it from the cache."""
    importlib.import_module(name.partition(":")[0])
    kernel, types = DECLARED[name]
    kernel.compile(_signature(types))


def _signature(types: DeclaredTypes) -> tuple[Any, ...]:
    found: list[Any] = []
    for each in types:
        if isinstance(each, str):
            found += normalize_signature(f"({each},)")[0]
        else:
            kind, fields = each[0], _signature(each[1:])
            uniform = len(set(fields)) == 1  # of which Numba makes another type
            found.append(NamedUniTuple(fields[0], len(fields), kind) if uniform else NamedTuple(fields, kind))
    return tuple(found)


def _size(name: str) -> int:
    """Order of compile times: what takes longest begins first."""
    kernel = DECLARED[name][0]
    return _code_size(kernel, set()) * (PARALLEL if kernel.targetoptions.get("parallel") else 1)


def _code_size(kernel: Dispatcher, seen: set[Dispatcher]) -> int:
    """Size of the code of a kernel, and of the kernels it calls that have not been seen."""
    seen.add(kernel)
    code, names = kernel.py_func.__code__, kernel.py_func.__globals__
    called = [names[name] for name in code.co_names if isinstance(names.get(name), Dispatcher)]
    return len(code.co_code) + sum(_code_size(each, seen) for each in called if each not in seen)


def _is_cached(name: str) -> bool:
    """Whether the cache on disk holds a kernel for the types that it declares."""
    kernel: Any = DECLARED[name][0]
    cache, target = kernel._cache, kernel.targetctx
    try:
        key = cache._index_key(_signature(DECLARED[name][1]), target.codegen())
        return key in cache._cache_file._load_index()
    except AttributeError:  # a kernel without cache, or a Numba that keeps it elsewhere
        return True
