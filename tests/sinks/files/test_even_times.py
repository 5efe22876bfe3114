"""Even times: nothing changes where times are even already, short gaps are crossed, long ones held."""

from __future__ import annotations

import numpy as np
import pytest

from posepipe.sinks.files.even_times import LONGEST_GAP_S, USUAL_FRAME_S, at_even_times, usual_frame_s


def one_joint(*x):
    return np.array([[[value, 0.0, 1.0]] for value in x])


def test_the_usual_step_passes_over_gaps_and_clocks_that_stand_or_go_back():
    assert usual_frame_s(np.array([0, 0.1, 0.2, 5.0, 5.1, 5.1, 4.0, 4.1])) == pytest.approx(0.1)
    for times in ([], [3.0], [1.0, 1.0], [2.0, 1.0]):
        assert usual_frame_s(np.array(times)) == USUAL_FRAME_S


def test_even_times_change_nothing():
    times_s = np.arange(50) / 30
    joints_m = np.random.default_rng(0).normal(size=(50, 4, 3))
    np.testing.assert_allclose(at_even_times(times_s, joints_m, 1 / 30), joints_m, atol=1e-9)


def test_uneven_times_are_crossed_in_a_straight_line():
    got = at_even_times(np.array([0.0, 0.1, 0.3, 0.44]), one_joint(0, 1, 3, 4.4), 0.1)
    np.testing.assert_allclose(got[:, 0, 0], [0, 1, 2, 3, 4], atol=1e-9)


def test_a_joint_that_is_missing_for_a_moment_is_interpolated_and_for_long_held():
    times_s = np.arange(31) / 10
    x = np.where(np.isin(np.arange(31), [3, 4, *range(12, 25)]), np.nan, np.arange(31.0))
    got = at_even_times(times_s, one_joint(*x), 0.1)[:, 0, 0]
    np.testing.assert_allclose(got[:12], np.arange(12), atol=1e-9)
    np.testing.assert_allclose(got[12:25], 11, atol=1e-9)
    np.testing.assert_allclose(got[25:], np.arange(25, 31), atol=1e-9)


def test_the_longest_gap_that_is_crossed():
    for gap_s, middle in ((LONGEST_GAP_S, 1.0), (LONGEST_GAP_S + 0.01, 0.0)):
        got = at_even_times(np.array([0.0, gap_s]), one_joint(0, 2), gap_s / 2)
        np.testing.assert_allclose(got[:, 0, 0], [0, middle, 2])


def test_before_the_first_look_and_after_the_last_joints_are_where_they_were_then():
    got = at_even_times(np.arange(5.0) / 10, one_joint(np.nan, np.nan, 7, 8, np.nan), 0.1)
    np.testing.assert_allclose(got[:, 0, 0], [7, 7, 7, 8, 8])


def test_a_joint_never_seen_stays_unknown():
    joints_m = np.concatenate([one_joint(1, 2), np.full((2, 1, 3), np.nan)], axis=1)
    got = at_even_times(np.array([0.0, 0.1]), joints_m, 0.1)
    assert np.isnan(got[:, 1]).all()
    assert np.isfinite(got[:, 0]).all()


def test_one_frame_is_one_frame():
    np.testing.assert_allclose(at_even_times(np.array([4.0]), one_joint(3), 0.1), one_joint(3))


@pytest.mark.parametrize("end_s", [1e9, 1e18, 1e308])
def test_a_clock_gone_mad_is_told_and_asks_for_no_memory(end_s, recwarn):
    with pytest.raises(ValueError, match="are the timestamps right"):
        at_even_times(np.array([-end_s, end_s]), one_joint(0, 1), 1e-3)
