"""Kernels that draw people and say what shows of them."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from synth.render.label_spread import NOTHING, spread_ids
from synth.render.rasterizer import NEAR_M, paint, render_depth
from synth.render.visibility import visible_joints
from tests.kernels.kernel import Kernel
from tests.reference.synth.render import label_spread as naive_label_spread
from tests.reference.synth.render import rasterizer as naive_rasterizer
from tests.reference.synth.render import visibility as naive_visibility
from tests.support.rendered_people import recipe_of, renderer_of
from tests.synth.render.spheres import sphere


def _scene(rng, size):
    """Triangles of all sizes, some of which reach behind the camera, and a ball among them."""
    corners = rng.uniform(-1, 1, (60, 3)) * [2, 1.6, 1.5] + [0, 0, 1.4]
    ball, facets = sphere([0.2, 0.1, 0.9], 0.3, turns=16, rings=8)
    triangles = np.concatenate([rng.integers(60, size=(25, 3)), facets + 60]).astype(np.int32)
    return SimpleNamespace(
        vertices_m=np.concatenate([corners, ball]).astype(np.float32),
        triangles=triangles,
        labels=rng.integers(1, 32, len(triangles)).astype(np.uint8),
        camera=Intrinsics(1.05 * size, 1.1 * size, size * 2 / 3 - 0.5, size / 2 - 0.5),
        shape=(size, size * 4 // 3),
    )


def _pixels(depth_m, ids):
    """Pixel after pixel."""
    return depth_m.ravel(), ids.ravel()


def _cast(inputs):
    camera = inputs.camera.fx, inputs.camera.fy, inputs.camera.cx, inputs.camera.cy
    return naive_rasterizer.cast_rays(inputs.vertices_m, inputs.triangles, camera, *inputs.shape, NEAR_M)


def _drawn(rng, size):
    scene = _scene(rng, size)
    _, ids = render_depth(scene.vertices_m, scene.triangles, scene.camera, *scene.shape)
    return SimpleNamespace(ids=ids, labels=scene.labels)


def _moved_by_noise(rng, size):
    """Ids of few pixels, and readings of most."""
    shape = (size, size * 4 // 3)
    ids = np.where(rng.random(shape) < 0.15, rng.integers(0, 5000, shape), NOTHING).astype(np.int32)
    depth_m = (rng.uniform(1, 4, shape) * (rng.random(shape) < 0.7)).astype(np.float32)
    return SimpleNamespace(ids=ids, depth_m=depth_m)


def _spread(inputs):
    ids = inputs.ids.copy()
    spread_ids(ids, inputs.depth_m)
    return ids


def _rendered(rng, size):
    """So many rendered frames of one to three people."""
    recipe = recipe_of(seed=int(rng.integers(1000)), people=(1, 3), distance_m=(1.5, 3.0))
    frames = [renderer_of(recipe).render(index) for index in range(size)]
    return SimpleNamespace(
        images=[(frame.depth.depth_m, frame.parts, frame.people) for frame in frames],
        joints_m=[frame.joints_m for frame in frames],
        intrinsics=recipe.sensor.intrinsics,
    )


def _visible(inputs):
    frames = zip(inputs.images, inputs.joints_m, strict=True)
    return np.concatenate([visible_joints(*images, joints_m, inputs.intrinsics, HUMAN) for images, joints_m in frames])


def _visible_naively(inputs):
    visible = []
    for (depth_m, parts, people), everybody_m in zip(inputs.images, inputs.joints_m, strict=True):
        for person, joints_m in enumerate(everybody_m):
            own = np.where(people == person + 1, parts, 0)
            visible.append(naive_visibility.visible_joints(depth_m, own, joints_m, inputs.intrinsics, HUMAN))
    return np.array(visible)


KERNELS = (
    Kernel(
        "render_depth",
        lambda i: _pixels(*render_depth(i.vertices_m, i.triangles, i.camera, *i.shape)),
        lambda i: _pixels(*_cast(i)),
        _scene,
        size=66,
        tolerance=(1e-5, 0),
        may_differ=0.001,
        reason="float32 depth; a ray through an edge may take either side",
    ),
    Kernel(
        "paint",
        lambda i: paint(i.ids, i.labels),
        lambda i: naive_rasterizer.paint(i.ids, i.labels),
        _drawn,
        size=48,
    ),
    Kernel(
        "spread_ids",
        _spread,
        lambda i: naive_label_spread.spread_ids(i.ids, i.depth_m),
        _moved_by_noise,
        size=48,
    ),
    Kernel("visible_joints", _visible, _visible_naively, _rendered, size=2),
)
