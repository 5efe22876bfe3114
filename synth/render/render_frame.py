"""One frame: figures, and perhaps a room, through a camera's eyes, with the truth about them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import cv2
import numpy as np

from posepipe.body import BodyDefinition
from posepipe.frames import DepthFrame, LabelledFrame
from synth.geometry.mesh import CARRIED, ROOM, Mesh
from synth.recipe import FPS
from synth.render.label_spread import NOTHING, spread_ids
from synth.render.rasterizer import paint, render_depth
from synth.render.visibility import visible_joints
from synth.scene.placement import View
from synth.scene.subjects import Figure
from synth.sensors.noise_fields import Window
from synth.sensors.sensor_noise import SensorPreset, add_sensor_noise

SPREAD_PX = 2
"""A reading takes what it shows from so near."""


def shoot(
    figures: Sequence[Figure],
    views: Sequence[View],
    surroundings: Sequence[tuple[Mesh, View]],
    body: BodyDefinition,
    sensor: SensorPreset,
    noise: bool,
    index: int,
    rng: np.random.Generator,
) -> LabelledFrame:
    """Render what a sensor makes of a scene.

    Parameters
    ----------
    figures, views : who is there, and each one's place before the camera; the k-th gets the id k + 1
    surroundings : nobody's meshes, of a room and what stands in it, and their places; none = figures alone, cut out
    body : of the figures
    noise : whether the sensor's own is added
    index : of the frame
    rng : draws the noise

    Returns
    -------
    LabelledFrame; what is carried belongs to its person and is no part, a room is neither
    """
    meshes = [(figure.mesh, view) for figure, view in zip(figures, views, strict=True)]
    meshes += surroundings
    depth_m = triangles = None
    first, owners = 0, []
    for number, (mesh, view) in enumerate(meshes, start=1):
        points = view.camera_points(mesh.vertices_m)
        buffers = depth_m, triangles, first, mesh.n_closed
        depth_m, triangles = render_depth(
            points, mesh.triangles, sensor.intrinsics, sensor.height, sensor.width, *buffers
        )
        first += len(mesh.triangles)
        owners.append(np.full(len(mesh.triangles), 0 if number > len(figures) else number, np.uint8))
    if depth_m is None or triangles is None:
        raise ValueError("a scene needs at least one figure, got none")
    if noise:
        depth_m = add_sensor_noise(depth_m, sensor, rng)
    window = Window.around(depth_m > 0, SPREAD_PX)
    # whole millimetres, as the recording keeps them
    readings_m = np.rint(window.of(depth_m) * np.float32(1000)) * np.float32(0.001)
    ids = window.of(triangles)
    spread_ids(ids, readings_m)
    seen_m = cv2.copyTo(readings_m, (ids != NOTHING).view(np.uint8))
    parts = paint(ids, np.concatenate([mesh.labels for mesh, _ in meshes]))
    parts[parts >= min(CARRIED, ROOM)] = 0
    people = paint(ids, np.concatenate(owners))
    joints_m = np.stack([view.camera_points(f.joints_m) for f, view in zip(figures, views, strict=True)])
    lens = sensor.intrinsics
    part_of_lens = replace(lens, cx=lens.cx - window.left, cy=lens.cy - window.top)
    visible = visible_joints(seen_m, parts, people, joints_m, part_of_lens, body)
    shape = sensor.height, sensor.width
    frame = DepthFrame(window.within(shape, seen_m), lens, index / FPS, index)
    return LabelledFrame(frame, window.within(shape, parts), window.within(shape, people), joints_m, visible)
