"""Kernels of meshes: normals, heights, wrinkles of clothes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np

from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.clothing.wrinkles import push_out
from synth.furniture.model_bank import embedded_bank
from synth.geometry.surface_heights import surface_heights_m
from synth.geometry.vertex_normals import vertex_normals
from tests.kernels.kernel import Kernel
from tests.reference.synth.clothing import wrinkles as naive_wrinkles
from tests.reference.synth.geometry import surface_heights as naive_surface_heights
from tests.reference.synth.geometry import vertex_normals as naive_vertex_normals


def _skin(rng, size):
    asset = load_body_asset()
    return SimpleNamespace(vertices_m=sample_body(asset, rng).vertices_m, triangles=asset.triangles)


def _clothed(rng, size):
    """Some of the skin, and clothes that stand off."""
    skin = _skin(rng, size)
    chosen = rng.permutation(len(skin.vertices_m))[:size]
    return SimpleNamespace(
        vertices_m=skin.vertices_m[chosen],
        normals=vertex_normals(skin.vertices_m, skin.triangles)[chosen],
        stand_off=rng.uniform(0, 0.08, size).astype(np.float32),
        waves=rng.normal(0, 4, (3, 6)).astype(np.float32),
        phases=rng.random(6, np.float32),
    )


def _pushed_out(inputs):
    out = np.empty_like(inputs.vertices_m)
    push_out(inputs.vertices_m, inputs.normals, inputs.stand_off, inputs.waves, inputs.phases, out)
    return out


def _furniture(rng, size):
    """Models of furniture, with places on and beside each."""
    models = embedded_bank().models[::9]
    return SimpleNamespace(
        meshes=[(model.vertices_m, model.triangles) for model in models],
        places=[rng.uniform(-0.6, 0.6, (size, 2)) * model.size_m[[0, 2]] for model in models],
    )


def _heights(surface_heights, inputs):
    pairs = zip(inputs.meshes, inputs.places, strict=True)
    return np.concatenate([surface_heights(*mesh, places_m) for mesh, places_m in pairs])


KERNELS = (
    Kernel(
        "vertex_normals",
        lambda i: vertex_normals(i.vertices_m, i.triangles),
        lambda i: naive_vertex_normals.vertex_normals(i.vertices_m, i.triangles),
        _skin,
        size=13380,
        tolerance=1e-5,
        reason="float32 sums of some ten triangles",
    ),
    Kernel(
        "surface_heights_m",
        lambda i: _heights(surface_heights_m, i),
        lambda i: _heights(naive_surface_heights.surface_heights_m, i),
        _furniture,
        size=40,
        tolerance=1e-9,
        reason="order of float64 sums",
    ),
    Kernel(
        "push_out",
        _pushed_out,
        lambda i: naive_wrinkles.push_out(i.vertices_m, i.normals, i.stand_off, i.waves, i.phases),
        _clothed,
        size=700,
        tolerance=2e-6,
        reason="float32 counts a dozen waves to some 1e-6 of one: a micrometre",
    ),
)
