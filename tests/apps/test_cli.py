"""The command line as a stranger meets it: help that teaches, errors of one line, no traceback."""

import json

import cv2
import numpy as np
import pytest

from apps.cli import COMMANDS, main
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sinks import read_results
from posepipe.sources.npz_pack import write_npz_pack

CAMERA = {"width": 64, "height": 48, "fx": 57, "fy": 57, "cx": 31.5, "cy": 23.5, "depth_unit_m": 0.001, "fps": 30}


def error_of(capsys, *arguments):
    """Run a command that must fail; its one line on standard error."""
    assert main([str(a) for a in arguments]) == 1
    captured = capsys.readouterr().err.strip().splitlines()
    errors = [line for line in captured if line.startswith("posepipe: error: ")]
    assert len(errors) == 1
    assert not any("Traceback" in line for line in captured)
    return errors[0]


@pytest.mark.parametrize("command", COMMANDS)
def test_help_shows_examples(command, capsys):
    with pytest.raises(SystemExit) as stop:
        main([command, "--help"])
    assert stop.value.code == 0
    assert f"posepipe {command}" in capsys.readouterr().out.split("examples:")[1]


def test_wrong_usage_exits_with_2(capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run"])
    assert stop.value.code == 2


def test_missing_and_empty_sources_are_one_line(tmp_path, capsys):
    assert "no such file or folder" in error_of(capsys, "run", tmp_path / "nothing", "--out", tmp_path / "r.jsonl")
    (tmp_path / "empty").mkdir()
    assert "empty" in error_of(capsys, "run", tmp_path / "empty", "--out", tmp_path / "r.jsonl")


def test_a_png_of_the_wrong_depth_is_one_line(tmp_path, capsys):
    (tmp_path / "camera.json").write_text(json.dumps(CAMERA))
    cv2.imwrite(str(tmp_path / "000000.png"), np.zeros((48, 64), np.uint8))
    assert "16-bit" in error_of(capsys, "run", tmp_path, "--out", tmp_path / "r.jsonl")


def test_a_model_of_random_bytes_is_one_line(tmp_path, capsys):
    model = tmp_path / "model.npz"
    model.write_bytes(np.random.default_rng(0).bytes(5000))
    pack = write_frames(tmp_path, np.zeros((1, 48, 64)))
    assert "not a posepipe model" in error_of(capsys, "run", pack, "--model", model, "--out", tmp_path / "r.jsonl")


def test_an_unknown_model_lists_the_shipped_ones(tmp_path, capsys):
    pack = write_frames(tmp_path, np.zeros((1, 48, 64)))
    assert "person" in error_of(capsys, "run", pack, "--model", "nobody", "--out", tmp_path / "r.jsonl")


def test_an_unwritable_result_is_one_line(tmp_path, capsys):
    pack = write_frames(tmp_path, np.zeros((1, 48, 64)))
    assert "r.jsonl" in error_of(capsys, "run", pack, "--out", tmp_path / "no such folder" / "r.jsonl")


def write_frames(folder, depth_m):
    path = folder / "pack.npz"
    intrinsics = Intrinsics(57, 57, 31.5, 23.5)
    write_npz_pack(path, [DepthFrame(d.astype(np.float32), intrinsics, i / 30, i) for i, d in enumerate(depth_m)])
    return path


def lonely_frames():
    """Frames with nothing that is a person: zeros, one pixel, a person-sized blob cut by the border."""
    frames = np.zeros((3, 48, 64))
    frames[1, 20, 30] = 2.0
    frames[2, 30:, 50:] = 2.0
    return frames


def test_frames_without_a_person_give_results_all_the_same(tmp_path):
    pack, out = write_frames(tmp_path, lonely_frames()), tmp_path / "r.jsonl"
    assert main(["run", str(pack), "--out", str(out), "--pictures", str(tmp_path / "pictures")]) == 0
    results = read_results(out)
    assert [row.frame for row in results.frames] == [0, 1, 2]
    assert results.frames[0].people == results.frames[1].people == ()
    assert len(list((tmp_path / "pictures").glob("*.png"))) == 3


def test_debug_shows_the_traceback(tmp_path):
    with pytest.raises(Exception, match="no such file"):
        main(["run", str(tmp_path / "nothing"), "--debug", "--out", str(tmp_path / "r.jsonl")])


def test_synth_refuses_a_folder_of_another_recipe(tmp_path, capsys):
    small = ["--frames", "2", "--workers", "1"]
    assert main(["synth", str(tmp_path / "data"), "--seed", "1", *small]) == 0
    assert "another recipe" in error_of(capsys, "synth", tmp_path / "data", "--seed", "2", *small)


def test_a_broken_recipe_or_pose_bank_is_one_line(tmp_path, capsys):
    recipe = tmp_path / "r.toml"
    recipe.write_text("frames = 3\ncolour = 1\n")
    assert "no field colour" in error_of(capsys, "synth", tmp_path / "d", "--recipe", recipe)
    bank = tmp_path / "bank.npz"
    bank.write_bytes(b"PK\x03\x04 cut")
    assert "bank.npz" in error_of(capsys, "synth", tmp_path / "d", "--mocap", bank, "--frames", "2")
