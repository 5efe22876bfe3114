"""No output replaces a file that its command reads: one line, exit code 1, and the file as it was."""

from __future__ import annotations

import shutil

import numpy as np
import pytest

from apps.cli import main
from posepipe.camera import Intrinsics
from posepipe.datasets.dataset import MANIFEST_NAME
from posepipe.frames import DepthFrame
from posepipe.models.registry import models_dir
from posepipe.sources import open_source
from posepipe.sources.conversion import convert_frames
from posepipe.sources.formats.npz_pack import write_npz_pack
from posepipe.sources.formats.png_folder import write_png_folder


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Folder with every kind of file that a command reads; nothing of it is opened before the refusal."""
    lens = Intrinsics(57, 57, 31.5, 23.5)
    frames = [DepthFrame(np.zeros((48, 64), np.float32), lens, i / 30, i) for i in range(3)]
    write_npz_pack(tmp_path / "a.npz", frames)
    write_npz_pack(tmp_path / "b.npz", frames)
    convert_frames(open_source(tmp_path / "a.npz"), tmp_path / "empty.mcap")
    write_png_folder(tmp_path / "pngs", frames)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / MANIFEST_NAME).write_text("{}")
    shutil.copy(tmp_path / "empty.mcap", tmp_path / "data" / "frames-00000.mcap")
    (tmp_path / "poses").mkdir()
    for name in ("people.json", "camera.json", "body.json", "labels.json", "poses/camera-2.json", "t.jsonl"):
        (tmp_path / name).write_text("{}")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("run a.npz --background empty.mcap --record empty.mcap --overwrite", "would replace the background that"),
        ("run camera:pipe:t.jsonl --out t.jsonl", "--out t.jsonl would replace a file of the source"),
        ("run a.npz --background pngs --pictures pngs", "--pictures pngs would lie among the frames of the background"),
        ("run a.npz --thresholds t.jsonl --out t.jsonl", "--out t.jsonl would replace the thresholds that are read"),
        ("run a.npz b.npz --extrinsics t.jsonl --extrinsics body.json --out t.jsonl", "would replace the extrinsics"),
        ("run a.npz --background data --record data/frames-00000.mcap --overwrite", "replace a file of the background"),
        ("evaluate a.npz --labels labels.json --json labels.json", "would replace the labels that are read"),
        ("evaluate data --json data/dataset.json", "--json data/dataset.json would replace a file of the dataset"),
        ("evaluate data/dataset.json --json data/dataset.json", "would replace the dataset that is read"),
        ("evaluate data/frames-00000.mcap --json data/dataset.json", "would replace the dataset.json of the dataset"),
        ("evaluate a.npz --body-model body.json --json ./body.json", "would replace the body model that is read"),
        ("evaluate a.npz --body-model p/figures.json --report p", "p/figures.json would replace the body model"),
        ("bench pngs --json pngs/camera.json", "--json pngs/camera.json would replace a file of the source"),
        ("explain a.npz --part head --camera t.svg --draw t.svg", "would replace the calibration that is read"),
        ("convert person t.json --prune-by data --prune 0.5 --camera t.json", "t.json would replace the calibration"),
        ("convert person data/dataset.json --prune-by data", "error: data/dataset.json would replace a file of"),
        ("calibrate a.npz b.npz --out poses --extrinsics poses/camera-2.json", "would replace the extrinsics"),
        ("evaluate data --json new/figures.json --report new", "--report new/figures.json is the file of --json"),
        ("train data --out d.npz --joints d.npz", "--out d.npz would replace the dataset that is read"),
    ],
)  # fmt: skip
def test_an_output_that_is_read_is_refused(place, capsys, words, says):
    before = contents(place)
    assert main(words.split()) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert says in line
    assert line.endswith(("; give another name", "; give another folder"))
    assert contents(place) == before


def test_a_shipped_model_is_not_replaced_by_its_own_copy(tmp_path, monkeypatch, capsys):
    shipped = shutil.copy(models_dir() / "person-fast.npz", tmp_path / "person.npz")
    monkeypatch.setattr("posepipe.models.registry.models_dir", lambda: tmp_path)
    before = contents(tmp_path)
    assert main(["convert", "person", str(shipped), "--trees", "1"]) == 1
    assert "person.npz would replace a file of the source" in capsys.readouterr().err
    assert contents(tmp_path) == before


@pytest.mark.parametrize("words", ["evaluate a.npz --json m.npz", "bench --json office.mcap"])
def test_figures_have_a_name_of_their_own(words, capsys):
    with pytest.raises(SystemExit) as stop:
        main(words.split())
    assert stop.value.code == 2
    assert "wanted a name that ends in .json" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--record", "--masks"])
def test_run_replaces_a_recording_only_when_told_to(place, capsys, option):
    older = (place / "empty.mcap").read_bytes()
    assert main(["run", "a.npz", option, "empty.mcap"]) == 1
    assert f"{option} empty.mcap exists; give another name, or --overwrite" in capsys.readouterr().err
    assert (place / "empty.mcap").read_bytes() == older
    assert main(["run", "a.npz", option, "empty.mcap", "--overwrite"]) == 0
    assert (place / "empty.mcap").read_bytes() != older


def test_figures_lie_in_a_folder_of_frames_and_are_renewed(place):
    for _ in range(2):
        assert main(["bench", "pngs", "--frames", "1", "--json", "pngs/figures.json"]) == 0
