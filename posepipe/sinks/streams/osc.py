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
"""Time tag of a bundle that is to be acted on when it comes."""

_FORBIDDEN = re.compile(r"[^!-~]|[#*,/?\[\]{}]")  # in a part of an address
_INT32 = 1 << 31


def osc_message(address: str, *values: int | float) -> bytes:
    """One message; int goes as int32 (beyond its range it wraps round), float as float32."""
    tags, data = ",", b""
    for value in values:
        if isinstance(value, int):
            tags, data = tags + "i", data + struct.pack(">i", (value + _INT32) % (2 * _INT32) - _INT32)
        else:
            tags, data = tags + "f", data + struct.pack(">f", value)
    return _string(address) + _string(tags) + data


def osc_bundle(messages: Iterable[bytes]) -> bytes:
    """Messages that belong together."""
    parts = b"".join(struct.pack(">i", len(message)) + message for message in messages)
    return _string("#bundle") + struct.pack(">Q", IMMEDIATELY) + parts


def frame_packets(row: ResultRow) -> list[bytes]:
    """A frame as packets: first who is there, then a bundle a person.

    ``/posepipe/frame ,ifii...``: index of the frame, seconds, how many people, their ids; then
    ``/posepipe/person/ID/JOINT ,ffff``: x, y, z in metres (camera axes), confidence.
    """
    ids = [track.id for track in row.people]
    packets = [osc_message("/posepipe/frame", row.frame, row.timestamp_s, len(ids), *ids)]
    for track in row.people:
        place = f"/posepipe/person/{track.id}/"
        joints = track.pose.joints.items()
        packets.append(osc_bundle(osc_message(place + _part(n), *j.xyz_m, j.confidence) for n, j in joints))
    return packets


def _part(name: str) -> str:
    return _FORBIDDEN.sub("_", name)


def _string(text: str) -> bytes:
    """ASCII, closed by one to four zeros up to a multiple of four bytes."""
    data = text.encode("ascii")
    return data + bytes(4 - len(data) % 4)
