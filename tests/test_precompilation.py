"""Kernels are compiled by other processes, for the types that they declare."""

from __future__ import annotations

import logging
import subprocess
import sys

import numpy as np
import pytest
from numba.core.dispatcher import Dispatcher

import posepipe.pipeline  # noqa: F401  # its modules declare their kernels
from posepipe import compilation, precompilation
from posepipe.compilation import DECLARED, compiled_for
from posepipe.pipeline import Pipeline
from posepipe.precompilation import Precompilation, _signature
from posepipe.sources import open_source
from posepipe.tracking.association import measure_bones
from tests.support.paths import ROOT, WALK
from tests.support.shipped_model import shipped_model

KERNEL = "posepipe.tracking.association:_measure_bones"
PROGRAM = """
import posepipe.tracking.association
from posepipe.precompilation import Precompilation
with Precompilation(processes=2) as compilation:
    print(len(compilation.missing))
    compiled = []
    compilation.wait(lambda: compiled.append(1))
    print(len(compiled))
print(len(Precompilation().missing))
"""
ANNOUNCED = """
import logging
import numpy as np
from posepipe.compilation import is_compiled
from posepipe.tracking.association import _measure_bones, measure_bones
logging.basicConfig(level=logging.INFO, format="%(message)s")
print(is_compiled(_measure_bones))
for _ in range(2):
    measure_bones(np.zeros((3, 3)), np.array([[0, 1], [1, 2]]))
print(is_compiled(_measure_bones))
"""


def test_a_kernel_runs_with_the_types_that_it_declares():
    kernel, types = DECLARED[KERNEL]
    measure_bones(np.zeros((3, 3)), np.array([[0, 1], [1, 2]]))
    assert _signature(types) in kernel.signatures


def test_the_fit_calls_kernels_with_their_declared_types():
    with open_source(WALK) as source:
        assert Pipeline.from_model(shipped_model()).step(next(iter(source))).people
    own = {name: each for name, each in DECLARED.items() if name.startswith("posepipe.body_model.")}
    assert len(own) > 5
    for name, (kernel, types) in own.items():
        assert _signature(types) in kernel.signatures, name


def test_every_declaration_has_one_type_for_each_argument():
    for name, (kernel, types) in DECLARED.items():
        assert isinstance(kernel, Dispatcher)
        assert len(_signature(types)) == kernel.py_func.__code__.co_argcount, name


def test_other_processes_fill_the_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["3", "3", "0"]


def test_a_folder_posepipe_where_the_user_stands_is_left_alone(tmp_path, monkeypatch):
    """As in a checkout, with posepipe installed elsewhere: its kernels would be cached beside the wrong files."""
    (tmp_path / "posepipe").mkdir()
    (tmp_path / "posepipe" / "__init__.py").write_text("raise SystemExit('the wrong posepipe')\n")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    command = [sys.executable, "-P", "-c", PROGRAM]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert done.stdout.split() == ["3", "3", "0"]


def test_what_no_process_compiles_is_compiled_here(monkeypatch):
    monkeypatch.setattr(precompilation, "_is_cached", lambda name: name != KERNEL)
    monkeypatch.setattr(precompilation, "serve", None)
    monkeypatch.setattr(precompilation.sys, "executable", "/no/such/python")
    with Precompilation(processes=1) as compilation:
        assert compilation.missing == [KERNEL]
        compiled = []
        compilation.wait(lambda: compiled.append(1))
        assert len(compiled) == 1


def test_the_first_kernel_that_is_compiled_is_announced(tmp_path, monkeypatch):
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    runs = [subprocess.run([sys.executable, "-c", ANNOUNCED], capture_output=True, text=True) for _ in range(2)]
    assert [run.stdout.split() for run in runs] == [["False", "True"], ["True", "True"]]
    announced = "compiling kernels that no earlier run has left; later runs take them from disk\n"
    assert [run.stderr for run in runs] == [announced, ""]


def test_kernels_that_cannot_be_kept_are_not_said_to_be(caplog):
    for message in (compilation.say_compiling, compilation._say_uncached):
        message.cache_clear()
    with caplog.at_level(logging.INFO):
        compilation._say_uncached("no folder can be written")
        compilation.say_compiling()
    assert caplog.messages[-1] == "compiling kernels that no earlier run has left"
    compilation._say_uncached.cache_clear()


def test_a_process_that_dies_is_no_wait_without_end(monkeypatch):
    monkeypatch.setattr(precompilation, "_is_cached", lambda name: name != KERNEL)
    monkeypatch.setattr(precompilation.sys, "executable", "/bin/true")
    with Precompilation(processes=1) as compilation:
        compilation.wait(lambda: pytest.fail("nothing was compiled"))


def test_a_plain_function_declares_nothing():
    assert compiled_for("f4")(abs) is abs
