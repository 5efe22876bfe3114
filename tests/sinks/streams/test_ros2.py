"""``--stream ros2://``: another process gets the bytes that rosbags packs, and reads them with types of its own."""

from __future__ import annotations

import base64
import json
import time

import numpy as np
import pytest
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

from posepipe.body import HUMAN
from posepipe.errors import PosepipeError
from posepipe.recording import encode_poses
from posepipe.recording.ros.messages import SKELETONS_DEFINITION
from posepipe.recording.ros.skeleton_messages import encode_skeletons
from posepipe.sinks.files.json_lines import ResultsHeader
from posepipe.sinks.streams.ros2 import Ros2Sink
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.stream_formats import open_stream
from tests.support.found_people import FLOOR, result, standing_m, track
from tests.support.workers.ros2_domain import needs_ros2, own_domain, peer

WAIT_S = 30
START_NS = 1_700_000_000_000_000_000
STAMP_NS = START_NS + 100_000_000
PEOPLE = (track(7, standing_m(-0.5)), track(9, np.where(np.arange(20)[:, None] == 3, np.nan, standing_m(0.5))))
HEADER = ResultsHeader(HUMAN.joints, "s", "m", start_time_ns=START_NS)


@pytest.fixture(scope="module")
def program():
    """Another process, which prints what it receives."""
    needs_ros2()
    with peer("receive") as running:
        yield running


def opened(url="ros2://"):
    needs_ros2()
    return open_stream(StreamAddress.parse(url), HEADER)


def received(program, url, frame):
    """Bytes by topic and fields of the skeletons that another process receives."""
    with opened(url) as sink:
        deadline = time.monotonic() + WAIT_S
        while sink.readers < 4:  # its three subscribers, and that with types of its own
            assert time.monotonic() < deadline
            time.sleep(0.02)
        sink.write(frame)
        raw, skeletons = {}, None
        while len(raw) < 3 or skeletons is None:
            line = json.loads(program.stdout.readline())
            skeletons = line.get("skeletons", skeletons)
            if "topic" in line:
                raw[line["topic"]] = base64.b64decode(line["data"])
        assert sink.dropped == 0
    return raw, skeletons


def test_another_process_receives_what_rosbags_packs(program):
    frame = result(3, PEOPLE, floor=FLOOR)
    raw, skeletons = received(program, "ros2://", frame)
    wanted = encode_poses(frame.people, HUMAN, frame.world, STAMP_NS, "depth_camera")
    wanted["/posepipe/skeletons"] = encode_skeletons(frame.people, HUMAN.joints, STAMP_NS, "depth_camera")
    assert raw.keys() == wanted.keys()
    for topic, message in wanted.items():
        assert raw[topic][: len(message)] == message
        assert raw[topic][len(message) :] == bytes(-len(message) % 4)  # DDS pads to whole words
    assert skeletons["header"] == {"stamp": {"sec": 1_700_000_000, "nanosec": 100_000_000}, "frame_id": "depth_camera"}
    assert tuple(skeletons["joint_names"]) == HUMAN.joints
    assert skeletons["person_ids"] == [7, 9]
    xyz_m = np.array(skeletons["xyz_m"]).reshape(2, 20, 3)
    np.testing.assert_allclose(xyz_m[0], standing_m(-0.5), atol=1e-6)
    assert np.isnan(xyz_m[1, 3]).all()
    assert np.array(skeletons["confidence"]).reshape(2, 20)[1].tolist() == [0.875 * (k != 3) for k in range(20)]


def test_a_frame_of_the_robot_replaces_ours(program):
    frame = result(3, PEOPLE, floor=FLOOR)
    raw, _ = received(program, "ros2:///camera_depth_optical_frame", frame)
    wanted = encode_poses(frame.people, HUMAN, None, STAMP_NS, "camera_depth_optical_frame")
    assert raw["/tf"].startswith(wanted["/tf"])
    assert b"world" not in raw["/tf"]


def test_the_skeletons_are_read_by_the_documented_definition():
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(SKELETONS_DEFINITION, "posepipe_msgs/msg/Skeletons"))
    message = store.deserialize_cdr(
        encode_skeletons(PEOPLE, HUMAN.joints, STAMP_NS, "c"), "posepipe_msgs/msg/Skeletons"
    )
    assert message.person_ids.tolist() == [7, 9]
    np.testing.assert_allclose(message.xyz_m.reshape(2, 20, 3)[0], standing_m(-0.5), atol=1e-6)


def test_nobody_in_view_is_a_message_too():
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(SKELETONS_DEFINITION, "posepipe_msgs/msg/Skeletons"))
    message = store.deserialize_cdr(encode_skeletons((), HUMAN.joints, 0, "c"), "posepipe_msgs/msg/Skeletons")
    assert (len(message.person_ids), len(message.xyz_m), len(message.joint_names)) == (0, 0, 20)


def test_a_run_does_not_wait_for_subscribers(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", own_domain())
    with opened() as sink:
        for i in range(50):
            sink.write(result(i, PEOPLE))
        assert sink.dropped == 0


def test_a_foreign_address_is_one_line():
    with pytest.raises(PosepipeError, match=r"^ros2://203\.0\.113\.1: wanted an IPv4 address of this machine, or 0"):
        opened("ros2://203.0.113.1").__enter__()


def test_without_the_package_the_error_names_the_extra(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "cyclonedds.core", None)
    with pytest.raises(PosepipeError, match=r"pip install 'posepipe\[ros2\]'"):
        Ros2Sink(StreamAddress.parse("ros2://"), HUMAN).__enter__()
