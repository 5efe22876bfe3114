"""Outputs that fail as a run ends: none hides another, nor what ended the run."""

from __future__ import annotations

import pytest

from apps.running.completed_sinks import CompletedSinks
from posepipe.errors import PosepipeError
from tests.support.found_people import result


class Output:
    """Notes its calls in a shared list, and may fail to close."""

    def __init__(self, name, calls, closes=False):
        self.name, self.calls, self.closes = name, calls, closes

    def __enter__(self):
        return self

    def write(self, result):
        self.calls.append(f"{self.name} {result.frame.index}")

    def __exit__(self, *error):
        self.calls.append(f"close {self.name}")
        if not self.closes:
            raise PosepipeError(f"{self.name} is damaged")


def test_all_outputs_that_fail_to_close_are_told():
    calls = []
    outputs = [Output("a", calls), Output("b", calls, closes=True), Output("c", calls)]
    with pytest.raises(PosepipeError, match=r"^a is damaged; c is damaged$"), CompletedSinks(outputs) as sinks:
        sinks.write(result(3))
    assert calls == ["a 3", "b 3", "c 3", "close c", "close b", "close a"]


@pytest.mark.parametrize("ended_by", [ValueError("the disk is full"), KeyboardInterrupt()])
def test_what_ends_a_run_is_raised_and_what_fails_then_logged(ended_by, caplog):
    with pytest.raises(type(ended_by)) as raised, CompletedSinks([Output("a", []), Output("b", [])]):
        raise ended_by
    assert raised.value is ended_by
    assert [record.getMessage() for record in caplog.records] == ["a is damaged", "b is damaged"]


def test_a_failure_that_ends_a_run_is_told_once(caplog):
    with pytest.raises(PosepipeError, match="a is damaged"), CompletedSinks([Output("a", [])]):
        raise PosepipeError("a is damaged")
    assert not caplog.records
