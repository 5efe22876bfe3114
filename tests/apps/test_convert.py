"""`posepipe convert` and the outputs of `posepipe run`, from the command line: every format, every refusal."""

from __future__ import annotations

import csv
import json
import socket
from unittest.mock import Mock

import cv2
import numpy as np
import pytest

from apps.cli import main
from apps.terminal.interrupts import INTERRUPTED
from posepipe.body import HUMAN
from posepipe.camera import Intrinsics
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingReader
from posepipe.sinks import JsonLinesSink, ResultsHeader, read_results
from posepipe.sources.formats.npz_pack import write_npz_pack
from tests.reference.sinks.bvh import read_bvh
from tests.support.found_people import result, standing_m, track
from tests.support.paths import WALK


def error_of(capsys, *arguments):
    """Run a command that must fail; its one line on standard error."""
    assert main([str(a) for a in arguments]) == 1
    lines = [line for line in capsys.readouterr().err.splitlines() if not line.startswith(("run:", "convert:"))]
    assert len(lines) == 1
    assert lines[0].startswith("posepipe: error: ")
    return lines[0]


def results_file(path, frames=3, people=1, tracked=True):
    with JsonLinesSink(path, ResultsHeader(HUMAN.joints, "s", "m", tracked=tracked)) as sink:
        for i in range(frames):
            sink.write(result(i, tuple(track(id, standing_m(i * 0.1)) for id in range(1, people + 1))))
    return path


def test_one_run_writes_records_and_streams_the_same_people(tmp_path, capsys):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as listener:
        listener.bind(("127.0.0.1", 0))
        listener.settimeout(10)
        files = {"out": "r.csv", "bvh": "r.bvh", "record": "new/r.mcap", "video": "r.mp4"}
        options = [word for option, name in files.items() for word in (f"--{option}", str(tmp_path / name))]
        options += [
            "--stream",
            f"udp://:{listener.getsockname()[1]}",
            "--stream",
            f"osc://:{listener.getsockname()[1]}",
        ]
        assert main(["run", str(WALK), "--end", "0.29", *options]) == 0
        received = [listener.recv(1 << 16) for _ in range(9 * 3)]
    assert "person 1: 9 frames" in capsys.readouterr().out
    lines = [json.loads(packet) for packet in received if packet.startswith(b"{")]
    with (tmp_path / "r.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [line["frame"] for line in lines] == [int(row["frame"]) for row in rows] == list(range(9))
    for line, row in zip(lines, rows, strict=True):
        ((person),) = line["people"]
        for joint, found in person["joints"].items():
            assert found["xyz_m"] == [float(row[f"{joint}_{axis}_m"]) for axis in "xyz"]
    names, _, _, places = read_bvh((tmp_path / "r.bvh").read_text())
    pelvis = np.array([[float(row[f"pelvis_{axis}_m"]) for axis in "xyz"] for row in rows])
    np.testing.assert_allclose(places[:, names.index("pelvis")] / 100, pelvis * [1, -1, -1], atol=0.05)
    with RecordingReader(tmp_path / "new" / "r.mcap") as recorded, RecordingReader(WALK) as walked:
        for ours, theirs in zip(recorded, walked, strict=False):
            np.testing.assert_array_equal(ours.depth_m, theirs.depth.depth_m)
        assert recorded.frame_count == 9
    video = cv2.VideoCapture(str(tmp_path / "r.mp4"))
    assert video.get(cv2.CAP_PROP_FRAME_COUNT) == 9
    assert video.get(cv2.CAP_PROP_FPS) == pytest.approx(30, abs=0.01)


def test_results_become_a_table_and_motion_capture(tmp_path, capsys):
    source = results_file(tmp_path / "r.jsonl")
    assert main(["convert", str(source), str(tmp_path / "a.CSV")]) == 0
    assert main(["convert", str(source), str(tmp_path / "a.bvh")]) == 0
    assert (tmp_path / "a.CSV").read_bytes().count(b"\r\n") == 4
    assert len(read_bvh((tmp_path / "a.bvh").read_text())[3]) == 3
    printed = capsys.readouterr().out
    assert "3 frames, 3 with people in view" in printed
    assert "camera axes" in printed


@pytest.mark.parametrize("older", [None, b"older"])
@pytest.mark.parametrize("suffix", [".csv", ".bvh", ".c3d", ".trc", ".glb"])
def test_an_interrupted_conversion_keeps_the_older_file(tmp_path, monkeypatch, suffix, older):
    source, file = results_file(tmp_path / "r.jsonl", frames=5), tmp_path / f"a{suffix}"
    if older:
        file.write_bytes(older)
    monkeypatch.setattr("apps.convert.ProgressBar.update", Mock(side_effect=[None, None, KeyboardInterrupt]))
    assert main(["convert", str(source), str(file)]) == INTERRUPTED
    assert {path.name for path in tmp_path.iterdir()} == {"r.jsonl", *([file.name] if older else [])}
    assert not older or file.read_bytes() == older


def test_recordings_are_not_pruned(tmp_path, capsys):
    for typed in (["--prune", "0.5"], ["--prune-by", "data"], ["--trees", "1"], ["--leaf-steps", "17"]):
        assert main(["convert", str(WALK), str(tmp_path / "a.mcap"), *typed]) == 1
        (line,) = capsys.readouterr().err.splitlines()
        assert f"{typed[0]} is for models" in line


@pytest.mark.parametrize(("people", "suffix", "refused"), [(2, ".bvh", True), (1, ".bvh", False), (2, ".csv", False)])
def test_ids_of_single_frames_make_no_motion(tmp_path, capsys, people, suffix, refused):
    path = results_file(tmp_path / "r.jsonl", people=people, tracked=False)
    code = main(["convert", str(path), str(tmp_path / f"r{suffix}")])
    assert code == int(refused)
    if refused:
        assert "is of a run with --no-tracking" in capsys.readouterr().err
    assert [file.name for file in tmp_path.iterdir() if file != path] == ([] if refused else [f"r{suffix}"])


def test_results_without_people_make_an_empty_table(tmp_path, capsys):
    source = results_file(tmp_path / "r.jsonl", frames=0)
    assert main(["convert", str(source), str(tmp_path / "a.csv")]) == 0
    assert main(["convert", str(source), str(tmp_path / "a.bvh")]) == 0
    assert (tmp_path / "a.csv").read_bytes().count(b"\r\n") == 1
    assert not (tmp_path / "a.bvh").exists()
    assert "no person to write to" in capsys.readouterr().out


@pytest.mark.parametrize("suffix", [".csv", ".bvh"])
@pytest.mark.parametrize(
    "content", [b"", b"hello\n", b"\x00\xff" * 500, b'{"format": "posepipe-results", "version": 9}\n']
)
def test_a_file_that_is_no_results_file_is_one_line(tmp_path, capsys, content, suffix):
    (tmp_path / "r.jsonl").write_bytes(content)
    assert "r.jsonl" in error_of(capsys, "convert", tmp_path / "r.jsonl", tmp_path / f"a{suffix}")
    assert not (tmp_path / f"a{suffix}").exists()


def test_wrong_names_are_one_line_and_replace_nothing(tmp_path, capsys):
    source = results_file(tmp_path / "r.jsonl")
    before = source.read_bytes()
    assert "would replace" in error_of(capsys, "convert", source, source)
    assert ".csv or .bvh" in error_of(capsys, "convert", source, tmp_path / "a.xlsx")
    assert "No such file" in error_of(capsys, "convert", tmp_path / "nothing.jsonl", tmp_path / "a.csv")
    (tmp_path / "file").write_text("")
    for name in ("a.csv", "a.bvh"):
        assert name in error_of(capsys, "convert", source, tmp_path / "file" / name)
    assert source.read_bytes() == before


def pack(folder):
    path = folder / "pack.npz"
    write_npz_pack(path, [DepthFrame(np.zeros((48, 64), np.float32), Intrinsics(57, 57, 31.5, 23.5))])
    return path


@pytest.mark.parametrize(
    "arguments",
    [["--bvh", "r.fbx"], ["--record", "r.bag"], ["--video", "r.avi"], ["--stream", "udp:9000"]],
)
def test_a_run_refuses_what_it_cannot_write_before_it_begins(arguments, capsys):
    with pytest.raises(SystemExit) as stop:
        main(["run", "d", *arguments])
    assert stop.value.code == 2
    assert "wanted" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--out", "--bvh", "--record", "--video"])
def test_no_output_replaces_the_source(tmp_path, capsys, option):
    name = {"--out": "source", "--bvh": "source.bvh", "--record": "source.mcap", "--video": "source.mp4"}[option]
    source = pack(tmp_path).rename(tmp_path / name)
    before = source.read_bytes()
    out = [] if option == "--out" else ["--out", tmp_path / "r.jsonl"]
    assert "would replace a file of the source" in error_of(capsys, "run", source, option, source, *out)
    assert source.read_bytes() == before


def test_results_have_a_format(tmp_path, capsys):
    assert "ends in .jsonl or .csv" in error_of(capsys, "run", pack(tmp_path), "--out", tmp_path / "r.xml")


def test_two_outputs_never_share_a_file(tmp_path, capsys):
    link = tmp_path / "link.bvh"
    link.symlink_to(tmp_path / "r.csv")
    said = error_of(capsys, "run", pack(tmp_path), "--out", tmp_path / "r.csv", "--bvh", link)
    assert "is the file of --out" in said


def test_motion_capture_needs_to_know_who_is_who(tmp_path, capsys):
    options = ["--no-tracking", "--bvh", tmp_path / "r.bvh", "--out", tmp_path / "r.jsonl"]
    assert "leave out --no-tracking" in error_of(capsys, "run", pack(tmp_path), *options)
    assert main([str(a) for a in ("run", pack(tmp_path), *options, "--max-people", 1)]) == 0
    assert not read_results(tmp_path / "r.jsonl").header.tracked


def test_a_stream_that_cannot_open_stops_the_run_at_once(tmp_path, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        url = f"tcp://:{taken.getsockname()[1]}"
        said = error_of(capsys, "run", pack(tmp_path), "--stream", url, "--out", tmp_path / "r.jsonl")
    assert "cannot listen there" in said
    assert not (tmp_path / "r.jsonl").exists()


def test_results_go_to_a_pipe_as_well(tmp_path):
    """A name without a suffix, such as /dev/stdout, gets JSON lines."""
    assert main(["run", str(pack(tmp_path)), "--out", str(tmp_path / "results")]) == 0
    assert len(read_results(tmp_path / "results").frames) == 1


@pytest.mark.parametrize("name", ["pack.npz", "folder"])
def test_colour_that_the_format_would_lose_is_refused(tmp_path, capsys, name):
    cv2.imwrite(str(tmp_path / "a.png"), np.full((480, 640), 10_000, np.uint16))
    cv2.imwrite(str(tmp_path / "b.png"), np.full((4, 5, 3), 99, np.uint8))
    for listed, picture in (("depth.txt", "a.png"), ("rgb.txt", "b.png")):
        (tmp_path / listed).write_text(f"1 {picture}\n")
    out = tmp_path / "out" / name
    assert "only .mcap recordings keep colour" in error_of(capsys, "convert", tmp_path, out, "--colour", "auto")
    assert not out.exists()
    assert main(["convert", str(tmp_path), str(tmp_path / "out" / "a.mcap"), "--colour", "auto"]) == 0


def test_a_missing_source_of_a_table_is_called_missing(tmp_path, capsys):
    line = error_of(capsys, "convert", tmp_path / "none.csv", tmp_path / "table.csv")
    assert line.endswith("none.csv: no such file or folder")
    assert "first: posepipe run camera:realsense" in error_of(capsys, "convert", "camera:realsense", tmp_path / "t.csv")
