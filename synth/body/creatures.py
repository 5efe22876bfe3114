"""Creatures made of capsules: a hand, a dog, a robot arm, each described in TOML.

A creature is a tree of bones. Each bone is a tapered capsule, labelled as one part. Poses are drawn from the rotations
that each bone's joint allows. A drawn `PosedBody` is rendered like a person.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass, fields, replace
from pathlib import Path

import numpy as np

from posepipe.body import BodyDefinition, mirror_name
from posepipe.errors import FormatError
from posepipe.io.files import disk_errors
from synth.body.skinning import PosedBody
from synth.geometry.mesh import ALONG, AROUND, BACKGROUND, CAP_RINGS, capsule, ring_triangles
from synth.geometry.quaternions import from_rotation_vector, multiply, rotate


@dataclass(frozen=True, slots=True)
class Bone:
    """One capsule at rest, in body axes: y up, facing +z, left = +x. Metres and degrees."""

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
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, list):
                object.__setattr__(self, field.name, tuple(float(v) for v in value))
        shapes = {"start": 3, "end": 3, "radius": 2, "turn_x_deg": 2, "turn_y_deg": 2, "turn_z_deg": 2}
        for name, length in shapes.items():
            value = getattr(self, name)
            if not isinstance(value, tuple) or len(value) != length or not np.isfinite(value).all():
                raise ValueError(f"bone {self.name!r}: {name} wants {length} numbers, got {value!r}")
        if min(self.radius) <= 0:
            raise ValueError(f"bone {self.name!r}: radius must be above 0, got {self.radius}")

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
    """Position of a joint: a share of the length of a bone."""

    bone: str
    along: float = 0.0
    parts: tuple[str, ...] = ()
    parent: str | None = None

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
        When a bone comes before its parent, a joint names a bone that is not there, or there are too many parts.
    """

    name: str
    bones: tuple[Bone, ...]
    joints: dict[str, JointPlace]
    scale: tuple[float, float] = (0.8, 1.25)  #: range of sizes, the same for all bones
    stoutness: tuple[float, float] = (0.8, 1.25)  #: range of radii, multiplied with the size

    def __post_init__(self) -> None:
        seen: set[str] = set()
        for bone in self.bones:
            if bone.parent is not None and bone.parent not in seen:
                raise ValueError(f"creature {self.name!r}: bone {bone.name!r} comes before its parent {bone.parent!r}")
            seen.add(bone.name)
        for joint, place in self.joints.items():
            if place.bone not in seen:
                raise ValueError(f"creature {self.name!r}: joint {joint!r} lies on {place.bone!r}, which is no bone")
        if len(self.body.parts) >= BACKGROUND:  # higher labels have other meanings while a frame is rendered
            raise ValueError(f"creature {self.name!r}: at most {BACKGROUND - 1} parts, got {len(self.body.parts)}")

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
        joints = []
        ends = {bone.name: np.array(bone.end) * size for bone in self.bones}
        for joint in self.joints.values():
            rotation, rest, at = place[joint.bone]
            joints.append(at + rotate(rotation, (ends[joint.bone] - rest) * joint.along))
        return PosedBody(np.concatenate(vertices).astype(np.float32), np.array(joints, np.float32))


def read_creature(path: str | Path) -> Creature:
    """Read a creature from TOML; see docs/examples.

    Every bone and joint whose name starts with ``left_`` is mirrored to the right.

    Raises
    ------
    FormatError
        When the file is missing, is not TOML, or does not describe a creature.
    """
    path = Path(path)
    try:
        with disk_errors(path):
            data = tomllib.loads(path.read_text())
        bones = [Bone(**row) for row in data.pop("bones")]
        joints = {name: JointPlace(**row) for name, row in data.pop("joints").items()}
        bones += [bone.mirrored() for bone in bones if mirror_name(bone.name) != bone.name]
        joints |= {mirror_name(n): place.mirrored() for n, place in joints.items() if mirror_name(n) != n}
        return Creature(bones=tuple(bones), joints=joints, **data)
    except KeyError as error:
        raise FormatError(path, f"a creature needs {error}: see docs/examples/quadruped.toml") from None
    except (ValueError, TypeError) as error:
        raise FormatError(path, str(error)) from None
