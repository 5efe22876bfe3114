"""Switches, misses, false people and jitter are counted as defined."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from posepipe.evaluation.metrics.track_metrics import (
    Jitter,
    TrackCounts,
    TrackScores,
    jitter_at_rest,
    jitter_without_truth,
    joints_of,
    match,
)
from posepipe.results import JointProposal, Pose, Track

JOINTS = ("head", "pelvis")
FPS = 30


def truth(*xs: float) -> np.ndarray:
    """True joints of people at (x, 0, 2): (P, 2, 3)."""
    return np.array([[(x, -0.7, 2.0), (x, 0.0, 2.0)] for x in xs]).reshape(-1, 2, 3)


def track(id: int, x: float, joints=JOINTS) -> Track:
    places = dict(zip(JOINTS, [(x, -0.7, 2.0), (x, 0.0, 2.0)], strict=True))
    return Track(id, Pose.of({name: JointProposal(name, places[name], 0.9) for name in joints}))


def count(frames, gate_m=0.5) -> TrackCounts:
    """``frames``: for each its true places and its tracks as (id, place); who is None is out of view, at 0."""
    scores = TrackScores(JOINTS, gate_m)
    for places, tracks in frames:
        in_view = np.array([x is not None for x in places], bool)
        scores.add(truth(*[x or 0.0 for x in places]), in_view, [track(id, x) for id, x in tracks])
    return scores.counts()


def test_tracks_that_stay_with_their_people_are_perfect():
    counts = count([([0.1 * k, 2], [(7, 2.05), (3, 0.1 * k)]) for k in range(10)])
    assert counts == TrackCounts(people=20, found=20, identified=20)
    assert counts.mota == counts.idf1 == 1


def test_misses_false_people_and_switches_all_lower_the_accuracy():
    assert TrackCounts(people=20, misses=1, false_people=2, switches=4).mota == pytest.approx(1 - 7 / 20)


def test_two_people_who_exchange_ids_are_two_switches():
    counts = count([([0, 2], [(1, 0), (2, 2)])] * 6 + [([0, 2], [(2, 0), (1, 2)])] * 4)
    assert counts == TrackCounts(people=20, found=20, switches=2, identified=12)
    assert counts.mota == pytest.approx(0.9)
    assert counts.idf1 == pytest.approx(0.6)


def test_only_another_id_after_a_loss_is_a_switch():
    lost = [([0], [])] * 3
    again = count([([0], [(1, 0)])] * 2 + lost + [([0], [(1, 0)])] * 2)
    other = count([([0], [(1, 0)])] * 2 + lost + [([0], [(2, 0)])] * 2)
    assert again == TrackCounts(people=7, found=4, misses=3, identified=4)
    assert other == TrackCounts(people=7, found=4, misses=3, switches=1, identified=2)


def test_a_track_beyond_the_gate_is_a_miss_and_a_false_person():
    assert count([([0], [(1, 0.51)])]) == TrackCounts(people=1, found=1, misses=1, false_people=1)
    assert count([([0], [(1, 0.49)])]) == TrackCounts(people=1, found=1, identified=1)


def test_people_out_of_view_are_neither_missed_nor_false():
    assert count([([None], [(1, 0)]), ([None], [])]) == TrackCounts()
    # and with another id after the return, the switch is not seen until then
    assert count([([0], [(1, 0)]), ([None], [(2, 0)]), ([0], [(2, 0)])]).switches == 1


def test_people_in_view_are_matched_before_those_out_of_view():
    # one track between two people, nearer to the one who is out of view (at 0)
    assert count([([None, 0.3], [(1, 0.1)])]) == TrackCounts(people=1, found=1, identified=1)
    # who leaves the view keeps no track from another
    assert count([([0], [(1, 0)]), ([None, 0.3], [(1, 0.1)])]).misses == 0


@given(st.lists(st.tuples(*[st.sampled_from([None, 0.0, 0.2, 0.4])] * 4), max_size=6))
def test_no_more_are_identified_than_found(frames):
    counts = count([(row[:2], [(id, x) for id, x in enumerate(row[2:]) if x is not None]) for row in frames])
    assert counts.identified <= min(counts.found, counts.people)
    assert counts.misses + counts.found - counts.false_people == counts.people


def test_a_pair_stays_together_though_another_comes_nearer():
    frames = [([0], [(1, 0.0)]), ([0], [(1, 0.3), (2, 0.0)])]
    assert count(frames) == TrackCounts(people=2, found=3, false_people=1, identified=2)


def test_only_joints_that_both_know_are_compared():
    scores = TrackScores(JOINTS)
    half = truth(0.0)
    half[0, 1] = np.nan
    assert scores.add(half, np.ones(1, bool), [track(1, 0.1, joints=("head",))])
    assert scores.add(half, np.ones(1, bool), [track(1, 0.1, joints=("pelvis",))]) == {}


def test_nothing_to_count_is_nan():
    counts = TrackScores(JOINTS).counts()
    assert counts == TrackCounts()
    assert np.isnan(counts.mota)
    assert np.isnan(counts.idf1)


def test_counts_of_sequences_add_up():
    assert TrackCounts(1, 2, 3, 4, 5, 6) + TrackCounts(10, 10, 10, 10, 10, 10) == TrackCounts(11, 12, 13, 14, 15, 16)


distances = st.integers(0, 4).flatmap(
    lambda rows: st.integers(0, 4).flatmap(
        lambda cols: st.lists(
            st.lists(st.floats(0, 1) | st.just(float("inf")), min_size=cols, max_size=cols),
            min_size=rows,
            max_size=rows,
        ).map(lambda table: np.array(table, float).reshape(rows, cols))
    )
)


def all_pairings(shape):
    for size in range(min(shape) + 1):
        for rows in combinations(range(shape[0]), size):
            for cols in permutations(range(shape[1]), size):
                yield dict(zip(rows, cols, strict=True))


@given(distances, st.booleans())
@example(np.array([[0.01, 0.49], [0.49, 0.6]]), False)  # two far pairs, not the near one alone
def test_no_pairing_is_better_than_the_one_made(distances_m, keep):
    gate_m = 0.5
    kept = {0: 0} if keep and min(distances_m.shape) else {}
    stays = {row: col for row, col in kept.items() if distances_m[row, col] <= gate_m}

    def cost(pairs):
        return sum(distances_m[pair] for pair in pairs.items())

    allowed = [
        pairs
        for pairs in all_pairings(distances_m.shape)
        if stays.items() <= pairs.items() and all(distances_m[pair] <= gate_m for pair in pairs.items())
    ]
    most = max(map(len, allowed))
    found = match(distances_m, kept, gate_m)
    assert found in allowed
    assert len(found) == most
    assert cost(found) == pytest.approx(min(cost(pairs) for pairs in allowed if len(pairs) == most))


@given(distances, st.integers(0, 15))
def test_rows_matched_first_lose_nothing_to_others(distances_m, bits):
    first = np.array([bits >> row & 1 for row in range(len(distances_m))], bool)
    found = match(distances_m, {}, 0.5, first)
    alone = match(distances_m[first], {}, 0.5)
    assert {row: col for row, col in found.items() if first[row]} == {
        int(np.flatnonzero(first)[row]): col for row, col in alone.items()
    }
    left = [col for col in range(distances_m.shape[1]) if col not in alone.values()]
    assert len(found) == len(alone) + len(match(distances_m[~first][:, left], {}, 0.5))


@given(st.lists(st.lists(st.sampled_from([None, 1, 2, 3]), min_size=2, max_size=2), max_size=12))
def test_identified_are_the_frames_of_the_best_ids(rows):
    """Two people 10 m apart; a row says which id each has, if found."""
    rows = [row if row[0] is None or row[0] != row[1] else [row[0], None] for row in rows]
    frames = [([0, 10], [(id, 10.0 * k) for k, id in enumerate(row) if id is not None]) for row in rows]
    best = max(sum((row[0] == a) + (row[1] == b) for row in rows) for a, b in permutations([1, 2, 3], 2))
    assert count(frames).identified == best


def naive_jitter(found_m, true_m, times_s, rest_m_s):
    """Rests gathered frame by frame, as the docstring says."""
    rests = []
    for joint in range(found_m.shape[1]):
        run = []
        for k in range(len(times_s)):
            error = found_m[k, joint] - true_m[k, joint]
            if run:
                step = np.sqrt(((true_m[k, joint] - true_m[k - 1, joint]) ** 2).sum())
                if np.isnan(error).any() or step / (times_s[k] - times_s[k - 1]) >= rest_m_s:
                    rests.append(run)
                    run = []
            if not np.isnan(error).any():
                run.append((times_s[k], error))
        rests.append(run)
    rests = [np.array([e for _, e in run]) for run in rests if run and run[-1][0] - run[0][0] >= 0.3 - 1e-9]
    if not rests:
        return np.nan, np.nan, 0
    squares = sum(((rest - rest.mean(axis=0)) ** 2).sum() for rest in rests)
    steps = [np.sqrt(((b - a) ** 2).sum()) for rest in rests for a, b in pairwise(rest)]
    n = sum(len(rest) for rest in rests)
    return 1000 * np.sqrt(squares / (n - len(rests))), 1000 * np.median(steps), n


@given(st.integers(0, 2**32 - 1))
def test_jitter_is_that_of_the_definition(seed):
    rng = np.random.default_rng(seed)
    times = np.cumsum(rng.uniform(0.02, 0.06, 60))
    speeds = rng.choice([0.0, 0.03, 0.2], (60, 3), p=[0.6, 0.35, 0.05])
    true_m = np.zeros((60, 3, 3))
    true_m[1:, :, 0] = np.cumsum(speeds[1:] * np.diff(times)[:, None], axis=0)
    found_m = true_m + rng.normal(0, 0.01, true_m.shape)
    found_m[rng.random((60, 3)) < 0.03] = np.nan
    found = jitter_at_rest(found_m, true_m, times)
    spread, step, samples = naive_jitter(found_m, true_m, times, 0.05)
    assert found.samples == samples
    np.testing.assert_allclose([found.spread_mm, found.step_mm], [spread, step])


def white(sigma_m: float, frames: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Noise of joints that keep still, and times."""
    noise = np.random.default_rng(4).normal(0, sigma_m, (frames, 4, 3))
    return noise, np.arange(frames) / FPS


def test_the_spread_of_white_noise_is_root_3_sigma():
    noise, times = white(0.01)
    assert jitter_at_rest(noise + [0.3, 0, 2], np.zeros_like(noise), times).spread_mm == pytest.approx(17.3, rel=0.03)


def test_true_motion_and_constant_offsets_are_no_jitter():
    times = np.arange(90) / FPS
    true_m = np.zeros((90, 1, 3))
    true_m[:, 0, 0] = 0.04 * times
    found = jitter_at_rest(true_m + [0.1, 0, 0], true_m, times)
    assert found.samples == 90
    assert found.spread_mm == pytest.approx(0, abs=1e-6)


def test_a_joint_in_motion_is_not_measured():
    times = np.arange(90) / FPS
    true_m = np.zeros((90, 1, 3))
    true_m[:, 0, 0] = 0.06 * times
    found = jitter_at_rest(true_m, true_m, times)
    assert found.samples == 0
    assert np.isnan(found.spread_mm)
    assert np.isnan(found.step_mm)


def test_people_who_return_unseen_were_not_at_rest():
    noise, times = white(0.005, frames=80)
    times[40:] += 0.5
    noise[40:, :, 0] += 0.3
    found = jitter_at_rest(noise, np.zeros_like(noise), times)
    assert found.samples == noise.shape[0] * noise.shape[1]
    assert found.spread_mm == pytest.approx(8.7, rel=0.1)


@pytest.mark.parametrize("sigma_m", [0.002, 0.005])
def test_without_truth_white_noise_is_measured_alike(sigma_m):
    noise, times = white(sigma_m)
    known, guessed = jitter_at_rest(noise, np.zeros_like(noise), times), jitter_without_truth(noise, times)
    assert guessed.samples > 0.9 * known.samples
    assert guessed.spread_mm == pytest.approx(known.spread_mm, rel=0.05)
    assert guessed.step_mm == pytest.approx(known.step_mm, rel=0.05)


def test_without_truth_motion_is_passed_over():
    noise, times = white(0.002)
    moving = noise.copy()
    moving[200:, :, 0] += 0.5 * (times[200:] - times[200])[:, None]
    found = jitter_without_truth(moving, times)
    assert found.samples < 0.52 * noise.shape[0] * noise.shape[1]
    assert found.spread_mm == pytest.approx(1000 * 0.002 * 3**0.5, rel=0.05)


def test_without_truth_a_slow_even_drift_adds_nothing():
    times = np.arange(90) / FPS
    found_m = np.zeros((90, 1, 3))
    found_m[:, 0, 2] = 0.04 * times
    found = jitter_without_truth(found_m, times)
    assert found.samples > 50
    assert found.spread_mm == pytest.approx(0, abs=1e-6)


def test_jitter_of_several_people_is_that_of_all_their_rests():
    one, times = white(0.002)
    other, _ = white(0.01)
    both = jitter_at_rest(np.concatenate([one, other], axis=1), np.zeros((len(times), 8, 3)), times)
    added = jitter_at_rest(one, np.zeros_like(one), times) + jitter_at_rest(other, np.zeros_like(other), times)
    assert added.samples == both.samples
    np.testing.assert_allclose([added.spread_mm, added.step_mm], [both.spread_mm, both.step_mm])
    assert np.isnan((Jitter() + Jitter()).spread_mm)
    assert np.isnan(Jitter().step_mm)


@pytest.mark.parametrize("frames", [0, 1, 5])
def test_too_short_for_a_rest_is_nan(frames):
    found = jitter_without_truth(np.zeros((frames, 2, 3)), np.arange(frames) / FPS)
    assert found.samples == 0
    assert np.isnan(found.spread_mm)


def test_joints_of_a_track_come_in_the_order_asked_for():
    np.testing.assert_array_equal(
        joints_of(track(1, 0.5, joints=("pelvis",)), ("head", "pelvis")), [[np.nan] * 3, [0.5, 0, 2]]
    )
    assert np.isnan(joints_of(None, JOINTS)).all()
    assert joints_of(track(1, 0.5), ()).shape == (0, 3)
