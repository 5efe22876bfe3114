"""BVH, Biovision's hierarchical motion files: a tree of joints, then one line of numbers a frame.

A joint's rotation is the product of its channels in the listed order. Position channels are ignored: bones are rigid,
and a pose has no position. At rest, with all channels 0, a joint is at its OFFSET. `synth.motion.mocap.stance` finds
out the pose of the body at rest.

References
----------
Meredith and Maddock, Motion capture file formats explained, University of Sheffield, 2001.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from synth.motion.mocap.capture import (
    MAX_ANGLE_RAD,
    SAMPLED_FPS,
    Capture,
    chained,
    euler_rotations,
    numbers,
    read_lines,
    sampled_frames,
)

_ROTATIONS = {"XROTATION": 0, "YROTATION": 1, "ZROTATION": 2}
_POSITIONS = ("XPOSITION", "YPOSITION", "ZPOSITION")


@dataclass
class _Joint:
    name: str
    parent: int
    line: int
    offset: np.ndarray | None = None
    channels: list[str] = field(default_factory=list)


def read_bvh(path: Path, sampled_fps: float = SAMPLED_FPS) -> Capture:
    """Read one BVH file, at about ``sampled_fps`` frames a second.

    Raises
    ------
    FormatError
        When the file is cut or damaged, has an unknown channel or a number that is not finite. It names the line.
    """
    lines = read_lines(path)
    statements = _statements(lines)
    joints = _read_hierarchy(path, statements)
    first_row, frames, frame_time_s = _read_motion_head(path, lines, statements)
    rows = [(number, line) for number, line in enumerate(lines[first_row:], first_row + 1) if line.strip()]
    count = sum(len(joint.channels) for joint in joints)
    if rows:  # an incomplete file ends within a line
        numbers(path, rows[-1][0], rows[-1][1].split(), count, "a frame")
    if len(rows) != frames:
        raise FormatError(f"{path}, line {len(lines)}", f"wanted {frames} frames, got {len(rows)}; is the file cut?")
    sampled = sampled_frames(frames, frame_time_s, sampled_fps)
    used = [rows[frame] for frame in sampled]
    values = np.stack([numbers(path, number, line.split(), count, "a frame") for number, line in used])
    return _capture(path, joints, values, [number for number, _ in used], 1 / (sampled.step * frame_time_s))


def _statements(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Line number and words of each statement; braces stand alone."""
    for number, line in enumerate(lines, 1):
        for token in re.findall(r"[{}]|[^{}]+", line):
            if words := token.split():
                yield number, words


def _read_hierarchy(path: Path, statements: Iterator[tuple[int, list[str]]]) -> list[_Joint]:
    """Joints, parents before children, up to and with the line MOTION."""
    number, words = next(statements, (1, [""]))
    if words[0].upper() != "HIERARCHY":
        raise FormatError(f"{path}, line {number}", f"a BVH file begins with HIERARCHY, this one with {words[0]!r:.40}")
    joints: list[_Joint] = []
    opened: list[int] = []  # joints whose braces are open
    words = words[1:]
    while True:
        if not words:
            number, words = next(statements, (number, []))
        if not words:
            problem = "wanted the line MOTION after the joints, the file ends here; it is cut"
            raise FormatError(f"{path}, line {number}", problem)
        if words[0].upper() == "MOTION":
            break
        words = _read_statement(path, number, words, joints, opened)
    if opened or not joints:
        raise FormatError(f"{path}, line {number}", "wanted joints in closed braces before MOTION; is the file cut?")
    for joint in joints:
        if joint.offset is None:
            raise FormatError(f"{path}, line {joint.line}", f"{joint.name} has no OFFSET")
    return joints


def _read_statement(path: Path, number: int, words: list[str], joints: list[_Joint], opened: list[int]) -> list[str]:
    """Add what the next statement says to ``joints`` and ``opened``; return the words after it."""
    place, keyword = f"{path}, line {number}", words[0].upper()
    if keyword in ("ROOT", "JOINT", "END"):
        joints.append(_new_joint(place, number, words, joints, opened))
        return []
    if keyword == "{" and len(opened) < len(joints):
        opened.append(len(joints) - 1)
        return []
    if keyword == "}" and opened:
        opened.pop()
        return []
    if keyword == "OFFSET" and opened:
        joints[opened[-1]].offset = numbers(path, number, words[1:4], 3, "an OFFSET")
        return words[4:]
    if keyword == "CHANNELS" and opened:
        stop = 2 + _channel_count(place, words)
        joints[opened[-1]].channels = _channels(place, words[2:stop])
        return words[stop:]
    raise FormatError(place, f"wanted a joint, OFFSET, CHANNELS or MOTION, got {' '.join(words)!r:.60}")


def _new_joint(place: str, number: int, words: list[str], joints: list[_Joint], opened: list[int]) -> _Joint:
    keyword = words[0].upper()
    if (keyword == "ROOT") == bool(joints):
        raise FormatError(place, f"wanted one ROOT, and JOINTs inside it, got {' '.join(words)!r:.60}")
    if joints and not opened:
        raise FormatError(place, f"{' '.join(words)!r:.60} stands outside the braces of the ROOT")
    parent = opened[-1] if opened else -1
    name = f"{joints[parent].name} end" if keyword == "END" else " ".join(words[1:])
    return _Joint(name, parent, number)


def _channel_count(place: str, words: list[str]) -> int:
    if len(words) < 2 or not words[1].isdigit() or len(words) < 2 + int(words[1]):
        raise FormatError(place, f"wanted CHANNELS, their number and as many names, got {' '.join(words)!r:.80}")
    return int(words[1])


def _channels(place: str, names: list[str]) -> list[str]:
    channels = [name.upper() for name in names]
    for name in channels:
        if name not in _ROTATIONS and name not in _POSITIONS:
            raise FormatError(place, f"unknown channel {name!r:.40}; wanted X, Y or Z with position or rotation")
    return channels


def _read_motion_head(
    path: Path, lines: list[str], statements: Iterator[tuple[int, list[str]]]
) -> tuple[int, int, float]:
    """Index of the line after ``Frame Time``, number of frames, seconds a frame."""
    found: list[float] = []
    for wanted in ("FRAMES:", "FRAME TIME:"):
        number, words = next(statements, (len(lines), [""]))
        title, colon, value = " ".join(words).partition(":")
        if title.upper() + colon != wanted:
            raise FormatError(f"{path}, line {number}", f"wanted {wanted.title()}, got {' '.join(words)!r:.60}")
        found.append(float(numbers(path, number, value.split(), 1, wanted.title())[0]))
        if found[-1] <= 0:
            raise FormatError(f"{path}, line {number}", f"{wanted.title()} wanted above 0, got {value.strip()}")
    return number, int(found[0]), found[1]


def _capture(path: Path, joints: list[_Joint], values: np.ndarray, lines: list[int], fps: float) -> Capture:
    parents = np.array([joint.parent for joint in joints])
    local = np.empty((len(values), len(joints), 4))
    column = 0
    for index, joint in enumerate(joints):
        columns = [column + i for i, name in enumerate(joint.channels) if name in _ROTATIONS]
        angles_rad = np.radians(values[:, columns])
        if (wild := (np.abs(angles_rad) > MAX_ANGLE_RAD).any(axis=1)).any():
            raise FormatError(f"{path}, line {lines[wild.argmax()]}", f"{joint.name}: no joint turns a hundred times")
        local[:, index] = euler_rotations(
            [_ROTATIONS[name] for name in joint.channels if name in _ROTATIONS], angles_rad
        )
        column += len(joint.channels)
    offsets = np.array([joint.offset for joint in joints])
    return Capture(path, tuple(joint.name for joint in joints), parents, offsets, chained(local, parents), fps)
