"""Kernels are compiled again when what they are made of changes, in whatever file."""

from __future__ import annotations

import errno
import multiprocessing
import os
import pickle
import subprocess
import sys
from multiprocessing.connection import Connection
from pathlib import Path

import numba
import numpy as np
import pytest
from numba.core import caching

from posepipe.camera import Intrinsics
from posepipe.compilation import helper, is_compiled, njit
from posepipe.learn.depth.splitting.depth_features import depth_differences

HELPER = """
from posepipe.compilation import njit
{constant}

@njit(cache=True, inline="{inline}")
def helper(x):
    return x + {added}
"""
KERNEL = """
from helper_file import SCALE, helper
from posepipe.compilation import njit

@njit(cache=True)
def kernel(x):
    return SCALE * helper(x)
"""
PROGRAM = """
import sys
from pathlib import Path
from posepipe import compilation
compilation.PACKAGES = (Path(sys.argv[1]),)
sys.path.insert(0, sys.argv[1])
import kernel_file
print(kernel_file.kernel(1), sum(kernel_file.kernel.stats.cache_hits.values()))
"""

WAITING = """
import os
import posepipe.compilation
print(os.environ.get("OMP_WAIT_POLICY"), os.environ.get("GOMP_SPINCOUNT"))
"""
THREE_THREADS = """
import threading
import numba
import numpy as np
from posepipe.compilation import njit, prange

@njit(parallel=True)
def kernel(numbers):
    for i in prange(len(numbers)):
        for _ in range(1000):
            numbers[i] += 1

def call_often(numbers):
    for _ in range(200):
        kernel(numbers)

several = [np.zeros(100) for _ in range(3)]
threads = [threading.Thread(target=call_often, args=(numbers,)) for numbers in several]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(numba.threading_layer(), *{float(each) for numbers in several for each in numbers})
"""


def _run(folder: Path, added: int = 1, constant: str = "SCALE = 1", inline: str = "never") -> tuple[int, int]:
    """Result of the kernel in a process of its own, and how often it came from the cache."""
    (folder / "helper_file.py").write_text(HELPER.format(added=added, constant=constant, inline=inline))
    (folder / "kernel_file.py").write_text(KERNEL)
    done = subprocess.run([sys.executable, "-c", PROGRAM, folder], capture_output=True, text=True, check=True)
    result, hits = map(int, done.stdout.split())
    return result, hits


@pytest.mark.parametrize("inline", ["never", "always"])
def test_changed_helper_in_another_file_is_compiled_in(tmp_path: Path, inline: str) -> None:
    assert _run(tmp_path, added=1, inline=inline) == (2, 0)
    assert _run(tmp_path, added=1, inline=inline) == (2, 1)  # the cache works at all
    assert _run(tmp_path, added=10, inline=inline) == (11, 0)


def test_changed_constant_of_another_file_is_compiled_in(tmp_path: Path) -> None:
    assert _run(tmp_path, constant="SCALE = 1") == (2, 0)
    assert _run(tmp_path, constant="SCALE = int('3')") == (6, 0)


def test_index_with_a_class_that_has_moved_counts_as_empty(tmp_path: Path) -> None:
    assert _run(tmp_path) == (2, 0)
    for index in tmp_path.rglob("*.nbi"):
        with index.open("rb") as file:
            version = pickle.load(file)
        index.write_bytes(pickle.dumps(version) + b"cno_such_module\nNoSuchClass\n.")
    assert _run(tmp_path) == (2, 0)
    assert _run(tmp_path) == (2, 1)


@pytest.mark.parametrize("kept", [0, 100])
def test_code_that_was_cut_is_compiled_anew(tmp_path: Path, kept: int) -> None:
    """A machine that loses its power may keep the names of files it wrote, and not their content."""
    assert _run(tmp_path) == (2, 0)
    for code in tmp_path.rglob("*.nbc"):
        code.write_bytes(code.read_bytes()[:kept])
    assert _run(tmp_path) == (2, 0)
    assert _run(tmp_path) == (2, 1)


def test_a_helper_is_for_kernels_alone_and_says_so_to_python():
    @helper()
    def halve(x):
        return x / 2

    @njit
    def quarter(x):
        return halve(halve(x))

    for _ in range(2):  # before a kernel compiles it, and after
        with pytest.raises(TypeError, match=r"halve is compiled for kernels alone; call a kernel, or \S*halve.py_func"):
            halve(3.0)
        assert quarter(3.0) == halve.py_func(1.5) == 0.75


def test_kernels_run_where_the_disk_of_the_cache_is_full(tmp_path, monkeypatch, caplog):
    def fail(*_):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(caching.IndexDataCacheFile, "_save_data", fail)
    monkeypatch.setattr("numba.core.config.CACHE_DIR", str(tmp_path))
    kernel = njit(cache=True)(lambda x: x + 1)
    assert kernel(1) == 2
    assert "No space left" in caplog.text


def test_kernels_run_where_no_cache_can_be_written(monkeypatch, caplog):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])  # as where all folders are read-only
    kernel = njit(cache=True)(lambda x: x + 1)
    assert kernel(1) == 2
    assert is_compiled(kernel)
    assert "NUMBA_CACHE_DIR" in caplog.text


@pytest.mark.parametrize("layer", ["workqueue", "default"])
def test_threads_may_run_parallel_kernels_at_once(layer, monkeypatch):
    monkeypatch.setenv("NUMBA_THREADING_LAYER", layer)
    done = subprocess.run([sys.executable, "-c", THREE_THREADS], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    chosen, total = done.stdout.split()
    assert total == "200000.0"
    assert layer in ("default", chosen)


def differences() -> np.ndarray:
    """What a parallel kernel gives."""
    depth_m, pixels = np.full((4, 4), 2, np.float32), np.ones((1, 2), np.int32)
    offsets, lens = np.zeros((1, 2, 2), np.float32), Intrinsics(4, 4, 1.5, 1.5)
    return depth_differences(depth_m, depth_m > 0, pixels, offsets, lens)


def send_differences(to: Connection) -> None:
    try:
        to.send(differences())
    except RuntimeError as error:
        to.send(str(error))


@pytest.mark.skipif(sys.platform != "linux", reason="GNU's OpenMP alone ends forked processes")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_forked_process_is_told_to_be_spawned():
    differences()
    if numba.threading_layer() != "omp":
        pytest.skip("this threading layer survives a fork")
    fork = multiprocessing.get_context("fork")
    ours, theirs = fork.Pipe()
    process = fork.Process(target=send_differences, args=(theirs,))
    process.start()
    theirs.close()
    assert "start processes with multiprocessing.get_context('spawn')" in ours.recv()
    process.join()


@pytest.mark.parametrize(
    ("given", "left"),
    [
        ({}, "None 20000"),
        ({"OMP_WAIT_POLICY": "active"}, "active None"),
        ({"GOMP_SPINCOUNT": "7"}, "None 7"),
    ],
)
def test_idle_threads_spin_briefly_unless_told_otherwise(given, left):
    of_waiting = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")
    environment = {name: value for name, value in os.environ.items() if name not in of_waiting}
    command = [sys.executable, "-c", WAITING]
    printed = subprocess.run(command, env=environment | given, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == left
