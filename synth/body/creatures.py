"""Creatures made of capsules: a hand, a dog, a robot arm, each described in TOML.

A creature is a tree of bones. Each bone is a tapered capsule, labelled as one part. Poses are drawn from the rotations
that each bone's joint allows. A drawn `PosedBody` is rendered like a person.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.errors import FormatError
from posepipe.io.toml_file import read_toml
from synth.body.creature_values import as_numbers, as_table, check_known, check_text
from synth.body.skinning import PosedBody
from synth.geometry.mesh import ALONG, AROUND, BACKGROUND, CAP_RINGS, capsule, ring_triangles
from synth.geometry.quaternions import from_rotation_vector, multiply, rotate

MAX_SIZE_M = 100.0
MIN_RADIUS_M = 1e-6
MAX_TURN_DEG = 360.0
MAX_ALONG = 100.0
"""Maximum distance of a joint from the start of its bone, lengths of the bone."""
SAME_PLACE_M = 1e-4
"""Maximum distance between a joint and the start of a bone whose orientation it has."""
MIN_FACTOR, MAX_FACTOR = 1e-3, 1e3
"""Bounds of the factors of size and of radii."""


@dataclass(frozen=True, slots=True)
class Bone:
    """One capsule at rest, in body axes: y up, facing +z, left = +x. Metres and degrees.

    Raises ValueError for a field of another type or length, or out of range.
    """

    name: str
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    radius: tuple[float, float]  #: at the start and at the end
    part: str
    parent: str | None = None
    turn_x_deg: tuple[float, float] = (0.0, 0.0)  #: about its start, relative to its parent, min and max
    turn_y_deg: tuple[float, float] = (0.0, 0.0)
    turn_z_deg: tuple[float, float] = (0.0, 0.0)

    def __post_init__(self) -> None:
        check_text("a bone", "name", self.name)
        what = f"bone {self.name!r}"
        check_text(what, "part", self.part)
        if self.parent is not None:
            check_text(what, "parent", self.parent)
        for name, length in {"start": 3, "end": 3, "radius": 2}.items():
            object.__setattr__(self, name, as_numbers(what, name, getattr(self, name), length, MAX_SIZE_M))
        for name in ("turn_x_deg", "turn_y_deg", "turn_z_deg"):
            turn = as_numbers(what, name, getattr(self, name), 2, MAX_TURN_DEG)
            if turn[0] > turn[1]:
                raise ValueError(f"{what}: {name} wants (min, max), got {turn}")
            object.__setattr__(self, name, turn)
        if min(self.radius) < MIN_RADIUS_M:
            raise ValueError(f"{what}: radius must be above 0, at least {MIN_RADIUS_M} m, got {self.radius}")

    def mirrored(self) -> Bone:
        """Return the same bone on the other side."""
        return replace(
            self,
            name=mirror_name(self.name),
            start=(-self.start[0], *self.start[1:]),
            end=(-self.end[0], *self.end[1:]),
            part=mirror_name(self.part),
            parent=None if self.parent is None else mirror_name(self.parent),
            turn_y_deg=(-self.turn_y_deg[1], -self.turn_y_deg[0]),
            turn_z_deg=(-self.turn_z_deg[1], -self.turn_z_deg[0]),
        )


@dataclass(frozen=True, slots=True)
class JointPlace:
    """Position of a joint: a share of the length of a bone. Raises ValueError for a field of another type or range."""

    bone: str
    along: float = 0.0
    parts: tuple[str, ...] = ()
    parent: str | None = None

    def __post_init__(self) -> None:
        check_text("a joint", "bone", self.bone)
        what = f"a joint on bone {self.bone!r}"
        if self.parent is not None:
            check_text(what, "parent", self.parent)
        object.__setattr__(self, "along", as_numbers(what, "along", (self.along,), 1, MAX_ALONG)[0])
        if not isinstance(self.parts, tuple | list):
            raise ValueError(f"{what}: parts wants a list of names, got {self.parts!r:.60}")
        for part in self.parts:
            check_text(what, "parts", part)
        object.__setattr__(self, "parts", tuple(self.parts))

    def mirrored(self) -> JointPlace:
        """Return the same joint on the other side."""
        return JointPlace(
            mirror_name(self.bone),
            self.along,
            tuple(mirror_name(part) for part in self.parts),
            None if self.parent is None else mirror_name(self.parent),
        )


@dataclass(frozen=True, eq=False)
class Creature:
    """A body made of capsules.

    Raises
    ------
    ValueError
        When a bone comes before its parent, two bones have one name, a joint or a bone names a bone that is not there,
        parents of joints form a circle, bones or joints are missing, there are too many parts, or a range of sizes is
        not (min, max) above 0.
    """

    name: str
    bones: tuple[Bone, ...]
    joints: dict[str, JointPlace]
    scale: tuple[float, float] = (0.8, 1.25)  #: range of sizes, the same for all bones
    stoutness: tuple[float, float] = (0.8, 1.25)  #: range of radii, multiplied with the size

    def __post_init__(self) -> None:
        check_text("a creature", "name", self.name)
        for name in ("scale", "stoutness"):
            low, high = as_numbers(f"creature {self.name!r}", name, getattr(self, name), 2, MAX_FACTOR)
            if not MIN_FACTOR <= low <= high:
                raise ValueError(
                    f"creature {self.name!r}: {name} wants (min, max) from {MIN_FACTOR}, got {(low, high)}"
                )
            object.__setattr__(self, name, (low, high))
        self._check_bones()
        names = {bone.name for bone in self.bones}
        for joint, place in self.joints.items():
            if place.bone not in names:
                raise ValueError(f"creature {self.name!r}: joint {joint!r} lies on {place.bone!r}, which is no bone")
        if not self.bones or not self.joints:
            raise ValueError(f"creature {self.name!r}: wanted at least one of bones and one of joints")
        if None not in self.body.parents.values():
            raise ValueError(f"creature {self.name!r}: every joint has a parent; wanted one joint without")
        for joint in self.joints:
            self._check_reaches_root(joint)
        if len(self.body.parts) >= BACKGROUND:  # higher labels have other meanings while a frame is rendered
            raise ValueError(f"creature {self.name!r}: at most {BACKGROUND - 1} parts, got {len(self.body.parts)}")

    def _check_bones(self) -> None:
        seen: set[str] = set()
        for bone in self.bones:
            if bone.name in seen:
                raise ValueError(f"creature {self.name!r}: two bones have the name {bone.name!r}")
            if bone.parent is not None and bone.parent not in seen:
                problem = f"has the parent {bone.parent!r}, which is no bone"
                if any(other.name == bone.parent for other in self.bones):
                    problem = f"comes before its parent {bone.parent!r}"
                raise ValueError(f"creature {self.name!r}: bone {bone.name!r} {problem}")
            seen.add(bone.name)

    def _check_reaches_root(self, joint: str) -> None:
        above: str | None = joint
        for _ in self.joints:
            above = None if above is None else self.joints[above].parent
        if above is not None:
            raise ValueError(f"creature {self.name!r}: the parents of joint {joint!r} form a circle")

    @property
    def body(self) -> BodyDefinition:
        """Definition of the body in datasets and models."""
        return BodyDefinition(
            name=self.name,
            parts=tuple(dict.fromkeys(bone.part for bone in self.bones)),
            joints=tuple(self.joints),
            joint_parts={joint: place.parts for joint, place in self.joints.items() if place.parts},
            parents={joint: place.parent for joint, place in self.joints.items()},
        )

    def mesh(self) -> tuple[np.ndarray, np.ndarray]:
        """Return triangles, int32 (T, 3), and the label of each, uint8 (T,)."""
        one = ring_triangles(2 * CAP_RINGS + ALONG, AROUND)
        corners = one.max() + 1
        triangles = np.concatenate([one + k * corners for k in range(len(self.bones))])
        labels = [self.body.part_code(bone.part) for bone in self.bones]
        return triangles.astype(np.int32), np.repeat(np.array(labels, np.uint8), len(one))

    def draw(self, rng: np.random.Generator) -> PosedBody:
        """Draw a creature of random size in a random pose, in body axes."""
        size, stout = rng.uniform(*self.scale), rng.uniform(*self.stoutness)
        place: dict[str, tuple[np.ndarray, np.ndarray, np.ndarray]] = {}
        vertices = []
        for bone in self.bones:
            limits = np.radians([bone.turn_x_deg, bone.turn_y_deg, bone.turn_z_deg])
            rotation = from_rotation_vector(rng.triangular(limits[:, 0], limits.mean(axis=1), limits[:, 1] + 1e-9))
            start, end = np.array(bone.start) * size, np.array(bone.end) * size
            at = start
            if bone.parent is not None:
                parent_rotation, parent_rest, parent_at = place[bone.parent]
                rotation = multiply(parent_rotation, rotation)
                at = parent_at + rotate(parent_rotation, start - parent_rest)
            place[bone.name] = rotation, start, at
            skin = capsule(start, end, np.array(bone.radius) * size * stout).reshape(-1, 3)
            vertices.append(at + rotate(rotation, skin - start))
        joints, rotations, at_rest = [], [], []
        ends = {bone.name: np.array(bone.end) * size for bone in self.bones}
        for joint in self.joints.values():
            rotation, rest, at = place[joint.bone]
            joints.append(at + rotate(rotation, (ends[joint.bone] - rest) * joint.along))
            at_rest.append(rest + (ends[joint.bone] - rest) * joint.along)
            rotations.append(place[self._turning_bone(joint)][0])
        skin_m = np.concatenate(vertices).astype(np.float32)
        return PosedBody(skin_m, np.array(joints, np.float32), np.array(rotations), np.array(at_rest, np.float32))

    def _turning_bone(self, joint: JointPlace) -> str:
        """Name of the bone whose rotation is a joint's orientation: the last that starts there, else its own."""
        own = next(bone for bone in self.bones if bone.name == joint.bone)
        at_m = np.array(own.start) + joint.along * (np.array(own.end) - np.array(own.start))
        first = self.bones[0].name
        name = joint.bone
        for bone in self.bones[1:]:
            if (bone.parent or first) == joint.bone and np.abs(at_m - bone.start).sum() < SAME_PLACE_M:
                name = bone.name
        return name


def read_creature(path: str | Path) -> Creature:
    """Read a creature from TOML; see docs/examples.

    Every bone and joint whose name starts with ``left_`` is mirrored to the right, and the other way round.

    Raises
    ------
    FormatError
        When the file is missing, is not TOML, or does not describe a creature.
    """
    data = read_toml(path)
    try:
        bones, joints = _read_bones(data.pop("bones")), _read_joints(data.pop("joints"))
        _check_one_side([bone.name for bone in bones])
        _check_one_side(joints)
        bones += [bone.mirrored() for bone in bones if mirror_name(bone.name) != bone.name]
        joints |= {mirror_name(n): place.mirrored() for n, place in joints.items() if mirror_name(n) != n}
        check_known("a creature", data, Creature, given=("bones", "joints"))
        return Creature(bones=tuple(bones), joints=joints, **data)
    except KeyError as error:
        raise FormatError(path, f"a creature needs {error}: see docs/examples/quadruped.toml") from None
    except ValueError as error:
        raise FormatError(path, str(error)) from None


def _check_one_side(names: Collection[str]) -> None:
    for name in names:
        if mirror_name(name) != name and mirror_name(name) in names:
            raise ValueError(f"{name!r} and {mirror_name(name)!r}: give one of them, the other is its mirror image")


def _read_bones(rows: Any) -> list[Bone]:
    if not isinstance(rows, list):
        raise ValueError(f"bones wants a list of tables [[bones]], got {rows!r:.60}")
    for row in rows:
        check_known("a bone", as_table("each of bones", row), Bone)
    return [Bone(**row) for row in rows]


def _read_joints(rows: Any) -> dict[str, JointPlace]:
    for name, row in as_table("joints", rows).items():
        check_known(f"joint {name!r}", as_table(f"joint {name!r}", row), JointPlace)
    return {name: JointPlace(**row) for name, row in rows.items()}
