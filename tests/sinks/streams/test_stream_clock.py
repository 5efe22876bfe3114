"""Times of streams whose messages hold none before 1970."""

from __future__ import annotations

import pytest

from posepipe.body import HUMAN
from posepipe.sinks.streams import foxglove, ros2
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.stream_clock import StreamClock
from tests.support.found_people import result


class Heard:
    """A channel or publisher that keeps what it is given."""

    def __init__(self):
        self.times_ns = []

    def has_sinks(self):
        return True

    def log(self, message, log_time):
        self.times_ns.append(log_time)

    def write(self, message):
        return True


@pytest.mark.parametrize(
    ("start_ns", "times_s", "wanted"),
    [
        (0, [-0.2, -0.1, 0.0, 0.1], [0, 100_000_000, 200_000_000, 300_000_000]),
        (0, [0.0, 0.1], [0, 100_000_000]),
        (0, [1.0, -2.0, -1.5], [1_000_000_000, 0, 500_000_000]),
        (10**18, [-0.2, 0.1], [10**18 - 200_000_000, 10**18 + 100_000_000]),
    ],
)
def test_times_keep_their_distance_and_are_not_negative(start_ns, times_s, wanted):
    clock = StreamClock(start_ns)
    assert [clock.stamp_ns(each) for each in times_s] == wanted


def test_foxglove_tells_frames_before_the_first_apart():
    pytest.importorskip("foxglove")
    sink, heard = foxglove.FoxgloveSink(StreamAddress("foxglove", "127.0.0.1", 0), HUMAN), Heard()
    topics = ("DEPTH", "LENS", "POINTS", "PEOPLE", "TRANSFORMS")
    sink._channels = {getattr(foxglove, f"{each}_TOPIC"): heard for each in topics}
    for i, time_s in enumerate((-0.2, -0.1, 0.0)):
        sink.write(result(i, timestamp_s=time_s))
    assert sorted(set(heard.times_ns)) == [0, 100_000_000, 200_000_000]


def test_ros_2_tells_frames_before_the_first_apart(monkeypatch):
    times_ns = []
    monkeypatch.setattr(
        ros2, "encode_poses", lambda people, body, world, stamp_ns, frame_id: times_ns.append(stamp_ns) or {}
    )
    sink = ros2.Ros2Sink(StreamAddress("ros2", "", 0), HUMAN)
    sink._publishers = {topic: Heard() for topic in ros2.SKELETON_TOPICS}
    for i, time_s in enumerate((-0.2, -0.1, 0.0)):
        sink.write(result(i, timestamp_s=time_s))
    assert times_ns == [0, 100_000_000, 200_000_000]
