"""``posepipe evaluate --tracks`` from the command line: what it prints and writes, and what it refuses."""

from __future__ import annotations

import json

import numpy as np
import pytest

from apps.bench import RECORDING
from apps.cli import main
from posepipe.datasets.dataset import Dataset
from tests.support.rendered_people import recipe_of, render_people

SHORT = recipe_of(frames=8, seed=2, poses="all", sequence_frames=4, noise=False)


@pytest.fixture(scope="module")
def sequences(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracks") / "sequences"
    render_people(folder, SHORT)
    return folder


def refused(capsys, *arguments) -> str:
    assert main(["evaluate", *map(str, arguments)]) == 1
    (line,) = [row for row in capsys.readouterr().err.splitlines() if "error" in row]
    return line


@pytest.mark.parametrize("whole", [[], ["--whole-frames"]])
def test_a_dataset_of_sequences_is_scored_by_scene(sequences, tmp_path, capsys, whole):
    figures = tmp_path / "figures.json"
    assert main(["evaluate", str(sequences), "--tracks", "--smooth", "--json", str(figures), *whole]) == 0
    out = capsys.readouterr().out
    for row in ("nearest pose", "tracker, smoothed", "id switches", "MOTA", "tracker, by scene:", "  standing"):
        assert row in out
    written = json.loads(figures.read_text())
    assert written["frames"].startswith("sequences: 8 " + ("whole frames" if whole else "frames"))
    every = written["models"]["person"]["trackers"]["tracker"]["all"]
    assert (every["sequences"], every["people in view"]) == (2, 3)
    assert every["missed"] + every["false people"] <= 4


def test_a_labelled_recording_is_one_sequence(capsys):
    assert main(["evaluate", str(RECORDING), "--tracks", "--frame-step", "6", "--gap", "0.3"]) == 0
    out = capsys.readouterr().out
    assert "by scene" not in out
    assert [line.split()[-1] for line in out.splitlines() if line.startswith("id switches")] == ["0"]


def test_single_frames_are_one_line(sequences, tmp_path, capsys):
    render_people(tmp_path / "single", recipe_of(frames=2, poses="all"))
    for path in (tmp_path / "single", tmp_path / "single" / "frames-00000.mcap"):
        line = refused(capsys, path, "--tracks")
        assert "do not follow one another" in line
        assert "--recipe sequences" in line
    with Dataset.open(sequences) as dataset:
        first = dataset[0]
    pack = tmp_path / "pack.npz"
    depth_mm = np.rint(first.depth.depth_m[None] * 1000).astype(np.uint16)
    lens = first.depth.intrinsics
    np.savez(
        pack,
        depth_mm=np.repeat(depth_mm, 2, axis=0),
        K=np.array([lens.fx, lens.fy, lens.cx, lens.cy]),
        joints_m=np.repeat(first.joints_m, 2, axis=0),
        joint_names=np.array(dataset.body.joints),
    )
    assert "do not follow one another" in refused(capsys, pack, "--tracks")


def test_a_pack_with_names_is_scored_by_sequence(sequences, tmp_path, capsys):
    with Dataset.open(sequences) as dataset:
        frames = [dataset[row] for row in range(4)]
    lens = frames[0].depth.intrinsics
    pack = tmp_path / "pack.npz"
    np.savez(
        pack,
        depth_mm=np.stack([np.rint(frame.depth.depth_m * 1000).astype(np.uint16) for frame in frames]),
        K=np.array([lens.fx, lens.fy, lens.cx, lens.cy]),
        joints_m=np.stack([frame.joints_m[0] for frame in frames]),
        joint_names=np.array(dataset.body.joints),
        name=np.array(["a:0", "a:1", "b:0", "b:1"]),
    )
    assert main(["evaluate", str(pack), "--tracks"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()[-2:]] == ["a", "b"]


@pytest.mark.parametrize("option", [["--smooth"], ["--frame-step", "2"], ["--gap", "0.5"]])
def test_options_of_tracking_want_tracks(capsys, option):
    assert f"{option[0]} applies to tracking; add --tracks" in refused(capsys, RECORDING, *option)


@pytest.mark.parametrize("option", [["--card"], ["--oracle"], ["--report", "r"]])
def test_options_of_joints_do_not_go_with_tracks(capsys, option):
    assert f"{option[0]} applies to parts and joints" in refused(capsys, RECORDING, "--tracks", *option)


def test_a_gap_longer_than_a_sequence_is_one_line(sequences, capsys):
    assert "a gap of 3 s leaves nothing of frames-00000, which lasts 0.10 s" in refused(
        capsys, sequences, "--tracks", "--gap", "3"
    )
