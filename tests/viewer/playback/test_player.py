"""The schedule: frames come in time and on command, and skipped ones are counted."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.viewer.playback.player import DEFAULT_STEP_S, LOOP_PAUSE_S, MAX_STEP_S, DueFrame, Player, due_times


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now_s = 100.0

    def __call__(self) -> float:
        return self.now_s


@pytest.fixture
def clock():
    return Clock()


def player_of(clock, count=10, fps=10.0):
    player = Player(np.arange(count) / fps, clock)
    assert player.next() == DueFrame(0, follows=True)
    assert player.next() is None  # the clock starts here
    return player


def rows_shown(player, clock, seconds, step_s=0.01):
    """Rows given while the clock runs, asked for often."""
    rows = []
    for _ in range(round(seconds / step_s)):
        clock.now_s += step_s
        due = player.next()
        if due is not None:
            rows.append(due.row)
    return rows


def test_frames_come_when_they_are_due(clock):
    player = player_of(clock)
    assert rows_shown(player, clock, 0.09) == []
    assert rows_shown(player, clock, 0.02) == [1]
    assert rows_shown(player, clock, 2) == list(range(2, 10))
    assert (player.dropped, player.ended, player.playing) == (0, True, False)


def test_a_slow_viewer_sees_the_newest_and_drops_are_counted(clock):
    player = player_of(clock)
    clock.now_s += 0.35
    assert player.next() == DueFrame(3, follows=True)
    assert player.dropped == 2
    clock.now_s += 5
    assert player.next() == DueFrame(9, follows=True)
    assert player.dropped == 7
    assert player.next() is None


def test_every_frame_is_shown_however_long_that_takes(clock):
    player = player_of(clock)
    player.set_every_frame(True)
    player.next()
    rows = []
    while not player.ended:
        clock.now_s += 0.35
        due = player.next()
        assert due is not None  # behind schedule: no frame waits
        rows.append(due.row)
    assert (rows, player.dropped) == (list(range(1, 10)), 0)


def test_every_frame_keeps_its_pace_after_a_delay(clock):
    player = player_of(clock)
    player.set_every_frame(True)
    player.next()
    clock.now_s += 0.5
    assert player.next().row == 1
    assert rows_shown(player, clock, 0.09) == []
    assert rows_shown(player, clock, 0.12) == [2, 3]


def test_a_slow_first_frame_drops_nothing(clock):
    player = Player(np.arange(10) / 10, clock)
    player.next()
    clock.now_s += 30  # kernels compile
    assert rows_shown(player, clock, 0.25) == [1, 2]
    assert player.dropped == 0


def test_pause_holds_and_play_goes_on_from_there(clock):
    player = player_of(clock)
    assert rows_shown(player, clock, 0.25) == [1, 2]
    player.pause()
    assert rows_shown(player, clock, 5) == []
    player.play()
    assert rows_shown(player, clock, 0.25) == [3, 4]
    assert player.dropped == 0


def test_a_step_pauses_and_only_back_is_a_jump(clock):
    player = player_of(clock)
    player.step(1)
    assert player.next() == DueFrame(1, follows=True)
    assert not player.playing
    player.step(-1)
    assert player.next() == DueFrame(0, follows=False)
    player.step(-1)
    assert player.next() == DueFrame(0, follows=False)
    player.step(1)
    player.step(1)
    assert player.next() == DueFrame(2, follows=False)


def test_a_seek_is_a_jump_and_playing_goes_on(clock):
    player = player_of(clock)
    player.seek(6)
    assert player.next() == DueFrame(6, follows=False)
    player.next()
    assert rows_shown(player, clock, 0.15) == [7]
    player.seek(99)
    assert player.next() == DueFrame(9, follows=False)
    player.seek(-5)
    assert player.next() == DueFrame(0, follows=False)
    assert player.dropped == 0


def test_play_at_the_end_starts_over(clock):
    player = player_of(clock, count=3)
    rows_shown(player, clock, 1)
    assert player.ended
    player.play()
    assert not player.ended
    assert player.next() == DueFrame(0, follows=False)


def test_speed_is_recorded_seconds_a_second(clock):
    player = player_of(clock, count=100)
    player.set_speed(4.0)
    player.next()
    assert rows_shown(player, clock, 0.51) == list(range(1, 21))
    player.set_speed(0.25)
    player.next()
    assert rows_shown(player, clock, 0.38) == []
    assert rows_shown(player, clock, 0.04) == [21]


def test_a_command_ends_the_wait(clock):
    player = player_of(clock)
    player.pause()
    player.wait(0)
    threading.Timer(0.05, player.step, [1]).start()
    player.wait(60)
    assert player.next().row == 1


def test_nothing_to_play_is_refused():
    with pytest.raises(ValueError, match="no frames"):
        Player(np.zeros(0))


def test_one_frame_is_shown_and_that_is_the_end(clock):
    player = player_of(clock, count=1)
    assert player.ended
    player.step(1)
    assert player.next() == DueFrame(0, follows=False)


def test_missing_steps_get_the_default_and_long_ones_are_cut():
    np.testing.assert_allclose(due_times(np.zeros(4)), DEFAULT_STEP_S * np.arange(4))
    np.testing.assert_allclose(due_times(np.array([5.0, 5.1, 5.1, 5.0, 5.1])), 0.1 * np.arange(5))
    np.testing.assert_allclose(due_times(np.array([0, 0.1, 3600, 3600.1])), np.cumsum([0, 0.1, MAX_STEP_S, 0.1]))


@given(st.lists(st.floats(allow_nan=True, allow_infinity=True), min_size=1, max_size=20))
def test_whatever_the_times_playing_goes_forward_and_ends(times_s):
    due_s = due_times(np.array(times_s))
    assert len(due_s) == len(times_s)
    assert due_s[0] == 0
    assert (np.diff(due_s) > 0).all()
    assert due_s[-1] <= MAX_STEP_S * len(times_s)


def test_a_loop_starts_again_after_a_pause_and_ends_when_told(clock):
    loops = [True]
    player = player_of(clock, count=3)
    player.loop_while(lambda: loops[0])
    assert rows_shown(player, clock, 0.2 + LOOP_PAUSE_S - 0.02) == [1, 2]
    assert (player.ended, player.playing) == (True, True)
    clock.now_s += 0.05
    assert player.next() == DueFrame(0, follows=False)
    loops[0] = False
    assert rows_shown(player, clock, 5) == [1, 2]
    assert (player.ended, player.playing) == (True, False)


def test_a_loop_that_nobody_watches_waits_without_a_pause(clock):
    watched = [False]
    player = player_of(clock, count=3)
    player.loop_while(lambda: True, lambda: watched[0])
    assert rows_shown(player, clock, 5) == [1, 2]
    assert (player.ended, player.playing) == (True, True)
    watched[0] = True
    assert rows_shown(player, clock, 0.25) == [0, 1, 2]


def test_the_last_frame_that_was_asked_for_does_not_loop(clock):
    player = player_of(clock, count=3)
    player.loop_while(lambda: True)
    player.step(2)
    assert player.next() == DueFrame(2, follows=False)
    assert rows_shown(player, clock, 5) == []
