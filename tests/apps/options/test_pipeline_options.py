"""Options win over the file of thresholds, and both reach the results."""

from __future__ import annotations

import pytest

from apps.bench import RECORDING
from apps.cli import build_parser, main
from apps.options.pipeline_options import pipeline_maker
from posepipe.sinks.files.results_reader import read_results
from tests.support.shipped_model import shipped_model


def asked(*typed):
    make, smooth = pipeline_maker(build_parser().parse_args(["run", "walk.mcap", *typed]), shipped_model())
    return make(), smooth


@pytest.fixture
def thresholds(tmp_path):
    path = tmp_path / "thresholds.toml"
    path.write_text("max_people = 2\nsmooth = true\n\n[person_filter]\nmin_confidence = 0.75\n")
    return str(path)


def test_a_file_of_thresholds_sets_the_pipeline(thresholds):
    pipeline, smooth = asked("--thresholds", thresholds)
    assert (pipeline.person_filter.min_confidence, pipeline.max_people, smooth) == (0.75, 2, True)
    plain, smooth = asked()
    assert (plain.person_filter.min_confidence, plain.max_people, smooth) == (0.1, None, False)


def test_options_win_over_the_file(thresholds):
    pipeline, smooth = asked("--thresholds", thresholds, "--max-people", "3", "--no-tracking")
    assert (pipeline.max_people, pipeline.smoother, smooth) == (3, None, False)


@pytest.mark.parametrize("typed", ["--min-confidence=2", "--min-confidence=nan", "--min-confidence=high"])
def test_a_confidence_is_a_number_from_0_to_1(typed, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "walk.mcap", typed])
    assert stop.value.code == 2
    assert "wanted a number from 0 to 1" in capsys.readouterr().err


@pytest.mark.parametrize(("confidence", "people"), [("0", 1), ("1", 0)])
def test_run_leaves_people_of_low_confidence_out(tmp_path, confidence, people):
    out = tmp_path / "results.jsonl"
    assert main(["run", str(RECORDING), "--end", "0.04", "--min-confidence", confidence, "--out", str(out)]) == 0
    assert [len(frame.people) for frame in read_results(out).frames] == [people] * 2


def test_a_missing_file_of_thresholds_ends_in_one_line(tmp_path, capsys):
    absent = str(tmp_path / "absent.toml")
    assert main(["run", str(RECORDING), "--thresholds", absent, "--out", str(tmp_path / "r.jsonl")]) == 1
    assert capsys.readouterr().err.splitlines() == [f"posepipe: error: {absent}: No such file or directory"]
