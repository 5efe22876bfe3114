"""Training as one flow: what it leaves behind, and that an interrupted run goes on to the same model."""

import io
import json
import os
import signal
import subprocess
import sys
import time
from contextlib import redirect_stdout
from dataclasses import replace

import numpy as np
import pytest

from apps.cli import build_parser, main
from apps.training.train_stages import forest_parameters
from posepipe.datasets.dataset import open_datasets
from posepipe.learn.depth import training_memory
from posepipe.learn.depth.depth_forest import DepthForest
from posepipe.learn.depth.forest_parameters import ForestParameters
from posepipe.learn.depth.probes.probe_rules import CLAMPED
from posepipe.models.pose_model import PoseModel
from posepipe.models.provenance import source_revision
from tests.support.toy_person import toy_model

FRAMES = 24


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("training") / "data"
    assert main(["synth", str(folder), "--frames", str(FRAMES), "--seed", "8", "--workers", "1"]) == 0
    return folder


@pytest.fixture(scope="module")
def trained(dataset, tmp_path_factory):
    """A model, and what its training printed. Tests copy the model and leave it unchanged."""
    out, printed = tmp_path_factory.mktemp("trained") / "my model.npz", io.StringIO()
    with redirect_stdout(printed):
        assert main(train_arguments(dataset, out)) == 0
    return out, printed.getvalue()


def train_arguments(dataset, out, depth=6):
    small = ["--trees", "2", "--max-depth", str(depth), "--candidates", "40", "--pixels", "100", "--min-samples", "4"]
    return ["train", str(dataset), "--joints", str(dataset), "--out", str(out), *small]


def copied(trained, path):
    """A copy of the model and its card."""
    model, _ = trained
    for suffix in (".npz", ".md"):
        path.with_suffix(suffix).write_bytes(model.with_suffix(suffix).read_bytes())
    return path


def arrays(model):
    with np.load(model) as stored:
        return {name: stored[name] for name in stored.files if name != "header"}


def assert_same_model(one, other):
    one, other = arrays(one), arrays(other)
    assert one.keys() == other.keys()
    for name in one:
        np.testing.assert_array_equal(one[name], other[name], err_msg=name)


def header(model):
    with np.load(model) as stored:
        return json.loads(stored["header"].tobytes())


def test_training_reports_its_memory_and_leaves_only_the_model(trained):
    out, printed = trained
    assert "GB of memory" in printed
    assert printed.count("min left") >= 2
    names = ["my model.md", "my model.npz", "my model.seconds.json"]
    assert sorted(path.name for path in out.parent.iterdir()) == names


@pytest.mark.parametrize(("installed", "said"), [(200_000_000, True), (1 << 50, False), (None, False)])
def test_training_warns_of_a_machine_that_is_too_small(dataset, tmp_path, capsys, monkeypatch, installed, said):
    monkeypatch.setattr(training_memory, "installed_memory", lambda: installed)
    assert main(train_arguments(dataset, tmp_path / "model.npz", depth=2)) == 0
    warning = "this machine has 0.2 GB, and may end the training when it runs out; --memory 100M reads images from disk"
    assert (warning in capsys.readouterr().out) == said


def test_a_model_and_its_card_name_their_origin_and_no_folder(dataset, trained):
    out, _ = trained
    own, frames = header(out), open_datasets([dataset])
    durations = json.loads(out.with_suffix(".seconds.json").read_text())
    for of in ("", "joint_"):
        assert own[f"{of}recipes"] == frames.recipes
        assert own[f"{of}frames_identity"] == frames.identity
        assert own[f"{of}frames_revisions"] == [source_revision()]
        assert own[f"{of}source_revision"] == source_revision()
        assert own[f"{of}command"].startswith("posepipe train data --joints data --out 'my model.npz' --trees 2")
        assert f"{of}seconds" not in own
        assert durations[f"{of}seconds"] > 0
    assert not durations["resumed"]
    card = out.with_suffix(".md").read_text()
    assert card.startswith("# my model\n")
    for fact in (own["command"], frames.identity, frames.recipes[0]["pose_bank"], 'sensor = "kinect-v1-320"'):
        assert fact in card
    assert str(out.parent) not in card + json.dumps(own)
    assert dataset.parent.name not in card + json.dumps(own)


def test_out_of_bag_accuracy_is_reported_stored_and_shown(trained, capsys):
    out, printed = trained
    about = header(out)["out_of_bag"]
    assert about["frames"] == FRAMES
    assert len(about["of_trees"]) == 2
    line = f"Out-of-bag part accuracy {about['part_accuracy']:.3f} ({FRAMES} training frames"
    assert line in printed
    assert line in out.with_suffix(".md").read_text()
    assert main(["info", str(out)]) == 0
    shown = capsys.readouterr().out
    assert json.loads(shown[shown.index("\n{") :])["out_of_bag"] == about


def test_refitting_joints_keeps_the_prose_and_drops_the_figures(dataset, trained, tmp_path, capsys):
    out = copied(trained, tmp_path / "model.npz")
    card = out.with_suffix(".md")
    assert main(["evaluate", str(dataset), "--model", str(out), "--frames", "4", "--card"]) == 0
    assert "### data: 4 frames" in card.read_text()
    card.write_text(card.read_text() + "\nProse.\n")
    before = header(out)
    refit = ["train", str(dataset), "--forest", str(out), "--joint-frames", "15", "--out", str(out)]
    assert main(refit) == 0
    after = header(out)
    assert before["figures"]
    assert "figures" not in after
    assert after["joint_frames"] == 15
    assert after["joint_command"] == "posepipe train data --forest model.npz --joint-frames 15 --out model.npz"
    for kept in ("command", "frames_identity"):
        assert after[kept] == before[kept]
    text = card.read_text()
    assert "### data" not in text
    assert after["command"] in text
    assert after["joint_command"] in text
    assert text.endswith("\nProse.\n")


def test_evaluate_writes_its_figures_into_model_and_card(dataset, trained, tmp_path, capsys):
    one, other = copied(trained, tmp_path / "one.npz"), tmp_path / "other.npz"
    other.write_bytes(one.read_bytes())  # without a card
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


def test_options_of_the_trees_are_parameters_of_the_forest():
    def parameters(*options):
        return forest_parameters(build_parser().parse_args(["train", "data", "--out", "m.npz", *options]))

    assert parameters() == ForestParameters()
    assert parameters("--class-weight", "balanced") == ForestParameters(class_weight="balanced")
    assert parameters("--share-frames") == ForestParameters(share_frames=True)
    assert parameters("--class-weight", "none", "--probe-range", "0.4").offsets.longest_m == 0.4


def test_resuming_a_finished_run_or_refitting_changes_nothing(dataset, trained, tmp_path, capsys):
    (first, _), again, refit = trained, tmp_path / "again.npz", tmp_path / "refit.npz"
    assert main([*train_arguments(dataset, again), "--resume"]) == 0
    assert main(["train", str(dataset), "--forest", str(first), "--out", str(refit)]) == 0
    assert_same_model(first, again)
    assert_same_model(first, refit)


def test_joints_are_refitted_to_a_forest_of_foreign_probes(dataset, trained, tmp_path):
    model = PoseModel.load(trained[0])
    foreign = DepthForest(model.forest.trees, model.forest.offsets, model.body, probes=CLAMPED)
    PoseModel.of(foreign).save(tmp_path / "foreign.npz")
    out = tmp_path / "refit.npz"
    options = ["--forest", str(tmp_path / "foreign.npz"), "--joints-from", "parts", "--joint-frames", "8"]
    assert main(["train", str(dataset), *options, "--out", str(out)]) == 0
    assert not PoseModel.load(out).forest.symmetric


def test_refitting_joints_walks_the_trees_as_their_model_does(dataset, trained, tmp_path):
    model, once, out = PoseModel.load(trained[0]), tmp_path / "once.npz", tmp_path / "refit.npz"
    replace(model, forest=model.forest.with_symmetry(False)).save(once)
    assert main(["train", str(dataset), "--forest", str(once), "--joint-frames", "8", "--out", str(out)]) == 0
    assert not PoseModel.load(out).forest.symmetric
    assert header(out)["out_of_bag"] == header(once)["out_of_bag"]


def test_a_model_without_votes_says_how_to_refit_its_joints(dataset, trained, tmp_path, capsys):
    bare, out = tmp_path / "bare.npz", tmp_path / "refit.npz"
    PoseModel.of(PoseModel.load(trained[0]).forest).save(bare)
    options = ["--forest", str(bare), "--joints-from", "both"]
    assert main(["train", str(dataset), *options, "--out", str(out)]) == 1
    assert "--votes, or take joints from parts (--joints-from parts)" in capsys.readouterr().err


def test_frames_for_votes_give_a_model_votes(dataset, trained, tmp_path):
    out = tmp_path / "refit.npz"
    options = ["--forest", str(trained[0]), "--votes", str(dataset), "--joint-frames", "8"]
    assert main(["train", str(dataset), *options, "--out", str(out)]) == 0
    assert not PoseModel.load(trained[0]).votes
    assert PoseModel.load(out).votes
    assert header(out)["joints_from"] == "both"


def test_trees_walked_once_lose_the_accuracy_of_both_walks(dataset, trained, tmp_path):
    out = tmp_path / "refit.npz"
    options = ["--forest", str(trained[0]), "--joint-frames", "8", "--no-mirror"]
    assert main(["train", str(dataset), *options, "--out", str(out)]) == 0
    assert not PoseModel.load(out).forest.symmetric
    assert "out_of_bag" not in header(out)
    assert "Out-of-bag" not in out.with_suffix(".md").read_text()


def test_resuming_with_other_parameters_is_refused(dataset, tmp_path, capsys):
    out = tmp_path / "model.npz"
    folder = tmp_path / "model.training"
    folder.mkdir()
    (folder / "run.json").write_text('{"digest": "of another run"}')
    assert main([*train_arguments(dataset, out), "--resume"]) == 1
    assert "other parameters or data" in capsys.readouterr().err


def test_an_interrupted_training_is_lost_to_no_other(dataset, trained, tmp_path, capsys):
    folder = tmp_path / "model.training"
    folder.mkdir()
    (folder / "tree-0.npz").write_bytes(b"a day of growing")
    out = tmp_path / "model.npz"
    assert main(train_arguments(dataset, out)) == 1
    assert "model.training holds 1 tree of an interrupted run; give --resume to go on" in capsys.readouterr().err
    model, _ = trained
    assert main(["train", str(dataset), "--forest", str(model), "--joint-frames", "15", "--out", str(out)]) == 0
    assert (folder / "tree-0.npz").read_bytes() == b"a day of growing"


def test_a_training_that_fails_at_once_leaves_nothing(dataset, tmp_path, capsys):
    toy, out = tmp_path / "toy.npz", tmp_path / "m.npz"
    toy_model().save(toy)
    assert main(["train", str(dataset), "--forest", str(toy), "--only", "filter", "--out", str(out)]) == 1
    assert "error" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == [toy]


def test_one_frame_is_too_few_for_trees_and_joints(tmp_path, capsys):
    assert main(["synth", str(tmp_path / "one"), "--frames", "1", "--workers", "1"]) == 0
    capsys.readouterr()
    assert main(["train", str(tmp_path / "one"), "--out", str(tmp_path / "m.npz")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "one: wanted 2 frames or more" in line
    assert line.endswith("got 1; give more, or --joints DATASET")


@pytest.mark.parametrize("option", ["--joints", "--votes"])
def test_frames_without_people_are_refused_before_trees_grow(dataset, tmp_path, capsys, option):
    recipe, empty, out = tmp_path / "empty.toml", tmp_path / "empty", tmp_path / "m.npz"
    recipe.write_text("[scene]\nroom_share = 1.0\nempty_room_share = 1.0\n")
    assert main(["synth", str(empty), "--recipe", str(recipe), "--frames", "2", "--workers", "1"]) == 0
    capsys.readouterr()
    assert main(["train", str(dataset), option, str(empty), "--out", str(out)]) == 1
    kind = option.removeprefix("--").removesuffix("s")
    assert f"{kind} frames: wanted some with people, and none of these 2 shows any" in capsys.readouterr().err
    assert not out.with_suffix(".training").exists()


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


def test_one_stage_is_trained_and_the_others_stay(trained, tmp_path, capsys):
    rooms = tmp_path / "rooms"
    assert main(["synth", str(rooms), "--recipe", "rooms", "--frames", "6", "--workers", "1"]) == 0
    out, (model, _) = tmp_path / "with segmentation.npz", trained
    arguments = ["train", str(rooms), "--forest", str(model), "--only", "segmentation", "--out", str(out)]
    assert main(arguments) == 0
    before, after = PoseModel.load(model), PoseModel.load(out)
    assert before.segmentation is None
    assert after.person_segmentation() is not None
    np.testing.assert_array_equal(after.forest.trees[0].feature, before.forest.trees[0].feature)
    assert after.metadata["segmentation"]["frames"] == 6
    card = out.with_suffix(".md").read_text()
    assert "found by a segmentation forest" in card
    assert "Recipe of the frames for the segmentation" in card
    (tmp_path / "with segmentation.seconds.json").unlink()  # of a model that came without it
    refit = tmp_path / "refit.npz"
    assert main(["train", str(rooms), "--forest", str(out), "--only", "joints", "--out", str(refit)]) == 0
    np.testing.assert_array_equal(
        PoseModel.load(refit).segmentation.trees[0].feature, after.segmentation.trees[0].feature
    )
    assert "found by a segmentation forest" in refit.with_suffix(".md").read_text()
    again = tmp_path / "twice.npz"
    assert main(["train", str(rooms), "--forest", str(out), "--only", "second-pass", "--out", str(again)]) == 0
    assert PoseModel.load(again).metadata["second_pass"]["frames"] == 6
    assert "labelled anew" in again.with_suffix(".md").read_text()
    assert main(["train", str(rooms), "--forest", str(again), "--only", "joints", "--out", str(refit)]) == 0
    assert PoseModel.load(refit).second_pass is None  # it was fitted to other poses
    judged = tmp_path / "with filter.npz"
    arguments = ["train", str(rooms), "--forest", "person", "--only", "filter", "--out", str(judged)]
    assert main(arguments) == 0
    taught = PoseModel.load(judged)
    assert taught.person_classifier is not None
    assert 0 < taught.metadata["person_filter"]["people"] < taught.metadata["person_filter"]["candidates"]
    assert "judged by a person filter" in judged.with_suffix(".md").read_text()
    weighed = tmp_path / "with weight.npz"
    capsys.readouterr()
    assert main(["train", str(rooms), "--forest", "person", "--only", "background", "--out", str(weighed)]) == 0
    weight = PoseModel.load(weighed).metadata["background_weight"]
    assert f"its weight is now {weight:.3f}" in capsys.readouterr().out
    assert f"weight of class 0 in the leaves: {weight:g}" in weighed.with_suffix(".md").read_text()
    assert main(["train", str(rooms), "--only", "segmentation", "--out", str(out)]) == 1
    assert "name it with --forest" in capsys.readouterr().err


def test_a_region_filter_is_trained_on_frames_of_its_own(trained, tmp_path, capsys):
    rooms, out = tmp_path / "rooms", tmp_path / "with regions.npz"
    assert main(["synth", str(rooms), "--recipe", "rooms", "--frames", "24", "--workers", "1"]) == 0
    assert main(["train", str(rooms), "--forest", "person", "--only", "regions", "--out", str(out)]) == 0
    about = PoseModel.load(out).metadata["region_filter"]
    assert 0 < about["people"] < about["regions"]
    assert "judged by a region filter" in out.with_suffix(".md").read_text()
    model, _ = trained
    assert main(["train", str(rooms), "--forest", str(model), "--only", "regions", "--out", str(out)]) == 1
    assert "no person classifier; train one by posepipe train --only filter" in capsys.readouterr().err
