"""Heights of meshes above places on the floor."""

import numpy as np

from synth.geometry.mesh import BACKGROUND, box
from synth.geometry.surface_heights import surface_heights_m


def test_a_box_is_as_high_as_its_top_and_nothing_is_beside_it():
    mesh = box((0, 0.2, 0), (1, 0.7, 2), BACKGROUND)
    places = np.array([[0.5, 1.0], [0.0, 0.0], [1.1, 1.0], [0.5, -0.1]])
    np.testing.assert_allclose(surface_heights_m(mesh.vertices_m, mesh.triangles, places), [0.7, 0.7, -np.inf, -np.inf])
