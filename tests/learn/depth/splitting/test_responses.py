"""Training responses: bins, thresholds and sides agree with each other, and with a forest in use."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from posepipe.learn.depth.splitting.responses import DepthResponses, OffsetRange
from tests.reference.learn.responses import response_mm
from tests.support import random_inputs


def bins_of(responses, chosen, offsets):
    out = np.empty((len(chosen), len(offsets)), np.uint8)
    responses.fill_bins(chosen, offsets, out)
    return out


@given(st.integers(0, 10_000))
@settings(max_examples=20)
def test_bins_beyond_b_are_responses_above_threshold_b(seed):
    rng = np.random.default_rng(seed)
    samples, offsets = random_inputs.pixel_samples(rng, 3, 20), random_inputs.offset_pairs(rng, 5)
    responses = DepthResponses(samples, OffsetRange(n_thresholds=int(rng.integers(2, 60))))
    bins = bins_of(responses, np.arange(20, dtype=np.int32), offsets)
    thresholds_m = responses.threshold(np.arange(responses.n_bins - 1))
    for n in range(20):
        for f, pair in enumerate(offsets):
            response_m = response_mm(samples, n, pair) / 1000
            np.testing.assert_array_equal(bins[n, f] > np.arange(responses.n_bins - 1), response_m > thresholds_m)


@pytest.mark.parametrize("one_probe", [0, 3, 7])
def test_rows_and_single_probes_change_no_bin(one_probe):
    rng = np.random.default_rng(one_probe)
    samples, offsets = random_inputs.pixel_samples(rng, 5, 300), random_inputs.offset_pairs(rng, 7)
    offsets[:one_probe, 1] = 0
    responses, chosen = DepthResponses(samples, OffsetRange()), np.sort(rng.permutation(300)[:200]).astype(np.int32)
    rows, out = rng.permutation(200), np.empty((200, 7), np.uint8)
    responses.fill_bins(chosen, offsets, out, rows)
    for f in range(7):
        alone = bins_of(responses, chosen, offsets[f : f + 1])[:, 0]
        np.testing.assert_array_equal(out[rows, f], alone)
        expected = [response_mm(samples, n, offsets[f]) > OffsetRange().thresholds_mm() for n in chosen]
        assert np.mean(alone != np.sum(expected, axis=1)) < 0.02  # an edge of two pixels is rounded either way


def test_samples_go_right_when_beyond_the_threshold_bin():
    rng = np.random.default_rng(1)
    samples, offsets = random_inputs.pixel_samples(rng, 5, 400), random_inputs.offset_pairs(rng, 7)
    responses = DepthResponses(samples, OffsetRange())
    chosen = rng.permutation(400).astype(np.int32)
    bins = bins_of(responses, chosen, offsets)
    feature = rng.integers(7, size=400)
    threshold_bins = rng.integers(responses.n_bins - 1, size=400).astype(np.int32)
    right = responses.go_right(chosen, np.ascontiguousarray(offsets[feature]), responses.threshold(threshold_bins))
    np.testing.assert_array_equal(right, bins[np.arange(400), feature] > threshold_bins)


def test_bins_are_in_range_and_the_outermost_hold_background():
    rng = np.random.default_rng(2)
    responses = DepthResponses(random_inputs.pixel_samples(rng, 5, 300), OffsetRange())
    bins = bins_of(responses, np.arange(300, dtype=np.int32), random_inputs.offset_pairs(rng, 20))
    assert (bins.min(), bins.max()) == (0, responses.n_bins - 1)


@pytest.mark.parametrize("offset_range", [OffsetRange(), OffsetRange(n_thresholds=7, threshold_range_m=0.3)])
def test_thresholds_rise_at_half_millimetres_within_their_range(offset_range):
    thresholds = offset_range.thresholds_mm()
    assert thresholds.shape == (offset_range.n_thresholds,)
    assert (np.diff(thresholds) > 0).all()
    assert (thresholds % 1 == 0.5).all()
    assert np.abs(thresholds).max() <= offset_range.threshold_range_m * 1000 + 1


def test_thresholds_stand_closer_near_zero():
    gaps = np.diff(OffsetRange().thresholds_mm())
    middle = len(gaps) // 2
    assert gaps[middle] < gaps[0] / 4
    assert gaps[middle] < gaps[-1] / 4


def test_a_threshold_of_half_millimetres_survives_float32():
    responses = DepthResponses(random_inputs.pixel_samples(np.random.default_rng(3), 1, 5), OffsetRange())
    thresholds_m = responses.threshold(np.arange(responses.n_bins - 1))
    assert thresholds_m.dtype == np.float32
    np.testing.assert_array_equal(np.round(thresholds_m.astype(float) * 1000, 2), OffsetRange().thresholds_mm())


def test_offsets_are_log_uniform_and_half_have_one_zero_probe():
    offset_range = OffsetRange()
    offsets = offset_range.draw_offsets(np.random.default_rng(4), 4000)
    assert (offsets.shape, offsets.dtype) == ((4000, 2, 2), np.float32)
    length = np.linalg.norm(offsets.astype(float), axis=-1)
    at_home = length[:, 1] == 0
    assert at_home.mean() == pytest.approx(0.5, abs=0.04)  # five standard deviations
    away = np.concatenate([length[:, 0], length[~at_home, 1]])
    assert away.min() >= offset_range.shortest_m * (1 - 1e-5)
    assert away.max() <= offset_range.longest_m * (1 + 1e-5)
    middle = np.sqrt(offset_range.shortest_m * offset_range.longest_m)
    assert (away < middle).mean() == pytest.approx(0.5, abs=0.04)
    np.testing.assert_allclose(offsets[:, 0].mean(0), 0, atol=0.02)


def test_features_depend_on_the_generator_alone():
    responses = DepthResponses(random_inputs.pixel_samples(np.random.default_rng(5), 2, 10), OffsetRange())
    first, again = (responses.draw_features(np.random.default_rng(6), 30) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert len(responses) == 10


def test_more_thresholds_than_a_byte_can_number_are_refused():
    with pytest.raises(ValueError):
        DepthResponses(random_inputs.pixel_samples(np.random.default_rng(7), 1, 5), OffsetRange(n_thresholds=400))
