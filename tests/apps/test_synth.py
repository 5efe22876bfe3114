"""``posepipe synth``: sensors by name and by file, from the command line."""

import pytest

from apps.cli import main
from apps.synth import SENSORS
from posepipe.datasets.dataset import Dataset
from synth.furniture.model_bank import BANK_FILE, embedded_bank
from synth.motion.poses.clips import MOTIONS_FILE, POSE_BANK_FILE
from synth.sensors.sensor_presets import PRESETS
from tests.support.commands import error_of
from tests.support.paths import ROOT

SMALL = ["--frames", "2", "--workers", "1"]
CAMERA = """
name = "mine"
width = 160
height = 120
fx = 142.8
fy = 142.8
cx = 79.5
cy = 59.5
family = "time_of_flight"
min_range_m = 0.4
max_range_m = 6.0
"""


def test_help_lists_every_preset(capsys):
    assert tuple(PRESETS) == SENSORS
    with pytest.raises(SystemExit):
        main(["synth", "--help"])
    shown = capsys.readouterr().out
    assert all(name in shown for name in PRESETS)


def test_a_sensor_file_is_rendered_and_a_change_is_noticed(tmp_path, capsys):
    camera, data = tmp_path / "camera.toml", str(tmp_path / "data")
    camera.write_text(CAMERA)
    assert main(["synth", data, "--sensor", str(camera), *SMALL]) == 0
    with Dataset.open(data) as dataset:
        assert dataset[1].parts.shape == (120, 160)
    camera.write_text(CAMERA.replace("142.8", "150.0"))
    assert main(["synth", data, "--sensor", str(camera), *SMALL]) == 1
    assert "differs in sensor" in capsys.readouterr().err


def test_a_wrong_camera_is_one_line_and_leaves_nothing_behind(tmp_path, capsys):
    camera = tmp_path / "camera.toml"
    camera.write_text(CAMERA.replace("time_of_flight", "lidar"))
    assert main(["synth", str(tmp_path / "data"), "--sensor", str(camera), *SMALL]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("posepipe: error: ")
    assert "camera.toml" in line
    assert "time_of_flight" in line  # among the families that there are
    assert not (tmp_path / "data").exists()


def test_sequences_move_as_the_captures_that_were_given(tmp_path, capsys):
    recipe = tmp_path / "short.toml"
    recipe.write_text('frames = 6\nsequence_frames = 3\nposes = "all"\n')
    data = str(tmp_path / "data")
    assert main(["synth", data, "--recipe", str(recipe), "--mocap", str(MOTIONS_FILE), "--workers", "1"]) == 0
    assert "2 motions from --mocap; plays 1 walk, 1 act\n" in capsys.readouterr().out
    with Dataset.open(data) as dataset:
        assert [sequence.scene for sequence in dataset.sequences] == ["standing", "crossing"]
    assert main(["synth", data, "--recipe", str(recipe), "--mocap", str(POSE_BANK_FILE), "--workers", "1"]) == 1
    assert "single poses; sequences need motions" in capsys.readouterr().err
    assert main(["synth", str(tmp_path / "poses"), "--frames", "1", "--mocap", str(MOTIONS_FILE)]) == 1
    assert "motions; single frames need poses; give a pose bank, or a recipe of sequences" in capsys.readouterr().err
    assert main(["synth", data, "--recipe", "sequences", "--frames", "100"]) == 1
    assert "wanted whole sequences of 60 frames, got 100; give 120" in capsys.readouterr().err


def test_furniture_is_read_and_refused_where_no_room_uses_it(tmp_path, capsys):
    data = tmp_path / "data"
    rooms = ["synth", str(data), "--recipe", "furnished-rooms", *SMALL]
    assert main([*rooms, "--furniture", str(BANK_FILE)]) == 0
    with Dataset.open(data) as dataset:
        assert len(dataset[1].depth.depth_m) == 240
    assert embedded_bank().digest() in (data / "dataset.json").read_text()
    assert main(rooms) == 0  # the models that come with posepipe are the same bank
    for path, recipe, message in (
        (BANK_FILE, "rooms", "no real furniture"),
        (tmp_path / "absent.npz", "furnished-rooms", "no such file"),
        (tmp_path, "furnished-rooms", "got none"),
    ):
        command = ["synth", str(tmp_path / "other"), "--recipe", recipe, "--furniture", str(path), *SMALL]
        assert main(command) == 1
        assert message in capsys.readouterr().err
    assert main(["synth", str(tmp_path / "other"), "--furniture", str(BANK_FILE), *SMALL]) == 1
    assert "recipe train has no real furniture" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("option", ["--mocap", "--bone-map"])
def test_creatures_take_no_captures_of_people(tmp_path, capsys, option):
    body = ROOT / "docs" / "examples" / "quadruped.toml"
    line = error_of(capsys, "synth", tmp_path / "out", "--frames", "2", "--body", body, option, tmp_path / "any")
    assert f"{option}: captures are of people; leave it out with --body" in line
    assert not (tmp_path / "out").exists()
