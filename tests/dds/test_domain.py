"""The participant in a domain of ROS 2: what it listens to, what it shares, what it refuses."""

from __future__ import annotations

import os
import socket

import pytest

from posepipe.dds import domain
from posepipe.dds.domain import ANY, join_domain
from posepipe.dds.ros_types import dds_topic, message_class, ros_topic, ros_type
from posepipe.dds.topics import Discovery, Publisher, Subscriber
from posepipe.errors import PosepipeError
from tests.support.workers.ros2_domain import needs_ros2, own_domain

needs_ros2()


@pytest.fixture(autouse=True)
def domain_id(monkeypatch):
    monkeypatch.setenv("ROS_DOMAIN_ID", own_domain())


def listening():
    """Sockets of UDP of this process that listen: address, port and the device that they are bound to."""
    found = []
    for name in os.listdir("/proc/self/fd"):
        try:
            each = socket.socket(fileno=int(name))
        except OSError:
            continue
        if each.family == socket.AF_INET and each.type == socket.SOCK_DGRAM:
            device = each.getsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, 16)
            found.append((*each.getsockname(), device.rstrip(b"\0").decode()))
        each.detach()
    return found


def test_nothing_listens_beyond_this_machine():
    before = set(listening())
    participant = join_domain()
    new = set(listening()) - before
    assert len(new) >= 2
    assert {device or host for host, _, device in new} <= {"lo", "127.0.0.1"}
    participant.leave()
    assert set(listening()) - before == set()


def test_a_system_that_cannot_keep_to_itself_is_refused(monkeypatch):
    monkeypatch.setattr(domain.sys, "platform", "win32")
    with pytest.raises(PosepipeError, match=r"cannot keep ROS 2 to this machine \(win32 .*\); name a network, such as"):
        join_domain()


def test_all_of_a_process_share_one_participant_on_one_network():
    first = join_domain()
    assert join_domain("localhost") is first
    with pytest.raises(PosepipeError, match=r"ROS 2 is in use on 127\.0\.0\.1, wanted 0\.0\.0\.0"):
        join_domain(ANY)
    join_domain().leave()
    first.leave()
    Publisher(first, "/words", "std_msgs/msg/String")  # the other use goes on
    first.leave()
    second = join_domain()
    assert second is not first
    second.leave()


@pytest.mark.parametrize("text", ["-1", "233", "x", "1e2", "²"])
def test_an_impossible_domain_is_refused(monkeypatch, text):
    monkeypatch.setenv("ROS_DOMAIN_ID", text)
    with pytest.raises(PosepipeError, match=r"ROS_DOMAIN_ID: wanted 0 to 232, got"):
        join_domain()


def test_names_are_those_of_ros():
    assert dds_topic("/camera/depth") == "rt/camera/depth"
    assert ros_topic("rt/camera/depth") == "/camera/depth"
    assert ros_topic("rq/get_parametersRequest") is None
    assert ros_type("sensor_msgs::msg::dds_::Image_") == "sensor_msgs/msg/Image"
    assert message_class("sensor_msgs/msg/Image").__idl_typename__ == "sensor_msgs.msg.dds_.Image_"
    with pytest.raises(ValueError, match="unknown type of messages"):
        message_class("nobody/msg/Nothing")


def exchange(*messages, kind="std_msgs/msg/String"):
    """Messages that a subscriber of this process gets."""
    participant = join_domain()
    try:
        publisher, discovery = Publisher(participant, "/words", kind), Discovery(participant)
        (found,) = (each for each in discovery.publications() if each.topic == "/words")
        subscriber = Subscriber(participant, found)
        for message in messages:
            publisher.write(message)
        return list(iter(lambda: subscriber.take(0.3), None))
    finally:
        participant.leave()


def words(text):
    data = text.encode() + b"\0"
    data = b"\0\1\0\0" + len(data).to_bytes(4, "little") + data
    return data + bytes(-len(data) % 4)


def test_a_slow_subscriber_keeps_the_newest_messages_alone():
    sent = [words(f"{i:03}") for i in range(20)]
    assert exchange(*sent) == sent[-4:]


def test_a_message_that_does_not_fit_its_type_is_not_sent():
    with pytest.raises(PosepipeError, match="/words: cannot be sent"):
        exchange(b"\0\1\0\0" + b"\xff" * 8)
