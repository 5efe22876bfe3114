"""Rendering, stage by stage, to bytes on disk: one dressed person without a room, 320x240, Kinect v1 noise, one core.

The baseline of every stage is the whole frame in the same run. The baseline of the raster is Embree, casting rays.
"""

from __future__ import annotations

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from posepipe.recording import RecordingWriter
from synth.motion.pose_sampler import draw_pose
from synth.motion.poses.clips import embedded_pose_bank
from synth.recipe import Recipe
from synth.render.label_spread import spread_ids
from synth.render.rasterizer import paint, render_depth
from synth.render.visibility import visible_joints
from synth.renderer import FrameRenderer
from synth.scene.placement import draw_placement
from synth.scene.scene import floor_y_m, place_subject
from synth.scene.subjects import People
from synth.sensors.sensor_noise import add_sensor_noise

FRAMES = 50
STAGES = (
    *("shape and clothes", "pose, collisions", "skin", "raster", "raster, by Embree"),
    *("noise", "labels", "write", "whole frame"),
)


@pytest.fixture(scope="module")
def stages(tmp_path_factory):
    recipe = Recipe(seed=1)
    people = People(recipe.pose, recipe.clothing, embedded_pose_bank())
    renderer = FrameRenderer(recipe, people)
    sensor = recipe.sensor
    rng = np.random.default_rng(0)
    dressed = [people.dressed(rng) for _ in range(FRAMES)]
    poses = [_draw_pose(people, recipe, person, rng) for person in dressed]
    subjects = [people.posed(person, pose, rng) for person, pose in zip(dressed, poses, strict=True)]
    frames = [renderer.render(k) for k in range(FRAMES)]
    points, clean = [], []
    for subject in subjects:
        root_height_m = subject.root_m[1] - floor_y_m(subject)
        placement = draw_placement(recipe.camera, root_height_m, sensor.intrinsics, sensor.width, rng)
        points.append(place_subject(subject, placement).view.camera_points(subject.mesh.vertices_m))
        clean.append(_raster(points[-1], subject.mesh.triangles, sensor))
    writer = RecordingWriter(
        tmp_path_factory.mktemp("out") / "x.mcap", sensor.intrinsics, sensor.height, sensor.width, body=people.body
    )
    everyone = range(FRAMES)
    return {
        "shape and clothes": lambda: [people.dressed(rng) for _ in everyone],
        "pose, collisions": lambda: [
            draw_pose(people._poses, recipe.pose, people._asset, d.rest, rng) for d in dressed
        ],
        "skin": lambda: [people.posed(d, p, rng) for d, p in zip(dressed, poses, strict=True)],
        "raster": lambda: [_raster(p, subjects[0].mesh.triangles, sensor) for p in points],
        "raster, by Embree": _embree(points, subjects[0].mesh.triangles, sensor),
        "noise": lambda: [add_sensor_noise(depth_m, sensor, rng) for depth_m, _ in clean],
        "labels": lambda: [_label(f, d, ids) for f, (d, ids) in zip(frames, clean, strict=True)],
        "write": lambda: [writer.write(frame) for frame in frames],
        "whole frame": lambda: [writer.write(renderer.render(k)) for k in everyone],
    }


def _draw_pose(people, recipe, person, rng):
    return draw_pose(people._poses, recipe.pose, people._asset, person.rest, rng)


def _raster(points, triangles, sensor):
    n_closed = len(triangles)  # a person without skirt, coat or bag is skin all over
    return render_depth(points, triangles, sensor.intrinsics, sensor.height, sensor.width, n_closed=n_closed)


def _embree(points, triangles, sensor):
    """Render the same images by rays: the mesh is new in every frame, so its bounding volumes are built anew."""
    try:
        import trimesh
        from trimesh.ray.ray_pyembree import RayMeshIntersector
    except ImportError:
        return None
    rows, cols = np.mgrid[: sensor.height, : sensor.width]
    lens = sensor.intrinsics
    rays = np.stack([(cols - lens.cx) / lens.fx, (rows - lens.cy) / lens.fy, np.ones(rows.shape)], axis=-1)
    rays = rays.reshape(-1, 3).astype(np.float32)
    origins = np.zeros_like(rays)

    def cast():
        for vertices in points:
            mesh = trimesh.Trimesh(vertices, triangles, process=False)
            RayMeshIntersector(mesh, scale_to_box=False).intersects_first(origins, rays)

    return cast


def _label(frame, depth_m, ids):
    ids = ids.copy()
    spread_ids(ids, depth_m)
    paint(ids, np.ones(ids.max() + 1, np.uint8))
    lens = frame.depth.intrinsics
    visible_joints(frame.depth.depth_m, frame.parts, frame.people, frame.joints_m, lens, People.body)


@pytest.mark.parametrize("stage", STAGES)
def test_stage(stage, stages, benchmark):
    if stages[stage] is None:
        pytest.skip("embreex is not installed")
    benchmark.group = f"{FRAMES} frames of one person, 320x240, one core"
    with threadpool_limits(1):
        benchmark(stages[stage])
