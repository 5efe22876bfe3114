"""Smoothing: less jitter at rest, a lag that is known, and nothing else changed."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from posepipe.results import JointProposal, Pose, Track
from posepipe.tracking.one_euro import OneEuroSmoother

FPS = 30


def track(xyz_m, id: int = 1, joint: str = "head", confidence: float = 0.7) -> Track:
    x, y, z = map(float, xyz_m)
    return Track(id, Pose.of({joint: JointProposal(joint, (x, y, z), confidence)}))


def smoothed(places_m, smoother: OneEuroSmoother, times_s=None) -> np.ndarray:
    """What becomes of one joint's places (T, 3)."""
    times_s = np.arange(len(places_m)) / FPS if times_s is None else times_s
    steps = [smoother.update([track(place)], t) for place, t in zip(places_m, times_s, strict=True)]
    return np.array([one.pose.joints["head"].xyz_m for (one,) in steps])


def one_euro(values, rate_hz, min_cutoff_hz, beta, speed_cutoff_hz):
    """The filter of a signal as in Casiez et al. 2012, algorithms 1 and 2, but for the slope: between raw values."""

    def alpha(cutoff):
        tau = 1.0 / (2 * math.pi * cutoff)
        te = 1.0 / rate_hz
        return 1.0 / (1.0 + tau / te)

    out, slope, last, raw = [], 0.0, None, None
    for value in values:
        if last is None:
            last = value
        else:
            raw_slope = (value - raw) * rate_hz
            a = alpha(speed_cutoff_hz)
            slope = a * raw_slope + (1 - a) * slope
            a = alpha(min_cutoff_hz + beta * abs(slope))
            last = a * value + (1 - a) * last
        raw = value
        out.append(last)
    return out


@given(st.lists(st.floats(-2, 2), min_size=1, max_size=40), st.floats(0.1, 10), st.floats(0, 20))
def test_along_one_axis_it_is_the_filter_of_the_paper(values, min_cutoff_hz, beta):
    found = smoothed([(v, 0, 2) for v in values], OneEuroSmoother(min_cutoff_hz, beta))
    wanted = one_euro(values, FPS, min_cutoff_hz, beta, 1.0)
    np.testing.assert_allclose(found[:, 0], wanted, atol=1e-9)  # times are sums of 1/30: their last bits differ
    np.testing.assert_allclose(found[:, 1:], [[0, 2]] * len(values), atol=1e-12)


@pytest.mark.parametrize("rate_hz", [0.5, 1, 1.9, 120])
def test_at_any_rate_it_is_the_filter_of_the_paper(rate_hz):
    values = np.random.default_rng(2).normal(0, 0.02, 30)
    places, times_s = [(v, 0, 2) for v in values], np.arange(30) / rate_hz
    found = smoothed(places, OneEuroSmoother(), times_s)
    np.testing.assert_allclose(found[:, 0], one_euro(values, rate_hz, 1.0, 10.0, 1.0), atol=1e-9)


def test_no_axis_is_preferred():
    rng = np.random.default_rng(1)
    path = np.cumsum(rng.normal(0, 0.02, (50, 3)), axis=0)
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    np.testing.assert_allclose(smoothed(path @ turn.T, OneEuroSmoother()), smoothed(path, OneEuroSmoother()) @ turn.T)


@pytest.mark.parametrize("speed_m_s", [0.2, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("fps", [15, 30, 90])
def test_behind_a_steady_motion_it_lags_as_it_says(speed_m_s, fps):
    smoother = OneEuroSmoother()
    times = np.arange(0, 8, 1 / fps)
    path = np.outer(times, [speed_m_s, 0, 0])
    behind_m = path[-1, 0] - smoothed(path, smoother, times)[-1, 0]
    assert behind_m / speed_m_s == pytest.approx(smoother.lag_s(speed_m_s), rel=1e-3)


def test_the_lags_of_the_documents():
    lags_ms = [round(1000 * OneEuroSmoother().lag_s(speed)) for speed in (0, 0.5, 1, 2)]
    assert lags_ms == [159, 27, 14, 8]


def test_jitter_at_rest_shrinks():
    noise = np.random.default_rng(2).normal(0, 0.005, (600, 3))
    assert smoothed(noise, OneEuroSmoother())[60:].std() < 0.5 * noise.std()


def test_a_joint_at_rest_stays():
    places = np.tile([0.1, 0.2, 2.0], (30, 1))
    np.testing.assert_allclose(smoothed(places, OneEuroSmoother()), places)


def test_ids_confidences_order_and_proposals_are_handed_on():
    chosen = (JointProposal("head", (0, 0, 2), 0.4),)
    tracks = [Track(7, Pose.of({"head": JointProposal("head", (0.0, 0.0, 2.0), 0.3)}, chosen)), track((1, 0, 2), id=2)]
    smoother = OneEuroSmoother()
    smoother.update(tracks, 0.0)
    after = smoother.update(tracks, 0.1)
    assert [one.id for one in after] == [7, 2]
    assert after[0].pose.source_proposals is chosen
    assert [one.pose.joints["head"].confidence for one in after] == [0.3, 0.7]


def test_what_the_caller_does_to_joints_moves_none():
    smoother, first = OneEuroSmoother(), track((0.0, 0.0, 2.0))
    (shown,) = smoother.update([first], 0.0)
    first.pose.joints_m[:] = shown.pose.joints_m[:] = 99.0
    (second,) = smoother.update([track((0.0, 0.0, 2.0))], 1 / FPS)
    np.testing.assert_allclose(second.pose.joints_m, [[0.0, 0.0, 2.0]])


def test_people_and_joints_do_not_mix():
    smoother = OneEuroSmoother()
    smoother.update([track((0, 0, 2), id=1), track((1, 0, 2), id=2)], 0.0)
    first, second = smoother.update([track((1, 0, 2), id=2), track((0, 0, 2), id=1, joint="neck")], 0.03)
    assert first.pose.joints["head"].xyz_m == pytest.approx((1, 0, 2))
    assert second.pose.joints["neck"].xyz_m == (0, 0, 2)


@pytest.mark.parametrize(("away_s", "anew"), [(0.4, False), (0.6, True)])
def test_a_joint_that_was_away_for_long_starts_anew(away_s, anew):
    smoother = OneEuroSmoother(beta=0, forget_after_s=0.5)
    smoother.update([track((0, 0, 2))], 0.0)
    smoother.update([], away_s / 2)
    (after,) = smoother.update([track((1, 0, 2))], away_s)
    assert (after.pose.joints["head"].xyz_m == (1, 0, 2)) is anew


def test_a_source_that_starts_over_is_not_smoothed_across():
    smoother = OneEuroSmoother()
    smoother.update([track((0, 0, 2))], 5.0)
    (after,) = smoother.update([track((1, 0, 2))], 0.0)
    assert after.pose.joints["head"].xyz_m == (1, 0, 2)


def test_doubled_frames_are_smoothed_as_single_ones():
    """Drivers deliver a frame twice, with its time."""
    places, times_s = np.random.default_rng(4).normal(size=(9, 3)), np.arange(9) / 30
    doubled = smoothed(np.repeat(places, 2, axis=0), OneEuroSmoother(), np.repeat(times_s, 2))
    np.testing.assert_array_equal(doubled, np.repeat(smoothed(places, OneEuroSmoother(), times_s), 2, axis=0))


def test_where_time_stands_still_joints_are_not_smoothed():
    places, times_s = np.random.default_rng(5).normal(size=(6, 3)), np.array([0.0, 0.1, 0.1, 0.1, 0.1, 0.1])
    np.testing.assert_array_equal(smoothed(places, OneEuroSmoother(), times_s)[3:], places[3:])


def test_frames_without_times_are_not_smoothed():
    places = np.random.default_rng(3).normal(size=(5, 3))
    np.testing.assert_array_equal(smoothed(places, OneEuroSmoother(), np.zeros(5)), places)


NAN = float("nan")


@pytest.mark.parametrize(
    "wrong",
    [
        *({"min_cutoff_hz": 0}, {"speed_cutoff_hz": -1}, {"beta": -0.1}),
        *({"min_cutoff_hz": NAN}, {"speed_cutoff_hz": NAN}, {"beta": NAN}),
    ],
)
def test_settings_that_make_no_filter_are_refused(wrong):
    with pytest.raises(ValueError, match="wanted"):
        OneEuroSmoother(**wrong)
