"""Foxglove: a client of our own connects by the app's protocol and finds depth, points and people."""

from __future__ import annotations

import json
import struct
import time
from dataclasses import replace

import numpy as np
import pytest

from posepipe.body import HUMAN
from posepipe.camera import Extrinsics
from posepipe.errors import PosepipeError
from posepipe.sinks.files.json_lines import ResultsHeader
from posepipe.sinks.streams.foxglove import FoxgloveSink
from posepipe.sinks.streams.stream_address import StreamAddress
from posepipe.sinks.streams.stream_formats import open_stream
from tests.support.found_people import FLOOR, INTRINSICS, result, standing_m, track

pytest.importorskip("foxglove")
connect = pytest.importorskip("websockets.sync.client").connect

WAIT_S = 20
START_NS = 1_700_000_000_000_000_000
HEADER = ResultsHeader(HUMAN.joints, "s", "m", start_time_ns=START_NS)


def opened():
    return open_stream(StreamAddress("foxglove", "127.0.0.1", 0), HEADER)


class Client:
    """Speaks foxglove.sdk.v1: reads the channels, subscribes, and collects messages."""

    def __init__(self, port):
        self._socket = connect(f"ws://127.0.0.1:{port}", subprotocols=["foxglove.sdk.v1"], open_timeout=WAIT_S)
        self.channels = {}
        while len(self.channels) < 5:
            message = json.loads(self._socket.recv(WAIT_S))
            self.channels |= {each["topic"]: each for each in message.get("channels", [])}

    def subscribe(self, *topics):
        asked = [{"id": self.channels[topic]["id"], "channelId": self.channels[topic]["id"]} for topic in topics]
        self._socket.send(json.dumps({"op": "subscribe", "subscriptions": asked}))

    def next(self):
        """Topic, time in nanoseconds and fields of the next message."""
        while True:
            message = self._socket.recv(WAIT_S)
            if isinstance(message, bytes) and message[0] == 1:
                number, time_ns = struct.unpack_from("<IQ", message, 1)
                (topic,) = (topic for topic, each in self.channels.items() if each["id"] == number)
                return topic, time_ns, protobuf(message[13:])

    def close(self):
        self._socket.close()


def protobuf(data):
    """Fields of a message by number, each a list: whole numbers, floats, or bytes of texts and messages."""
    fields, at = {}, 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    while at < len(data):
        number, kind = divmod(varint(), 8)
        if kind == 0:
            value = varint()
        else:
            size = {1: 8, 5: 4}.get(kind) or varint()
            value, at = data[at : at + size], at + size
            value = struct.unpack("<d", value)[0] if kind == 1 else value
        fields.setdefault(number, []).append(value)
    return fields


def messages_of(results, *topics):
    """What a client of these topics receives, by topic."""
    with opened() as sink:
        client = Client(sink.port)
        client.subscribe(*topics)
        deadline = time.monotonic() + WAIT_S
        while not all(sink._channels[topic].has_sinks() for topic in topics):  # a moment later
            assert time.monotonic() < deadline
            time.sleep(0.01)
        for one in results:
            sink.write(one)
        found = {topic: (time_ns, fields) for topic, time_ns, fields in (client.next() for _ in topics)}
        client.close()
    return found


def is_doubles(value, count):
    return isinstance(value, bytes) and len(value) == 8 * count


def test_a_client_sees_depth_and_its_lens():
    frame = result(3)
    found = messages_of([frame], "/depth/image", "/depth/calibration")
    time_ns, image = found["/depth/image"]
    assert time_ns == START_NS + 100_000_000
    assert (image[2], image[3]) == ([struct.pack("<I", 64)], [struct.pack("<I", 48)])  # width, height
    pixels = max((value for values in image.values() for value in values if isinstance(value, bytes)), key=len)
    depth_mm = np.frombuffer(pixels, "<u2").reshape(48, 64)
    assert (depth_mm == 1003).all()
    _, lens = found["/depth/calibration"]
    matrices = [np.frombuffer(value, "<f8") for values in lens.values() for value in values if is_doubles(value, 9)]
    np.testing.assert_allclose(matrices, [[60, 0, 31.5, 0, 60, 23.5, 0, 0, 1]])


def test_the_points_are_the_readings_in_camera_axes():
    _, cloud = messages_of([result(0)], "/depth/points")["/depth/points"]
    data = max((value for values in cloud.values() for value in values if isinstance(value, bytes)), key=len)
    points_m = np.frombuffer(data, "<f4").reshape(48, 64, 3)
    np.testing.assert_allclose(points_m[..., 2], 1.0)
    assert points_m[10, 50, 0] == pytest.approx((50 - INTRINSICS.cx) / INTRINSICS.fx)
    assert points_m[10, 50, 1] == pytest.approx((10 - INTRINSICS.cy) / INTRINSICS.fy)


def test_people_are_entities_and_replace_those_before():
    people = (track(7, standing_m(-0.5)), track(9, standing_m(0.5)))
    _, update = messages_of([result(0, people)], "/people")["/people"]
    (deleted,), entities = update[1], [protobuf(entity) for entity in update[2]]
    assert protobuf(deleted).get(2) == [1]  # all
    assert [entity[3][0].decode() for entity in entities] == ["person 7", "person 9"]
    assert b"depth_camera" in entities[0][2]
    spheres = [value for values in entities[0].values() for value in values if isinstance(value, bytes)]
    assert len(max(entities[0].values(), key=len)) == 20  # a sphere, and its confidence, for every joint
    assert any(standing_m(-0.5)[0, 2] in floats_in(value) for value in spheres)


def floats_in(data):
    return [struct.unpack_from("<d", data, at)[0] for at in range(len(data) - 7)]


def test_the_floor_gives_the_pose_of_the_camera():
    _, transforms = messages_of([result(0, floor=FLOOR)], "/tf")["/tf"]
    camera = protobuf(transforms[1][0])
    assert (camera[2][0], camera[3][0]) == (b"world", b"depth_camera")
    wanted = Extrinsics.above_floor(FLOOR).translation_m
    assert protobuf(camera[4][0])[3][0] == pytest.approx(wanted[2])


def test_it_listens_on_this_machine_alone_by_default():
    address = StreamAddress.parse("foxglove://")
    assert (address.host, address.port) == ("127.0.0.1", 8765)


def test_a_taken_port_is_one_line():
    with opened() as sink:
        taken = FoxgloveSink(StreamAddress("foxglove", "127.0.0.1", sink.port), HUMAN)
        with pytest.raises(PosepipeError, match="cannot listen there"), taken:
            pass


def test_a_time_beyond_2106_is_one_line(monkeypatch):
    monkeypatch.setitem(globals(), "HEADER", replace(HEADER, start_time_ns=5 * 10**18))
    with pytest.raises(PosepipeError, match="none after 2106"):
        messages_of([result(0)], "/depth/image")
