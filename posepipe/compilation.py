"""Numba as all kernels import it, with a disk cache that sees changes in the kernels' helpers.

Numba keeps a compiled kernel until the kernel's own file changes. Helpers and constants from other files are compiled
into it as well, so that a kernel could outlive them: after an upgrade in place it would run, or crash, with the old
ones. Here a kernel is also compiled again when a file changes from which it takes helpers, or a constant does; and
when a class of its arguments is gone from where the cache remembers it.

Kernels of the pipeline declare the argument types that they are called with, `compiled_for`: `posepipe.precompilation`
compiles them in several processes before their first call. A kernel contains all that it calls, compiled once more, and
so does whatever calls it: a few levels of kernels are what compiling takes longest for.
"""

from __future__ import annotations

import hashlib
import logging
import os
import sys
import threading
from collections.abc import Callable, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit as numba_njit
from numba import prange, threading_layer
from numba.core import caching, event
from numba.core.dispatcher import Dispatcher

__all__ = ["compiled_for", "helper", "is_compiled", "njit", "prange", "say_compiling"]

DeclaredTypes = tuple[str | tuple[type, str], ...]
DECLARED: dict[str, tuple[Dispatcher, DeclaredTypes]] = {}
"""Kernels of the modules imported so far that declare their types, and the types, by ``module:name``."""
PACKAGES = tuple(Path(__file__).resolve().parents[1] / name for name in ("posepipe", "synth"))
"""Folders whose kernels are cached by the rule of this module; those of other projects keep Numba's."""

SPIN_COUNT = 20_000
"""Rounds for which an idle thread of GNU's OpenMP spins before it sleeps, instead of 300,000. Beside another program on
the same cores, spinning threads keep those that work from a core: steps then take several times as long."""

_log = logging.getLogger(__name__)
_turn = threading.Lock()  # held by the parallel kernel that runs, where only one may
_lost_threads = False  #: whether this process was forked from one whose parallel kernels had threads of GNU's OpenMP


if not os.environ.keys() & {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"}:
    os.environ["GOMP_SPINCOUNT"] = str(SPIN_COUNT)  # read when the first parallel kernel runs


class _TakesTurns(Dispatcher):
    """A parallel kernel that waits for others to end where Numba's threading layer runs only one at a time.

    In a process that was forked after the first of them it is an error: Numba would end the process, and a pool would
    wait for it for ever.
    """

    def __call__(self, *arguments: Any) -> Any:
        if _lost_threads:
            raise RuntimeError(
                "this process was forked from one that has run posepipe, whose threads it lacks; start processes with"
                " multiprocessing.get_context('spawn')"
            )
        if _layer_takes_many():
            return super().__call__(*arguments)
        with _turn:
            return super().__call__(*arguments)


def _layer_takes_many() -> bool:
    """Whether several threads may run parallel kernels at once: ``workqueue`` ends the process then."""
    return _layer() not in ("", "workqueue")


def _layer() -> str:
    """Numba's threading layer; "" until the first parallel kernel chooses it."""
    try:
        return threading_layer()
    except ValueError:
        return ""


def _note_fork() -> None:
    global _lost_threads
    _lost_threads = _lost_threads or (sys.platform == "linux" and _layer() == "omp")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def njit(*function: Callable[..., Any], **options: Any) -> Any:
    """Numba's decorator, for kernels that any thread may call."""
    # no function for callers in C, whom kernels do not have: a tenth of the time of compiling
    decorate: Callable[..., Any] = partial(numba_njit, no_cfunc_wrapper=True, **options)

    def declare(function: Callable[..., Any]) -> Any:
        try:
            kernel = decorate(function)
        except RuntimeError:  # of Numba
            _say_uncached("no folder can be written")
            kernel = decorate(function, cache=False)
        if options.get("parallel") and isinstance(kernel, Dispatcher):  # a plain function where Numba is switched off
            setattr(kernel, "__class__", _TakesTurns)  # noqa: B010  # no assignment: to mypy it is no class
        return kernel

    return declare(*function) if function else declare


def compiled_for(*types: str | tuple[type, str]) -> Callable[[Any], Any]:
    """Declare the argument types of a kernel's one specialisation; others are compiled when they are called for.

    Parameters
    ----------
    types : in Numba's notation, one or several: ``f4[:,::1]`` is a C-contiguous float32 matrix, ``i8`` an int64. Or a
        NamedTuple class with the types of its fields
    """

    def declare(kernel: Any) -> Any:
        if isinstance(kernel, Dispatcher):  # a plain function where Numba is switched off
            DECLARED[f"{kernel.py_func.__module__}:{kernel.py_func.__qualname__}"] = kernel, types
        return kernel

    return declare


def helper(**options: Any) -> Callable[[Any], Any]:
    """Compile a function that only kernels call, without the code by which Python calls it.

    That code takes arguments apart, and of many arrays it takes longer to compile than a short function itself.

    Parameters
    ----------
    options : of `njit`
    """

    def declare(function: Callable[..., Any]) -> Any:
        kernel = njit(no_cpython_wrapper=True, **options)(function)
        if isinstance(kernel, Dispatcher):  # a plain function where Numba is switched off
            # Numba would jump to the missing code, and crash
            setattr(kernel, "_insert", lambda *overload, **kinds: None)  # noqa: B010
            setattr(kernel, "_compile_for_args", _refuse(function.__qualname__))  # noqa: B010
        return kernel

    return declare


def _refuse(name: str) -> Callable[..., Any]:
    def refuse(*args: Any, **keywords: Any) -> Any:
        raise TypeError(f"{name} is compiled for kernels alone; call a kernel, or {name}.py_func")

    return refuse


class _TracksHelpers:
    """Mix-in for Numba's cache locators: stamps a cached kernel with all that was compiled into it."""

    _globals: Mapping[str, Any]

    @classmethod
    def from_function(cls, py_func: Callable[..., Any], py_file: str) -> Any:
        """Make the locator of a kernel; None where this class does not serve its file."""
        if not any(Path(py_file).resolve().is_relative_to(package) for package in PACKAGES):
            return None  # the next locator is asked
        locator = super().from_function(py_func, py_file)  # type: ignore[misc]
        if locator is not None:
            locator._globals = py_func.__globals__
        return locator

    def get_source_stamp(self) -> tuple[Any, str]:
        """State of the sources; a cached kernel of another state is not used."""
        return super().get_source_stamp(), stamp_of(self._globals)  # type: ignore[misc]


def stamp_of(module_globals: Mapping[str, Any]) -> str:
    """Digest of what kernels of one module may have compiled into them.

    Parameters
    ----------
    module_globals : names of the module, with all it imported

    Returns
    -------
    str
        SHA-256 of the files of the module and of every kernel that it names, directly or through their own files, and
        of the constants of all these.
    """
    found: dict[str, Mapping[str, Any]] = {}
    open_modules = [module_globals]
    while open_modules:
        names = open_modules.pop()
        path = names["__file__"]
        if path not in found:
            found[path] = names
            open_modules += [value.py_func.__globals__ for value in names.values() if isinstance(value, Dispatcher)]
    digest = hashlib.sha256()
    for path in sorted(found):
        digest.update(_content(path))
        for name, value in sorted(found[path].items()):
            if isinstance(value, bool | int | float | str | tuple | np.generic) and not name.startswith("__"):
                digest.update(f"{name}={value!r}".encode())
            elif isinstance(value, np.ndarray):
                digest.update(name.encode() + value.tobytes())
    return digest.hexdigest()


@cache
def _content(path: str) -> bytes:
    return hashlib.sha256(Path(path).read_bytes()).digest()


class _ForgivingCacheFile(caching.IndexDataCacheFile):
    """Index and code of a cached kernel; what cannot be read, as of classes that have moved, counts as missing."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index()
        except Exception:  # whatever a class that is gone, or a cut file, may raise
            return {}

    def _load_data(self, name: str) -> Any:
        try:
            return super()._load_data(name)
        except Exception as error:  # likewise; Numba compiles anew what it finds no file of
            raise FileNotFoundError(name) from error

    def save(self, key: Any, data: Any) -> None:
        """Keep a compiled kernel, if the disk has room."""
        try:
            super().save(key, data)
        except OSError as error:
            _say_uncached(error.strerror or str(error))


@cache
def say_compiling() -> None:
    """Log, once in a process, that kernels are compiled: nothing else tells a user what takes so long.

    A later run may do so again: other commands and other kinds of depth need other kernels, and another processor or
    version, or a run that was stopped while it compiled, needs all.
    """
    kept = "" if _say_uncached.cache_info().currsize else "; later runs take them from disk"
    _log.info("compiling kernels that no earlier run has left%s", kept)


@cache
def _say_uncached(reason: str) -> None:
    _log.warning("compiled kernels are not kept (%s): every start compiles; NUMBA_CACHE_DIR names a folder", reason)


class _Announcement(event.Listener):
    """Says so at the first kernel that no cache holds."""

    def on_start(self, event: event.Event) -> None:
        say_compiling()

    def on_end(self, event: event.Event) -> None:
        pass


def is_compiled(kernel: Any) -> bool:
    """Whether the cache on disk holds the kernel, for any types."""
    try:
        return bool(kernel._cache._cache_file._load_index())
    except AttributeError:  # a kernel without cache, a plain function, or a Numba that keeps it elsewhere
        return True


def _install() -> None:
    """Put our locators before Numba's own, and our index in place of it."""
    setattr(caching, "IndexDataCacheFile", _ForgivingCacheFile)  # noqa: B010  # no assignment: to mypy it is a type
    locators: list[type] = list(caching.CacheImpl._locator_classes)
    ours = [type(f"_{each.__name__}", (_TracksHelpers, each), {}) for each in locators]
    caching.CacheImpl._locator_classes = ours + locators  # type: ignore[assignment]
    event.register("numba:compile", _Announcement())


_install()
