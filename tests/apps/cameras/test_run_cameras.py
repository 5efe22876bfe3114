"""``posepipe run`` of several sources: how they and their options are given, and what is refused."""

from __future__ import annotations

import json

import numpy as np
import pytest

from apps.cli import build_parser, main
from apps.options.each_source import each_source
from apps.options.source_options import open_together
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.sinks import read_results
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.support.paths import WALK

LENS = Intrinsics(57, 57, 31.5, 23.5)
LEVEL = [[1, 0, 0, 0], [0, 0, 1, 0], [0, -1, 0, 1.5], [0, 0, 0, 1]]


@pytest.fixture
def scene(tmp_path):
    """Two recordings without a person, the second shorter, and the poses of their cameras."""
    for name, count in (("a", 5), ("b", 3)):
        frames = [DepthFrame(np.zeros((48, 64), np.float32), LENS, i / 30, i) for i in range(count)]
        write_npz_pack(tmp_path / f"{name}.npz", frames)
        (tmp_path / f"{name}.json").write_text(json.dumps({"T_world_camera": LEVEL}))
    return tmp_path


def arguments(*words):
    return build_parser().parse_args(["run", *map(str, words)])


@pytest.mark.parametrize(
    "words",
    [
        "a --extrinsics 1 b --extrinsics 2 --topic t",
        "a b --extrinsics 1 --extrinsics 2 --topic t",
        "--topic t --extrinsics 1 --extrinsics 2 a b",
        "a --topic t b --extrinsics 1 --extrinsics 2",
    ],
)
def test_options_belong_to_the_sources_in_their_order(words):
    each = each_source(arguments(*words.split()))
    assert [(one.source, str(one.extrinsics), one.topic) for one in each] == [("a", "1", "t"), ("b", "2", "t")]


def test_three_sources_have_three_values_each():
    each = each_source(arguments("a", "--rotate", 90, "b", "--rotate", 0, "c", "--rotate", 270))
    assert [(one.source, one.rotate) for one in each] == [("a", 90), ("b", 0), ("c", 270)]


def test_one_source_reads_as_before():
    (one,) = each_source(arguments("a", "--extrinsics", "1"))
    assert (one.source, str(one.extrinsics), one.rotate, one.topic) == ("a", "1", 0, None)


def test_two_recordings_run_to_the_end_of_the_longer(scene, capsys):
    words = [
        "run",
        scene / "a.npz",
        "--extrinsics",
        scene / "a.json",
        scene / "b.npz",
        "--extrinsics",
        scene / "b.json",
    ]
    outputs = ["--out", scene / "r.jsonl", "--record", scene / "r.mcap", "--pictures", scene / "pictures"]
    assert main([str(word) for word in [*words, *outputs]]) == 0
    assert "5 frames, 0 with people in view of 2 cameras" in capsys.readouterr().out
    results = read_results(scene / "r.jsonl")
    assert [row.frame for row in results.frames] == list(range(5))
    assert results.header.cameras == (str(scene / "a.npz"), str(scene / "b.npz"))
    assert len(list((scene / "pictures").iterdir())) == 5


@pytest.mark.parametrize(("dated", "offset_s", "first_s"), [(True, 0.0, 0.3), (False, 0.1, 0.1), (True, -0.1, 0.4)])
def test_a_stretch_is_of_the_clock_of_the_first(tmp_path, dated, offset_s, first_s):
    """The second recording began 0.1 s earlier, if that is known."""
    for name, start_ns in (("a", 1_700_000_000_100_000_000), ("b", 1_700_000_000_000_000_000)):
        frames = [DepthFrame(np.zeros((48, 64), np.float32), LENS, i / 20, i) for i in range(20)]
        write_npz_pack(tmp_path / f"{name}.npz", frames, start_time_ns=start_ns * dated)
    words = [tmp_path / "a.npz", tmp_path / "b.npz", "--start", 0.2, "--end", 0.4]
    first, second = open_together(each_source(arguments(*words)), [0.0, offset_s])
    np.testing.assert_allclose(first.timestamps_s, [0.2, 0.25, 0.3, 0.35, 0.4])
    np.testing.assert_allclose(second.timestamps_s, first_s + np.arange(5) / 20)


@pytest.mark.parametrize("fit", ["on", "off"])
def test_joined_people_have_a_fitted_body_unless_it_is_off(tmp_path, fit):
    """One recording as two cameras at one place: what both see is what one sees."""
    pose, out = tmp_path / "pose.json", tmp_path / "r.jsonl"
    pose.write_text(json.dumps({"T_world_camera": LEVEL}))
    cameras = [WALK, "--extrinsics", pose] * 2
    words = ["run", *cameras, "--end", 0.2, "--foreground", "none", "--fit", fit, "--out", out]
    assert main([str(word) for word in words]) == 0
    results = read_results(out)
    assert results.header.fitted == (fit == "on")
    assert json.loads(out.read_text().splitlines()[0])["version"] == (2 if fit == "on" else 1)
    assert all(row.people for row in results.frames)
    last = results.frames[-1]
    assert [track.fit is not None for track in last.people] == [fit == "on"] * len(last.people)
    assert [set(turned) for turned in last.world_xyzw] == [set(track.pose.names) for track in last.people if track.fit]


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("a.npz b.npz", "wanted --extrinsics FILE for each, got 0; `posepipe calibrate` finds them"),
        ("a.npz b.npz --extrinsics a.json", "wanted --extrinsics FILE for each, got 1"),
        ("a.npz b.npz --extrinsics a.json --extrinsics b.json --cluster local", "--cluster runs each recording"),
        ("a b c --extrinsics 1 --extrinsics 2 --extrinsics 3 --rotate 0 --rotate 90", "--rotate was given 2 times"),
        ("a.npz nothing --extrinsics a.json --extrinsics b.json", "nothing: no such file or folder"),
        ("a.npz b.mcap --extrinsics a.json --extrinsics b.json --record b.mcap", "b.mcap would replace a file"),
    ],
)  # fmt: skip
def test_refusals_are_one_line(scene, monkeypatch, capsys, words, says):
    monkeypatch.chdir(scene)
    assert main(["run", *words.split()]) == 1
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert says in line


def test_other_commands_take_one_source(capsys):
    with pytest.raises(SystemExit):
        main(["view", "a", "b"])
    assert "nothing more was wanted, got 'b'" in capsys.readouterr().err
