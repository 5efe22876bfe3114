"""Results as glTF (.glb): a skinned figure with an animated skeleton, for Blender, game engines and browsers.

Bones have constant lengths, from `posepipe.kinematics.skeleton_fitting`, and turn about their own axes where bodies are
fitted. Units are metres; y is up, and the rest pose
faces +z. Content of the files: docs/reference/results.md.

References
----------
Khronos Group, glTF 2.0 Specification, 2021 (ISO/IEC 12113:2022).
"""

from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation

from posepipe.kinematics.skeleton_fitting import FittedSkeleton
from posepipe.sinks.motion.person_motion import PersonMotion

_MAGIC, _JSON_CHUNK, _BINARY_CHUNK = 0x46546C67, 0x4E4F534A, 0x004E4942
_FLOAT, _UINT16, _UINT8 = 5126, 5123, 5121  # component types
_VERTICES, _INDICES = 34962, 34963  # targets of buffer views
_THICKNESS = 0.15  # half the width of a bone, relative to its length
_JOINT_M = 0.02  # half the width of a joint that has no bone

# an octahedron: start, end, and a ring of four at a fifth of the way; counter-clockwise from outside, glTF's front
_FACES = np.array([[0, 3, 2], [0, 4, 3], [0, 5, 4], [0, 2, 5], [1, 2, 3], [1, 3, 4], [1, 4, 5], [1, 5, 2]])
_RING_AT = 0.2


def glb_bytes(motion: PersonMotion) -> bytes:
    """Return the content of a .glb file. Raises ValueError where no joint is known."""
    skeleton = motion.skeleton
    buffer = _Buffer()
    nodes = [{"name": f"person {motion.person}", "mesh": 0, "skin": 0}] + _joint_nodes(skeleton)
    document = {
        "asset": {"version": "2.0", "generator": "posepipe"},
        "scene": 0,
        "scenes": [{"nodes": [0, 1]}],
        "nodes": nodes,
        "meshes": [{"name": motion.body.name, "primitives": [_figure(buffer, skeleton)]}],
        "materials": [{"pbrMetallicRoughness": {"metallicFactor": 0.0}, "doubleSided": True}],
        "skins": [_skin(buffer, skeleton)],
        "animations": [_animation(buffer, skeleton, motion.frame_s)],
        **buffer.described(),
    }
    return _glb(document, buffer.content())


class _Buffer:
    """The binary part of the file, and its accessors."""

    def __init__(self) -> None:
        self._views: list[dict[str, Any]] = []
        self._accessors: list[dict[str, Any]] = []
        self._content = bytearray()

    def add(self, values: np.ndarray, kind: str, component: int, target: int = 0, limits: bool = False) -> int:
        """Append an array (N, ...) and return the index of its accessor."""
        view: dict[str, Any] = {"buffer": 0, "byteOffset": len(self._content), "byteLength": values.nbytes}
        accessor: dict[str, Any] = {
            "bufferView": len(self._views),
            "componentType": component,
            "count": len(values),
            "type": kind,
        }
        if target:
            view["target"] = target
        if limits:
            flat = values.reshape(len(values), -1)
            accessor |= {"min": flat.min(axis=0).tolist(), "max": flat.max(axis=0).tolist()}
        self._content += values.tobytes()
        self._content += bytes(-len(self._content) % 4)
        self._views.append(view)
        self._accessors.append(accessor)
        return len(self._accessors) - 1

    def content(self) -> bytes:
        """Return all bytes, a multiple of 4."""
        return bytes(self._content)

    def described(self) -> dict[str, Any]:
        """Return the parts of the document that describe the bytes."""
        return {
            "buffers": [{"byteLength": len(self._content)}],
            "bufferViews": self._views,
            "accessors": self._accessors,
        }


def _joint_nodes(skeleton: FittedSkeleton) -> list[dict[str, Any]]:
    """Return a node for every joint; node k + 1 is joint k."""
    nodes = []
    for joint, name in enumerate(skeleton.joints):
        offset = skeleton.root_m[0] if joint == 0 else skeleton.offsets_m[joint]
        node: dict[str, Any] = {"name": name, "translation": [float(value) for value in offset]}
        if children := [child + 1 for child, parent in enumerate(skeleton.parents) if parent == joint]:
            node["children"] = children
        nodes.append(node)
    return nodes


def _rest_m(skeleton: FittedSkeleton) -> np.ndarray:
    """Joint positions in the rest pose, float64 (J, 3), the root at the origin."""
    rest = np.zeros((len(skeleton.joints), 3))
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            rest[joint] = rest[parent] + skeleton.offsets_m[joint]
    return rest


def _skin(buffer: _Buffer, skeleton: FittedSkeleton) -> dict[str, Any]:
    rest = _rest_m(skeleton)
    inverse = np.broadcast_to(np.eye(4, dtype="<f4"), (len(rest), 4, 4)).copy()
    inverse[:, 3, :3] = -rest  # column by column, as glTF stores matrices
    accessor = buffer.add(inverse, "MAT4", _FLOAT)
    return {"inverseBindMatrices": accessor, "skeleton": 1, "joints": list(range(1, len(rest) + 1))}


def _figure(buffer: _Buffer, skeleton: FittedSkeleton) -> dict[str, Any]:
    """Return the mesh: an octahedron for each bone, bound to the joint that it starts at."""
    rest = _rest_m(skeleton)
    bones = [(parent, joint) for joint, parent in enumerate(skeleton.parents) if parent >= 0]
    solids = [_octahedron(rest[start], rest[end]) for start, end in bones]
    owners = [start for start, _ in bones]
    if not bones:  # a body with one joint
        solids, owners = [_octahedron(rest[0] - [0, _JOINT_M, 0], rest[0] + [0, _JOINT_M, 0])], [0]
    vertices = np.concatenate(solids)
    joints = np.zeros((len(vertices), 4), np.uint8 if len(rest) <= 256 else np.dtype("<u2"))
    joints[:, 0] = np.repeat(owners, len(solids[0]))
    weights = np.zeros((len(vertices), 4), "<f4")
    weights[:, 0] = 1
    faces = np.concatenate([_FACES + len(solids[0]) * k for k in range(len(solids))])
    return {
        "attributes": {
            "POSITION": buffer.add(vertices.astype("<f4"), "VEC3", _FLOAT, _VERTICES, limits=True),
            "JOINTS_0": buffer.add(joints, "VEC4", _UINT8 if joints.itemsize == 1 else _UINT16, _VERTICES),
            "WEIGHTS_0": buffer.add(weights, "VEC4", _FLOAT, _VERTICES),
        },
        "indices": buffer.add(faces.astype("<u2").ravel(), "SCALAR", _UINT16, _INDICES),
        "material": 0,
    }


def _octahedron(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """Corners of a bone from start to end, float64 (6, 3)."""
    along = end - start
    length = np.linalg.norm(along)
    aside = np.cross(along, np.eye(3)[np.abs(along).argmin()])
    aside *= _THICKNESS * length / max(float(np.linalg.norm(aside)), 1e-9)
    across = np.cross(along, aside) / max(float(length), 1e-9)
    ring = start + _RING_AT * along + np.stack([aside, across, -aside, -across])
    return np.concatenate([[start, end], ring])


def _animation(buffer: _Buffer, skeleton: FittedSkeleton, frame_s: float) -> dict[str, Any]:
    """Return a channel of rotations for every joint, and one of places for the root."""
    times_s = (np.arange(len(skeleton.root_m)) * frame_s).astype("<f4")
    clock = buffer.add(times_s, "SCALAR", _FLOAT, limits=True)
    samplers: list[dict[str, Any]] = []
    channels: list[dict[str, Any]] = []

    def add(node: int, path: str, output: int) -> None:
        channels.append({"sampler": len(samplers), "target": {"node": node, "path": path}})
        samplers.append({"input": clock, "output": output, "interpolation": "LINEAR"})

    add(1, "translation", buffer.add(skeleton.root_m.astype("<f4"), "VEC3", _FLOAT))
    rotations = skeleton.local_rotations()
    for joint in range(len(skeleton.joints)):
        add(joint + 1, "rotation", buffer.add(_quaternions(rotations[:, joint]), "VEC4", _FLOAT))
    return {"name": "motion", "samplers": samplers, "channels": channels}


def _quaternions(rotations: np.ndarray) -> np.ndarray:
    """Unit quaternions x, y, z, w of rotations (T, 3, 3), without jumps of the sign: float32 (T, 4)."""
    quaternions = Rotation.from_matrix(rotations).as_quat()
    turned = (quaternions[1:] * quaternions[:-1]).sum(axis=-1) < 0
    signs = np.cumprod(np.where(np.concatenate([[False], turned]), -1.0, 1.0))
    quaternions = (quaternions * signs[:, None]).astype("<f4")
    return quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True)


def _glb(document: dict[str, Any], binary: bytes) -> bytes:
    text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
    text += b" " * (-len(text) % 4)
    size = 12 + 8 + len(text) + 8 + len(binary)
    return b"".join(
        (
            struct.pack("<III", _MAGIC, 2, size),
            struct.pack("<II", len(text), _JSON_CHUNK),
            text,
            struct.pack("<II", len(binary), _BINARY_CHUNK),
            binary,
        )
    )
