"""Acclaim's pair of files, as in the CMU database: the skeleton of a subject (.asf), a motion of it (.amc).

A bone begins where its parent ends. Its rotation M is given in the bone's own axes, which the skeleton rotates by C
against the file's axes. Relative to its parent a bone therefore rotates by C M C^-1. Angles are about fixed axes, the
first listed is applied first, so the order of the matrix product is the reverse of that in BVH. An .amc does not state
its rate; CMU's rate of 120 frames a second is assumed.

References
----------
Schafer, Acclaim Skeleton File Definition V1.10, 1994; Acclaim format, ASF line details, graphics.cs.cmu.edu.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from synth.geometry.quaternions import inverse, multiply
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

FRAMES_PER_S = 120

_Line = tuple[int, list[str]]  # its number and words
_AXES = {"x": 0, "y": 1, "z": 2}


@dataclass
class _Bone:
    name: str
    line: int
    tip: np.ndarray = field(default_factory=lambda: np.zeros(3))  #: from the start of the bone, at rest
    axes: np.ndarray = field(default_factory=lambda: np.array([0.0, 0.0, 0.0, 1.0]))  #: C, a quaternion xyzw
    channels: tuple[str, ...] = ()  #: rx, ty, l ...
    parent: int = -1


@dataclass(frozen=True, eq=False)
class Acclaim:
    """A skeleton: its bones, parents before children, the root first."""

    bones: list[_Bone]
    radians: bool


def read_amc(path: Path, sampled_fps: float = SAMPLED_FPS) -> Capture:
    """Read a motion, at about ``sampled_fps`` frames a second, and its skeleton from the same folder.

    Raises
    ------
    FormatError
        When either is missing, cut or damaged, or they do not fit each other; the message names the line.
    """
    skeleton = read_asf(find_asf(path))
    stripped = enumerate(map(str.strip, read_lines(path)), 1)
    lines = [(number, line) for number, line in stripped if line and line[0] != "#"]
    starts = [index for index, (_, line) in enumerate(lines) if line.isdigit()]
    if not starts:
        raise FormatError(path, "wanted frames, each after a line with its number; there are none")
    head = {line.upper() for _, line in lines[: starts[0]]}
    radians = ":RADIANS" in head or (skeleton.radians and ":DEGREES" not in head)
    sizes = np.diff([*starts, len(lines)])
    if (sizes != sizes[0]).any():
        odd = int((sizes != sizes[0]).argmax())
        number = lines[min(starts[odd] + sizes[odd], len(lines)) - 1][0]
        problem = f"frame {odd + 1} ends here with {sizes[odd] - 1} bones, the first has {sizes[0] - 1}"
        raise FormatError(f"{path}, line {number}", f"{problem}; is the file cut?")
    _read_frame(path, skeleton, lines[starts[-1] :], radians)  # an incomplete file ends within a line
    sampled = sampled_frames(len(starts), 1 / FRAMES_PER_S, sampled_fps)
    used = [lines[starts[frame] : starts[frame] + sizes[0]] for frame in sampled]
    angles = [_read_frame(path, skeleton, frame, radians) for frame in used]
    return _capture(path, skeleton.bones, angles, FRAMES_PER_S / sampled.step)


def find_asf(path: Path) -> Path:
    """Find the skeleton of ``07_01.amc``: ``07_01.asf`` or ``07.asf`` beside it, else the only .asf there.

    Raises FormatError when there is none, or several that may be meant.
    """
    there = sorted(file for file in path.parent.iterdir() if file.suffix.lower() == ".asf" and file.is_file())
    fitting = [file for file in there if path.stem == file.stem or path.stem.startswith(file.stem + "_")]
    if fitting:
        return max(fitting, key=lambda file: len(file.stem))
    if len(there) != 1:
        subject = path.stem.rpartition("_")[0] or path.stem
        found = ", ".join(file.name for file in there) or "none"
        raise FormatError(path, f"wanted its skeleton {subject}.asf in the same folder, found {found}")
    return there[0]


def read_asf(path: Path) -> Acclaim:
    """Read a skeleton. Raises FormatError that names the line."""
    sections = _sections(path)
    units = {words[0].lower(): words[1:] for _, words in sections["units"]}
    root, bones = _read_root(path, sections["root"]), _read_bones(path, sections["bonedata"])
    named = {bone.name: bone for bone in bones}
    ordered, children = [root], _read_hierarchy(sections["hierarchy"])
    for parent, bone in enumerate(ordered):  # grows during the loop
        for number, name in children.pop(bone.name, []):
            if name not in named:
                raise FormatError(f"{path}, line {number}", f"bone {name!r} has no :bonedata, or two parents")
            named[name].parent = parent
            ordered.append(named.pop(name))
    if children or named:
        stray = sorted({*children, *named})
        raise FormatError(path, f":hierarchy does not lead from root to {', '.join(stray)}")
    return Acclaim(ordered, radians=units.get("angle", ["deg"])[:1] == ["rad"])


def _sections(path: Path) -> dict[str, list[_Line]]:
    sections: dict[str, list[_Line]] = defaultdict(list)
    current = ""
    for number, line in enumerate(read_lines(path), 1):
        words = re.sub(r"[,()]", " ", line.split("#")[0]).split()
        if words and words[0].startswith(":"):
            current, words = words[0][1:].lower(), words[1:]
        if words:
            sections[current].append((number, words))
    if missing := [f":{name}" for name in ("root", "bonedata", "hierarchy") if not sections[name]]:
        raise FormatError(path, f"an .asf has {', '.join(missing)}, this file has not; is it cut?")
    return sections


def _read_root(path: Path, lines: list[_Line]) -> _Bone:
    root = _Bone("root", lines[0][0])
    fields = {words[0].lower(): (number, words[1:]) for number, words in lines}
    number, order = fields.get("order", (root.line, []))
    root.channels = _channels(path, number, order)
    if "orientation" in fields:
        number, words = fields["orientation"]
        _, axis = fields.get("axis", (number, ["XYZ"]))
        root.axes = _own_axes(path, number, [*words, *axis])
    return root


def _read_bones(path: Path, lines: list[_Line]) -> list[_Bone]:
    bones: list[_Bone] = []
    bone, direction, length = None, None, None
    for number, (keyword, *words) in lines:
        if keyword == "begin":
            bone, direction, length = _Bone("", number), None, None
        elif bone is None:
            raise FormatError(f"{path}, line {number}", f"wanted begin before a bone, got {keyword!r:.40}")
        elif keyword == "end":
            if not bone.name or direction is None or length is None:
                raise FormatError(f"{path}, line {number}", "a bone ends here without its name, direction or length")
            bone.tip = direction * length
            bones.append(bone)
            bone = None
        elif keyword == "name":
            bone.name = " ".join(words)
        elif keyword == "direction":
            direction = numbers(path, number, words, 3, "a direction")
        elif keyword == "length":
            length = float(numbers(path, number, words, 1, "a length")[0])
        elif keyword == "axis":
            bone.axes = _own_axes(path, number, words)
        elif keyword == "dof":
            bone.channels = _channels(path, number, words)
    if bone is not None:
        raise FormatError(f"{path}, line {number}", f"bone {bone.name!r} has no end; is the file cut?")
    return bones


def _channels(path: Path, line: int, words: list[str]) -> tuple[str, ...]:
    channels = tuple(word.lower() for word in words)
    if unknown := [word for word in channels if word not in ("rx", "ry", "rz", "tx", "ty", "tz", "l")]:
        raise FormatError(f"{path}, line {line}", f"unknown channel {unknown[0]!r:.40}; wanted rx ry rz tx ty tz or l")
    return channels


def _own_axes(path: Path, line: int, words: list[str]) -> np.ndarray:
    """C, from ``axis 0 0 20 XYZ``: degrees, the rotation of the first letter is applied first."""
    order = (words[3] if len(words) > 3 else "XYZ").lower()
    if sorted(order) != ["x", "y", "z"]:
        raise FormatError(f"{path}, line {line}", f"wanted an order like XYZ, got {order!r:.40}")
    angles_rad = np.radians(numbers(path, line, words[:3], 3, "an axis"))
    return _about_fixed(order, angles_rad[None])[0]


def _about_fixed(order: str, angles_rad: np.ndarray) -> np.ndarray:
    """Rotations about fixed axes, the first letter's first: angles (T, K) to quaternions (T, 4)."""
    return euler_rotations([_AXES[letter] for letter in reversed(order)], angles_rad[:, ::-1])


def _read_hierarchy(lines: list[_Line]) -> dict[str, list[tuple[int, str]]]:
    children: dict[str, list[tuple[int, str]]] = defaultdict(list)
    for number, (parent, *names) in lines:
        if parent not in ("begin", "end"):
            children[parent] += [(number, name) for name in names]
    return {parent: found for parent, found in children.items() if found}


def _read_frame(path: Path, skeleton: Acclaim, lines: list[tuple[int, str]], radians: bool) -> dict[str, np.ndarray]:
    """Angles of the bones that rotate, by name, radians."""
    wanted = {bone.name: bone for bone in skeleton.bones if bone.channels}
    found: dict[str, np.ndarray] = {}
    for number, line in lines[1:]:
        name, *words = line.split()
        if name not in wanted or name in found:
            problem = "given twice" if name in found else "which the skeleton does not let move"
            raise FormatError(f"{path}, line {number}", f"bone {name!r:.40}, {problem}")
        channels = wanted[name].channels
        values = numbers(path, number, words, len(channels), name)
        angles = values[[channel[0] == "r" for channel in channels]]
        found[name] = angles if radians else np.radians(angles)
        if (np.abs(found[name]) > MAX_ANGLE_RAD).any():
            raise FormatError(f"{path}, line {number}", f"{name}: no joint turns a hundred times")
    if missing := wanted.keys() - found.keys():
        raise FormatError(f"{path}, line {lines[-1][0]}", f"the frame lacks {', '.join(sorted(missing))}")
    return found


def _capture(path: Path, bones: list[_Bone], frames: list[dict[str, np.ndarray]], fps: float) -> Capture:
    """Joints are at the starts of bones, and at the tips of bones that no bone follows."""
    tips = [index for index in range(1, len(bones)) if all(bone.parent != index for bone in bones)]
    parents = np.array([bone.parent for bone in bones] + tips)
    local = np.tile([0.0, 0.0, 0.0, 1.0], (len(frames), len(parents), 1))
    for index, bone in enumerate(bones):
        if bone.channels:
            order = "".join(channel[1] for channel in bone.channels if channel[0] == "r")
            turned = _about_fixed(order, np.stack([frame[bone.name] for frame in frames]))
            if bone.parent < 0:  # the root is rotated by C first
                local[:, index] = multiply(turned, bone.axes)
            else:
                local[:, index] = multiply(multiply(bone.axes, turned), inverse(bone.axes))
    names = (*(bone.name for bone in bones), *(f"{bones[index].name} end" for index in tips))
    offsets = np.array([bones[parent].tip if parent >= 0 else np.zeros(3) for parent in parents])
    return Capture(path, names, parents, offsets, chained(local, parents), fps)
