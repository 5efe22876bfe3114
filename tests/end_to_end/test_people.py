"""From nothing to joints: render, train, evaluate and run through the command line, as a user does."""

import json

import numpy as np
import pytest

from apps.cli import main
from posepipe.datasets.dataset import Dataset
from posepipe.pipeline import Pipeline
from posepipe.sinks import read_results

FRAMES = 80  # with fewer people the joint parameters are too poor


@pytest.fixture(scope="module")
def lab(tmp_path_factory):
    folder = tmp_path_factory.mktemp("end_to_end")
    recipe = folder / "facing.toml"
    recipe.write_text(
        f'frames = {FRAMES}\nseed = 5\nposes = "all"\ndistance_m = [2.0, 2.5]\naside = [-0.1, 0.1]\n'
        "facing_share = 1.0\nfacing_spread_deg = 10.0\nrelax_share = 1.0\n"
    )
    assert main(["synth", str(folder / "data"), "--recipe", str(recipe), "--workers", "1"]) == 0
    train = ["train", str(folder / "data"), "--joints", str(folder / "data"), "--out", str(folder / "small.npz")]
    small = ["--trees", "2", "--max-depth", "14", "--candidates", "100", "--pixels", "500", "--min-samples", "2"]
    assert main([*train, *small]) == 0
    return folder


def test_joints_of_training_people_lie_within_centimetres(lab):
    out = lab / "results.jsonl"
    cut_out = ["--foreground", "none"]
    assert main(["run", str(lab / "data"), "--model", str(lab / "small.npz"), "--out", str(out), *cut_out]) == 0
    results = read_results(out)
    assert len(results.frames) == FRAMES
    errors = []
    with Dataset.open(lab / "data") as dataset:
        for frame, row in zip(dataset, results.frames, strict=True):
            (person,) = row.people
            for k, joint in enumerate(dataset.body.joints):
                if frame.visible[0, k]:
                    found = person.pose.joints.get(joint)
                    place = (9, 9, 9) if found is None else found.xyz_m  # missing is an error like any other
                    errors.append(np.linalg.norm(np.subtract(place, frame.joints_m[0, k])))
    assert np.median(errors) < 0.04
    assert np.mean(np.array(errors) < 0.1) > 0.8


def test_evaluate_writes_the_figures_it_prints(lab, capsys):
    figures, some = lab / "figures.json", FRAMES // 2
    model = str(lab / "small.npz")
    evaluate = ["evaluate", str(lab / "data"), "--model", model, "--frames", str(some), "--json", str(figures)]
    assert main(evaluate) == 0
    report = json.loads(figures.read_text())["models"][model]
    assert report["frames"] == some
    assert report["mean_part_accuracy"] > 0.5  # each tree has seen half of the frames
    assert report["joints_mean"]["left_right_flips"] < 0.02  # one of them is seen from the side
    headline = next(line for line in capsys.readouterr().out.splitlines() if line.startswith("mean part accuracy"))
    assert float(headline.split()[-1]) == round(report["mean_part_accuracy"], 3)


def test_info_knows_models_datasets_and_results(lab, capsys):
    assert main(["info", str(lab / "small.npz")]) == 0
    assert "31 parts, 20 joints" in capsys.readouterr().out
    assert main(["info", str(lab / "data")]) == 0
    assert f"{FRAMES} labelled frames" in capsys.readouterr().out


def test_no_tracking_makes_every_frame_alone(lab):
    pipeline = Pipeline.load(lab / "small.npz", tracking=False)
    with Dataset.open(lab / "data") as dataset:
        frames = [frame.depth for frame in dataset.frames(0, 6)]
    forward = [pipeline.step(frame).people for frame in frames]
    backward = [pipeline.step(frame).people for frame in reversed(frames)]
    assert forward == backward[::-1]
