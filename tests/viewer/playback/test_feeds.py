"""Feeds: a recording gives the frame that is due, a stream the newest one; pauses, ends and errors."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import DamagedMessageError, SourceError
from posepipe.frames import DepthFrame
from posepipe.viewer.playback.feeds import FeedItem, PlayedFeed, StreamFeed
from posepipe.viewer.playback.player import Player

LENS = Intrinsics(10.0, 10.0, 1.5, 1.5)
PATIENCE_S = 10.0


def frame(index, timestamp_s=0.0):
    return DepthFrame(np.zeros((4, 4), np.float32), LENS, timestamp_s, index)


def next_of(feed):
    """The next item, which must come."""
    until = time.monotonic() + PATIENCE_S
    while (given := feed.next()) is None:
        assert time.monotonic() < until, "nothing came"
        feed.wait(0.05)
    return given


def wait_for_end(feed):
    until = time.monotonic() + PATIENCE_S
    while not feed.ended:
        assert feed.next() is None
        assert time.monotonic() < until
        feed.wait(0.05)


def test_a_recording_gives_the_frame_that_is_due():
    player = Player(np.arange(5) / 1000)
    feed = PlayedFeed(lambda row: f"frame {row}", player)
    assert next_of(feed).item == "frame 0"
    player.pause()
    player.seek(3)
    given = next_of(feed)
    assert (given.item, given.follows) == ("frame 3", False)
    assert feed.readouts() == [("4/5", "frame"), ("0", "dropped")]
    assert not feed.ended
    player.step(1)
    assert next_of(feed).item == "frame 4"
    assert feed.ended


def test_a_damaged_frame_is_skipped_counted_and_logged_once(caplog):
    def item_at(row):
        if row == 1:
            raise DamagedMessageError("walk.mcap", "damaged recording (zstd)")
        return f"frame {row}"

    player = Player(np.arange(4) / 1000)
    feed = PlayedFeed(item_at, player)
    player.set_every_frame(True)
    given = [next_of(feed) for _ in range(3)]
    assert [(each.item, each.follows) for each in given[1:]] == [("frame 2", True), ("frame 3", True)]
    assert feed.ended
    player.pause()
    player.seek(1)
    assert feed.next() is None
    player.step(1)
    assert next_of(feed) == FeedItem("frame 2", follows=False)  # frame 1 was a jump
    assert feed.readouts() == [("3/4", "frame"), ("1", "dropped")]
    assert caplog.text.count("walk.mcap: damaged recording (zstd); frame 1 is left out") == 1


def test_a_stream_gives_frames_in_order_and_ends():
    feed = StreamFeed([frame(k) for k in range(4)])
    assert [next_of(feed).item.index for _ in range(4)] == [0, 1, 2, 3]
    wait_for_end(feed)
    assert feed.next() is None
    assert feed.readouts() == [("4", "frame"), ("0", "dropped")]
    feed.close()


class Camera:
    """Gives the newest frame, and counts."""

    def __init__(self):
        self.newest, self.taken = 0, []

    def __iter__(self):
        while True:
            self.taken.append(self.newest)
            yield frame(self.newest)


def test_a_frame_is_taken_only_after_the_previous_one():
    """A frame taken during the analysis of another would be old when it is shown."""
    camera = Camera()
    feed = StreamFeed(camera)
    next_of(feed)
    camera.newest = 30  # while the first one is analysed
    time.sleep(0.1)
    assert camera.taken == [0]
    assert next_of(feed).item.index == 30
    feed.close()


def test_a_paused_stream_gives_nothing_and_counts_no_drops():
    dropped = [3]
    feed = StreamFeed(Camera(), dropped=lambda: dropped[0])
    next_of(feed)
    feed.set_paused(True)
    dropped[0] = 90
    for _ in range(3):
        feed.wait(0.01)
        assert feed.next() is None
    assert feed.readouts()[1] == ("3", "dropped")
    feed.set_paused(False)
    next_of(feed)
    dropped[0] += 2
    assert feed.readouts()[1] == ("5", "dropped")
    feed.close()


def test_errors_of_the_source_are_raised_by_next():
    def frames():
        yield frame(0)
        raise SourceError("camera:mine", "was unplugged")

    feed = StreamFeed(frames())
    next_of(feed)
    with pytest.raises(SourceError, match="unplugged"):
        wait_for_end(feed)


def test_a_file_without_random_access_is_paced():
    feed = StreamFeed([frame(k, 0.1 * k) for k in range(4)], paced=True)
    next_of(feed)
    started = time.monotonic()
    for _ in range(3):
        next_of(feed)
    assert time.monotonic() - started > 0.25
    feed.close()


def test_closing_ends_the_thread():
    feed = StreamFeed(Camera())
    next_of(feed)
    feed.close()
    assert not any(thread.name == "posepipe-reader" for thread in threading.enumerate())


def test_a_silent_camera_does_not_delay_closing(monkeypatch):
    monkeypatch.setattr("posepipe.viewer.playback.feeds.JOIN_S", 0.05)
    silent = threading.Event()

    def frames():
        yield frame(0)
        silent.wait(PATIENCE_S)

    feed = StreamFeed(frames())
    next_of(feed)
    assert feed.next() is None
    started = time.monotonic()
    feed.close()
    assert time.monotonic() - started < PATIENCE_S / 2
    silent.set()
