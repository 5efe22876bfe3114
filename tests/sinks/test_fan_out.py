"""Several sinks as one: order of results, and closing when one of them fails to open."""

from __future__ import annotations

import pytest

from posepipe.sinks import FanOutSink
from tests.support.found_people import result


class Recorder:
    """Notes its calls in a shared list."""

    def __init__(self, name, calls, opens=True):
        self.name, self.calls, self.opens = name, calls, opens

    def __enter__(self):
        if not self.opens:
            raise OSError("cannot open")
        self.calls.append(f"open {self.name}")
        return self

    def write(self, result):
        self.calls.append(f"{self.name} {result.frame.index}")

    def __exit__(self, *error):
        self.calls.append(f"close {self.name}")


def test_every_sink_gets_every_result_in_order():
    calls = []
    with FanOutSink([Recorder("a", calls), Recorder("b", calls)]) as sink:
        for index in range(2):
            sink.write(result(index))
    assert calls == ["open a", "open b", "a 0", "b 0", "a 1", "b 1", "close b", "close a"]


def test_a_sink_that_fails_to_open_closes_those_before_it():
    calls = []
    with pytest.raises(OSError, match="cannot open"), FanOutSink([Recorder("a", calls), Recorder("b", calls, False)]):
        pass
    assert calls == ["open a", "close a"]
