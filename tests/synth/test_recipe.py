"""Recipes: what comes with posepipe reads, what is wrong is said."""

import pytest

from posepipe.errors import PosepipeError
from synth.recipe import Recipe, read_recipe, recipe_names


def test_the_recipes_that_come_with_posepipe_read():
    assert set(recipe_names()) >= {"train", "joints", "validation", "top", "robot"}
    for name in recipe_names():
        assert Recipe.from_dict(read_recipe(name).to_dict()) == read_recipe(name)


def test_the_validation_recipe_is_frozen():
    """Every published figure rests on it: change it only together with all of them."""
    assert read_recipe("validation") == Recipe(
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
        aside=(-0.35, 0.35),
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
        ("sequences-in-rooms", {"sequence_frames": 90, "seed": 901, "carried_share": 0.15, "room_share": 1.0}),
    ],
)
def test_the_recipes_of_sequences_are_frozen(name, fields):
    """The figures of docs/guides/tracking.md rest on them."""
    assert read_recipe(name) == Recipe(
        frames=1440, poses="validation", wardrobe="full", camera_height_m=(0.8, 1.6), **fields
    )


@pytest.mark.parametrize(
    ("line", "says"),
    [
        ("frames = 0", "at least 1"),
        ("poses = 'mine'", "train, validation or all"),
        ("only_clips = [1]", "list of clip names"),
        ("mirror_share = 1.5", "between 0 and 1"),
        ("distance_m = [3.0, 1.0]", "least, most"),
        ("colour = 3", "no field colour"),
        ("frames = ", "r.toml"),
        ("distance_m = [1.0]", "least, most"),
        ("distance_m = 2", "least, most"),
        ("aside = [-inf, inf]", "least, most"),
        ("pitch_deg = [60, 100]", "straight down"),
        ("aim_limits_deg = [-91, 0]", "straight up"),
        ("sensor = 'kinect-v3'", "kinect-v3.*known are"),
        ("sensor = 3", "a preset's name"),
        ("[sensor]\nname = 'mine'", "width, height, fx"),
        ("sequence_frames = 1", "from 2 up, or 0"),
        ("sequence_frames = -2", "from 2 up, or 0"),
        ("sequence_frames = 7.5", "from 2 up, or 0"),
        ("sequence_frames = 60", "1000 frames are no whole sequences of 60; give 1020"),
    ],
)
def test_a_wrong_recipe_says_what_is_wrong(tmp_path, line, says):
    path = tmp_path / "r.toml"
    path.write_text(line + "\n")
    with pytest.raises(PosepipeError, match=says):
        read_recipe(path)


def test_an_unknown_name_lists_the_known():
    with pytest.raises(PosepipeError, match="validation"):
        read_recipe("nonsense")
