"""A place that cannot be written is an error before hours of work, not after them."""

from __future__ import annotations

import shutil
import sys

import pytest

from apps import train
from apps.cli import main
from posepipe.errors import PosepipeError
from posepipe.models.registry import models_dir
from tests.support.paths import WALK


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Folders where files are wanted, and a file where a folder is."""
    for folder in ("figures.json", "m.npz", "mine.md", "poses/camera-2.json", "report/report.html", "figure.png"):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "file").write_text("")
    shutil.copy(models_dir() / "person.npz", tmp_path / "mine.npz")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("evaluate nothing --json figures.json", "figures.json: is a folder"),
        ("evaluate nothing --json file/figures.json", "file/figures.json: "),
        ("evaluate nothing --tracks --json figures.json", "figures.json: is a folder"),
        ("evaluate nothing more --views --json figures.json", "figures.json: is a folder"),
        ("evaluate nothing --empty --json figures.json", "figures.json: is a folder"),
        ("evaluate nothing --report file", "file/report.html: wanted a folder at file"),
        ("evaluate nothing --report report", "report/report.html: is a folder"),
        ("evaluate nothing --model mine.npz --card", "mine.md: is a folder"),
        ("evaluate --suite suite --figure figure.png", "figure.png: is a folder"),
        ("bench nothing --json figures.json", "figures.json: is a folder"),
        ("train nothing --out m.npz", "m.npz: is a folder"),
        ("train nothing --out file/new.npz", "file/new.npz: "),
        ("train nothing --forest mine.npz --only filter --out m.npz", "m.npz: is a folder"),
        ("calibrate nothing more --out poses", "poses/camera-2.json: is a folder"),
        ("calibrate nothing more --out file/poses", "file/poses/camera-1.json: "),
    ],
)
def test_a_place_is_tried_before_anything_is_read(place, capsys, words, says):
    assert main(words.split()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"posepipe: error: {says}")


def test_a_failed_command_leaves_no_folder_behind(place):
    before = sorted(place.rglob("*"))
    assert main(["evaluate", "nothing", "--json", "new/figures.json"]) == 1
    assert main(["train", "nothing", "--out", "new/m.npz"]) == 1
    assert sorted(place.rglob("*")) == before


def test_a_model_is_not_changed_where_it_cannot_be_written(place, capsys):
    (place / "file").touch()
    assert main(["convert", "person", "file/small.npz", "--prune-by", "absent"]) == 1
    assert "file/small.npz: wanted a folder at file, a file is there" in capsys.readouterr().err


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks")
def test_a_model_is_trained_once_at_a_time(place, capsys, monkeypatch):
    def twice(args):
        assert main(["train", "nothing", "--out", "new.npz"]) == 1
        raise PosepipeError("the first went on")

    monkeypatch.setitem(train.TRAININGS, "all", twice)
    assert main(["train", "data", "--out", "new.npz"]) == 1
    of_second, of_first = capsys.readouterr().err.splitlines()
    assert of_second == "posepipe: error: new.npz: another program is writing this file; give another name"
    assert "the first went on" in of_first
    assert not list(place.glob("new*"))


@pytest.mark.parametrize("option", ["--record", "--masks", "--video", "--bvh"])
def test_an_output_that_cannot_be_written_replaces_no_results(option, tmp_path):
    older, file = tmp_path / "r.jsonl", tmp_path / f"a{ {'--video': '.mp4', '--bvh': '.bvh'}.get(option, '.mcap') }"
    older.write_text("older")
    file.with_name(f"{file.name}.posepipe-partial").mkdir()  # where it would be written first
    assert main(["run", str(WALK), "--out", str(older), option, str(file)]) == 1
    assert older.read_text() == "older"
