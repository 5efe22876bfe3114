"""Furniture made by code: whole models, of their kind, of plausible size."""

import numpy as np
import pytest

from synth.furniture.kinds import KINDS, MATERIALS
from synth.furniture.model_bank import FurnitureBank, embedded_bank
from synth.scene.seats.furnishings import MAKERS, Furnishings

#: kind -> bounds of the height, metres
HEIGHTS_M = {
    "draped chair": (0.75, 1.3),
    "wheelchair": (0.8, 1.1),
    "walking frame": (0.75, 1.0),
    "crutch": (0.8, 1.3),
    "door": (1.9, 2.4),
    "doll": (0.1, 0.95),
    "pet": (0.1, 1.2),
    "shelf": (0.6, 2.2),
    "curtain": (1.2, 2.5),
}


@pytest.mark.parametrize("kind", MAKERS)
def test_a_made_model_is_whole_and_one_seed_gives_one_model(kind):
    assert kind in KINDS
    for seed in range(20):
        model, same = (MAKERS[kind](np.random.default_rng(seed)) for _ in range(2))
        assert model.kind == kind
        np.testing.assert_array_equal(model.vertices_m, same.vertices_m)
        assert np.isfinite(model.vertices_m).all()
        assert 0 <= model.triangles.min() <= model.triangles.max() < len(model.vertices_m)
        assert len(model.triangles) == len(model.materials) < 4000
        assert model.materials.max() < len(MATERIALS)
        low, high = model.vertices_m.min(axis=0), model.vertices_m.max(axis=0)
        np.testing.assert_allclose(low, model.size_m * [-0.5, 0, -0.5], atol=2e-3)
        np.testing.assert_allclose(high, model.size_m * [0.5, 1, 0.5], atol=2e-3)
        assert 0.01 < model.size_m.max() < 3.2
        assert model.elevation_m >= 0


@pytest.mark.parametrize("kind", HEIGHTS_M)
def test_made_models_are_as_high_as_real_ones(kind):
    low, high = HEIGHTS_M[kind]
    heights = [MAKERS[kind](np.random.default_rng(seed)).size_m[1] for seed in range(30)]
    assert low < min(heights) < max(heights) < high


def test_every_kind_can_be_drawn_and_models_vary():
    furnishings = Furnishings(embedded_bank())
    rng = np.random.default_rng(0)
    for kind in KINDS:
        assert furnishings.has(kind), kind
        sizes = {tuple(furnishings.draw(kind, rng).size_m) for _ in range(6)}
        assert len(sizes) > 1
    one, same = (furnishings.draw("sofa", np.random.default_rng(5)) for _ in range(2))
    np.testing.assert_array_equal(one.vertices_m, same.vertices_m)


def test_a_kind_without_models_is_named():
    furnishings = Furnishings(FurnitureBank(embedded_bank().by_kind["bed"]))
    assert furnishings.has("door")
    assert not furnishings.has("sofa")
    with pytest.raises(KeyError, match="sofa"):
        furnishings.draw("sofa", np.random.default_rng(0))
