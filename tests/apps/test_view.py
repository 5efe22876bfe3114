"""``posepipe view --sheet``: any source as one picture; the frames themselves are left alone."""

import cv2
import pytest

from apps.cli import main
from apps.view import _rows
from posepipe.camera import Intrinsics
from posepipe.dataset import RecordingEntry, recording_name, write_manifest
from posepipe.recording import RecordingWriter
from posepipe.sinks.contact_sheet import TILE_PX
from posepipe.sources.npz_pack import write_npz_pack
from posepipe.sources.png_folder import write_png_folder
from tests.toy_person import INTRINSICS, SHAPE, TOY, toy_frames

FRAMES = 7


def write_recording(path, labelled=True):
    with RecordingWriter(path, INTRINSICS, *SHAPE, body=TOY if labelled else None) as writer:
        for frame in toy_frames(FRAMES):
            writer.write(frame if labelled else frame.depth)
    return path


def write_dataset(folder):
    folder.mkdir()
    path = write_recording(folder / recording_name(0))
    write_manifest(folder, TOY, {"sensor": {"name": "mine"}}, [RecordingEntry.describe(path)])
    return folder


def sources(tmp_path):
    depth = [frame.depth for frame in toy_frames(FRAMES)]
    write_npz_pack(tmp_path / "pack.npz", depth)
    write_png_folder(tmp_path / "pngs", depth)
    return {
        "dataset": write_dataset(tmp_path / "data"),
        "labelled recording": write_recording(tmp_path / "labelled.mcap"),
        "recording": write_recording(tmp_path / "plain.mcap", labelled=False),
        "pack": tmp_path / "pack.npz",
        "pngs": tmp_path / "pngs",
    }


@pytest.mark.parametrize("kind", ["dataset", "labelled recording", "recording", "pack", "pngs"])
def test_every_source_has_a_sheet_with_colours_where_there_are_labels(kind, tmp_path, capsys):
    source, sheet = sources(tmp_path)[kind], tmp_path / "sheets" / "sheet.png"
    assert main(["view", str(source), "--sheet", str(sheet), "--frames", "5"]) == 0
    assert f"5 of {FRAMES} frames" in capsys.readouterr().out
    picture = cv2.imread(str(sheet))
    assert picture.shape[0] > 2 * TILE_PX
    colourful = cv2.cvtColor(picture, cv2.COLOR_BGR2HSV)[..., 1] > 150
    assert colourful.any() == (kind in ("dataset", "labelled recording"))


def test_frames_are_evenly_spread_or_every_kth():
    assert list(_rows(1000, 5, None)) == [0, 249, 499, 749, 999]
    assert list(_rows(3, 100, None)) == [0, 1, 2]
    assert list(_rows(9, 1, None)) == [0]
    assert list(_rows(1000, 3, 10)) == [0, 10, 20]
    assert list(_rows(25, 100, 10)) == [0, 10, 20]


def error_of(capsys, *arguments):
    assert main([str(argument) for argument in arguments]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("posepipe: error: ")
    return line


def test_a_live_view_is_not_there_yet(tmp_path, capsys):
    assert "give --sheet" in error_of(capsys, "view", tmp_path)


def test_a_sheet_never_lies_among_the_frames(tmp_path, capsys):
    """In a folder of PNGs it would be one more frame."""
    folders = sources(tmp_path)
    for kind in ("dataset", "pngs"):
        before = {path: path.read_bytes() for path in folders[kind].iterdir()}
        for name in ("000000.png", "sheet.png", "more/sheet.png"):
            assert "among the frames" in error_of(capsys, "view", folders[kind], "--sheet", folders[kind] / name)
        assert {path: path.read_bytes() for path in folders[kind].iterdir()} == before
    (tmp_path / "link.png").symlink_to(folders["pngs"] / "000000.png")
    assert "among the frames" in error_of(capsys, "view", folders["pngs"], "--sheet", tmp_path / "link.png")


def test_what_cannot_be_shown_is_one_line(tmp_path, capsys):
    sheet = tmp_path / "sheet.png"
    assert "no such file" in error_of(capsys, "view", tmp_path / "nothing", "--sheet", sheet)
    empty = tmp_path / "empty"
    empty.mkdir()
    write_manifest(empty, TOY, {}, [])
    assert "no frames yet" in error_of(capsys, "view", empty, "--sheet", sheet)
    data = write_dataset(tmp_path / "data")
    assert "room for 1000" in error_of(capsys, "view", data, "--sheet", sheet, "--frames", 1001)
    assert not sheet.exists()


def test_a_sheet_is_a_png():
    with pytest.raises(SystemExit) as stop:
        main(["view", "data", "--sheet", "sheet.jpg"])
    assert stop.value.code == 2


def test_a_calibration_of_one_s_own_is_taken(tmp_path, capsys):
    from posepipe.sources.camera_file import CameraFile, write_camera_file

    write_camera_file(tmp_path / "camera.json", CameraFile(*SHAPE[::-1], Intrinsics(80, 80, 31.5, 23.5), 0.001, 30))
    source = write_recording(tmp_path / "a.mcap")
    arguments = ["view", str(source), "--sheet", str(tmp_path / "s.png"), "--camera", str(tmp_path / "camera.json")]
    assert main(arguments) == 0
    assert cv2.imread(str(tmp_path / "s.png")) is not None


def test_a_cut_recording_shows_what_is_there_and_says_so(tmp_path, capsys):
    whole = write_recording(tmp_path / "a.mcap")
    cut = tmp_path / "cut.mcap"
    cut.write_bytes(whole.read_bytes()[:-3000])
    assert main(["view", str(cut), "--sheet", str(tmp_path / "s.png")]) == 0
    assert "was not closed" in capsys.readouterr().err
