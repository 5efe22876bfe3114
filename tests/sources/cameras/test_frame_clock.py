"""Times of frames by clocks that jump, restart or are missing."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.sources.cameras.depth_camera import CameraFrame
from posepipe.sources.cameras.frame_clock import FrameClock

NOTHING = np.zeros((1, 1), np.uint16)
SECOND = 10**9
WALL_NS = 1_800_000_000 * SECOND


class Clock:
    """Simulated times of arrival."""

    def __init__(self):
        self.now_ns = 5 * SECOND
        self.frames = FrameClock(lambda: self.now_ns, lambda: WALL_NS)

    def at(self, seconds, time_ns=None, since_epoch=False):
        self.now_ns = 5 * SECOND + round(seconds * SECOND)
        return self.frames.seconds(CameraFrame(NOTHING, time_ns, since_epoch))


def test_the_cameras_clock_overrides_the_time_of_arrival():
    clock = Clock()
    assert [clock.at(0.0, 700), clock.at(0.9, 700 + SECOND // 2)] == [0, 0.5]
    assert clock.frames.start_time_ns == WALL_NS


def test_a_clock_with_a_date_gives_the_start_time():
    clock = Clock()
    assert clock.at(0, 17 * SECOND, since_epoch=True) == 0
    assert clock.frames.start_time_ns == 17 * SECOND


def test_a_camera_that_learns_the_date_goes_on_from_the_arrival():
    clock = Clock()
    own = [clock.at(0, 7 * SECOND)]
    dated = [clock.at(seconds, WALL_NS + round(seconds * SECOND), since_epoch=True) for seconds in (0.25, 0.5)]
    assert own + dated == [0, 0.25, 0.5]


def test_without_a_clock_the_time_of_arrival_counts():
    clock = Clock()
    assert [clock.at(0), clock.at(0.25), clock.at(1.5)] == [0, 0.25, 1.5]


def test_after_a_jump_back_times_continue_from_the_arrival():
    clock = Clock()
    times = [clock.at(0, 50 * SECOND), clock.at(1, 51 * SECOND), clock.at(2, 3 * SECOND), clock.at(3, 4 * SECOND)]
    assert times == [0, 1, 2, 3]


def test_frames_in_the_wrong_order_let_no_time_pass():
    clock, rows = Clock(), [0, 1, 3, 2, 4, 6, 5, 7, 9, 8, 10]
    found = [clock.at(0.1 * k, round(0.03 * row * SECOND)) for k, row in enumerate(rows)]
    assert found == [0.03 * row for row in (0, 1, 3, 3, 4, 6, 6, 7, 9, 9, 10)]


def test_a_reconnected_camera_continues_after_the_pause():
    clock = Clock()
    clock.at(0, 50 * SECOND)
    clock.frames.restart()
    assert clock.at(10, 400 * SECOND) == 10
    dated = Clock()
    dated.at(0, 50 * SECOND, since_epoch=True)
    dated.frames.restart()
    assert dated.at(10, 61 * SECOND, since_epoch=True) == 11  # the date went on by itself


@given(
    st.lists(
        st.tuples(
            st.floats(0, 2), st.one_of(st.none(), st.integers(0, 1 << 60)), st.booleans(), st.sampled_from([0, 0, 1])
        ),
        min_size=1,
        max_size=20,
    )
)
def test_times_begin_at_0_and_never_run_backwards(arrivals):
    clock, now, times = Clock(), 0.0, []
    for step, time_ns, since_epoch, restart in arrivals:
        if restart:
            clock.frames.restart()
        now += step
        times.append(clock.at(now, time_ns, since_epoch))
    assert times[0] == 0
    assert times == sorted(times)
    assert times[0] == pytest.approx(0)
