"""Commands over a cluster write what they write on one machine."""

from __future__ import annotations

import json
import subprocess
import sys
from contextlib import nullcontext
from pathlib import Path

import cv2
import numpy as np
import pytest

pytest.importorskip("distributed", reason="needs the extra `cluster`")

from apps.cli import main
from posepipe.cluster.address import parse_address
from posepipe.cluster.cluster import open_cluster
from posepipe.models.registry import models_dir
from synth import dataset_writer
from tests.support.paths import WALK


@pytest.fixture(scope="module")
def shared_cluster():
    with open_cluster(parse_address("local:2")) as cluster:
        yield cluster


@pytest.fixture(autouse=True)
def commands_share_the_cluster(shared_cluster, monkeypatch):
    monkeypatch.setattr("posepipe.cluster.cluster.open_cluster", lambda address: nullcontext(shared_cluster))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory):
    folder = tmp_path_factory.mktemp("cluster") / "data"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dataset_writer, "RECORDING_FRAMES", 6)
        assert main(["synth", str(folder), "--frames", "12", "--seed", "8", "--workers", "1"]) == 0
    return folder


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_synth_renders_the_same_bytes(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr(dataset_writer, "RECORDING_FRAMES", 6)
    words = ["synth", str(tmp_path / "data"), "--frames", "12", "--seed", "8", "--cluster", "local:2"]
    assert main(words) == 0
    assert contents(tmp_path / "data") == contents(dataset)


def test_train_writes_the_same_trees(dataset, tmp_path):
    small = ["--trees", "1", "--max-depth", "4", "--candidates", "30", "--pixels", "60", "--joints-from", "parts"]
    for name, words in (("here", []), ("there", ["--cluster", "local:2"])):
        train = ["train", str(dataset), "--joints", str(dataset), "--out", str(tmp_path / f"{name}.npz")]
        assert main([*train, *small, *words]) == 0
    assert arrays(tmp_path / "there.npz") == arrays(tmp_path / "here.npz")


def arrays(model: Path) -> dict[str, bytes]:
    import numpy as np

    with np.load(model) as stored:
        return {name: stored[name].tobytes() for name in stored.files if name != "header"}


def test_evaluate_finds_the_same_figures(dataset, tmp_path, monkeypatch):
    monkeypatch.setattr("apps.evaluation.score_on_workers.BLOCK_FRAMES", 5)
    for name, words in (("here", []), ("there", ["--cluster", "local:2"])):
        files = ["--json", str(tmp_path / f"{name}.json"), "--report", str(tmp_path / name)]
        assert main(["evaluate", str(dataset), *files, *words]) == 0
    here, there = (json.loads((tmp_path / f"{name}.json").read_text()) for name in ("here", "there"))
    assert there == here
    assert contents(tmp_path / "there") == contents(tmp_path / "here")  # with the same pictures


def test_run_of_a_folder_is_that_of_each_recording(tmp_path):
    folder, step = tmp_path / "recordings", ["--frame-step", "12"]
    folder.mkdir()
    for name in ("one.mcap", "two.mcap"):
        (folder / name).write_bytes(WALK.read_bytes())
        assert main(["run", str(folder / name), "--out", str(tmp_path / "here" / f"{name[:3]}.jsonl"), *step]) == 0
    assert main(["run", str(folder), "--out", str(tmp_path / "there"), "--cluster", "local:2", *step]) == 0
    assert contents(tmp_path / "there") == contents(tmp_path / "here")


def test_a_resumed_run_leaves_out_what_has_results(tmp_path, capsys):
    folder, out = tmp_path / "recordings", tmp_path / "there"
    folder.mkdir()
    for name in ("one.mcap", "two.mcap"):
        (folder / name).write_bytes(WALK.read_bytes())
    words = ["run", str(folder), "--out", str(out), "--cluster", "local:2", "--frame-step", "12"]
    fast = ["--model", "person-fast", "--resume"]
    assert main([*words, *fast]) == 0
    first = contents(out)
    (out / "one.jsonl").rename(out / "one.unfinished.jsonl")  # as an interrupted run leaves it
    with (out / "two.jsonl").open("ab") as kept:
        kept.write(b"\n")
    capsys.readouterr()
    assert main([*words, *fast]) == 0
    assert "1 recording (1 had results), 5 frames" in capsys.readouterr().out
    assert contents(out) == {"one.jsonl": first["one.jsonl"], "two.jsonl": first["two.jsonl"] + b"\n"}
    assert main([*words, *fast]) == 0
    assert "no recording is left (2 had results)" in capsys.readouterr().out
    for other in (["--model", "person"], ["--model", "person-fast", "--no-tracking"]):
        assert main([*words, *other, "--resume"]) == 1
        assert "one.jsonl is of person-fast sha256:" in (said := capsys.readouterr().err)
        assert "leave out --resume to replace it" in said


def test_results_until_a_failure_have_another_name(tmp_path):
    folder, out = tmp_path / "recordings", tmp_path / "there"
    assert main(["convert", str(WALK), str(folder / "one"), "--frame-step", "12"]) == 0
    cv2.imwrite(str(sorted(folder.rglob("*.png"))[3]), np.full((10, 10), 1000, np.uint16))  # of another size
    words = ["--cluster", "local:1", "--model", "person-fast", "--out", str(out)]
    assert main(["run", str(folder), *words]) == 1
    assert [path.name for path in out.iterdir()] == ["one.unfinished.jsonl"]
    assert len((out / "one.unfinished.jsonl").read_text().splitlines()) == 1 + 3


def test_a_damaged_recording_costs_its_own_results_alone(tmp_path, capsys):
    folder, out = tmp_path / "recordings", tmp_path / "there"
    folder.mkdir()
    (folder / "one.mcap").write_bytes(WALK.read_bytes())
    (folder / "cut.mcap").write_bytes(WALK.read_bytes()[:100])
    (folder / "model.npz").write_bytes((models_dir() / "person-fast.npz").read_bytes())
    words = ["--cluster", "local:2", "--frame-step", "12", "--model", "person-fast"]
    assert main(["run", str(folder), "--out", str(out), *words]) == 1
    assert [path.name for path in out.iterdir()] == ["one.jsonl"]
    said = capsys.readouterr()
    assert "1 recording, 5 frames" in said.out
    lines = [line for line in said.err.splitlines() if "error" in line]
    assert sorted(lines[:-1])[0].startswith(f"posepipe: error: {folder / 'cut.mcap'}")
    assert sorted(lines[:-1])[1].startswith(f"posepipe: error: {folder / 'model.npz'}")
    assert lines[-1] == "posepipe: error: 1 of 3 recordings; 2 failed"


def test_warnings_of_workers_are_told_with_their_recording(tmp_path, capfd):
    folder = tmp_path / "recordings"
    folder.mkdir()
    for name, times in (("flat", 1), ("far", 8)):
        pack = {"depth_mm": np.full((6, 120, 160), 1500 * times, np.uint16), "K": np.array([140.0, 140.0, 79.5, 59.5])}
        np.savez(folder / f"{name}.npz", **pack)
    words = ["--cluster", "local:2", "--model", "person-fast", "--out", str(tmp_path / "there")]
    assert main(["run", str(folder), *words]) == 0
    lines = [line for line in capfd.readouterr().err.splitlines() if "depth" in line]
    assert len(lines) == 1
    assert lines[0].startswith(f"posepipe: {folder / 'far.npz'}: implausible depth, the median is 12 m")


def test_dots_in_the_name_of_a_folder_are_part_of_it(tmp_path):
    (tmp_path / "days").mkdir()
    for day in ("2026.03.01", "2026.03.02"):
        assert main(["convert", str(WALK), str(tmp_path / "frames"), "--frame-step", "30"]) == 0
        (tmp_path / "frames").rename(tmp_path / "days" / day)
    words = ["--cluster", "local:2", "--model", "person-fast", "--out", str(tmp_path / "there")]
    assert main(["run", str(tmp_path / "days"), *words]) == 0
    assert list(contents(tmp_path / "there")) == ["2026.03.01.jsonl", "2026.03.02.jsonl"]


def test_recordings_of_one_file_of_results_are_named(tmp_path, capsys):
    for name in ("one.bag", "two.mcap", "two.npz"):
        (tmp_path / name).write_bytes(WALK.read_bytes())
    assert main(["run", str(tmp_path), "--cluster", "local:2", "--out", str(tmp_path / "there")]) == 1
    assert "two.mcap and two.npz would all write two.jsonl; rename all but one" in capsys.readouterr().err


def test_a_local_cluster_says_nothing_of_its_own(tmp_path):
    (tmp_path / "one.mcap").write_bytes(WALK.read_bytes())
    words = ["--cluster", "local:1", "--frame-step", "30", "--model", "person-fast", "--out", str(tmp_path / "there")]
    command = [sys.executable, "-m", "apps.cli", "run", str(tmp_path), *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=300, check=True)
    lines = [line for line in ran.stderr.splitlines() if "frames/s" not in line and "compiling" not in line]
    assert [line for line in lines if line.strip()] == []


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["run", str(WALK), "--cluster", "local:2", "--out", "there"], "wanted a folder of recordings"),
        (["run", "recordings", "--cluster", "local:2"], "name a folder"),
        (["run", "recordings", "--resume"], "--resume leaves out recordings of a folder that --cluster has run"),
        (
            ["run", "recordings", "--cluster", "local:2", "--out", "there", "--bvh", "a.bvh"],
            "--bvh is of one recording",
        ),
        (["synth", "data", "--workers", "2", "--cluster", "local:2"], "say local:N"),
        (["train", "data", "--out", "m.npz", "--forest", "m.npz", "--cluster", "local:2"], "--cluster grows trees"),
        (["train", "data", "--out", "m.npz", "--workers", "2", "--cluster", "local:2"], "say local:N"),
        (["evaluate", "a.npz", "--empty", "--cluster", "local:2"], "--cluster scores DATASETs"),
    ],
)
def test_what_a_cluster_does_not_do_is_refused(words, said, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(words) == 1
    assert said in capsys.readouterr().err
