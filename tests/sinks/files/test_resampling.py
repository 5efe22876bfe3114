"""Resampling: even times stay unchanged, short gaps are interpolated, long ones held."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.sinks.files.resampling import (
    DEFAULT_FRAME_S,
    MAX_GAP_S,
    first_frame,
    frame_interval_s,
    in_long_gaps,
    resample,
)


def one_joint(*x):
    return np.array([[[value, 0.0, 1.0]] for value in x])


def test_the_median_step_ignores_gaps_and_steps_of_zero_or_less():
    assert frame_interval_s(np.array([0, 0.1, 0.2, 5.0, 5.1, 5.1, 4.0, 4.1])) == pytest.approx(0.1)
    for times in ([], [3.0], [1.0, 1.0], [2.0, 1.0]):
        assert frame_interval_s(np.array(times)) == DEFAULT_FRAME_S


@pytest.mark.parametrize("rate", [1, 5, 15, 24, 25, 30, 60, 120])
@pytest.mark.parametrize("frames", [2, 3, 11, 1000])
def test_rounded_times_of_an_even_clock_give_its_rate(rate, frames):
    times_s = np.round(np.arange(frames) / rate, 6)
    assert 1 / frame_interval_s(times_s) == pytest.approx(rate, abs=1e-9)
    lost = np.delete(times_s, slice(4, 6))
    assert 1 / frame_interval_s(lost) == pytest.approx(rate, abs=1e-9)


@pytest.mark.parametrize(("rate", "within"), [(29.97, 1e-5), (30.3, 1e-5)])
def test_a_rate_that_is_no_whole_number_stays(rate, within):
    assert 1 / frame_interval_s(np.round(np.arange(900) / rate, 6)) == pytest.approx(rate, abs=within)


def test_an_uneven_clock_gives_the_median():
    times_s = np.cumsum(np.resize([0.030, 0.033, 0.041], 300))
    assert frame_interval_s(times_s) == pytest.approx(0.033)


def test_even_times_change_nothing():
    times_s = np.arange(50) / 30
    joints_m = np.random.default_rng(0).normal(size=(50, 4, 3))
    np.testing.assert_allclose(resample(times_s, joints_m, 1 / 30, 0.0), joints_m, atol=1e-9)


def test_uneven_times_are_crossed_in_a_straight_line():
    got = resample(np.array([0.0, 0.1, 0.3, 0.44]), one_joint(0, 1, 3, 4.4), 0.1, 0.0)
    np.testing.assert_allclose(got[:, 0, 0], [0, 1, 2, 3, 4], atol=1e-9)


def test_short_gaps_are_interpolated_and_long_ones_held():
    times_s = np.arange(31) / 10
    x = np.where(np.isin(np.arange(31), [3, 4, *range(12, 25)]), np.nan, np.arange(31.0))
    got = resample(times_s, one_joint(*x), 0.1, 0.0)[:, 0, 0]
    np.testing.assert_allclose(got[:12], np.arange(12), atol=1e-9)
    np.testing.assert_allclose(got[12:25], 11, atol=1e-9)
    np.testing.assert_allclose(got[25:], np.arange(25, 31), atol=1e-9)


def test_the_longest_gap_that_is_crossed():
    for gap_s, middle in ((MAX_GAP_S, 1.0), (MAX_GAP_S + 0.01, 0.0)):
        got = resample(np.array([0.0, gap_s]), one_joint(0, 2), gap_s / 2, 0.0)
        np.testing.assert_allclose(got[:, 0, 0], [0, middle, 2])


@pytest.mark.parametrize("frame_s", [0.5, 1.0, 5.0])
def test_an_uneven_clock_of_few_frames_makes_no_gaps(frame_s):
    times_s = frame_s * np.array([0.0, 0.9, 2.1, 3.0, 4.15, 5.0])
    joints_m = one_joint(*times_s)
    np.testing.assert_allclose(resample(times_s, joints_m, frame_s, 0.0)[:, 0, 0], frame_s * np.arange(6), atol=1e-9)
    np.testing.assert_array_equal(in_long_gaps(times_s, joints_m, frame_s, 0.0), False)


def test_a_frame_lost_among_few_is_a_long_gap():
    times_s, joints_m = np.arange(5.0), one_joint(0, 1, np.nan, 3, 4)
    np.testing.assert_array_equal(in_long_gaps(times_s, joints_m, 1.0, 0.0)[:, 0], [False, False, True, False, False])
    np.testing.assert_allclose(resample(times_s, joints_m, 1.0, 0.0)[:, 0, 0], [0, 1, 1, 3, 4])


def test_outside_its_times_a_joint_keeps_the_nearest_position():
    got = resample(np.arange(5.0) / 10, one_joint(np.nan, np.nan, 7, 8, np.nan), 0.1, 0.0)
    np.testing.assert_allclose(got[:, 0, 0], [7, 7, 7, 8, 8])


def test_a_joint_never_seen_stays_unknown():
    joints_m = np.concatenate([one_joint(1, 2), np.full((2, 1, 3), np.nan)], axis=1)
    got = resample(np.array([0.0, 0.1]), joints_m, 0.1, 0.0)
    assert np.isnan(got[:, 1]).all()
    assert np.isfinite(got[:, 0]).all()


def test_frames_are_multiples_of_the_frame_time_from_the_start():
    times_s, frame_s = np.array([1.04, 1.13, 1.26, 1.34]), 0.1  # a person who comes between two frames of the run
    assert first_frame(times_s, frame_s, 0.0) == 10
    got = resample(times_s, one_joint(*times_s), frame_s, 0.0)[:, 0, 0]
    np.testing.assert_allclose(got, [1.04, 1.1, 1.2, 1.3], atol=1e-9)  # where the joint was at 1.0, it is not known
    assert not in_long_gaps(times_s, one_joint(*times_s), frame_s, 0.0).any()


def test_a_return_half_way_between_frames_is_where_it_is_seen():
    times_s = np.array([0.0, 1.0, 2.0, 15.5, 16.5])
    got = resample(times_s, one_joint(0, 0, 0, 5, 5), 1.0, 0.0)[:, 0, 0]
    known = ~in_long_gaps(times_s, one_joint(0, 0, 0, 5, 5), 1.0, 0.0)[:, 0]
    np.testing.assert_array_equal(got[known], [0, 0, 0, 5, 5])


def test_a_start_too_long_ago_is_an_error():
    with pytest.raises(ValueError, match="too far from the run's start, 0 s"):
        resample(np.array([1.7e308]), one_joint(3), 0.1, 0.0)


def test_one_frame_is_one_frame():
    np.testing.assert_allclose(resample(np.array([4.0]), one_joint(3), 0.1, 4.0), one_joint(3))


@pytest.mark.parametrize("end_s", [1e9, 1e18, 1e308])
def test_a_damaged_clock_is_an_error_and_allocates_no_memory(end_s, recwarn):
    with pytest.raises(ValueError, match="are the timestamps right"):
        resample(np.array([-end_s, end_s]), one_joint(0, 1), 1e-3, -end_s)
