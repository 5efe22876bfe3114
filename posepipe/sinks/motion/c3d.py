"""Results as C3D, the file of motion capture laboratories: joints as points, in millimetres.

Points are the joints as found, not moved by rigid bones. A point without a position has residual -1. Axes are y up
and +z towards the camera. Content of the files: docs/reference/results.md.

References
----------
The C3D File Format: A Technical User Guide, Motion Lab Systems, 2021 (c3d.org).
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np

from posepipe.sinks.motion.person_motion import PersonMotion

_BLOCK = 512
_PARAMETER_BLOCK = 2  # blocks are counted from 1; the header is the first
_KEY = 0x50
_INTEL = 84
_MAX_UINT16 = 65_535
_MAX_UINT32 = (1 << 32) - 1
_MAX_POINTS = 255  # what a dimension of a parameter holds
_ABSENT = -1.0
_MM = 1000.0
_MAX_RATE_HZ = 1e38
"""Below the largest float32."""

_CHAR, _INT16, _FLOAT = -1, 2, 4  # types of parameters


def c3d_bytes(motion: PersonMotion) -> bytes:
    """Return the content of a C3D file.

    Raises ValueError for too many joints, or a first frame or a frame rate beyond 32 bits.
    """
    points = _points(motion)
    frames, joints = points.shape[:2]
    if joints > _MAX_POINTS:
        raise ValueError(f"a C3D file names at most {_MAX_POINTS} points, got {joints} joints")
    if not 0 <= motion.first_frame <= _MAX_UINT32 - frames:  # of a clock that jumped
        raise ValueError(f"a C3D file cannot begin at frame {motion.first_frame} of the run; are the timestamps right?")
    if motion.frame_s * _MAX_RATE_HZ < 1:
        raise ValueError(f"a C3D file cannot hold frames {motion.frame_s:g} s apart; are the timestamps right?")
    blocks = len(_parameters(motion, frames, 0)) // _BLOCK
    data_block = _PARAMETER_BLOCK + blocks
    parts = (
        _header(motion, frames, joints, data_block),
        _parameters(motion, frames, data_block),
        points.tobytes(),
    )
    content = b"".join(parts)
    # where 16 bits do not count the frames, or are all set, readers take all that follows: no padding then
    return content if frames >= _MAX_UINT16 else _whole_blocks(content)


def _points(motion: PersonMotion) -> np.ndarray:
    """Return x, y, z and residual of each point, float32 (T, J, 4), little endian."""
    markers_mm = motion.markers_m() * _MM
    absent = np.isnan(markers_mm[..., 0])
    points = np.zeros((*absent.shape, 4), "<f4")
    points[..., :3] = np.where(absent[..., None], 0.0, markers_mm)
    points[..., 3] = np.where(absent, _ABSENT, 0.0)
    return points


def _header(motion: PersonMotion, frames: int, joints: int, data_block: int) -> bytes:
    first = motion.first_frame + 1
    header = struct.pack(
        "<BBHHHHHfHHf",
        _PARAMETER_BLOCK,
        _KEY,
        joints,
        0,  # analog samples a frame
        min(first, _MAX_UINT16),
        min(first + frames - 1, _MAX_UINT16),
        0,  # longest gap that was interpolated; filled gaps are no longer known
        -1.0,  # negative: points are floats
        data_block,
        0,
        1 / motion.frame_s,
    )
    return _whole_blocks(header)


def _parameters(motion: PersonMotion, frames: int, data_block: int) -> bytes:
    """Return the section of parameters, in whole blocks."""
    first = motion.first_frame + 1
    names = motion.body.joints
    groups = {
        "POINT": (
            _number("USED", _INT16, len(names)),
            _number("SCALE", _FLOAT, -1.0),
            _number("RATE", _FLOAT, 1 / motion.frame_s),
            _number("DATA_START", _INT16, data_block),
            _number("FRAMES", _INT16, min(frames, _MAX_UINT16)),
            _texts("LABELS", names),
            _texts("DESCRIPTIONS", [f"{motion.body.name}, person {motion.person}"] * len(names)),
            _texts("UNITS", ["mm"], single=True),
            _texts("X_SCREEN", ["+X"], single=True),
            _texts("Y_SCREEN", ["+Y"], single=True),
        ),
        "ANALOG": (_number("USED", _INT16, 0), _number("RATE", _FLOAT, 1 / motion.frame_s)),
        "FORCE_PLATFORM": (_number("USED", _INT16, 0),),
        "TRIAL": (  # frames beyond the header's 16 bits: two words each, the lower first
            _number("ACTUAL_START_FIELD", _INT16, first & 0xFFFF, first >> 16),
            _number("ACTUAL_END_FIELD", _INT16, (first + frames - 1) & 0xFFFF, (first + frames - 1) >> 16),
        ),
    }
    body = b"".join(_group(number, name, own) for number, (name, own) in enumerate(groups.items(), 1)) + b"\0\0"
    blocks = -(-(4 + len(body)) // _BLOCK)
    return _whole_blocks(bytes((1, _KEY, blocks, _INTEL)) + body)


def _group(number: int, name: str, parameters: Sequence[tuple[str, bytes]]) -> bytes:
    entries = [_entry(-number, name, b"")] + [_entry(number, name, content) for name, content in parameters]
    return b"".join(entries)


def _entry(group: int, name: str, content: bytes) -> bytes:
    """Return a group, or a parameter of one: the offset is that from itself to the next entry."""
    description = b"\0"  # its length
    offset = struct.pack("<h", 2 + len(content) + len(description))
    return struct.pack("<bb", len(name), group) + name.encode("ascii") + offset + content + description


def _number(name: str, kind: int, *values: float) -> tuple[str, bytes]:
    sizes = b"\0" if len(values) == 1 else bytes((1, len(values)))
    return name, struct.pack("<b", kind) + sizes + struct.pack(
        f"<{len(values)}{'f' if kind == _FLOAT else 'H'}", *values
    )


def _texts(name: str, texts: Sequence[str], single: bool = False) -> tuple[str, bytes]:
    """Return texts, padded with spaces to one width of at most 127 bytes."""
    rows = [text.encode("ascii", "replace")[:127] for text in texts]
    width = max(map(len, rows))
    sizes = bytes((1, width)) if single else bytes((2, width, len(rows)))
    return name, struct.pack("<b", _CHAR) + sizes + b"".join(row.ljust(width) for row in rows)


def _whole_blocks(data: bytes) -> bytes:
    return data + bytes(-len(data) % _BLOCK)
