"""Training as one flow: what it leaves behind, and what a kill costs."""

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest

from apps.cli import main


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
    assert [path.name for path in tmp_path.iterdir()] == ["model.npz"]


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
