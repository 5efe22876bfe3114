"""Naive reader of Open Sound Control packets, after the specification: Wright, OSC 1.0, 2002."""

from __future__ import annotations

import struct


def read_packet(data):
    """Messages of a packet in order: (address, [values])."""
    assert len(data) % 4 == 0
    if not data.startswith(b"#bundle\0"):
        return [_read_message(data)]
    assert struct.unpack(">Q", data[8:16]) == (1,)  # at once
    messages, at = [], 16
    while at < len(data):
        (size,) = struct.unpack(">i", data[at : at + 4])
        messages += read_packet(data[at + 4 : at + 4 + size])
        at += 4 + size
    assert at == len(data)
    return messages


def _read_message(data):
    address, at = _read_string(data, 0)
    assert address.startswith("/")
    tags, at = _read_string(data, at)
    assert tags.startswith(",")
    values = []
    for tag in tags[1:]:
        values += struct.unpack({"i": ">i", "f": ">f"}[tag], data[at : at + 4])
        at += 4
    assert at == len(data)
    return address, values


def _read_string(data, at):
    end = data.index(b"\0", at)
    after = (end // 4 + 1) * 4
    assert data[end:after] == bytes(after - end)
    return data[at:end].decode("ascii"), after
