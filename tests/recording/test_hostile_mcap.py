"""MCAP files made by hand: records cut inside a chunk, and times that no int64 holds."""

from __future__ import annotations

import struct

import pytest
from mcap.opcode import Opcode
from mcap.writer import MCAP0_MAGIC, CompressionType

from apps.cli import main
from posepipe.errors import FormatError
from posepipe.io import limits
from posepipe.recording import McapFile
from posepipe.sources import open_source
from tests.support.recordings import ros_writers as ros

LATE_NS = 1 << 63
DEPTH = next(message for message in ros.depth_recording(1) if message.topic == ros.DEPTH).serialised(2)


def record(opcode: Opcode, body: bytes) -> bytes:
    return struct.pack("<BQ", opcode, len(body)) + body


def text(value: str) -> bytes:
    return struct.pack("<I", len(value)) + value.encode()


def schema() -> bytes:
    return struct.pack("<H", 1) + text("sensor_msgs/msg/Image") + text("ros2msg") + struct.pack("<I", 0)


def channel(number: int = 1, topic: str = ros.DEPTH) -> bytes:
    return struct.pack("<HH", number, 1) + text(topic) + text("cdr") + struct.pack("<I", 0)


def message(time_ns: int, number: int = 1) -> bytes:
    return record(Opcode.MESSAGE, struct.pack("<HIQQ", number, 0, time_ns, time_ns) + DEPTH)


def definitions() -> bytes:
    return record(Opcode.SCHEMA, schema()) + record(Opcode.CHANNEL, channel())


def chunk(content: bytes) -> bytes:
    head = struct.pack("<QQQI", 0, 1, len(content), 0) + text("") + struct.pack("<Q", len(content))
    return record(Opcode.CHUNK, head + content)


def file_of(*records: bytes) -> bytes:
    header = record(Opcode.HEADER, text("") + text(""))
    footer = record(Opcode.FOOTER, struct.pack("<QQI", 0, 0, 0))
    return MCAP0_MAGIC + header + b"".join(records) + footer + MCAP0_MAGIC


def index(time_ns: int) -> bytes:
    return record(Opcode.MESSAGE_INDEX, struct.pack("<HIQQ", 1, 16, time_ns, 0))


HOSTILE = {
    "schema": file_of(chunk(record(Opcode.SCHEMA, schema()[:9]) + definitions() + message(10))),
    "channel": file_of(chunk(record(Opcode.SCHEMA, schema()) + record(Opcode.CHANNEL, channel()[:9]) + message(10))),
    "time in a chunk": file_of(chunk(definitions() + message(LATE_NS))),
    "time outside": file_of(definitions(), message(LATE_NS)),
    "time in an index": file_of(definitions(), chunk(message(LATE_NS)), index(LATE_NS)),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hand_made_file_is_one_line(tmp_path, capsys, name):
    path = tmp_path / "a.mcap"
    path.write_bytes(HOSTILE[name])
    assert main(["info", str(path)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"posepipe: error: {path}")


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        (chunk(record(Opcode.CHANNEL, channel(2, "/other")[:9])), 0),
        (message(LATE_NS), 1),
        (chunk(message(10) + message(LATE_NS)), 1),
    ],
    ids=["channel", "outside", "chunk"],
)
def test_messages_beside_the_damage_are_read(tmp_path, damage, place):
    good = [definitions() + chunk(message(10)), chunk(message(20))]
    good.insert(place, damage)
    (tmp_path / "a.mcap").write_bytes(file_of(*good))
    with McapFile(tmp_path / "a.mcap") as file:
        assert not file.complete
        assert set(file.times_ns(ros.DEPTH).tolist()) == {10, 20}
        assert file.message(ros.DEPTH, 0) == DEPTH


def test_records_without_content_are_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "FREE_RECORDS", 1000)
    (tmp_path / "a.mcap").write_bytes(file_of(*[record(0x90, b"")] * 2000, definitions(), message(10)))
    with pytest.raises(FormatError, match=r"a\.mcap: too many records for its size"):
        McapFile(tmp_path / "a.mcap")
    (tmp_path / "a.mcap").write_bytes(file_of(*[record(0x90, b"")] * 900, definitions(), message(10)))
    with McapFile(tmp_path / "a.mcap") as file:
        assert file.message(ros.DEPTH, 0) == DEPTH


@pytest.mark.parametrize("stamp", ["9" * 30, "9" * 5000, "-1", str(1 << 63), "text"])
def test_a_start_that_is_no_time_is_one_line(tmp_path, stamp):
    whole = ros.write_mcap(tmp_path / "a.mcap", ros.depth_recording(3), compression=CompressionType.NONE).read_bytes()
    pairs = text("start_time_ns") + text(stamp)
    metadata = record(Opcode.METADATA, text("posepipe") + struct.pack("<I", len(pairs)) + pairs)
    begin = len(MCAP0_MAGIC)
    (tmp_path / "a.mcap").write_bytes(whole[:begin] + metadata + whole[begin:])
    with pytest.raises(FormatError, match=r"a\.mcap, byte 0: damaged recording"):
        open_source(tmp_path / "a.mcap")
