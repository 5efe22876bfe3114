"""Open Sound Control 1.0: messages and bundles as bytes, for music, light and stage programs.

References
----------
Wright, The Open Sound Control 1.0 specification, 2002.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterable

from posepipe.sinks.files.json_lines import ResultRow

IMMEDIATELY = 1
"""Time tag of a bundle that takes effect on arrival."""

_FORBIDDEN = re.compile(r"[^!-~]|[#*,/?\[\]{}]")  # in one part of an address
_INT32 = 1 << 31


def osc_message(address: str, *values: int | float) -> bytes:
    """Encode one message: int as int32, wrapping around beyond its range; float as float32."""
    tags, data = ",", b""
    for value in values:
        if isinstance(value, int):
            tags, data = tags + "i", data + struct.pack(">i", (value + _INT32) % (2 * _INT32) - _INT32)
        else:
            tags, data = tags + "f", data + struct.pack(">f", value)
    return _string(address) + _string(tags) + data


def osc_bundle(messages: Iterable[bytes]) -> bytes:
    """Encode messages that take effect together."""
    parts = b"".join(struct.pack(">i", len(message)) + message for message in messages)
    return _string("#bundle") + struct.pack(">Q", IMMEDIATELY) + parts


def osc_packets(row: ResultRow) -> list[bytes]:
    """Encode a frame as packets: a message with the ids, then one bundle per person.

    ``/posepipe/frame ,ifii...``: index of the frame, seconds, number of people, their ids; then
    ``/posepipe/person/ID/JOINT ,ffff``: x, y, z in metres (camera axes), confidence.
    """
    ids = [track.id for track in row.people]
    packets = [osc_message("/posepipe/frame", row.frame, row.timestamp_s, len(ids), *ids)]
    for track in row.people:
        prefix = f"/posepipe/person/{track.id}/"
        joints = track.pose.joints.items()
        packets.append(osc_bundle(osc_message(prefix + _part(n), *j.xyz_m, j.confidence) for n, j in joints))
    return packets


def _part(name: str) -> str:
    return _FORBIDDEN.sub("_", name)


def _string(text: str) -> bytes:
    """ASCII, padded with one to four zeros to a multiple of four bytes."""
    data = text.encode("ascii")
    return data + bytes(4 - len(data) % 4)
