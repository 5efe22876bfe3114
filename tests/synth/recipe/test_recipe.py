"""Recipes: flat, in sections or mixed they read alike, and errors say what is wrong."""

import json
import logging

import pytest

from posepipe.errors import PosepipeError
from synth.recipe import SECTIONS, Recipe, read_recipe, recipe_file, recipe_names
from tests.support.rendered_people import recipe_of


def test_the_recipes_that_come_with_posepipe_read():
    assert set(recipe_names()) >= {"train", "joints", "validation", "top", "robot"}
    for name in recipe_names():
        assert Recipe.from_dict(read_recipe(name).to_dict()) == read_recipe(name)


def test_the_validation_recipe_is_frozen():
    """Every published figure depends on it: change it only together with all of them."""
    assert read_recipe("validation") == recipe_of(
        frames=1000,
        seed=77001,
        sensor="kinect-v1-320",
        poses="validation",
        leave_out_clips=("humanoid3d_cartwheel",),
        distance_m=(1.0, 4.0),
        camera_height_m=(0.4, 2.2),
        roll_deg=(-5.0, 5.0),
        aim_height_m=(0.6, 1.3),
        aim_limits_deg=(-25.0, 35.0),
        pitch_deg=None,
        lateral_offset=(-0.35, 0.35),
        facing_share=0.0,
        mirror_share=0.5,
        recombine_share=0.0,
        relax_share=0.0,
        jitter_deg=0.0,
        clothes=True,
        noise=True,
    )


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("sequences", {"sequence_frames": 60, "seed": 900}),
        ("sequences-in-rooms", {"sequence_frames": 90, "seed": 901, "held_object_share": 0.15, "room_share": 1.0}),
    ],
)
def test_the_recipes_of_sequences_are_frozen(name, fields):
    """The figures of docs/guides/tracking.md depend on them."""
    assert read_recipe(name) == recipe_of(
        frames=1440, poses="validation", wardrobe="full", camera_height_m=(0.8, 1.6), **fields
    )


def test_fields_given_instead_replace_those_of_the_file(tmp_path):
    path = tmp_path / "r.toml"
    path.write_text("sequence_frames = 60\n")  # the default of 1000 frames makes no whole sequences
    assert read_recipe(path, frames=120, seed=4) == Recipe(frames=120, seed=4, sequence_frames=60)
    with pytest.raises(PosepipeError, match="wanted whole sequences of 60 frames, got 100"):
        read_recipe(path, frames=100)


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("frames = 0", "at least 1"),
        ("frames = 1e3", "frames must be a whole number, at least 1, got 1000.0"),
        ("frames = true", "frames must be a whole number"),
        ("frames = 1000000000", "frames must be at most"),
        (f"frames = {'9' * 400}", "frames: wanted an integer of at most 64 bits"),
        ("seed = -5", "seed must be a whole number, at least 0, got -5"),
        ("seed = 1.5", "seed must be a whole number"),
        ("noise = 3", "noise must be true or false, got 3"),
        ("clothes = 'no'", "clothes must be true or false"),
        ("jitter_deg = -4", "jitter_deg must lie between 0 and 180, got -4"),
        ("jitter_deg = nan", "jitter_deg must lie between"),
        ("jitter_deg = 'x'", "jitter_deg must lie between"),
        ("facing_spread_deg = inf", "facing_spread_deg must lie between 0 and 360"),
        ("mirror_share = 'x'", "mirror_share must lie between 0 and 1"),
        ("mirror_share = true", "mirror_share must lie between 0 and 1"),
        ("distance_m = [0, 0]", "distance_m must be .* a max above 0"),
        ("distance_m = [-2, 1]", "distance_m must be .* between 0 and 100"),
        ("distance_m = ['a', 'b']", "distance_m must be .* two numbers"),
        (f"distance_m = [{'9' * 400}, {'9' * 400}]", "distance_m: wanted an integer"),
        ("camera_height_m = [1e300, 1e300]", "camera_height_m must be .* between -100 and 100"),
        ("lateral_offset = [50, 50]", "lateral_offset must be .* between -10 and 10"),
        ("people = [true, true]", "people must be two whole numbers"),
        (f"x = {'[' * 2000}{']' * 2000}", "nested at most 16 deep"),
        (f"wardrobe = '{'x' * 5000}'", "wardrobe must be plain or full, got .{60}$"),
        ("poses = 'mine'", "train, validation or all"),
        ("only_clips = [1]", "list of clip names"),
        ("mirror_share = 1.5", "between 0 and 1"),
        ("[image]\nregistered_share = 1.5", "registered_share must lie between 0 and 1"),
        ("[material]\ninfrared_share = -1", "infrared_share must lie between 0 and 1"),
        ("[proportion]\nthigh_scale = [0.1, 1]", "thigh_scale must be .* between 0.5 and 2"),
        ("sequence_frames = 10\nbent_share = 0.1", "bent_share and table_share need single frames"),
        ("sequence_frames = 10\nempty_room_share = 0.1", "empty_room_share needs single frames"),
        ("distance_m = [3.0, 1.0]", "min, max"),
        ("colour = 3", "no field colour"),
        ("[colour]\nred = 3", "no section colour; it has pose, camera, scene, clothing, .*, proportion and sensor$"),
        ("[pose]\ncolour = 3", "section pose has no field colour"),
        ("[pose]\ndistance_m = [1.0, 2.0]", "section pose has no field distance_m"),
        ("scene = 3", "scene is a section"),
        ("jitter_deg = 1.0\n[pose]\njitter_deg = 2.0", "jitter_deg is given twice"),
        ("aside = [0.0, 0.1]\nlateral_offset = [0.0, 0.1]", "lateral_offset is given twice"),
        ("frames = ", "cannot read it"),
        ("distance_m = [1.0]", "min, max"),
        ("distance_m = 2", "min, max"),
        ("lateral_offset = [-inf, inf]", "min, max"),
        ("distance_m = [nan, inf]", "two finite numbers"),
        ("pitch_deg = [60, 100]", "straight down"),
        ("aim_limits_deg = [-91, 0]", "straight up"),
        ("sensor = 'kinect-v3'", "kinect-v3.*known are"),
        ("sensor = 3", "a preset's name"),
        ("[sensor]\nname = 'mine'", "width, height, fx"),
        ("sequence_frames = 1", "from 2 up, or 0"),
        ("sequence_frames = -2", "from 2 up, or 0"),
        ("sequence_frames = 7.5", "from 2 up, or 0"),
        ("sequence_frames = 60", "wanted whole sequences of 60 frames, got 1000; give 1020"),
    ],
)
def test_a_wrong_recipe_says_what_is_wrong(tmp_path, line, says):
    path = tmp_path / "r.toml"
    path.write_text(line + "\n")
    with pytest.raises(PosepipeError, match=rf"r\.toml.*{says}"):
        read_recipe(path)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(PosepipeError, match="validation"):
        read_recipe("nonsense")


FLAT = """
frames = 7
poses = "all"
tumble_share = 0.1
distance_m = [1.5, 2.0]
aside = [-0.1, 0.2]
people = [1, 3]
support_share = 0.4
room_share = 0.5
wardrobe = "full"
carried_share = 0.3
"""
MIXED = """
frames = 7
distance_m = [1.5, 2.0]
people = [1, 3]

[pose]
poses = "all"
random_rotation_share = 0.1

[camera]
lateral_offset = [-0.1, 0.2]

[scene]
furniture_share = 0.4
room_share = 0.5

[clothing]
wardrobe = "full"
carried_share = 0.3
"""


def test_flat_and_mixed_recipes_read_alike(tmp_path):
    for name, text in {"flat": FLAT, "mixed": MIXED}.items():
        (tmp_path / f"{name}.toml").write_text(text)
    flat = read_recipe(tmp_path / "flat.toml")
    assert flat == read_recipe(tmp_path / "mixed.toml")
    assert flat.camera.lateral_offset == (-0.1, 0.2)
    assert (flat.pose.random_rotation_share, flat.scene.furniture_share) == (0.1, 0.4)
    assert flat.clothing.held_object_share == 0.3


def test_plain_data_has_a_table_for_each_section():
    data = json.loads(json.dumps(recipe_of(poses="all", distance_m=(1, 2), noise=False).to_dict()))
    assert {name for name, value in data.items() if isinstance(value, dict)} == set(SECTIONS)
    assert (data["noise"], data["pose"]["poses"], data["camera"]["distance_m"]) == (False, "all", [1.0, 2.0])
    assert Recipe.from_dict(data) == recipe_of(poses="all", distance_m=(1, 2), noise=False)


def test_former_names_are_logged_once_and_only_for_users(tmp_path, caplog):
    recipe_file._hint_at_new_name.cache_clear()
    (tmp_path / "r.toml").write_text("aside = [0.0, 0.1]\n[pose]\ntumble_share = 0.1\n")
    with caplog.at_level(logging.WARNING):
        for name in recipe_names():
            read_recipe(name)
        assert caplog.messages == []
        for _ in range(2):
            read_recipe(tmp_path / "r.toml")
    assert len(caplog.messages) == 2
    assert "aside is now called lateral_offset" in caplog.messages[0]
    assert "tumble_share is now called random_rotation_share" in caplog.messages[1]
