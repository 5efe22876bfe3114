"""Sensors of one's own: what a file says is what renders, and what is wrong in it is said."""

import json
from dataclasses import replace

import numpy as np
import pytest

from posepipe.datasets.dataset import MANIFEST_NAME
from posepipe.errors import FormatError, PosepipeError
from synth.recipe import Recipe, read_recipe
from synth.sensors.sensor_file import find_sensor, read_sensor
from synth.sensors.sensor_presets import PRESETS, SensorPreset, sensor_preset
from tests.support.rendered_people import recipe_of, render_people, renderer_of

MINE = {
    "name": "mine",
    "width": 160,
    "height": 120,
    "fx": 140,
    "fy": 141.5,
    "cx": 80.0,
    "cy": 59.5,
    "family": "stereo",
    "min_range_m": 0.3,
    "max_range_m": 6,
    "baseline_m": 0.06,
    "matching_fx": 140.0,
}


def write(path, **changes):
    """A sensor's file; a change of None leaves a field out."""
    fields = {name: value for name, value in {**MINE, **changes}.items() if value is not None}
    path.write_text("".join(f"{name} = {json.dumps(value)}\n" for name, value in fields.items()))
    return path


def test_a_file_makes_the_sensor_that_it_says(tmp_path):
    sensor = read_sensor(write(tmp_path / "mine.toml"))
    assert (sensor.name, sensor.width, sensor.height, sensor.family) == ("mine", 160, 120, "stereo")
    assert (sensor.intrinsics.fx, sensor.intrinsics.fy, sensor.intrinsics.cx) == (140.0, 141.5, 80.0)
    assert (sensor.max_range_m, sensor.baseline_m) == (6.0, 0.06)


@pytest.mark.parametrize("name", PRESETS)
def test_every_preset_survives_its_own_file(tmp_path, name):
    path = write(tmp_path / "s.toml", **PRESETS[name].to_dict())
    assert read_sensor(path) == PRESETS[name]
    assert SensorPreset.from_dict(PRESETS[name].to_dict()) == PRESETS[name]


def test_families_that_do_not_triangulate_need_no_baseline(tmp_path):
    path = write(tmp_path / "s.toml", family="time_of_flight", baseline_m=None, matching_fx=None)
    assert read_sensor(path).baseline_m == 0


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"colour": 1}, "no field colour"),
        ({"fx": None, "cy": None}, "fx, cy missing"),
        ({"baseline_m": None}, "baseline_m missing"),
        ({"baseline_m": 0}, "stereo wants baseline_m > 0"),
        ({"family": "radar"}, "structured_light"),
        ({"family": 3}, "wanted text"),
        ({"width": 160.5}, "whole number"),
        ({"height": 0}, "160x0"),
        ({"fx": "wide"}, "fx: wanted a number"),
        ({"fx": True}, "fx: wanted a number"),
        ({"fy": -1}, "focal lengths must be positive"),
        ({"fx": 0.9}, "sensor 'mine': wanted focal lengths of 16 to 3200 pixels"),
        ({"min_range_m": 7}, "min_range_m < max_range_m"),
        ({"max_range_m": 20}, "<= 9.5"),
        ({"width": 10**9}, "width: wanted at most 4096 pixels"),
        ({"fx": 10**399}, "fx: wanted an integer of at most 64 bits"),
        ({"cx": 1e300}, "cx: wanted a number"),
        ({"min_range_m": 10**18}, "min_range_m: wanted a number"),
    ],
)
def test_a_wrong_file_says_what_is_wrong(tmp_path, changes, says):
    path = write(tmp_path / "mine.toml", **changes)
    with pytest.raises(FormatError, match=rf"mine\.toml.*{says}"):
        read_sensor(path)


def test_what_is_no_toml_is_said(tmp_path):
    path = tmp_path / "mine.toml"
    for content in (b"fx = ", bytes(range(256)), b"x = " + b"[" * 2000 + b"]" * 2000):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=r"mine\.toml"):
            read_sensor(path)


def test_a_sensor_is_found_by_name_or_as_a_file(tmp_path):
    assert find_sensor("kinect-v2") is PRESETS["kinect-v2"]
    write(tmp_path / "mine.toml")
    assert find_sensor("mine.toml", tmp_path).name == "mine"
    with pytest.raises(ValueError, match=r"known are ideal, .* or give a TOML file"):
        find_sensor("kinect-v3")


def test_a_recipe_finds_the_sensor_s_file_beside_it(tmp_path):
    sensor = read_sensor(write(tmp_path / "mine.toml"))
    (tmp_path / "r.toml").write_text('frames = 3\nsensor = "mine.toml"\n')
    assert read_recipe(tmp_path / "r.toml") == Recipe(frames=3, sensor=sensor)


def test_a_recipe_keeps_its_sensor_through_json():
    """As the manifest holds it: presets by name, other sensors by value."""
    for sensor in (sensor_preset("d435"), SensorPreset.from_dict(MINE)):
        recipe = Recipe(sensor=sensor)
        assert Recipe.from_dict(json.loads(json.dumps(recipe.to_dict()))) == recipe
    assert Recipe(sensor="d435").to_dict()["sensor"] == "d435"
    changed = replace(sensor_preset("d435"), max_range_m=5.0)
    assert Recipe(sensor=changed).to_dict()["sensor"]["max_range_m"] == 5.0


def test_a_dataset_is_resumed_only_with_its_own_sensor(tmp_path):
    path, data = write(tmp_path / "mine.toml"), tmp_path / "data"
    render_people(
        data,
        Recipe(frames=1, sensor=read_sensor(path)),
        workers=1,
    )
    assert json.loads((data / MANIFEST_NAME).read_text())["recipe"]["sensor"] == MINE
    render_people(
        data,
        Recipe(frames=1, sensor=read_sensor(path)),
        workers=1,
    )
    write(path, baseline_m=0.07)
    with pytest.raises(PosepipeError, match=r"another recipe .*sensor"):
        render_people(
            data,
            Recipe(frames=1, sensor=read_sensor(path)),
            workers=1,
        )


@pytest.mark.parametrize("family", ["ideal", "structured_light", "time_of_flight", "stereo"])
def test_small_images_of_every_family_show_people(family):
    """An image subsampled by eight: its matching windows are smaller than a pixel."""
    small = {"width": 80, "height": 60, "fx": 71.4, "fy": 71.4, "cx": 39.5, "cy": 29.5, "matching_fx": 571.2}
    sensor = SensorPreset.from_dict({**MINE, **small, "family": family})
    frame = renderer_of(recipe_of(seed=1, sensor=sensor, distance_m=(1.0, 1.5))).render(0)
    assert frame.depth.depth_m.shape == (60, 80)
    np.testing.assert_array_equal(frame.parts > 0, frame.depth.depth_m > 0)
