"""Frames of several sources paired by time: nearest frames, gaps, sources that lag, end or fail."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.multiview import source_reader
from posepipe.multiview.frame_sets import FrameSets

LENS = Intrinsics(30.0, 30.0, 7.5, 5.5)
RATE_S = 1 / 30


class Recording:
    """Frames at given times; live ones come when `gate` lets them, and an error may end them."""

    intrinsics = LENS
    shape = (12, 16)

    def __init__(self, times_s, name="recording", start_time_ns=0, live=False, error=None, gate=None):
        self.name, self.start_time_ns = name, start_time_ns
        self.times_s, self.error, self.gate = np.array(times_s, float), error, gate
        self.live = live
        self.closed = 0

    @property
    def frame_count(self):
        return None if self.live else len(self.times_s)

    @property
    def timestamps_s(self):
        return self.times_s

    def __iter__(self):
        for index, time_s in enumerate(self.times_s):
            if self.gate is not None:
                self.gate(index)
            yield DepthFrame(np.full(self.shape, 1.0, np.float32), LENS, float(time_s), index)
        if self.error is not None:
            raise self.error

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.closed += 1


def paired(*sources, offsets_s=None):
    """Rows of the frames of each frame set; None = no frame."""
    with FrameSets(sources, offsets_s) as frame_sets:
        rows = [tuple(frame and frame.index for frame in frame_set.frames) for frame_set in frame_sets]
    assert [source.closed for source in sources] == [1] * len(sources)
    return rows


def times(count, first_s=0.0, step_s=RATE_S):
    return first_s + step_s * np.arange(count)


def test_cameras_of_one_clock_pair_frame_by_frame():
    assert paired(Recording(times(20)), Recording(times(20))) == [(k, k) for k in range(20)]


@pytest.mark.parametrize("late_s", [0.4 * RATE_S, -0.4 * RATE_S])
def test_frames_within_half_an_interval_pair(late_s):
    assert paired(Recording(times(9)), Recording(times(9, late_s))) == [(k, k) for k in range(9)]


def test_a_frame_pairs_with_its_nearest():
    assert paired(Recording(times(4)), Recording(times(8, 0.0, RATE_S / 2))) == [
        (0, 0),
        (1, 2),
        (2, 4),
        (3, 6),
        (None, 7),
    ]


def test_a_slower_camera_leaves_gaps():
    rows = paired(Recording(times(7)), Recording(times(3, 0.0, 3 * RATE_S)))
    assert rows == [(0, 0), (1, None), (2, None), (3, 1), (4, None), (5, None), (6, 2)]


def test_others_go_on_where_the_first_starts_late_pauses_or_ends():
    first = Recording([*times(3, 2 * RATE_S), *times(2, 8 * RATE_S)])
    rows = paired(first, Recording(times(12)))
    assert [row[1] for row in rows if row[1] is not None] == list(range(12))
    assert [row for row in rows if row[0] is not None] == [(0, 2), (1, 3), (2, 4), (3, 8), (4, 9)]


def test_dates_and_offsets_shift_a_clock():
    dated = [Recording(times(6), start_time_ns=10**18), Recording(times(6), start_time_ns=10**18 + 66_666_667)]
    assert paired(*dated)[2:6] == [(2, 0), (3, 1), (4, 2), (5, 3)]
    rows = paired(Recording(times(6)), Recording(times(6)), offsets_s=(0.0, 2 * RATE_S))
    assert rows[2:6] == [(2, 0), (3, 1), (4, 2), (5, 3)]


def test_one_source_without_a_date_leaves_dates_aside():
    assert paired(Recording(times(3), start_time_ns=10**18), Recording(times(3))) == [(k, k) for k in range(3)]


def test_recordings_of_other_days_are_refused():
    yesterday, today = Recording(times(9), start_time_ns=10**18), Recording(times(9), "b", start_time_ns=2 * 10**18)
    with pytest.raises(SourceError, match="they share no moment"):
        paired(yesterday, today)
    assert [yesterday.closed, today.closed] == [1, 1]


@pytest.mark.parametrize("order", [1, -1])
def test_recordings_whose_clock_starts_over_at_the_end_overlap(order):
    """The last frame is of a time before the first of the other."""
    started_over = Recording([*times(9, 2 * RATE_S), 0.0])
    rows = paired(*[started_over, Recording(times(9, 2 * RATE_S))][::order])
    assert rows[:9] == [(k, k) for k in range(9)]


def sessions(*counts):
    """A file whose times start anew, with so many frames between."""
    return Recording(np.concatenate([times(count) for count in counts]))


def test_sessions_of_two_datasets_are_paired_one_by_one():
    wanted = [(7 * k + row, 6 * k + row if row < 6 else None) for k in range(3) for row in range(7)]
    assert paired(sessions(7, 7, 7), sessions(6, 6, 6)) == wanted
    assert paired(sessions(6, 6, 6), sessions(7, 7, 7)) == [row[::-1] for row in wanted]


@pytest.mark.parametrize("order", [1, -1])
def test_a_clock_that_starts_anew_costs_no_frames_of_the_other(order):
    rows = [row[::order] for row in paired(*[sessions(6, 6), sessions(12)][::order])]
    assert rows[:6] == [(k, k) for k in range(6)]
    assert set(rows[6:]) == {(k, None) for k in range(6, 12)} | {(None, k) for k in range(6, 12)}


def test_a_camera_that_fails_does_not_end_the_others(caplog):
    failing = Recording(times(3), live=True, error=SourceError("b", "no frame for 5 s"))
    rows = paired(Recording(times(9)), failing)
    assert [row[0] for row in rows] == list(range(9))
    assert "the other cameras go on" in caplog.text


def test_a_fault_of_the_program_is_raised_whenever_it_comes():
    failing = Recording(times(3), live=True, error=TypeError("unexpected"))
    with pytest.raises(TypeError, match="unexpected"):
        paired(Recording(times(9)), failing)


def test_a_camera_that_fails_at_once_is_an_error():
    with pytest.raises(SourceError, match="ended before its first frame"):
        paired(Recording(times(9)), Recording([], live=True, error=SourceError("b", "ended before its first frame")))


def test_no_frame_at_all_is_an_error():
    with pytest.raises(SourceError, match="no frame came from any camera"):
        paired(Recording([], live=True), Recording([], live=True))


def test_a_live_camera_that_lags_is_not_waited_for():
    go_on = threading.Event()
    stuck = Recording(times(3), live=True, gate=lambda index: index and go_on.wait(30))
    with FrameSets([Recording(times(30)), stuck]) as frame_sets:
        rows = [
            tuple(frame and frame.index for frame in frame_set.frames)
            for frame_set in frame_sets
            if _release(frame_set, go_on)
        ]
    assert [row[0] for row in rows[:29]] == list(range(29))
    assert [row[1] for row in rows[:29]].count(None) >= 28


def _release(frame_set, event):
    """Let a stuck camera go on at the last frame set: it must end."""
    if frame_set.index >= 28:
        event.set()
    return True


def live(first_s, times_s):
    """A live camera whose frames come at their times, `first_s` after now."""
    began_s = time.monotonic() + first_s
    return Recording(times_s, live=True, gate=lambda k: time.sleep(max(0, began_s + times_s[k] - time.monotonic())))


@pytest.mark.parametrize("step_s", [0.1, 0.2])
def test_live_cameras_pair_at_any_rate(step_s):
    """Once the frame interval is known."""
    count = round(1.2 / step_s) + 4
    rows = paired(live(0.1, times(count, 0.0, step_s)), live(0.1, times(count, 0.3 * step_s, step_s)))
    assert sum(None not in row for row in rows[-count // 2 :]) >= count // 2 - 2


@pytest.mark.parametrize("first_rate_s", [RATE_S, 2 * RATE_S])
def test_doubled_frames_of_a_second_camera_make_no_frame_sets(first_rate_s):
    """Drivers deliver a frame twice, with its time."""
    doubled = np.repeat(times(9, -0.2 * RATE_S, 2 * RATE_S), 2)
    with FrameSets([Recording(times(18, 0.0, first_rate_s)), Recording(doubled)]) as frame_sets:
        found = [(frame_set.timestamp_s, frame_set.frames) for frame_set in frame_sets]
    assert [frames[0].index for _, frames in found] == list(range(18))
    assert sum(frames[1] is not None for _, frames in found) == 9
    assert np.all(np.diff([time_s for time_s, _ in found]) > 0)


def test_a_frame_pairs_with_its_nearest_among_doubled_ones():
    rows = paired(Recording(times(4, 0.0, 2 * RATE_S)), Recording(np.repeat(times(8, -0.7 * RATE_S), 2)))
    assert [second // 2 for first, second in rows if first is not None] == [1, 3, 5, 7]


def test_doubled_frames_shorten_no_frame_interval():
    first, second = Recording(np.repeat(times(6, 0.0, 0.1), 2)), Recording(times(6, 0.04, 0.1))
    assert paired(first, second)[::2] == [(2 * k, k) for k in range(6)]


def test_each_doubled_frame_of_the_first_camera_has_a_frame_set():
    assert [row[0] for row in paired(Recording(np.repeat(times(4), 2)), Recording(times(4)))] == list(range(8))


@pytest.mark.parametrize("clock", ["frames come late", "clock is slow"])
def test_the_first_live_camera_leads_one_that_is_behind(clock):
    """Of the first, the frames of an older time are gone when those of the other come: it was not used at all."""
    own = times(60)
    began_s = time.monotonic() + 0.1
    late_s = 0.25 if clock == "frames come late" else 0.0
    arrive = began_s + late_s + own
    told = own if late_s else own * 0.8
    behind = Recording(told, live=True, gate=lambda k: time.sleep(max(0, arrive[k] - time.monotonic())))
    with FrameSets([live(0.1, own), behind]) as frame_sets:
        found = [(frame_set.timestamp_s, frame_set.frames) for frame_set in frame_sets]
    used = [frames[0].index for _, frames in found if frames[0] is not None]
    assert len([index for index in used if index >= 30]) >= 24
    while_both = [time_s for time_s, frames in found if frames[0] is not None or time_s < own[-1]]
    assert np.all(np.diff(while_both) > -RATE_S)


def test_a_live_camera_that_is_far_behind_delays_no_other():
    """Each of its frames is nearer to the time than the one before, and comes before its interval is over."""
    own = times(100, 0.0, 0.02)
    behind = Recording(times(200, -5.0, 0.02), live=True, gate=lambda k: time.sleep(0.01))
    with FrameSets([live(0.1, own), behind]) as frame_sets:
        used = [frame_set.frames[0].index for frame_set in frame_sets if frame_set.frames[0] is not None]
    assert len(used) > 30


@pytest.mark.parametrize(("clock_s", "words"), [(-5.0, "s older than those"), (5.0, "s newer than those"), (0.0, "")])
def test_a_live_camera_of_another_time_is_told_once(clock_s, words, caplog, monkeypatch):
    monkeypatch.setattr(source_reader, "UNPAIRED_SETS", 5)
    own = times(120, 0.0, 0.02)
    began_s = time.monotonic() + 0.1
    other = Recording(
        own + clock_s, "other", live=True, gate=lambda k: time.sleep(max(0, began_s + own[k] - time.monotonic()))
    )
    with FrameSets([live(0.1, own), other]) as frame_sets:
        list(frame_sets)
    messages = [record.getMessage() for record in caplog.records]
    if words:
        (message,) = messages
        assert message.startswith("other: its frames are left out, the newest is ")
        assert words in message
    else:
        assert messages == []


def test_a_live_camera_that_was_a_frame_behind_catches_up():
    """Its frame before the last was taken for the newest in every frame set."""
    rows = paired(live(0.1, times(16, 0.0, 0.1)[1:]), live(0.1, times(16, 0.03, 0.1)))
    assert sum(None not in row for row in rows[-10:]) >= 7


def test_of_live_cameras_the_newest_frames_are_paired():
    both_done = threading.Barrier(3, timeout=30)

    def wait_at_last(index):
        if index == 40:
            both_done.wait()

    cameras = [Recording(times(41), live=True, gate=wait_at_last) for _ in range(2)]
    seen = []
    with FrameSets(cameras) as frame_sets:
        for frame_set in frame_sets:
            seen.append(tuple(frame and frame.index for frame in frame_set.frames))
            if len(seen) == 1:
                both_done.wait()  # the consumer is busy until both cameras have shown all but one frame
    assert len(seen) <= 8
    assert 40 in seen[-1]


def test_a_reader_holds_few_frames():
    read = []
    ahead = Recording(times(500), gate=read.append)
    with FrameSets([Recording(times(500)), ahead]) as frame_sets:
        next(iter(frame_sets))
        most = max(read)
    assert most <= 8
