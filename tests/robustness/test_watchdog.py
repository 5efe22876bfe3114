"""A reader that hangs, crashes or fills memory is reported with its case, and the next case is run."""

from __future__ import annotations

import re
import sys

import pytest

from tests.robustness.watchdog import Watchdog

PROBLEMS = {
    "hang": "took more than",
    "crash": "the interpreter ended with status",
    "traceback": "KeyError: 'x'",
    "two-lines": "not one line",
    "memory": "took [0-9]{3} MB",
    "one-line": None,
}


@pytest.fixture(scope="module")
def failures(tmp_path_factory):
    case = tmp_path_factory.mktemp("case")
    (case / "file").write_bytes(b"bad")
    with Watchdog(tmp_path_factory.mktemp("saved"), "tests.robustness.misbehaving_worker") as watchdog:
        return {name: watchdog.run({"target": name, "case": str(case)}) for name in PROBLEMS}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_misbehaving_reader_is_reported(failures, name):
    if name == "memory" and sys.platform == "win32":
        pytest.skip("Windows does not tell the memory of a process in the standard library")
    failure = failures[name]
    assert (failure is None) == (PROBLEMS[name] is None)
    if failure is not None:
        assert re.match(PROBLEMS[name], failure.problem), str(failure)
        assert (failure.saved / "file").read_bytes() == b"bad"
