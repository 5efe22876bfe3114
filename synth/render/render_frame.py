"""Render a scene without noise: depth, and which triangle each pixel shows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from posepipe.frames import BodyTruth
from synth.body.body_truth import truth_in_camera_axes
from synth.geometry.mesh import Mesh
from synth.render.label_spread import NOTHING
from synth.render.rasterizer import render_depth
from synth.scene.placement import ViewTransform
from synth.scene.scene import Scene
from synth.sensors.sensor_presets import SensorPreset

UNKNOWN = 255
"""Material of things that are made of boxes."""


@dataclass(frozen=True, slots=True, eq=False)
class RenderedFrame:
    """What a perfect camera sees of a scene, and the truth about it."""

    depth_m: np.ndarray  #: float32 (H, W), metres, 0 = nothing
    triangle_ids: np.ndarray  #: int32 (H, W), -1 = nothing; ids count through all meshes
    parts: np.ndarray  #: uint8 (T,), label of each triangle: a part code, HELD or BACKGROUND
    people: np.ndarray  #: uint8 (T,), id of the subject that each triangle belongs to; 0 = no person
    joints_m: np.ndarray  #: float32 (P, J, 3), metres, camera axes
    #: uint16 (T,), number of the thing that each triangle is of; 0 = person, floor, wall or ceiling
    objects: np.ndarray
    materials: np.ndarray  #: uint8 (T,), row of `synth.furniture.kinds.MATERIALS`, or UNKNOWN
    bodies: BodyTruth | None = None  #: orientations and bone lengths; None = not known


def render_frame(scene: Scene, sensor: SensorPreset) -> RenderedFrame:
    """Render a scene through a sensor's lens, without its noise."""
    shown = scene.shown
    meshes = [(each.subject.mesh, each.view) for each in shown] + _surroundings(scene)
    depth_m = np.zeros((sensor.height, sensor.width), np.float32)
    triangle_ids = np.full(depth_m.shape, NOTHING, np.int32)
    first, people = 0, []
    for number, (mesh, view) in enumerate(meshes, start=1):
        points = view.camera_points(mesh.vertices_m)
        buffers = depth_m, triangle_ids, first, mesh.n_closed
        render_depth(points, mesh.triangles, sensor.intrinsics, sensor.height, sensor.width, *buffers)
        first += len(mesh.triangles)
        people.append(np.full(len(mesh.triangles), 0 if number > len(shown) else number, np.uint8))
    things = [mesh for mesh, _ in meshes[len(shown) :]]
    n_people = sum(len(each.subject.mesh.triangles) for each in shown)
    objects, materials = _things(things, n_people, shells=int(scene.room is not None))
    return RenderedFrame(
        depth_m,
        triangle_ids,
        parts=np.concatenate([mesh.labels for mesh, _ in meshes]),
        people=np.concatenate(people),
        joints_m=np.array([each.view.camera_points(each.subject.joints_m) for each in shown], np.float32).reshape(
            len(shown), *scene.subjects[0].subject.joints_m.shape
        ),
        objects=objects,
        materials=materials,
        bodies=truth_in_camera_axes([each.subject.truth for each in shown], [each.view.rotation for each in shown]),
    )


def _things(meshes: Sequence[Mesh], n_people: int, shells: int) -> tuple[np.ndarray, np.ndarray]:
    """Number of the thing and material of every triangle; the first ``shells`` meshes are the room itself."""
    objects, materials, count = [np.zeros(n_people, np.uint16)], [np.full(n_people, UNKNOWN, np.uint8)], 0
    for number, mesh in enumerate(meshes):
        size = len(mesh.triangles)
        own = np.ones(size, np.uint16) if mesh.objects is None else mesh.objects
        if number < shells:
            own = np.zeros(size, np.uint16)
        objects.append(np.where(own > 0, own + np.uint16(count), np.uint16(0)))
        materials.append(np.full(size, UNKNOWN, np.uint8) if mesh.materials is None else mesh.materials)
        count += int(own.max(initial=0))
    return np.concatenate(objects), np.concatenate(materials)


def _surroundings(scene: Scene) -> list[tuple[Mesh, ViewTransform]]:
    """Room and furniture, closed ones without triangles that face away; nothing where there is no room."""
    if scene.room is None:
        return []
    furniture = [
        (each.furniture.facing(each.view.camera_m), each.view) for each in scene.subjects if each.furniture is not None
    ]
    contents = [] if scene.contents is None else [(scene.contents, scene.camera)]
    return [(scene.room.facing(scene.subjects[0].placement.camera_m), scene.camera), *furniture, *contents]
