"""``camera:ros2``: images that another process publishes, with types of its own."""

from __future__ import annotations

import logging
from types import SimpleNamespace

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras import ros2
from posepipe.sources.cameras.frame_clock import FrameClock
from tests.support.workers.ros2_domain import needs_ros2, peer

needs_ros2()
ros2_peer = pytest.importorskip("tests.support.workers.ros2_peer")


@pytest.fixture(scope="module", autouse=True)
def cameras():
    with peer("send"):
        yield


def frames(name, count, **options):
    with open_source(name, **options) as source:
        each = iter(source)
        return source.intrinsics, source.start_time_ns, [next(each) for _ in range(count)]


def of(kind):
    return f"camera:ros2:{ros2_peer.topic_of(kind)}"


@pytest.mark.parametrize("kind", ["raw", "compressed"])
def test_the_images_are_those_that_another_process_publishes(kind):
    intrinsics, start_ns, got = frames(of(kind), 5)
    assert intrinsics == Intrinsics(*ros2_peer.FOCAL)
    for frame in got:
        i = round((start_ns / 1e9 + frame.timestamp_s - ros2_peer.START_S) * 10)  # its time says which it is
        assert frame.depth_m.shape == (ros2_peer.HEIGHT, ros2_peer.WIDTH)
        np.testing.assert_array_equal(frame.depth_m, np.float32(ros2_peer.depth_mm(i)) * np.float32(0.001))
    assert np.diff([frame.timestamp_s for frame in got]).min() > 0


@pytest.mark.parametrize("start_ns", [12_345_000_000, 1_700_000_000_123_456_789])  # of a simulation, and of the day
def test_frames_keep_the_stamps_of_their_images(monkeypatch, start_ns):
    camera, clock = ros2.Ros2Camera("camera:ros2:/depth", "/depth"), FrameClock()
    stamps = iter([start_ns, start_ns + 33_333_333])
    monkeypatch.setattr(camera, "_images", SimpleNamespace(take=lambda timeout_s: b""))
    monkeypatch.setattr(camera, "_depth", SimpleNamespace(decode=lambda data: (np.zeros((2, 3)), next(stamps))))
    times = [clock.seconds(camera.read(0.1)) for _ in range(2)]
    assert clock.start_time_ns == start_ns
    assert times == [0, 0.033333333]


def test_a_damaged_image_is_left_out_with_one_line(caplog):
    with caplog.at_level(logging.WARNING), open_source(of("damaged")) as source:
        each = iter(source)
        got = [next(each) for _ in range(4)]
    assert {round(frame.depth_m[0, 0] * 1000) % (2 * ros2_peer.STEP_MM) for frame in got} == {0}  # the even ones
    lines = [record.message for record in caplog.records if "left out" in record.message]
    assert lines == [f"{of('damaged')}: an image was left out: image of 320x240 16UC1 with 7 bytes"]


def test_a_topic_without_depth_is_refused():
    with pytest.raises(SourceError, match=r"wanted a depth image \(16UC1, .*\), got rgb8"):
        open_source(of("colour"))


def test_a_message_above_the_limit_is_dropped_unread(monkeypatch, capfd):
    monkeypatch.setattr("posepipe.dds.domain.MAX_MESSAGE_BYTES", 10_000)
    monkeypatch.setattr(ros2, "PUBLISHER_WAIT_S", 2.0)
    with pytest.raises(SourceError, match=r"no message came on /raw/image_raw \(sensor_msgs/msg/Image\)"):
        open_source(of("raw"))
    assert capfd.readouterr().err == ""  # the library would write a line for each


def test_an_uncalibrated_topic_asks_for_camera(monkeypatch):
    monkeypatch.setattr(ros2, "PUBLISHER_WAIT_S", 2.0)
    with pytest.raises(SourceError, match=r"nobody publishes /uncalibrated/camera_info; .* give --camera"):
        open_source(of("uncalibrated"))
    monkeypatch.undo()
    intrinsics, _, got = frames(of("uncalibrated"), 1, camera="kinect-v1-320")
    assert got[0].depth_m.shape == (240, 320)
    assert intrinsics.fx != ros2_peer.FOCAL[0]


@pytest.mark.parametrize(("kind", "told"), [("distorted", True), ("raw", False)])
def test_distortion_that_stays_is_told(caplog, kind, told):
    open_source(of(kind), camera="kinect-v1-320").close()
    assert caplog.messages == [f"{of(kind)}: calibration from kinect-v1-320; images are not undistorted"] * told


def test_a_missing_topic_is_an_error_that_lists_the_others(monkeypatch):
    monkeypatch.setattr(ros2, "PUBLISHER_WAIT_S", 2.0)
    with pytest.raises(SourceError) as problem:
        open_source("camera:ros2:depth")
    assert "nobody publishes /depth; topics on 127.0.0.1: " in str(problem.value)
    assert "/raw/image_raw (sensor_msgs/msg/Image)" in str(problem.value)


@pytest.mark.parametrize("place", ["", "/", "127.0.0.1:"])
def test_a_place_without_topic_is_an_error(place):
    with pytest.raises(SourceError, match=r"wanted camera:ros2:TOPIC or camera:ros2:HOST:TOPIC, got topic"):
        open_source(f"camera:ros2:{place}")
