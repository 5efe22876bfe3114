"""Progress of commands where standard error is a file."""

from __future__ import annotations

import pytest

from apps.terminal import progress
from apps.terminal.progress import ProgressBar


@pytest.fixture
def clock(monkeypatch):
    """A clock that starts at 0 and is set by the test."""
    now = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: now[0])
    return now


def test_a_log_has_whole_lines_now_and_then_and_at_the_end(clock, capsys):
    with ProgressBar(200, "outer", "levels") as outer, ProgressBar(None, "inner", "frames") as inner:
        outer.update(0)
        inner.update(0)
        for second in range(1, 26):
            clock[0] = float(second)
            outer.update(4)
        inner.update(50, note="3 dropped")
    assert capsys.readouterr().err.splitlines() == [
        "outer: 40/200 levels, 4.0 levels/s, 00:40 left",
        "outer: 80/200 levels, 4.0 levels/s, 00:30 left",
        "inner: 50 frames, 2.0 frames/s, 3 dropped",
        "outer: 100/200 levels, 4.0 levels/s, 00:25 left",
    ]


def test_a_total_that_was_passed_is_left_out(clock, capsys):
    with ProgressBar(3, "run", "frames") as bar:  # of several cameras others may begin before the first
        bar.update(0)
        clock[0] = 1.0
        bar.update(4)
    assert capsys.readouterr().err == "run: 4 frames, 4.0 frames/s\n"


def test_work_that_never_began_prints_nothing(capsys):
    with ProgressBar(3, "work", "frames"):
        pass
    assert not capsys.readouterr().err
