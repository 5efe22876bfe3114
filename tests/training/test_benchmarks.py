"""Benchmarks of training run on a few frames."""

from __future__ import annotations

import sys

import pytest

from apps.cli import main
from benchmarks import training_scale, training_speed


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("benchmarks") / "data"
    assert main(["synth", str(folder), "--frames", "12", "--seed", "8", "--workers", "1"]) == 0
    return folder


def test_two_copies_of_the_code_grow_the_same_tree(dataset, monkeypatch, capsys):
    small = ["--pixels", "2000", "--candidates", "20", "--levels", "0", "1", "--repeats", "1", "--threads", "1"]
    monkeypatch.setattr(sys, "argv", ["training_speed", str(dataset), "--beside", str(training_speed.HERE), *small])
    training_speed.main()
    *rows, verdict = capsys.readouterr().out.splitlines()
    assert [row.split()[0] for row in rows[2:]] == ["0", "1"]
    assert verdict == "trees: the same"


def test_the_memory_of_growth_is_printed_for_each_size(dataset, monkeypatch, capfd):
    small = ["--pixels", "20", "--candidates", "10", "--max-depth", "3"]
    monkeypatch.setattr(sys, "argv", ["training_scale", str(dataset), "--frames", "12", "24", *small])
    monkeypatch.chdir(training_speed.HERE)
    training_scale.main()
    assert [row.split()[0] for row in capfd.readouterr().out.splitlines()[1:]] == ["12", "24"]
