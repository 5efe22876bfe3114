"""The rasterizer against an independent caster of rays: Embree, through trimesh."""

from __future__ import annotations

import numpy as np
import pytest

from synth.render.rasterizer import render_depth
from synth.scene.placement import draw_placement
from synth.scene.scene import floor_y_m, place_subject
from tests.support.rendered_people import people_of, recipe_of

trimesh = pytest.importorskip("trimesh")
pytest.importorskip("embreex")

RECIPE = recipe_of(seed=6, wardrobe="full", held_object_share=0.3)


def cast_rays(points_m, triangles, intrinsics, height, width):
    """Depth of the first hit of a ray through every pixel centre: float64 (H, W), 0 = none."""
    mesh = trimesh.Trimesh(points_m, triangles, process=False)
    rows, cols = np.mgrid[:height, :width]
    rays = np.stack(
        [(cols - intrinsics.cx) / intrinsics.fx, (rows - intrinsics.cy) / intrinsics.fy, np.ones(rows.shape)], axis=-1
    ).reshape(-1, 3)
    _, ray, places = mesh.ray.intersects_id(np.zeros_like(rays), rays, multiple_hits=False, return_locations=True)
    depth = np.zeros(height * width)
    depth[ray] = places[:, 2]
    return depth.reshape(height, width)


@pytest.mark.parametrize("index", range(4))
def test_depth_equals_that_of_rays_except_at_silhouettes(index):
    rng = np.random.default_rng([6, index])
    subject = people_of(RECIPE).draw(rng)
    sensor = RECIPE.sensor
    root_height_m = subject.root_m[1] - floor_y_m(subject)
    placement = draw_placement(RECIPE.camera, root_height_m, sensor.intrinsics, sensor.width, rng)
    points = place_subject(subject, placement).view.camera_points(subject.mesh.vertices_m)
    ours, _ = render_depth(points, subject.mesh.triangles, sensor.intrinsics, sensor.height, sensor.width)
    rays = cast_rays(points, subject.mesh.triangles, sensor.intrinsics, sensor.height, sensor.width)
    both = (ours > 0) & (rays > 0)
    assert both.sum() > 300
    # an edge seen along its own line, between two surfaces or at the border of one, goes to either side
    assert np.mean((ours > 0) != (rays > 0)) < 0.001
    apart = np.abs(ours - rays)[both]
    assert np.mean(apart > 0.001) < 0.005
    assert np.median(apart) < 1e-5
