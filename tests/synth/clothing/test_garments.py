"""Clothes push the skin out and leave the rest alone."""

import numpy as np
import pytest

from synth.body.body_asset import load_body_asset
from synth.body.body_mesh import sample_body
from synth.clothing.garments import GARMENTS, PLAIN, Outfit, dress, garment_weights, sample_outfit
from synth.geometry.vertex_normals import vertex_normals


@pytest.fixture(scope="module")
def body():
    asset = load_body_asset()
    return asset, sample_body(asset, np.random.default_rng(0))


def test_normals_of_a_tetrahedron_point_outwards():
    corners = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], np.float32)
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]], np.int32)
    normals = vertex_normals(corners, triangles)
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1, atol=1e-6)
    assert ((normals * (corners - corners.mean(axis=0))).sum(axis=1) > 0).all()


def test_undressed_is_unchanged(body):
    asset, rest = body
    normals = vertex_normals(rest.vertices_m, asset.triangles)
    same = dress(rest.vertices_m, normals, garment_weights(asset), Outfit({}), np.random.default_rng(0))
    np.testing.assert_array_equal(same, rest.vertices_m)


@pytest.mark.parametrize("garment", GARMENTS)
def test_a_garment_moves_what_it_covers_and_nothing_else(body, garment):
    asset, rest = body
    weights = garment_weights(asset)
    normals = vertex_normals(rest.vertices_m, asset.triangles)
    worn = dress(rest.vertices_m, normals, weights, Outfit({garment: 0.02}), np.random.default_rng(0))
    moved = np.linalg.norm(worn - rest.vertices_m, axis=1)
    assert moved[weights[garment] == 0].max() == 0
    covered = weights[garment] > 0.99
    assert 0.01 < moved[covered].mean() < 0.03
    assert moved.max() <= 0.04 + 1e-6  # twice the stand-off, at the crest of a wrinkle


def test_outfits_stay_within_the_table_and_wear_all_of_it():
    worn, with_skirt = set(), 0
    for seed in range(400):
        outfit = sample_outfit("full", np.random.default_rng(seed))
        worn |= set(outfit.stand_off_m)
        with_skirt += outfit.skirt is not None
        for garment, metres in outfit.stand_off_m.items():
            low, high = GARMENTS[garment].stand_off_cm
            assert low / 100 <= metres <= high / 100
    assert worn == set(GARMENTS)
    assert 0.08 < with_skirt / 400 < 0.25
    assert set(sample_outfit("plain", np.random.default_rng(0)).stand_off_m) <= set(PLAIN)


def test_a_face_stays_free_of_hair_and_hats(body):
    asset, _ = body
    skin = asset.mean_m[: asset.n_vertices]
    weights = garment_weights(asset)
    nose = np.argmax(
        np.where(weights["hair"] >= 0, skin[:, 2], -1)
        * (skin[:, 1] > asset.mean_m[asset.n_vertices + asset.bone("head")][1])
    )
    for garment in ("hair", "long hair", "hat", "brim"):
        assert weights[garment][nose] == 0
        assert weights[garment].max() > 0.9
