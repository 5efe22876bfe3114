"""Conversion between all formats preserves depth, times and calibration."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from apps.cli import main
from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import read_camera_file
from posepipe.errors import FormatError, PosepipeError
from posepipe.frames import DepthFrame
from posepipe.recording import RecordingWriter
from posepipe.sources import open_source
from posepipe.sources.conversion import convert_frames
from tests.support.recordings.depth_senders import frame_bytes, header_line, stream_bytes

INTRINSICS = Intrinsics(20.25, 21.5, 7.4, 5.6)
SHAPE = (12, 16)
START_NS = 1_790_000_000_123_456_789
NAMES = ("recording.mcap", "pack.npz", "folder")


@pytest.fixture
def recording(tmp_path):
    rng = np.random.default_rng(0)
    with RecordingWriter(tmp_path / "first.mcap", INTRINSICS, *SHAPE, start_time_ns=START_NS) as writer:
        for i, time_s in enumerate(np.cumsum(rng.uniform(0.02, 0.05, 5)).round(9) - 0.02):
            depth_mm = rng.integers(500, 5000, SHAPE, dtype=np.uint16) * (rng.random(SHAPE) < 0.9)
            writer.write(DepthFrame(depth_mm.astype(np.uint16), INTRINSICS, float(time_s), i))
    return tmp_path / "first.mcap"


def absolute_ns(source) -> np.ndarray:
    return source.start_time_ns + np.rint(source.timestamps_s * 1e9).astype(np.int64)


def test_a_place_that_cannot_be_written_is_told_at_once(recording, tmp_path):
    (tmp_path / "file").touch()
    converted = []
    with pytest.raises(PosepipeError, match="file"):
        convert_frames(open_source(recording), tmp_path / "file" / "pack.npz", on_frame=lambda: converted.append(1))
    assert not converted


@pytest.mark.parametrize(("there", "back"), list(itertools.product(NAMES, NAMES)))
def test_conversion_preserves_every_frame(tmp_path, recording, there, back):
    assert convert_frames(open_source(recording), tmp_path / "a" / there) == 5
    assert convert_frames(open_source(tmp_path / "a" / there), tmp_path / "b" / back) == 5
    with open_source(recording) as wanted, open_source(tmp_path / "b" / back) as got:
        assert got.intrinsics == INTRINSICS
        np.testing.assert_array_equal(absolute_ns(got), absolute_ns(wanted))
        for one, other in zip(got, wanted, strict=True):
            np.testing.assert_array_equal(one.depth_m, other.depth_m)


@pytest.mark.parametrize(("times_s", "fps"), [([0, 1 / 12, 0.7, 0.7 + 1 / 12], 12), ([0], 30), ([2, 2, 2], 30)])
def test_a_folder_of_pngs_keeps_the_frame_rate(tmp_path, times_s, fps):
    """Also without its depth.txt, as when its PNGs are copied beside its camera.json."""
    with RecordingWriter(tmp_path / "a.mcap", INTRINSICS, *SHAPE) as writer:
        for i, time_s in enumerate(times_s):
            writer.write(DepthFrame(np.full(SHAPE, 2000, np.uint16), INTRINSICS, time_s, i))
    convert_frames(open_source(tmp_path / "a.mcap"), tmp_path / "folder")
    assert read_camera_file(tmp_path / "folder" / "camera.json").fps == fps


def test_depth_finer_than_millimetres_is_kept_or_refused(tmp_path):
    depth_m = np.full(SHAPE, 1.23456, np.float32)
    with RecordingWriter(tmp_path / "fine.mcap", INTRINSICS, *SHAPE) as writer:
        writer.write(DepthFrame(depth_m, INTRINSICS))
    convert_frames(open_source(tmp_path / "fine.mcap"), tmp_path / "again.mcap")
    np.testing.assert_array_equal(open_source(tmp_path / "again.mcap")[0].depth_m, depth_m)
    for name in ("pack.npz", "folder"):
        with pytest.raises(PosepipeError, match=r"finer than millimetres; write an \.mcap"):
            convert_frames(open_source(tmp_path / "fine.mcap"), tmp_path / name)
    convert_frames(open_source(tmp_path / "fine.mcap"), tmp_path / "rounded.npz", round_to_mm=True)
    np.testing.assert_allclose(open_source(tmp_path / "rounded.npz")[0].depth_m, 1.235)


@pytest.mark.parametrize("name", ["recording.mcap", "folder"])
def test_frames_of_several_cameras_leave_no_short_file(tmp_path, capsys, name):
    depth_mm, lens = np.full((3, *SHAPE), 2000, np.uint16), np.array([[20.25, 21.5, 7.4, 5.6]] * 2 + [[25, 25, 7, 5]])
    np.savez(tmp_path / "two.npz", depth_mm=depth_mm, K=lens)
    assert main(["convert", str(tmp_path / "two.npz"), str(tmp_path / name)]) == 1
    (line,) = [row for row in capsys.readouterr().err.splitlines() if "posepipe: error: " in row]
    assert f"{tmp_path / name}: frame 2 is 16x12 with fx 25, fy 25, cx 7, cy 5; " in line
    assert "16x12 with fx 20.25, fy 21.5, cx 7.4, cy 5.6: start another" in line
    assert "Intrinsics(" not in line
    assert [each.name for each in tmp_path.iterdir()] == ["two.npz"]


def test_the_advice_to_round_works_after_frames_were_written(tmp_path):
    depth_m = np.full((2, *SHAPE), [[[1.234]], [[1.23456]]], np.float32)
    with RecordingWriter(tmp_path / "fine.mcap", INTRINSICS, *SHAPE) as writer:
        for k, each in enumerate(depth_m):
            writer.write(DepthFrame(each, INTRINSICS, k / 30, k))
    with pytest.raises(PosepipeError, match=r"frame 1 is finer than millimetres.*give --round-to-mm"):
        convert_frames(open_source(tmp_path / "fine.mcap"), tmp_path / "folder")
    assert convert_frames(open_source(tmp_path / "fine.mcap"), tmp_path / "folder", round_to_mm=True) == 2


def test_frames_of_a_camera_are_kept_after_an_error(tmp_path):
    (tmp_path / "sent.bin").write_bytes(stream_bytes(3)[:-9])
    assert main(["convert", f"camera:pipe:{tmp_path / 'sent.bin'}", str(tmp_path / "a.mcap")]) == 1
    with open_source(tmp_path / "a.mcap") as kept:
        assert len(kept) == 2


class _Broken:
    """A source whose frame 3 raises an error."""

    def __init__(self, source, error, live):
        self._source, self._error, self._live = source, error, live

    def __getattr__(self, name):
        return None if self._live and name == "frame_count" else getattr(self._source, name)

    def __iter__(self):
        yield from itertools.islice(self._source, 3)
        raise self._error

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self._source.close()


ERRORS = (FormatError("first.mcap", "frame 3 is broken"), KeyboardInterrupt())


@pytest.mark.parametrize("error", ERRORS, ids=["broken", "interrupted"])
@pytest.mark.parametrize("name", NAMES)
def test_a_conversion_that_fails_midway_leaves_nothing(tmp_path, recording, name, error):
    with pytest.raises(type(error)):
        convert_frames(_Broken(open_source(recording), error, live=False), tmp_path / name)
    assert [path.name for path in tmp_path.iterdir()] == ["first.mcap"]
    assert convert_frames(open_source(recording), tmp_path / name) == 5
    assert {path.name for path in tmp_path.iterdir()} == {"first.mcap", name}


@pytest.mark.parametrize("error", ERRORS, ids=["broken", "interrupted"])
@pytest.mark.parametrize("name", ["recording.mcap", "folder"])
def test_of_a_camera_what_came_before_an_error_is_kept(tmp_path, recording, name, error):
    with pytest.raises(type(error)):
        convert_frames(_Broken(open_source(recording), error, live=True), tmp_path / name)
    with open_source(tmp_path / name) as kept:
        assert len(kept) == 3


@pytest.mark.parametrize("name", NAMES)
def test_an_output_is_not_there_before_it_is_complete(tmp_path, recording, name):
    seen = []
    convert_frames(open_source(recording), tmp_path / name, on_frame=lambda: seen.append((tmp_path / name).exists()))
    assert seen == [False] * 5


def test_a_full_folder_of_pngs_names_the_wanted_one(tmp_path, recording, monkeypatch):
    def no_room(path, content):
        raise PosepipeError(f"{path}: No space left on device")

    monkeypatch.setattr("posepipe.sources.images.depth_png.replace_file", no_room)
    with pytest.raises(PosepipeError) as raised:
        convert_frames(open_source(recording), tmp_path / "folder")
    assert str(raised.value) == f"{tmp_path / 'folder' / '000000.png'}: No space left on device"


def test_an_existing_output_is_not_overwritten(tmp_path, recording):
    before = recording.read_bytes()
    with pytest.raises(PosepipeError, match="is there already"):
        convert_frames(open_source(recording), recording)
    assert recording.read_bytes() == before


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("sent", [header_line(), header_line() + frame_bytes(0)[:-9]])
def test_a_source_without_frames_leaves_no_file(tmp_path, capsys, name, sent):
    (tmp_path / "sent.bin").write_bytes(sent)
    assert main(["convert", f"camera:pipe:{tmp_path / 'sent.bin'}", str(tmp_path / "new" / name)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("posepipe: error: camera:pipe:")
    assert not (tmp_path / "new").exists()


def test_damaged_frames_only_are_one_line_and_leave_no_file(tmp_path, recording, monkeypatch):
    source = open_source(recording)
    monkeypatch.setattr(type(source), "__iter__", lambda self: iter(()))
    with pytest.raises(PosepipeError, match=r"first\.mcap: not a single frame came; .*a\.mcap was not written"):
        convert_frames(source, tmp_path / "a.mcap")
    assert not (tmp_path / "a.mcap").exists()


def test_an_unknown_suffix_is_an_error_with_the_formats(tmp_path, recording):
    with pytest.raises(PosepipeError, match=r"written as FILE.mcap, a recording; FILE.npz, a pack; FOLDER"):
        convert_frames(open_source(recording), tmp_path / "film.avi")


def test_the_command_converts_what_it_is_given(tmp_path, recording, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert main(["convert", str(recording), "turned.npz", "--rotate", "90", "--frame-step", "2"]) == 0
    assert "3 frames -> turned.npz" in capsys.readouterr().out
    with open_source("turned.npz") as source:
        assert source.shape == SHAPE[::-1]
        np.testing.assert_array_equal(source[1].depth_m, np.rot90(open_source(recording)[2].depth_m, -1))
    (tmp_path / "walk.csv").write_text("frame,timestamp_s\n")
    for source, target, message in (
        (recording, "walk.bvh", "is made from results; first: posepipe run"),
        (recording, "a.avi", "recordings are written"),
        ("walk.csv", "walk.bvh", "walk.csv: wanted the results of a run as JSON lines"),
    ):
        assert main(["convert", str(source), target]) == 1
        assert message in capsys.readouterr().err


def test_times_that_no_ros_message_holds_are_one_line(tmp_path, capsys):
    depth_mm, lens = np.full((2, *SHAPE), 2000, np.uint16), [20.25, 21.5, 7.4, 5.6]
    np.savez(tmp_path / "late.npz", depth_mm=depth_mm, K=lens, timestamp_s=[0.0, 2.0**31])
    for command in ("convert", "record"):
        assert main([command, str(tmp_path / "late.npz"), str(tmp_path / f"{command}.mcap")]) == 1
        assert "frame 1: a time after January 2038" in capsys.readouterr().err
    with open_source(tmp_path / "record.mcap") as kept:
        assert len(kept) == 1
    assert not (tmp_path / "convert.mcap").exists()
    assert convert_frames(open_source(tmp_path / "late.npz"), tmp_path / "folder") == 2


@pytest.mark.parametrize("name", ["recording.mcap", "folder"])
def test_a_time_before_1970_is_told_with_the_file(tmp_path, name):
    depth_mm = np.full((2, *SHAPE), 2000, np.uint16)
    np.savez(tmp_path / "two.npz", depth_mm=depth_mm, K=[20.0, 20.0, 7.5, 5.5], timestamp_s=[3.0, 0.0])
    with pytest.raises(PosepipeError, match=rf"{name}.*: frame 1: timestamp_s -3 lies before .*; sort the frames by"):
        convert_frames(open_source(tmp_path / "two.npz"), tmp_path / name)
