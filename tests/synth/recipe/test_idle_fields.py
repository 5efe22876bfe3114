"""Fields of a recipe that do nothing are named, each once; those of the recipes that come with posepipe all do."""

from __future__ import annotations

import logging
import re

import pytest

from synth.motion.motions import Motions
from synth.recipe import BackgroundRecipe, read_recipe, recipe_names
from synth.recipe.idle_fields import idle_fields
from synth.renderer import make_renderer
from tests.support.rendered_people import people_of, recipe_of


@pytest.mark.parametrize("name", recipe_names())
def test_every_field_of_our_recipes_has_an_effect(name):
    recipe = read_recipe(name)
    assert idle_fields(recipe, backgrounds=recipe.background != BackgroundRecipe()) == []


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (
            {"room_share": 1, "pet_share": 0.5},
            "pet_share does nothing without model_share; give model_share, or leave it",
        ),
        (
            {"room_share": 1, "density": (0, 0.5), "things_share": 1},
            "density, things_share do nothing without model_sh",
        ),
        ({"model_share": 1}, "model_share does nothing without room_share"),
        ({"registered_share": 0.2}, "registered_share does nothing without room_share"),
        ({"infrared_share": 0.2}, "infrared_share does nothing without room_share"),
        ({"model_seat_share": 1}, "model_seat_share does nothing without furniture_share"),
        (
            {"room_share": 1, "model_share": 1, "near_seat_share": 1},
            "near_seat_share does nothing without empty_room_sh",
        ),
        ({"room_share": 1, "stereo_defects_share": 1}, "stereo_defects_share does nothing without a stereo sensor"),
        ({"facing_spread_deg": 5}, "facing_spread_deg does nothing without facing_share"),
        ({"pitch_deg": (10, 20), "aim_height_m": (1, 1)}, "aim_height_m does nothing beside pitch_deg; leave it out"),
        ({"clothes": False, "wardrobe": "full"}, "wardrobe does nothing without clothes"),
        ({"sequence_frames": 10, "people": (2, 2)}, "people does nothing in sequences; leave it out"),
        (
            {"sequence_frames": 10, "motions": "exercises", "only_clips": ["a"]},
            "only_clips does nothing with motions 'exercises'",
        ),
        (
            {"sequence_frames": 10, "motions": "resting", "poses": "all"},
            "poses does nothing with motions 'resting'; leave it out",
        ),
        (
            {"sequence_frames": 10, "poses": "all", "leave_out_clips": ["a"]},
            "poses, leave_out_clips do nothing without --mocap; give --mocap, or leave them out",
        ),
        ({"sequence_frames": 10, "near_seat_share": 0.5}, "near_seat_share does nothing in sequences; leave it out"),
    ],
)
def test_fields_without_effect_are_named_with_their_need(fields, says):
    (line,) = idle_fields(recipe_of(**fields))
    assert re.search(says, line)


def test_clips_select_among_captures_that_are_given():
    recipe = recipe_of(sequence_frames=10, poses="all", only_clips=["a"])
    assert idle_fields(recipe, captures=True) == []


def test_real_rooms_have_no_use_for_what_draws_rooms():
    recipe = recipe_of(room_share=0.5, model_share=0.5, pet_share=0.1, pitch_deg=(0, 10), filled_share=0.1)
    (line,) = idle_fields(recipe, backgrounds=True)
    assert line.startswith("recipe: pitch_deg, room_share, model_share, pet_share do nothing with --backgrounds")


def test_a_renderer_logs_the_fields_that_do_nothing(caplog):
    recipe = recipe_of(room_share=1, pet_share=0.5)
    with caplog.at_level(logging.WARNING):
        make_renderer(recipe, people_of(recipe))
    assert ["pet_share does nothing" in line for line in caplog.messages] == [True]


def test_a_renderer_knows_whether_sequences_play_captures(caplog):
    recipe = recipe_of(sequence_frames=10, poses="all")
    with caplog.at_level(logging.WARNING):
        make_renderer(recipe, people_of(recipe), Motions.embedded())
        assert caplog.messages == []
        make_renderer(recipe, people_of(recipe))
    assert ["poses does nothing without --mocap" in line for line in caplog.messages] == [True]
