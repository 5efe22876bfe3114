"""Cameras that fail, stall or are too fast, simulated by a scripted driver."""

from __future__ import annotations

import logging
import threading
import time

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError
from posepipe.sources.cameras import CameraFrame, LiveSource
from posepipe.sources.playback import SlicedSource

INTRINSICS = Intrinsics(30.0, 30.0, 7.5, 5.5)
SHAPE = (12, 16)
FRAME_BYTES = 2 * SHAPE[0] * SHAPE[1]


def image(value: int, **fields: object) -> CameraFrame:
    return CameraFrame(np.full(SHAPE, 1000 + value, np.uint16), **fields)  # type: ignore[arg-type]


class ScriptedCamera:
    """Each `read` performs one step of the script: a frame, an error to raise, or None for a timeout."""

    name = "camera:scripted"
    intrinsics = INTRINSICS
    shape = SHAPE

    def __init__(self, steps, waits=False, recorded=False, open_errors=()):
        self.steps = list(steps)
        self.waits, self.recorded = waits, recorded
        self.opened = self.closed = 0
        self.open_errors = list(open_errors)
        self.done = threading.Event()  #: the script is finished
        self.go_on = threading.Event()  #: after the script, no frame comes until this is set, then the stream ends

    def open(self, stop):
        self.opened += 1
        if self.open_errors:
            raise self.open_errors.pop(0)

    def read(self, timeout_s):
        if self.steps:
            step = self.steps.pop(0)
            if isinstance(step, BaseException):
                raise step
            if callable(step):
                step()
                return None
            return step
        self.done.set()
        if self.go_on.wait(min(timeout_s, 0.01)):
            raise EOFError
        return None

    def close(self):
        self.closed += 1


def gone(text="was unplugged"):
    return SourceError(ScriptedCamera.name, text)


def numbers(frames):
    return [round(float(frame.depth_m[0, 0]) * 1000) - 1000 for frame in frames]


def all_of(camera, **options):
    """All frames of a source whose consumer starts after the script is finished."""
    with LiveSource(camera, **options) as source:
        _ = source.start_time_ns  # the thread runs from here on
        camera.done.wait(5)
        camera.go_on.set()
        return list(source), source.dropped


def test_the_newest_frame_wins_and_dropped_ones_are_counted():
    frames, dropped = all_of(ScriptedCamera([image(i) for i in range(5)]))
    assert numbers(frames) == [4]
    assert [frame.index for frame in frames] == [4]
    assert dropped == 4


def test_every_frame_is_kept_for_a_recording():
    frames, dropped = all_of(ScriptedCamera([image(i) for i in range(5)]), every_frame=True)
    assert numbers(frames) == [frame.index for frame in frames] == [0, 1, 2, 3, 4]
    assert dropped == 0
    assert all(frame.intrinsics == INTRINSICS for frame in frames)


def test_overflow_is_counted_and_leaves_gaps_in_the_indices():
    camera = ScriptedCamera([image(i) for i in range(6)])
    frames, dropped = all_of(camera, every_frame=True, queue_bytes=4 * FRAME_BYTES)
    assert [frame.index for frame in frames] == [2, 3, 4, 5]
    assert dropped == 2


@pytest.mark.parametrize("kind", [{"waits": True}, {"recorded": True}])
def test_a_blocking_sender_loses_nothing(kind):
    camera = ScriptedCamera([image(i) for i in range(50)] + [EOFError()], **kind)
    every_frame = "waits" in kind  # recorded frames play whole in either mode
    with LiveSource(camera, every_frame=every_frame, queue_bytes=2 * FRAME_BYTES) as source:
        _ = source.start_time_ns
        time.sleep(0.02)
        assert [frame.index for frame in source] == list(range(50))
        assert source.dropped == 0


def test_frames_that_the_camera_dropped_are_counted():
    taken = [image(0, number=10), image(1, number=11), image(2, number=14), image(3, number=2)]
    frames, dropped = all_of(ScriptedCamera(taken), every_frame=True)
    assert [frame.index for frame in frames] == [0, 1, 4, 5]  # a restarted counter is no loss
    assert dropped == 2


def test_times_are_the_cameras_own_since_its_first_frame():
    start = 1_700_000_000_000_000_000
    taken = [image(i, time_ns=start + i * 33_333_333, since_epoch=True) for i in range(4)]
    with LiveSource(ScriptedCamera([*taken, EOFError()]), every_frame=True) as source:
        assert source.start_time_ns == start
        assert [frame.timestamp_s for frame in source] == pytest.approx([i * 0.033333333 for i in range(4)], abs=0)


def test_without_a_clock_the_time_of_arrival_counts():
    before = time.time_ns()
    with LiveSource(ScriptedCamera([image(0), lambda: time.sleep(0.02), image(1), EOFError()]), True) as source:
        first, second = source
        assert before <= source.start_time_ns <= time.time_ns()
    assert first.timestamp_s == 0
    assert 0.02 <= second.timestamp_s < 5


def test_a_reconnected_camera_continues(caplog):
    camera = ScriptedCamera(
        [image(0, time_ns=10**9), image(1, time_ns=2 * 10**9), gone(), image(2, time_ns=7), EOFError()],
        open_errors=[],
    )
    with LiveSource(camera, every_frame=True) as source:
        frames = list(source)
    assert numbers(frames) == [frame.index for frame in frames] == [0, 1, 2]
    assert camera.opened == 2
    assert [record.getMessage() for record in caplog.records] == [
        "camera:scripted: was unplugged; trying again, 1 of 5"
    ]
    assert frames[1].timestamp_s == 1.0
    assert frames[2].timestamp_s >= 1.0  # its clock was restarted


def test_a_camera_gone_for_good_is_an_error_after_its_frames(caplog):
    camera = ScriptedCamera([image(0), gone()], open_errors=[])
    with LiveSource(camera, every_frame=True, pauses_s=(0, 0.01, 0.01)) as source:
        camera.open_errors = [gone("not there"), gone("not there"), gone("not there"), gone("not there")]
        frames = iter(source)
        assert next(frames).index == 0
        with pytest.raises(SourceError, match=r"^camera:scripted: not there$"):
            next(frames)
    assert len(caplog.records) == 3
    assert camera.opened == 4


def test_a_stalled_camera_is_reopened_and_then_an_error(caplog):
    camera = ScriptedCamera([image(0)])
    with LiveSource(camera, every_frame=True, stall_s=0.03, pauses_s=(0, 0)) as source:
        frames = iter(source)
        next(frames)
        with pytest.raises(SourceError, match=r"^camera:scripted: no frame for 0.03 s; is it unplugged\?$"):
            next(frames)
        with pytest.raises(SourceError, match="no frame"):
            next(iter(source))
    assert camera.opened == 3
    assert len(caplog.records) == 2


def test_a_camera_that_never_gives_a_frame_has_no_start_time():
    with (
        LiveSource(ScriptedCamera([]), stall_s=0.02, pauses_s=()) as source,
        pytest.raises(SourceError, match="no frame for"),
    ):
        _ = source.start_time_ns


def test_a_different_camera_after_reconnecting_is_refused():
    camera = ScriptedCamera([image(0), gone(), image(1)])
    with LiveSource(camera, every_frame=True, pauses_s=(0,)) as source:
        camera.shape = (24, 32)
        frames = iter(source)
        next(frames)
        with pytest.raises(SourceError, match=r"came back with \(24, 32\) pixels"):
            next(frames)


def test_an_image_of_another_size_is_refused():
    camera = ScriptedCamera([CameraFrame(np.zeros((3, 4), np.uint16))])
    with LiveSource(camera) as source, pytest.raises(SourceError, match=r"gave an image \(3, 4\)"):
        next(iter(source))


def test_any_error_of_a_driver_reaches_the_consumer():
    source = LiveSource(ScriptedCamera([ZeroDivisionError("in the driver")]))
    with source, pytest.raises(ZeroDivisionError, match="in the driver"):
        next(iter(source))
    assert source._thread is not None
    assert not source._thread.is_alive()


def test_closing_ends_the_thread_and_releases_the_camera():
    camera = ScriptedCamera([image(0)])
    with LiveSource(camera) as source:
        next(iter(source))
        assert source._thread is not None
        assert source._thread.is_alive()
    assert not source._thread.is_alive()
    assert camera.closed == 1
    assert list(source) == []
    source.close()


def test_closing_ends_a_thread_that_waits():
    full = ScriptedCamera([image(i) for i in range(9)], waits=True)
    away = ScriptedCamera([image(0), gone()])
    for camera, options in ((full, {"every_frame": True, "queue_bytes": 1}), (away, {"pauses_s": (60,)})):
        source = LiveSource(camera, **options)
        next(iter(source))
        source.close()
        assert source._thread is not None
        assert not source._thread.is_alive()
        assert camera.closed == 1


def test_closing_ends_the_wait_for_a_frame():
    source = LiveSource(ScriptedCamera([]))
    frames: list = [None]
    consumer = threading.Thread(target=lambda: frames.__setitem__(slice(None), source))
    consumer.start()
    source.close()
    consumer.join(5)
    assert not consumer.is_alive()
    assert frames == []


def test_a_source_without_iteration_releases_the_camera():
    camera = ScriptedCamera([])
    with LiveSource(camera):
        pass
    assert (camera.opened, camera.closed) == (1, 1)


def test_a_camera_that_cannot_be_opened_is_released():
    camera = ScriptedCamera([], open_errors=[gone("no camera is connected")])
    with pytest.raises(SourceError, match="no camera is connected"):
        LiveSource(camera)
    assert camera.closed == 1


def test_a_live_source_has_no_count_and_no_random_access():
    with LiveSource(ScriptedCamera([])) as source:
        assert source.frame_count is None
        with pytest.raises(TypeError, match="camera:scripted is live"):
            source[0]
        with pytest.raises(TypeError, match="camera:scripted is live"):
            _ = source.timestamps_s


def test_a_slice_of_a_camera_is_selected_as_it_comes():
    taken = [image(i, time_ns=10**9 + i * 10**8) for i in range(30)]
    with LiveSource(ScriptedCamera([*taken, EOFError()]), every_frame=True) as source:
        assert [frame.index for frame in SlicedSource(source, 0.5, 1.2, 3)] == [5, 8, 11]


def test_finer_depth_stays_finer():
    depth = np.full(SHAPE, 1.23456, np.float32)
    with LiveSource(ScriptedCamera([CameraFrame(depth), EOFError()]), every_frame=True) as source:
        np.testing.assert_array_equal(next(iter(source)).depth_m, depth)


def test_a_driver_that_does_not_return_is_abandoned(monkeypatch, caplog):
    from posepipe.sources.cameras import live

    monkeypatch.setattr(live, "_CLOSE_S", 0.05)
    stuck = threading.Event()
    source = LiveSource(ScriptedCamera([image(0), lambda: stuck.wait(5) and None]), every_frame=True)
    next(iter(source))
    with caplog.at_level(logging.WARNING):
        source.close()
    assert "does not return" in caplog.text
    stuck.set()


def test_a_camera_that_ends_without_a_frame_is_an_error():
    """Otherwise a sink would replace older results by an empty file."""
    with (
        LiveSource(ScriptedCamera([EOFError()])) as source,
        pytest.raises(SourceError, match=r"^camera:scripted: ended before its first frame came$"),
    ):
        list(source)


def test_a_camera_closed_without_a_frame_is_no_error():
    source = LiveSource(ScriptedCamera([]))
    threading.Timer(0.05, source.close).start()
    assert list(source) == []


@pytest.mark.parametrize(("step_ns", "told"), [(33_333_333, ""), (33, "3.3e-08 s apart"), (0, "30 of 31 frames have")])
def test_a_clock_of_another_unit_is_named_once(caplog, step_ns, told):
    frames = [image(i, time_ns=1_700_000_000 + i * step_ns, since_epoch=True) for i in range(40)]
    assert len(all_of(ScriptedCamera(frames), every_frame=True)[0]) == 40
    found = [message for message in caplog.messages if "implausible times" in message]
    assert len(found) == bool(told)
    assert told in "".join(found)


def test_frames_that_were_not_taken_in_time_are_no_gap(caplog):
    step_ns = 33_333_333
    times_ns = [1_700_000_000 + (i + 90 * (i > 0)) * step_ns for i in range(40)]  # kernels compile after the first
    frames = [image(i, time_ns=time_ns, since_epoch=True) for i, time_ns in enumerate(times_ns)]
    assert len(all_of(ScriptedCamera(frames), every_frame=True)[0]) == 40
    assert caplog.messages == []
