"""Training as one flow: what it leaves behind, and what a kill costs."""

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from apps.cli import main
from posepipe.datasets.dataset import open_datasets
from posepipe.models.provenance import source_revision


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "data"
    assert main(["synth", str(folder), "--frames", "40", "--seed", "8", "--workers", "1"]) == 0
    return folder


def train_arguments(dataset, out, depth=6):
    small = ["--trees", "2", "--depth", str(depth), "--candidates", "40", "--pixels", "100", "--min-samples", "4"]
    return ["train", str(dataset), "--joints", str(dataset), "--out", str(out), *small]


def arrays(model):
    with np.load(model) as stored:
        return {name: stored[name] for name in stored.files if name != "header"}


def assert_same_model(one, other):
    one, other = arrays(one), arrays(other)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def test_training_says_what_it_needs_and_leaves_the_model_alone(dataset, tmp_path, capsys):
    out = tmp_path / "model.npz"
    assert main(train_arguments(dataset, out)) == 0
    printed = capsys.readouterr().out
    assert "GB of memory" in printed
    assert printed.count("min left") >= 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model.md", "model.npz"]


def header(model):
    with np.load(model) as stored:
        return json.loads(stored["header"].tobytes())


def test_a_model_and_its_card_say_what_it_was_made_from_and_no_folder_of_this_machine(dataset, tmp_path, capsys):
    out = tmp_path / "my model.npz"
    assert main(train_arguments(dataset, out)) == 0
    own, frames = header(out), open_datasets([dataset])
    for of in ("", "joint_"):
        assert own[f"{of}recipes"] == frames.recipes
        assert own[f"{of}frames_identity"] == frames.identity
        assert own[f"{of}frames_revisions"] == [source_revision()]
        assert own[f"{of}source_revision"] == source_revision()
        assert own[f"{of}command"].startswith("posepipe train data --joints data --out 'my model.npz' --trees 2")
        assert own[f"{of}seconds"] > 0
    assert not own["resumed"]
    card = out.with_suffix(".md").read_text()
    assert card.startswith("# my model\n")
    for fact in (own["command"], frames.identity, frames.recipes[0]["pose_bank"], 'sensor = "kinect-v1-320"'):
        assert fact in card
    assert str(tmp_path) not in card + json.dumps(own)
    assert dataset.parent.name not in card + json.dumps(own)


def test_learning_joints_anew_keeps_the_prose_and_drops_the_figures(dataset, tmp_path, capsys):
    out = tmp_path / "model.npz"
    card = out.with_suffix(".md")
    assert main(train_arguments(dataset, out)) == 0
    assert main(["evaluate", str(dataset), "--model", str(out), "--frames", "4", "--card"]) == 0
    assert "### data: 4 frames" in card.read_text()
    card.write_text(card.read_text() + "\nProse.\n")
    before = header(out)
    refit = ["train", str(dataset), "--forest", str(out), "--joint-frames", "30", "--out", str(out)]
    assert main(refit) == 0
    after = header(out)
    assert before["figures"]
    assert "figures" not in after
    assert after["joint_frames"] == 30
    assert after["joint_command"] == "posepipe train data --forest model.npz --joint-frames 30 --out model.npz"
    for kept in ("command", "seconds", "frames_identity"):
        assert after[kept] == before[kept]
    text = card.read_text()
    assert "### data" not in text
    assert after["command"] in text
    assert after["joint_command"] in text
    assert text.endswith("\nProse.\n")


def test_evaluate_puts_its_figures_into_the_model_and_a_card_that_it_makes(dataset, tmp_path, capsys):
    one, other = tmp_path / "one.npz", tmp_path / "other.npz"
    assert main(train_arguments(dataset, one)) == 0
    other.write_bytes(one.read_bytes())
    figures = tmp_path / "figures.json"
    command = ["evaluate", str(dataset), "--model", str(one), "--model", str(other), "--frames", "4", "--card"]
    assert main([*command, "--json", str(figures)]) == 0
    report = json.loads(figures.read_text())
    for model in (one, other):
        (title,) = header(model)["figures"]
        assert title == report["frames"]
        kept, full = header(model)["figures"][title], report["models"][str(model)]
        assert kept["headline"]["mean part accuracy"] == full["mean_part_accuracy"]
        assert kept["joints"]["head"]["ap"] == full["joints"]["head"]["ap"]
        text = model.with_suffix(".md").read_text()
        assert f"| mean part accuracy | {full['mean_part_accuracy']:.3f} |" in text
        assert header(model)["command"] in text
    assert_same_model(one, other)


def test_resuming_a_finished_tree_and_refitting_joints_change_nothing(dataset, tmp_path, capsys):
    first, again, refit = (tmp_path / f"{name}.npz" for name in ("first", "again", "refit"))
    assert main(train_arguments(dataset, first)) == 0
    assert main([*train_arguments(dataset, again), "--resume"]) == 0
    assert main(["train", str(dataset), "--forest", str(first), "--out", str(refit)]) == 0
    assert_same_model(first, again)
    assert_same_model(first, refit)


def test_resuming_with_other_parameters_is_refused(dataset, tmp_path, capsys):
    out = tmp_path / "model.npz"
    folder = tmp_path / "model.training"
    folder.mkdir()
    (folder / "run.json").write_text('{"digest": "of another run"}')
    assert main([*train_arguments(dataset, out), "--resume"]) == 1
    assert "other parameters or data" in capsys.readouterr().err


@pytest.mark.slow
def test_twenty_kills_grow_the_same_trees(tmp_path):
    """A training process is killed at random moments, as by a power cut, until it gets through."""
    command = [sys.executable, "-m", "apps.cli"]
    data = tmp_path / "data"
    subprocess.run([*command, "synth", str(data), "--frames", "400", "--seed", "8"], check=True)
    subprocess.run([*command, *train_arguments(data, tmp_path / "whole.npz", depth=14)], check=True)
    rng = np.random.default_rng(0)
    broken = [*command, *train_arguments(data, tmp_path / "killed.npz", depth=14), "--resume"]
    for _ in range(20):
        process = subprocess.Popen(broken, start_new_session=True)
        time.sleep(rng.uniform(2, 12))
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    subprocess.run(broken, check=True)
    assert_same_model(tmp_path / "whole.npz", tmp_path / "killed.npz")
