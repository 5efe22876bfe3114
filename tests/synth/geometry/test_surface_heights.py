"""Heights of meshes above places on the floor."""

import numpy as np

from synth.furniture.model_bank import embedded_bank
from synth.geometry.mesh import BACKGROUND, box
from synth.geometry.surface_heights import surface_heights_m
from tests.reference.synth.geometry.surface_heights import surface_heights_m as naive_heights_m


def test_a_box_is_as_high_as_its_top_and_nothing_is_beside_it():
    mesh = box((0, 0.2, 0), (1, 0.7, 2), BACKGROUND)
    places = np.array([[0.5, 1.0], [0.0, 0.0], [1.1, 1.0], [0.5, -0.1]])
    np.testing.assert_allclose(surface_heights_m(mesh.vertices_m, mesh.triangles, places), [0.7, 0.7, -np.inf, -np.inf])


def test_heights_are_those_of_the_naive_twin():
    rng = np.random.default_rng(1)
    for model in embedded_bank().models[::9]:
        places = rng.uniform(-0.6, 0.6, (40, 2)) * model.size_m[[0, 2]]
        fast = surface_heights_m(model.vertices_m, model.triangles, places)
        naive = naive_heights_m(model.vertices_m, model.triangles, places)
        np.testing.assert_allclose(fast, naive, atol=1e-9)  # sums in another order
