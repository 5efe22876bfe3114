"""Results files: the documented lines, and truncated files."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from posepipe.camera import Intrinsics
from posepipe.errors import FormatError, PosepipeError
from posepipe.frames import DepthFrame
from posepipe.results import BodyFit, FrameResult, Track
from posepipe.sinks import JsonLinesSink, ResultsHeader, ResultsReader, read_results
from posepipe.sinks.files import results_reader
from tests.support.found_people import FLOOR, fitted, track_of

JOINTS = ("head", "neck")


def result(index: int, people: tuple[Track, ...] = (), timestamp_s: float | None = None) -> FrameResult:
    time = index / 30 if timestamp_s is None else timestamp_s
    frame = DepthFrame(np.ones((2, 2), np.float32), Intrinsics(1.0, 1.0, 0.0, 0.0), time, index)
    return FrameResult(frame, np.ones((2, 2), bool), np.zeros((2, 2), np.uint8), (), people)


def person(id: int, **joints: tuple[float, float, float]) -> Track:
    return track_of(id, joints, 0.87654321)


def write(path: Path, results: list[FrameResult], fitted: bool = False) -> Path:
    with JsonLinesSink(path, ResultsHeader(JOINTS, "a.mcap", "person 1a2b", start_time_ns=5, fitted=fitted)) as sink:
        for one in results:
            sink.write(one)
    return path


def test_up_is_kept_where_the_camera_measures_it(tmp_path):
    plain = result(0, (person(1, head=(0, 0, 2)),))
    level = replace(result(1), frame=replace(plain.frame, index=1, up=(0.0, -0.8, -0.6)))
    path = write(tmp_path / "r.jsonl", [plain, level])
    assert [json.loads(line).get("up") for line in path.read_text().splitlines()[1:]] == [None, [0.0, -0.8, -0.6]]
    assert [row.up for row in read_results(path).frames] == [None, pytest.approx((0, -0.8, -0.6))]


@pytest.mark.parametrize("up", ["[0, 0, 0]", "[1, 2]", "7", '"up"', "[1e999, 0, 0]"])
def test_a_wrong_up_is_a_damaged_line(tmp_path, up):
    path = write(tmp_path / "r.jsonl", [result(0)])
    path.write_text(path.read_text().replace('"people"', f'"up": {up}, "people"'))
    with pytest.raises(FormatError, match="no frame of results"):
        read_results(path)


def test_the_lines_are_those_of_the_contract(tmp_path):
    path = write(tmp_path / "r.jsonl", [result(0), result(2, (person(4, head=(0.123456, -0.00001, 2.5)),))])
    header, empty, full = map(json.loads, path.read_text().splitlines())
    assert header == {
        "format": "posepipe-results",
        "version": 1,
        "joints": ["head", "neck"],
        "axes": "x right, y down, z forward, metres",
        "frame_id": "depth_camera",
        "start_time_ns": 5,
        "model": "person 1a2b",
        "source": "a.mcap",
    }
    assert empty == {"frame": 0, "timestamp_s": 0.0, "people": []}
    joints = {"head": {"xyz_m": [0.1235, 0.0, 2.5], "confidence": 0.8765}}
    assert full == {"frame": 2, "timestamp_s": 0.066667, "people": [{"id": 4, "joints": joints}]}
    assert "-0.0" not in path.read_text()


def test_a_fitted_body_adds_fields_that_are_read_again(tmp_path):
    turned = np.array([[0.0, 0, 0.6, 0.8]])
    fit = BodyFit(("head",), np.array([[0.1, 0.2, 2.5]]), turned, np.array([np.nan]), np.array([0.5]), 0.9, 1.0)
    plain = person(4, head=(0.1, 0.2, 2.5), neck=(0.1, 0.4, 2.5))
    path = write(tmp_path / "r.jsonl", [result(0, (replace(plain, fit=fit),))], fitted=True)
    header, line = map(json.loads, path.read_text().splitlines())
    assert (header["version"], header["rotations"][:16]) == (2, "unit quaternions")
    (row,) = line["people"]
    assert row["joints"]["head"]["rotation_xyzw"] == [0, 0, 0.6, 0.8]
    assert "sigma_m" not in row["joints"]["head"]  # unknown
    assert row["fit"] == {"pixels_explained": 0.9, "outline_explained": 1, "shape": [0.5], "angles_deg": {}}
    read = read_results(path).frames[0].people[0]
    assert read.pose.names == ("head", "neck")
    assert (read.fit.names, read.fit.pixels_explained, read.fit.outline_explained) == (("head",), 0.9, 1.0)
    for name in ("joints_m", "rotations_xyzw", "sigma_m", "shape"):
        np.testing.assert_array_equal(getattr(read.fit, name), getattr(fit, name))


def test_above_a_floor_rotations_are_in_world_axes_too(tmp_path):
    people = (fitted(person(4, head=(0.1, 0.2, 2.5))),)
    seen = replace(result(0, people), floor=FLOOR)
    path = write(tmp_path / "r.jsonl", [seen], fitted=True)
    (row,) = json.loads(path.read_text().splitlines()[1])["people"]
    turned = Rotation.from_quat(row["joints"]["head"]["rotation_world_xyzw"])
    wanted = Rotation.from_matrix(seen.world.rotation) * Rotation.from_quat(people[0].fit.rotations_xyzw[0])
    assert (turned * wanted.inv()).magnitude() < 1e-3
    ((xyzw,),) = read_results(path).frames[0].world_xyzw
    assert xyzw == "head"
    assert read_results(path).frames[0].as_line() == path.read_text().splitlines(keepends=True)[1]


@pytest.mark.parametrize("xyzw", [[0, 0, 0, 0], [0, 0, 2, 0], [0, 0, 1], ["a", 0, 0, 1]])
def test_a_rotation_that_is_no_unit_quaternion_is_an_error(tmp_path, xyzw):
    path = write(tmp_path / "r.jsonl", [result(0, (fitted(person(4, head=(0.1, 0.2, 2.5))),))], fitted=True)
    header, line = path.read_text().splitlines()
    row = json.loads(line)
    row["people"][0]["joints"]["head"]["rotation_xyzw"] = xyzw
    path.write_text(f"{header}\n{json.dumps(row)}\n")
    with pytest.raises(FormatError, match="no frame of results"):
        read_results(path)


def test_results_of_two_runs_in_one_file_are_told(tmp_path):
    path = write(tmp_path / "r.jsonl", [result(0, (person(1, head=(0.1, 0.2, 3.0)),))])
    text = path.read_text()
    path.write_text(text + text)
    with pytest.raises(FormatError, match=f"byte {len(text)}: a second header; these are results of several runs"):
        read_results(path)


def test_numpy_numbers_are_written_as_plain_ones(tmp_path):
    xyz = tuple(np.array([0.1, 0.2, 3.0], np.float32))
    results = read_results(write(tmp_path / "r.jsonl", [result(0, (person(1, head=xyz),))]))
    assert results.frames[0].people[0].pose.joints["head"].xyz_m == (0.1, 0.2, 3.0)


def test_every_frame_is_on_disk_as_soon_as_it_is_written(tmp_path):
    sink = JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(JOINTS, "s", "m"))
    for i in range(3):
        sink.write(result(i))
        assert len(read_results(tmp_path / "r.jsonl").frames) == i + 1
    sink.close()


def test_an_older_file_stays_until_there_is_a_frame_to_write(tmp_path):
    path = tmp_path / "r.jsonl"
    path.write_text("older")
    with pytest.raises(RuntimeError), JsonLinesSink(path, ResultsHeader(JOINTS, "s", "m")):
        raise RuntimeError("the source failed")
    assert path.read_text() == "older"
    with JsonLinesSink(path, ResultsHeader(JOINTS, "s", "m")):
        pass
    assert read_results(path).frames == ()


@pytest.mark.skipif(sys.platform == "win32", reason="files are not locked on Windows")
def test_a_file_that_another_run_writes_is_left_alone(tmp_path):
    path = tmp_path / "r.jsonl"
    with JsonLinesSink(path, ResultsHeader(JOINTS, "first", "m")) as first:
        first.write(result(0))
        with pytest.raises(PosepipeError, match=r"r\.jsonl: another program is writing this file; give another name"):
            JsonLinesSink(path, ResultsHeader(JOINTS, "second", "m")).write(result(0))
        first.write(result(1))
    assert len(read_results(path).frames) == 2
    with JsonLinesSink(path, ResultsHeader(JOINTS, "second", "m")) as second:
        second.write(result(0))
    assert read_results(path).header.source == "second"


points = st.tuples(*[st.floats(-9, 9).map(lambda value: round(value, 4) + 0.0)] * 3)
people = st.lists(st.dictionaries(st.sampled_from(JOINTS), points), max_size=3)


@settings(deadline=None, max_examples=30)
@given(frames=st.lists(people, max_size=4))
def test_results_are_read_back_as_they_were_written(tmp_path_factory, frames):
    tracks = [tuple(track_of(id, joints, 0.5) for id, joints in enumerate(one, start=1)) for one in frames]
    path = write(tmp_path_factory.mktemp("r") / "r.jsonl", [result(i, one) for i, one in enumerate(tracks)])
    got = read_results(path)
    assert (got.header.joints, got.header.model, got.header.source) == (JOINTS, "person 1a2b", "a.mcap")
    assert (got.header.start_time_ns, got.missing) == (5, "")
    assert [row.people for row in got.frames] == tracks
    assert [row.frame for row in got.frames] == list(range(len(tracks)))


def test_every_cut_keeps_the_frames_before_it(tmp_path):
    content = write(tmp_path / "r.jsonl", [result(i, (person(1, head=(0, 0, i)),)) for i in range(5)]).read_bytes()
    path = tmp_path / "cut.jsonl"
    header_end = content.index(b"\n")
    for cut in range(len(content)):
        path.write_bytes(content[:cut])
        if cut < header_end:
            with pytest.raises(FormatError):
                read_results(path)
            continue
        got = read_results(path)
        whole_lines = content[:cut].count(b"\n") - 1
        assert len(got.frames) in (whole_lines, whole_lines + 1)  # the line is whole where only its end mark is cut
        half_a_line = not content[:cut].endswith((b"\n", b"}]}"))
        if half_a_line and len(got.frames) == whole_lines and cut > header_end:
            assert "cut" in got.missing


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "[1, 2]",
        "{}",
        '{"frame": 0, "timestamp_s": 0, "people": 3}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": 1}]}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": 1, "joints": {"head": {"xyz_m": [1, 2], "confidence": 1}}}]}',
        '{"frame": "x", "timestamp_s": 0, "people": []}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": 1, "joints": {}}, {"id": 1, "joints": {}}]}',
        '{"frame": 0, "timestamp_s":0,"people": [{"id":1,"joints": {"tail": {"xyz_m": [0, 0, 1], "confidence": 0}}}]}',
        '{"frame": 1.5, "timestamp_s": 0, "people": []}',
        '{"frame": 0, "timestamp_s": "0", "people": []}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": 1.7, "joints": {}}]}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": "1", "joints": {}}]}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": true, "joints": {}}]}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": 1, "cameras": [1.5], "joints": {}}]}',
        '{"frame": 0, "timestamp_s": 0, "people": [{"id": 1, "joints": {"head": {"xyz_m": "123", "confidence": 1}}}]}',
    ],
)
def test_a_wrong_line_is_named_by_its_byte(tmp_path, line):
    path = write(tmp_path / "r.jsonl", [result(0)])
    offset = path.stat().st_size
    with path.open("a") as stream:
        stream.write(line + "\n")
    with pytest.raises(FormatError, match=f"byte {offset}"):
        read_results(path)


def test_frames_before_a_damaged_line_can_be_read(tmp_path):
    path = write(tmp_path / "r.jsonl", [result(i) for i in range(3)])
    path.write_text(path.read_text().replace('"frame": 2', '"frame": -'))
    with ResultsReader(path) as reader:
        frames = iter(reader)
        assert [next(frames).frame, next(frames).frame] == [0, 1]
        with pytest.raises(FormatError, match="a line is no JSON object"):
            next(frames)


def test_a_line_without_an_end_is_not_read_into_memory(tmp_path, monkeypatch):
    path = write(tmp_path / "r.jsonl", [result(0)])
    size = path.stat().st_size
    monkeypatch.setattr(results_reader, "MAX_LINE_BYTES", size)
    with path.open("a") as stream:
        stream.write(" " * (size + 1))
    with pytest.raises(FormatError, match=rf"byte {size}: wanted lines of at most {size} bytes, got a longer one"):
        read_results(path)


@pytest.mark.parametrize(
    "content",
    [b"", b"hello\n", b"{}\n", b"\xff\xfe\n", b'{"format": "posepipe-results", "version": 3}\n',
     b'{"format": "posepipe-results", "version": 1}\n', b'{"format": "posepipe-results", "version": 1, "joints": 3}\n'],
)  # fmt: skip
def test_a_file_of_another_format_is_an_error(tmp_path, content):
    path = tmp_path / "r.jsonl"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"r.jsonl"):
        read_results(path)


def test_a_joint_with_nan_is_never_written(tmp_path):
    with JsonLinesSink(tmp_path / "r.jsonl", ResultsHeader(JOINTS, "s", "m")) as sink, pytest.raises(ValueError):
        sink.write(result(0, (person(1, head=(float("nan"), 0, 0)),)))
    assert read_results(tmp_path / "r.jsonl").frames == ()


def test_a_disk_that_cannot_be_written_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PosepipeError, match=r"r\.jsonl"):
        JsonLinesSink(tmp_path / "file" / "r.jsonl", ResultsHeader(JOINTS, "s", "m")).write(result(0))


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full to play a full disk")
def test_a_full_disk_is_one_line():
    with pytest.raises(PosepipeError, match="No space left"):
        JsonLinesSink("/dev/full", ResultsHeader(JOINTS, "s", "m")).write(result(0))


def test_whole_numbers_may_have_a_point(tmp_path):
    path = write(tmp_path / "r.jsonl", [result(0, (person(7, head=(0, 0, 1)),))])
    wanted = read_results(path)
    path.write_text(path.read_text().replace('"id": 7', '"id": 7.0').replace('"frame": 0', '"frame": 0.0'))
    assert repr(read_results(path).frames) == repr(wanted.frames)


@pytest.mark.parametrize("start", ["9" * 30, "-1", "1e300", "null", "[]", "1.7", '"5"', "true"])
def test_a_start_that_is_no_time_is_an_error(tmp_path, start):
    path = write(tmp_path / "r.jsonl", [result(0)])
    path.write_text(path.read_text().replace('"start_time_ns": 5', f'"start_time_ns": {start}'))
    with pytest.raises(FormatError, match=r"r\.jsonl, byte 0: damaged header"):
        read_results(path)


@pytest.mark.parametrize("joints", ['"head"', "[1, 2]", '["head", "neck", "head"]', '{"head": 1}', "null"])
def test_joints_that_are_no_list_of_names_are_an_error(tmp_path, joints):
    path = write(tmp_path / "r.jsonl", [result(0)])
    path.write_text(path.read_text().replace('"joints": ["head", "neck"]', f'"joints": {joints}'))
    with pytest.raises(FormatError, match=r"r\.jsonl, byte 0: damaged header"):
        read_results(path)
