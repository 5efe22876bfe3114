"""``posepipe evaluate`` of empty or cut files: refused in one line, or scored on what is left with a warning."""

from __future__ import annotations

import json

import pytest

from apps.cli import main
from posepipe.body import HUMAN
from posepipe.recording import RecordingReader
from posepipe.sinks import JsonLinesSink, ResultsHeader
from tests.support.rendered_people import recipe_of, render_people


@pytest.fixture
def recording(tmp_path):
    """Six frames, one recording of a dataset."""
    render_people(tmp_path / "data", recipe_of(frames=6, seed=1, poses="all"))
    return tmp_path / "data" / "frames-00000.mcap"


def warnings_of(capsys) -> list[str]:
    return [line for line in capsys.readouterr().err.splitlines() if line.startswith("posepipe: warning: ")]


def cut(path):
    content = path.read_bytes()
    path.write_bytes(content[: len(content) * 7 // 10])
    with RecordingReader(path) as reader:
        return len(reader)


def test_a_whole_recording_warns_of_nothing(recording, capsys):
    assert main(["evaluate", str(recording)]) == 0
    assert warnings_of(capsys) == []


def test_of_a_cut_recording_the_lost_frames_are_counted(recording, tmp_path, capsys):
    left = cut(recording)
    assert 0 < left < 6
    assert main(["evaluate", str(recording), "--json", str(tmp_path / "new" / "figures.json")]) == 0
    (line,) = warnings_of(capsys)
    assert f"{recording}: the recording was not closed: {left} complete frames were read" in line
    assert line.endswith(f"; {6 - left} of 6 frames are lost; figures are of what is left")
    assert f": {left} frames" in json.loads((tmp_path / "new" / "figures.json").read_text())["frames"]


def test_a_cut_recording_of_no_dataset_has_no_count(recording, tmp_path, capsys):
    alone = recording.rename(tmp_path / "alone.mcap")
    left = cut(alone)
    assert main(["evaluate", str(alone)]) == 0
    (line,) = warnings_of(capsys)
    assert f"{left} complete frames were read" in line
    assert "are lost" not in line


def test_figures_without_a_fitted_body_say_so(recording, tmp_path):
    titles = []
    for options in ([], ["--fit", "off"]):
        assert main(["evaluate", str(recording), "--json", str(tmp_path / "figures.json"), *options]) == 0
        titles.append(json.loads((tmp_path / "figures.json").read_text())["frames"])
    assert titles[1] == f"{titles[0]}, no body fitted"


@pytest.mark.parametrize("options", [[], ["--tracks"]])
def test_a_file_of_results_is_called_so(tmp_path, capsys, options):
    path = tmp_path / "results.jsonl"
    with JsonLinesSink(path, ResultsHeader(HUMAN.joints, "walk.mcap", "person")):
        pass
    assert main(["evaluate", str(path), *options]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"posepipe: error: {path}: the file holds results of a run; evaluate")
    assert "wants frames with their truth: a dataset, a labelled recording, or an NPZ pack with true joints" in line


def test_an_empty_file_is_called_so(tmp_path, capsys):
    (tmp_path / "empty.npz").write_bytes(b"")
    assert main(["evaluate", str(tmp_path / "empty.npz")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"posepipe: error: {tmp_path / 'empty.npz'}: the file is empty; wanted a labelled recording")
