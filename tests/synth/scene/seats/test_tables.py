"""Tables before people who bend: under their hands and trunk, clear of legs and body."""

from __future__ import annotations

import numpy as np
import pytest

from synth.furniture.model_bank import embedded_bank
from synth.geometry.mesh import BACKGROUND
from synth.geometry.surface_heights import surface_heights_m
from synth.scene.draw_scene import draw_furniture
from synth.scene.seats.body_axes import BodyAxes, hips_forward, joint_of
from synth.scene.seats.furnishings import Furnishings
from synth.scene.seats.tables import HEIGHTS_M, draw_table
from tests.support.rendered_people import people_of, recipe_of

RECIPE = recipe_of(poses="validation", bent_share=1.0, table_share=1.0, wardrobe="plain")
FURNISHINGS = Furnishings(embedded_bank())


@pytest.fixture(scope="module")
def subjects():
    people, rng = people_of(RECIPE), np.random.default_rng(11)
    return [people.draw(rng) for _ in range(30)]


@pytest.mark.parametrize("furnishings", [None, FURNISHINGS], ids=["boxes", "models"])
def test_a_table_stands_before_the_legs_and_below_the_body(subjects, furnishings):
    rng, count = np.random.default_rng(1), 0
    for subject in subjects:
        table = draw_table(subject.skin_m, subject.joints_m, furnishings, rng)
        if table is None:
            continue
        count += 1
        axes = BodyAxes(joint_of(subject.joints_m, "pelvis"), hips_forward(subject.joints_m))
        vertices, body = axes.into(table.vertices_m), axes.into(subject.skin_m)
        floor = body[:, 1].min()
        assert (table.labels == BACKGROUND).all()
        assert vertices[:, 1].min() == pytest.approx(floor, abs=0.02)
        assert HEIGHTS_M[0] - 0.05 < vertices[:, 1].max() - floor < HEIGHTS_M[1] + 0.3
        feet = [axes.into(joint_of(subject.joints_m, f"{side}_foot"))[2] for side in ("left", "right")]
        assert vertices[:, 2].min() > max(feet) + 0.05
        heights = surface_heights_m(vertices, table.triangles, body[:, [0, 2]])
        assert np.mean(heights > body[:, 1]) < 0.002
    assert count > 8


def test_some_reach_down_onto_their_table(subjects):
    rng, gaps_m = np.random.default_rng(2), []
    for subject in subjects:
        table = draw_table(subject.skin_m, subject.joints_m, None, rng)
        if table is not None:
            gaps_m.append(subject.skin_m[:, 1] - table.vertices_m[:, 1].max())
    assert sum((np.abs(gap) < 0.02).any() for gap in gaps_m) > 5


def test_people_who_do_not_bend_have_no_table():
    recipe = recipe_of(poses="validation", seated_share=1.0, table_share=1.0)
    people, rng = people_of(recipe), np.random.default_rng(3)
    for _ in range(5):
        subject = people.draw(rng)
        assert draw_furniture(subject, people.body, recipe.scene, rng, FURNISHINGS) is None
