"""The command line: help with examples, errors of one line, no traceback."""

import json

import cv2
import numpy as np
import pytest

from apps.cli import COMMANDS, as_typed, main
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sinks import read_results
from posepipe.sources.formats.npz_pack import write_npz_pack

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


def test_wrong_usage_exits_with_2():
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
    assert "r.jsonl" in error_of(capsys, "run", pack, "--out", pack / "r.jsonl")


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


def test_results_never_replace_the_frames_they_come_from(tmp_path, capsys):
    pack = write_frames(tmp_path, lonely_frames())
    before = pack.read_bytes()
    assert "would replace a file of the source" in error_of(capsys, "run", pack, "--out", pack)
    assert pack.read_bytes() == before


def test_a_source_that_fails_at_once_replaces_no_older_results(tmp_path, capsys):
    frames, out = tmp_path / "frames", tmp_path / "r.jsonl"
    frames.mkdir()
    (frames / "camera.json").write_text(json.dumps(CAMERA))
    (frames / "000000.png").write_bytes(b"\x89PNG cut")
    out.write_text("older results\n")
    error_of(capsys, "run", frames, "--out", out)
    assert out.read_text() == "older results\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ["synth", "d", "--frames", "-1"],
        ["synth", "d", "--workers", "0"],
        ["synth", "d", "--seed", "-1"],
        ["train", "d", "--out", "m.bin"],
        ["train", "d", "--out", "m.npz", "--trees", "0"],
        ["train", "d", "--out", "m.npz", "--max-depth", "0"],
        ["curves", "d", "v", "--out", "c", "--frames", "100,0"],
        ["curves", "d", "v", "--out", "c", "--probe-range", "0.1;0.2"],
        ["train", "d", "--out", "m.npz", "--probe-range", "1e300"],
        ["calibrate", "a", "b", "--max-offset", "1e6"],
        ["evaluate", "d", "--frames", "-3"],
        ["run", "d", "--video", "v.avi"],
    ],
)
def test_impossible_numbers_and_names_are_wrong_usage(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(arguments)
    assert stop.value.code == 2
    assert "wanted" in capsys.readouterr().err


def test_a_refused_synth_leaves_nothing_behind(tmp_path, capsys):
    assert "known are" in error_of(capsys, "synth", tmp_path / "data", "--frames", "2", "--sensor", "nonsense")
    assert not (tmp_path / "data").exists()


def test_synth_refuses_foreign_folders_and_smaller_datasets(tmp_path, capsys):
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "notes.txt").write_text("mine")
    assert "notes.txt" in error_of(capsys, "synth", tmp_path / "mine", "--frames", "2")
    assert main(["synth", str(tmp_path / "data"), "--frames", "3", "--workers", "1"]) == 0
    assert "at least so many" in error_of(capsys, "synth", tmp_path / "data", "--frames", "2")


@pytest.mark.parametrize(
    ("arguments", "typed"),
    [
        (["train", "/home/me/data/train/", "--out", "../models/my model.npz"], "train train --out 'my model.npz'"),
        (["train", "data", "--out=/home/me/m.npz", "--min-gain", "0.005"], "train data --out=m.npz --min-gain 0.005"),
        (["train", "a/lr=3/b", ".", "..", "/", "", "-x"], "train b . .. / '' -x"),
    ],
)
def test_a_command_is_stored_without_folders(arguments, typed):
    assert as_typed(arguments) == f"posepipe {typed}"


def true_pack(folder, **changes):
    """A blob 2 m away, called a person, whose head is known."""
    arrays = {
        "depth_mm": np.zeros((2, 48, 64), np.uint16),
        "K": np.array([57, 57, 31.5, 23.5]),
        "joints_m": np.full((2, 1, 3), [0, 0, 2.1]),
        "joint_names": np.array(["head"]),
        **changes,
    }
    arrays["depth_mm"][:, 10:40, 20:40] = 2000
    np.savez(folder / "pack.npz", **arrays)
    return folder / "pack.npz"


def test_packs_with_true_joints_are_scored_and_gaps_are_null(tmp_path, capsys):
    figures = tmp_path / "figures.json"
    assert main(["evaluate", str(true_pack(tmp_path)), "--json", str(figures)]) == 0
    (report,) = json.loads(figures.read_text())["models"].values()
    assert (report["frames"], report["people"], report["mean_part_accuracy"]) == (2, 2, None)
    assert report["joints"]["head"]["within_10cm"] is not None
    assert report["joints"]["neck"]["within_10cm"] is None
    printed = capsys.readouterr().out
    assert "visible joints within 10 cm" in printed
    assert "part accuracy" not in printed
    assert "nan" not in printed


def test_recordings_that_cannot_be_scored_are_one_line(tmp_path, capsys):
    pack = true_pack(tmp_path)
    assert "--oracle needs pixels labelled" in error_of(capsys, "evaluate", pack, "--oracle")
    assert "score them apart" in error_of(capsys, "evaluate", pack, tmp_path)
    assert "has none of tail" in error_of(capsys, "evaluate", true_pack(tmp_path, joint_names=np.array(["tail"])))
    pack.write_bytes(pack.read_bytes()[:300])
    assert "not an NPZ pack, or a cut one" in error_of(capsys, "evaluate", pack)


def test_a_swallowed_ctrl_c_stops_at_the_next_frame(monkeypatch):
    from apps.terminal import interrupts, progress

    monkeypatch.setattr(interrupts, "_interrupted", True)
    with pytest.raises(KeyboardInterrupt), progress.ProgressBar(3, "work", "frames") as bar:
        bar.update()
