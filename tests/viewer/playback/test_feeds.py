"""A recording gives the frame whose turn it is, a stream the next one that comes; pauses and ends are heard of."""

from __future__ import annotations

import threading
import time

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError
from posepipe.frames import DepthFrame
from posepipe.recording import DamagedMessageError
from posepipe.viewer.playback.feeds import PlayedFeed, Shot, StreamFeed
from posepipe.viewer.playback.player import Player

LENS = Intrinsics(10.0, 10.0, 1.5, 1.5)
PATIENCE_S = 10.0


def frame(index, timestamp_s=0.0):
    return DepthFrame(np.zeros((4, 4), np.float32), LENS, timestamp_s, index)


def next_of(feed):
    """The next shot, which must come."""
    until = time.monotonic() + PATIENCE_S
    while (shot := feed.next()) is None:
        assert time.monotonic() < until, "nothing came"
        feed.wait(0.05)
    return shot


def wait_for_end(feed):
    until = time.monotonic() + PATIENCE_S
    while not feed.ended:
        assert feed.next() is None
        assert time.monotonic() < until
        feed.wait(0.05)


def test_a_recording_gives_the_frame_whose_turn_it_is():
    player = Player(np.arange(5) / 1000)
    feed = PlayedFeed(lambda row: f"frame {row}", player)
    assert next_of(feed).item == "frame 0"
    player.pause()
    player.seek(3)
    shot = next_of(feed)
    assert (shot.item, shot.follows) == ("frame 3", False)
    assert feed.facts() == [("4/5", "frame"), ("0", "dropped")]
    assert not feed.ended
    player.step(1)
    assert next_of(feed).item == "frame 4"
    assert feed.ended


def test_a_damaged_frame_is_passed_over_counted_and_warned_of_once(caplog):
    def item_at(row):
        if row == 1:
            raise DamagedMessageError("walk.mcap", "damaged recording (zstd)")
        return f"frame {row}"

    player = Player(np.arange(4) / 1000)
    feed = PlayedFeed(item_at, player)
    player.set_every_frame(True)
    shots = [next_of(feed) for _ in range(3)]
    assert [(shot.item, shot.follows) for shot in shots[1:]] == [("frame 2", True), ("frame 3", True)]
    assert feed.ended
    player.pause()
    player.seek(1)
    assert feed.next() is None
    player.step(1)
    assert next_of(feed) == Shot("frame 2", follows=False)  # what was shown before it is far away
    assert feed.facts() == [("3/4", "frame"), ("1", "dropped")]
    assert caplog.text.count("walk.mcap: damaged recording (zstd); frame 1 is left out") == 1


def test_a_stream_gives_frames_in_order_and_ends():
    feed = StreamFeed([frame(k) for k in range(4)])
    assert [next_of(feed).item.index for _ in range(4)] == [0, 1, 2, 3]
    wait_for_end(feed)
    assert feed.next() is None
    assert feed.facts() == [("4", "frame"), ("0", "dropped")]
    feed.close()


class Camera:
    """Counts; whoever asks late gets the newest."""

    def __init__(self):
        self.newest, self.taken = 0, []

    def __iter__(self):
        while True:
            self.taken.append(self.newest)
            yield frame(self.newest)


def test_a_frame_is_taken_only_when_the_one_before_was_dealt_with():
    """What a camera took while a frame was analysed must not wait here and grow old."""
    camera = Camera()
    feed = StreamFeed(camera)
    next_of(feed)
    camera.newest = 30  # while the first one is analysed
    time.sleep(0.1)
    assert camera.taken == [0]
    assert next_of(feed).item.index == 30
    feed.close()


def test_a_paused_stream_gives_nothing_and_what_it_drops_is_not_missed():
    dropped = [3]
    feed = StreamFeed(Camera(), dropped=lambda: dropped[0])
    next_of(feed)
    feed.set_paused(True)
    dropped[0] = 90
    for _ in range(3):
        feed.wait(0.01)
        assert feed.next() is None
    assert feed.facts()[1] == ("3", "dropped")
    feed.set_paused(False)
    next_of(feed)
    dropped[0] += 2
    assert feed.facts()[1] == ("5", "dropped")
    feed.close()


def test_what_the_source_raises_is_heard_where_frames_are_taken():
    def frames():
        yield frame(0)
        raise SourceError("camera:mine", "was unplugged")

    feed = StreamFeed(frames())
    next_of(feed)
    with pytest.raises(SourceError, match="unplugged"):
        wait_for_end(feed)


def test_a_file_that_cannot_be_entered_is_paced():
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


def test_a_camera_that_is_silent_does_not_hold_up_the_end():
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
