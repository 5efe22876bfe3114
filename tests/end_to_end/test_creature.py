"""A creature that is no person, through the same commands: rendered, learned, evaluated."""

import json

import pytest

from apps.cli import main
from tests.support.paths import EXAMPLES


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    folder = tmp_path_factory.mktemp("creature")
    creature = ["--recipe", str(EXAMPLES / "quadruped-recipe.toml"), "--body", str(EXAMPLES / "quadruped.toml")]
    assert main(["synth", str(folder / "data"), *creature, "--frames", "250", "--workers", "1"]) == 0
    assert main(["synth", str(folder / "others"), *creature, "--seed", "2", "--frames", "40", "--workers", "1"]) == 0
    small = ["--trees", "1", "--max-depth", "12", "--candidates", "100", "--out", str(folder / "dog.npz")]
    assert main(["train", str(folder / "data"), *small]) == 0
    json_file = folder / "figures.json"
    assert main(["evaluate", str(folder / "others"), "--model", str(folder / "dog.npz"), "--json", str(json_file)]) == 0
    (report,) = json.loads(json_file.read_text())["models"].values()
    return report


def test_parts_of_an_animal_are_labelled_far_better_than_chance(figures):
    # always saying one part gives it a recall of 1 and all others 0
    assert figures["mean_part_accuracy"] > 1 / len(figures["part_recall"]) + 0.3


def test_joints_of_an_animal_are_found(figures):
    assert figures["joints_mean"]["within_15cm"] > 0.6
    assert set(figures["joints"]) >= {"head", "tail", "left_forepaw", "right_hindpaw"}
