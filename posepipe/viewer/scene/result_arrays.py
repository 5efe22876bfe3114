"""A result as arrays to draw: coloured points, joints and bones in world axes, and a coloured depth image."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Extrinsics, Intrinsics
from posepipe.results import FrameResult, Joint, Track
from posepipe.sinks.images.shading import shade_depth
from posepipe.viewer.scene.palette import Palette

MAX_POINTS = 20_000
"""Maximum number of points per frame: 300 kB sent to the browser."""
MAX_PEOPLE_SHARE = 0.75
"""Maximum share of the points that show people."""
GRID_PX = 320
"""Maximum side of the grid of points and of the image, pixels. Larger frames are subsampled."""
SHADED_PX = 160
"""Maximum side of the grid on which shading is computed, pixels; shading is slow and needs less detail."""
AMBIENT = 0.35
"""Brightness of a part's colour without light, as a fraction."""
JOINT_M, CONFIDENCE_M = 0.016, 0.014
"""Radius of a joint of confidence 0, and how much confidence 1 adds, metres."""
LABEL_HEIGHT_M = 0.17
"""Height of a person's label above the highest joint, metres."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """A result subsampled to a grid."""

    depth_m: np.ndarray  #: float32 (H, W), 0 = no reading
    parts: np.ndarray  #: uint8 (H, W), 0 = background
    colours: np.ndarray  #: uint8 (H, W, 3), RGB, shaded part colours; black = no reading
    intrinsics: Intrinsics  #: of the grid


def subsample(result: FrameResult, palette: Palette) -> Surface:
    """Take every k-th row and column of a result and colour it."""
    stride = _stride(result.frame.depth_m.shape, GRID_PX)
    depth_m = np.ascontiguousarray(result.frame.depth_m[::stride, ::stride])
    parts = np.where(result.mask[::stride, ::stride], result.parts[::stride, ::stride], 0)
    intrinsics = result.frame.intrinsics.subsampled(stride)
    coarse = _stride(depth_m.shape, SHADED_PX)
    light = shade_depth(np.ascontiguousarray(depth_m[::coarse, ::coarse]), intrinsics.subsampled(coarse))
    light = cv2.resize(255 * (AMBIENT + (1 - AMBIENT) * light), depth_m.shape[::-1]).astype(np.uint8)
    light[depth_m == 0] = 0
    colours = cv2.multiply(palette.parts[parts], cv2.merge([light, light, light]), scale=1 / 255)
    return Surface(depth_m, parts, colours, intrinsics)


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Coloured points."""

    points_m: np.ndarray  #: float32 (N, 3), world axes
    colours: np.ndarray  #: uint8 (N, 3), RGB
    spacing_m: float  #: typical distance between neighbours on a surface that faces the camera


def point_clouds(surface: Surface, world: Extrinsics, max_points: int = MAX_POINTS) -> tuple[Cloud, Cloud]:
    """Make the point clouds of people and of the room, with at most ``max_points`` together.

    People may use MAX_PEOPLE_SHARE of the points, the room uses the rest. Whole rows and columns are left out, so a
    static scene keeps its points.
    """
    seen = surface.depth_m > 0
    people = _cloud(surface, seen & (surface.parts > 0), int(MAX_PEOPLE_SHARE * max_points), world)
    room = _cloud(surface, seen & (surface.parts == 0), max_points - len(people.points_m), world)
    return people, room


def _cloud(surface: Surface, mask: np.ndarray, max_points: int, world: Extrinsics) -> Cloud:
    """Points of a mask, on a regular grid."""
    stride = 1
    while np.count_nonzero(mask[::stride, ::stride]) > max_points:
        stride += 1
    rows, cols = (stride * index for index in np.nonzero(mask[::stride, ::stride]))
    depth_m = surface.depth_m[rows, cols]
    spacing_m = stride * float(np.median(depth_m)) / surface.intrinsics.fx if len(depth_m) else 0.0
    points_m = world.world_points(surface.intrinsics.deproject_pixels(rows, cols, depth_m))
    return Cloud(points_m.astype(np.float32), surface.colours[rows, cols], spacing_m)


def _stride(shape: tuple[int, ...], max_side: int) -> int:
    return -(-max(shape) // max_side)


@dataclass(frozen=True, slots=True, eq=False)
class Skeletons:
    """Joints and bones of all people, as spheres and cylinders."""

    joints_m: np.ndarray  #: float32 (M, 3), world axes
    radii_m: np.ndarray  #: float32 (M,), growing with confidence
    joint_colours: np.ndarray  #: uint8 (M, 3)
    captions: list[str]  #: of each joint: person, name, position in camera axes, confidence
    bones_m: np.ndarray  #: float32 (B, 2, 3), world axes, joint and parent
    bone_colours: np.ndarray  #: uint8 (B, 3)
    labels: dict[int, np.ndarray]  #: track id -> position of its label, float32 (3,)


def skeletons(people: Sequence[Track], body: BodyDefinition, world: Extrinsics, palette: Palette) -> Skeletons:
    """Make joints, bones and labels of tracks. A bone needs both its joints, a label at least one."""
    rows = {name: row for row, name in enumerate(body.joints)}
    bones = body.bones()
    joints_m, radii_m, joint_rows, captions, ends_m, bone_rows = [], [], [], [], [], []
    labels = {}
    for track in people:
        known = {rows[name]: joint for name, joint in track.pose.joints.items() if name in rows}
        if not known:
            continue
        positions = world.world_points(np.array([joint.xyz_m for joint in known.values()]))
        position_of = dict(zip(known, positions, strict=True))
        joints_m += list(positions)
        radii_m += [JOINT_M + CONFIDENCE_M * joint.confidence for joint in known.values()]
        joint_rows += list(known)
        captions += [_caption(track.id, joint) for joint in known.values()]
        complete = [k for k, ends in enumerate(bones) if all(end in position_of for end in ends)]
        ends_m += [[position_of[end] for end in bones[k]] for k in complete]
        bone_rows += complete
        labels[track.id] = (positions[positions[:, 2].argmax()] + [0, 0, LABEL_HEIGHT_M]).astype(np.float32)
    return Skeletons(
        np.array(joints_m, np.float32).reshape(-1, 3),
        np.array(radii_m, np.float32),
        palette.joints[np.array(joint_rows, int)],
        captions,
        np.array(ends_m, np.float32).reshape(-1, 2, 3),
        palette.bones[np.array(bone_rows, int)],
        labels,
    )


def _caption(id: int, joint: Joint) -> str:
    x, y, z = joint.xyz_m
    name = joint.name.replace("_", " ")
    return f"{name} of person {id}\nx {x:.2f}  y {y:.2f}  z {z:.2f} m\nconfidence {joint.confidence:.2f}"


def cylinder_transforms(ends_m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Transforms that lay a cylinder of length 1 along z between pairs of points.

    Parameters
    ----------
    ends_m : float (B, 2, 3), metres

    Returns
    -------
    start_m : float32 (B, 3), metres
    wxyz : float32 (B, 4), unit quaternions that rotate z to the direction from the first point to the second
    length_m : float32 (B,), metres
    """
    along = ends_m[:, 1] - ends_m[:, 0]
    length_m = np.linalg.norm(along, axis=1)
    x, y, z = (along / np.maximum(length_m, 1e-9)[:, None]).T
    wxyz = np.stack([1 + z, -y, x, np.zeros_like(z)], axis=1)  # halfway between identity and twice the rotation
    wxyz[z < -1 + 1e-6] = [0, 1, 0, 0]  # half a turn about any horizontal axis
    wxyz[length_m == 0] = [1, 0, 0, 0]
    wxyz /= np.linalg.norm(wxyz, axis=1, keepdims=True)
    return ends_m[:, 0].astype(np.float32), wxyz.astype(np.float32), length_m.astype(np.float32)
