"""Frame rate over the last seconds, and median times of stages."""

from __future__ import annotations

import pytest

from posepipe.viewer.playback.rates import WINDOW_FRAMES, WINDOW_S, Rates


def test_rates_are_counted_over_the_last_seconds():
    now = [0.0]
    rates = Rates(lambda: now[0])
    assert rates.frames_per_s == 0
    for _ in range(100):
        rates.count({})
        now[0] += 0.05
    assert rates.frames_per_s == pytest.approx(20, rel=0.05)
    now[0] += WINDOW_S + 1
    assert rates.frames_per_s == 0
    assert rates.frames == 100


def test_one_slow_frame_does_not_change_the_time_of_a_stage():
    rates = Rates()
    rates.count({"parts": 9.0})
    for _ in range(WINDOW_FRAMES):
        rates.count({"parts": 0.01})
    assert rates.stages_s == {"parts": 0.01}
