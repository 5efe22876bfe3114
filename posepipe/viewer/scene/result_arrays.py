"""A result as the arrays that a page shows: coloured points, joints and bones in the world, a painted picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.camera import Extrinsics, Intrinsics
from posepipe.results import FrameResult, Track
from posepipe.sinks.images.shading import shade_depth
from posepipe.viewer.scene.palette import Palette

MOST_POINTS = 20_000
"""Of a point cloud: 300 kB a frame on the way to the browser."""
PEOPLE_SHARE = 0.75
"""Of the points, at most, that people get."""
GRID_PX = 320
"""Points and picture come from every k-th row and column, so that no side is longer."""
SHADED_PX = 160
"""The same for the light on them: it costs more, and shows less, than anything else."""
AMBIENT = 0.35
"""How bright a part's colour is where no light falls."""
JOINT_M, SURE_M = 0.016, 0.014
"""Radius of a joint, and what certainty adds to it."""
ABOVE_M = 0.17
"""Of a person's label over the highest joint."""


@dataclass(frozen=True, slots=True, eq=False)
class Surface:
    """What the camera sees, thinned to a grid."""

    depth_m: np.ndarray  #: float32 (H, W), 0 = no reading
    parts: np.ndarray  #: uint8 (H, W), 0 = nobody
    colours: np.ndarray  #: uint8 (H, W, 3), RGB, parts shaded; black = no reading
    intrinsics: Intrinsics  #: of the grid


def thin_surface(result: FrameResult, palette: Palette) -> Surface:
    """Take every k-th pixel of a result and paint it."""
    stride = _stride(result.frame.depth_m.shape, GRID_PX)
    depth_m = np.ascontiguousarray(result.frame.depth_m[::stride, ::stride])
    parts = np.where(result.mask[::stride, ::stride], result.parts[::stride, ::stride], 0)
    lens = _thinned(result.frame.intrinsics, stride)
    coarse = _stride(depth_m.shape, SHADED_PX)
    light = shade_depth(np.ascontiguousarray(depth_m[::coarse, ::coarse]), _thinned(lens, coarse))
    light = cv2.resize(255 * (AMBIENT + (1 - AMBIENT) * light), depth_m.shape[::-1]).astype(np.uint8)
    light[depth_m == 0] = 0
    colours = cv2.multiply(palette.parts[parts], cv2.merge([light, light, light]), scale=1 / 255)
    return Surface(depth_m, parts, colours, lens)


@dataclass(frozen=True, slots=True, eq=False)
class Cloud:
    """Coloured points."""

    points_m: np.ndarray  #: float32 (N, 3), world
    colours: np.ndarray  #: uint8 (N, 3), RGB
    gap_m: float  #: between neighbours that face the camera, as a rule


def point_clouds(surface: Surface, world: Extrinsics, most: int = MOST_POINTS) -> tuple[Cloud, Cloud]:
    """The people of a surface, and the room round them; together at most so many points.

    People are thinned only when they alone are too many; the room shares what they leave. Whole rows and columns are
    left out, so that what stands still keeps its points.
    """
    seen = surface.depth_m > 0
    people = _cloud(surface, seen & (surface.parts > 0), int(PEOPLE_SHARE * most), world)
    room = _cloud(surface, seen & (surface.parts == 0), most - len(people.points_m), world)
    return people, room


def _cloud(surface: Surface, mask: np.ndarray, most: int, world: Extrinsics) -> Cloud:
    """At most so many points of a mask, on a regular grid."""
    stride = 1
    while np.count_nonzero(mask[::stride, ::stride]) > most:
        stride += 1
    rows, cols = (stride * index for index in np.nonzero(mask[::stride, ::stride]))
    depth_m = surface.depth_m[rows, cols]
    gap_m = stride * float(np.median(depth_m)) / surface.intrinsics.fx if len(depth_m) else 0.0
    points_m = world.world_points(surface.intrinsics.deproject_pixels(rows, cols, depth_m))
    return Cloud(points_m.astype(np.float32), surface.colours[rows, cols], gap_m)


def _stride(shape: tuple[int, ...], most: int) -> int:
    return -(-max(shape) // most)


def _thinned(lens: Intrinsics, stride: int) -> Intrinsics:
    """Of the picture of every ``stride``-th pixel, from the first on."""
    return Intrinsics(lens.fx / stride, lens.fy / stride, lens.cx / stride, lens.cy / stride)


@dataclass(frozen=True, slots=True, eq=False)
class Skeletons:
    """Joints and bones of everybody in view, as spheres and rods."""

    joints_m: np.ndarray  #: float32 (M, 3), world
    radii_m: np.ndarray  #: float32 (M,), larger for surer joints
    joint_colours: np.ndarray  #: uint8 (M, 3)
    bones_m: np.ndarray  #: float32 (B, 2, 3), world, joint and parent
    bone_colours: np.ndarray  #: uint8 (B, 3)
    labels: dict[int, np.ndarray]  #: id -> place of its label, float32 (3,)


def skeletons(people: Sequence[Track], body: BodyDefinition, world: Extrinsics, palette: Palette) -> Skeletons:
    """Joints, bones and labels of tracks; a bone needs both its ends, a label a joint."""
    rows = {name: row for row, name in enumerate(body.joints)}
    bones = body.bones()
    joints_m, radii_m, joint_rows, ends_m, bone_rows = [], [], [], [], []
    labels = {}
    for track in people:
        known = {rows[name]: joint for name, joint in track.pose.joints.items() if name in rows}
        if not known:
            continue
        places = world.world_points(np.array([joint.xyz_m for joint in known.values()]))
        place_of = dict(zip(known, places, strict=True))
        joints_m += list(places)
        radii_m += [JOINT_M + SURE_M * joint.confidence for joint in known.values()]
        joint_rows += list(known)
        whole = [k for k, ends in enumerate(bones) if all(end in place_of for end in ends)]
        ends_m += [[place_of[end] for end in bones[k]] for k in whole]
        bone_rows += whole
        labels[track.id] = (places[places[:, 2].argmax()] + [0, 0, ABOVE_M]).astype(np.float32)
    return Skeletons(
        np.array(joints_m, np.float32).reshape(-1, 3),
        np.array(radii_m, np.float32),
        palette.joints[np.array(joint_rows, int)],
        np.array(ends_m, np.float32).reshape(-1, 2, 3),
        palette.bones[np.array(bone_rows, int)],
        labels,
    )


def rods(ends_m: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How to lay a rod of length 1 along z between two points each.

    Parameters
    ----------
    ends_m : float (B, 2, 3), metres

    Returns
    -------
    start_m : float32 (B, 3)
    wxyz : float32 (B, 4), unit quaternions that turn z to where the rod points
    length_m : float32 (B,)
    """
    along = ends_m[:, 1] - ends_m[:, 0]
    length_m = np.linalg.norm(along, axis=1)
    x, y, z = (along / np.maximum(length_m, 1e-9)[:, None]).T
    wxyz = np.stack([1 + z, -y, x, np.zeros_like(z)], axis=1)  # half way between no turn and twice the turn
    wxyz[z < -1 + 1e-6] = [0, 1, 0, 0]  # upside down: about any horizontal axis
    wxyz[length_m == 0] = [1, 0, 0, 0]
    wxyz /= np.linalg.norm(wxyz, axis=1, keepdims=True)
    return ends_m[:, 0].astype(np.float32), wxyz.astype(np.float32), length_m.astype(np.float32)
