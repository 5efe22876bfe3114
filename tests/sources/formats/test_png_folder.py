"""PNG folders: 16-bit grey images with camera.json, and errors of users."""

from __future__ import annotations

import json

import cv2
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import find_camera
from posepipe.errors import DamagedMessageError, FormatError, PosepipeError, SourceError
from posepipe.frames import DepthFrame
from posepipe.sources.formats.png_folder import PngFolder, PngFolderWriter, write_png_folder

CAMERA = Intrinsics(20.0, 21.0, 7.5, 5.5)
SHAPE = (12, 16)
SETTINGS = {"width": 16, "height": 12, "fx": 20, "fy": 21, "cx": 7.5, "cy": 5.5, "depth_unit_m": 0.001, "fps": 15}


@pytest.fixture
def folder(tmp_path):
    """A folder with one valid image and its camera.json."""
    (tmp_path / "camera.json").write_text(json.dumps(SETTINGS))
    cv2.imwrite(str(tmp_path / "0.png"), np.full(SHAPE, 1500, np.uint16))
    return tmp_path


def test_a_folder_is_read_in_natural_order(folder):
    for number in (10, 9, 2, 1):
        cv2.imwrite(str(folder / f"{number}.png"), np.full(SHAPE, 1500 + number, np.uint16))
    (folder / "._1.png").write_bytes(b"what a Mac leaves on a memory stick")
    with PngFolder(folder) as source:
        got = list(source)
    assert [round(float(frame.depth_m[0, 0]) * 1000) - 1500 for frame in got] == [0, 1, 2, 9, 10]
    assert [frame.index for frame in got] == [0, 1, 2, 3, 4]
    assert got[3].timestamp_s == pytest.approx(3 / 15)
    assert source.frame_count == 5


def test_the_depth_unit_is_applied(folder):
    (folder / "camera.json").write_text(json.dumps({**SETTINGS, "depth_unit_m": 0.0002}))
    assert next(iter(PngFolder(folder))).depth_m[0, 0] == pytest.approx(0.3)


@settings(deadline=None, max_examples=20)
@given(depth_mm=hnp.arrays(np.uint16, (2, *SHAPE), elements=st.integers(0, 65535)))
def test_written_folders_are_read_back(tmp_path_factory, depth_mm):
    frames = [DepthFrame(image, CAMERA, i / 30, i) for i, image in enumerate(depth_mm)]
    folder = tmp_path_factory.mktemp("png") / "new"
    assert write_png_folder(folder, frames) == 2
    for got, wanted in zip(PngFolder(folder), frames, strict=True):
        np.testing.assert_array_equal(got.depth_m, wanted.depth_m)
        assert (got.intrinsics, got.index) == (wanted.intrinsics, wanted.index)


def test_a_missing_calibration_is_an_error_with_its_keys(folder):
    (folder / "camera.json").unlink()
    with pytest.raises(FormatError, match=r"camera.json: missing; wanted .*depth_unit_m"):
        PngFolder(folder)


@pytest.mark.parametrize("key", SETTINGS)
def test_a_missing_key_is_named(folder, key):
    (folder / "camera.json").write_text(json.dumps({k: v for k, v in SETTINGS.items() if k != key}))
    with pytest.raises(FormatError, match=f"key '{key}' is missing"):
        PngFolder(folder)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("fx", "20"),
        ("fx", 0),
        ("width", 16.5),
        ("height", -12),
        ("cx", None),
        ("fps", True),
        ("depth_unit_m", float("nan")),
    ],
)
def test_a_wrong_value_is_named(folder, key, value):
    (folder / "camera.json").write_text(json.dumps({**SETTINGS, key: value}))
    with pytest.raises(FormatError, match=f"key '{key}'"):
        PngFolder(folder)


@pytest.mark.parametrize("focal", [0.9, 1.5, 321, 99999, 1e-310])
def test_an_implausible_lens_is_refused_with_the_file(folder, focal):
    (folder / "camera.json").write_text(json.dumps({**SETTINGS, "fx": focal}))
    with pytest.raises(
        FormatError, match=rf"camera\.json: wanted .* 1\.6 to 320 pixels .*got fx {focal:g}, .*--camera"
    ):
        PngFolder(folder)
    right = folder / "right.json"
    right.write_text(json.dumps(SETTINGS))
    assert PngFolder(folder, find_camera(right)).intrinsics == CAMERA
    with pytest.raises(FormatError, match=r"camera\.json: wanted focal lengths"):
        find_camera(folder / "camera.json")


@pytest.mark.parametrize("content", [b"", b"{'fx': 1}", b"[]", b"\x00\xff"])
def test_a_calibration_without_a_json_object_is_an_error(folder, content):
    (folder / "camera.json").write_bytes(content)
    with pytest.raises(FormatError, match=r"camera.json"):
        PngFolder(folder)


@pytest.mark.parametrize(
    ("image", "came"),
    [
        (np.zeros(SHAPE, np.uint8), "8-bit grey"),
        (np.zeros((*SHAPE, 3), np.uint8), "8-bit colour"),
        (np.zeros((*SHAPE, 3), np.uint16), "16-bit colour"),
        (np.zeros((*SHAPE, 4), np.uint8), "8-bit colour with alpha"),
    ],
)
def test_an_image_without_depth_is_an_error_with_its_type(folder, image, came):
    cv2.imwrite(str(folder / "0.png"), image)
    with pytest.raises(FormatError, match=f"wanted a 16-bit grey PNG, got {came}; save depth as uint16"):
        list(PngFolder(folder))


def test_an_image_of_another_size_is_an_error(folder):
    cv2.imwrite(str(folder / "1.png"), np.zeros((24, 32), np.uint16))
    frames = iter(PngFolder(folder))
    next(frames)
    with pytest.raises(FormatError, match=r"1.png: 32x24 pixels, but .*camera.json is for 16x12"):
        next(frames)


def test_an_empty_image_is_left_out_and_called_so(folder, caplog):
    (folder / "1.png").write_bytes(b"")
    assert len(list(PngFolder(folder))) == len(PngFolder(folder)) - 1
    (line,) = caplog.messages
    assert line.endswith("1.png: the file is empty; frame 1 is left out")


def test_an_image_cut_anywhere_is_left_out_with_one_line(folder, caplog):
    content = (folder / "0.png").read_bytes()
    (folder / "2.png").write_bytes(content)
    for tenth in range(10):
        caplog.clear()
        (folder / "1.png").write_bytes(content[: len(content) * tenth // 10])
        assert [frame.index for frame in PngFolder(folder)] == [0, 2]
        (line,) = [record.getMessage() for record in caplog.records]
        assert line.startswith(str(folder / "1.png"))
        assert line.endswith("frame 1 is left out")
        with pytest.raises(DamagedMessageError, match=r"1.png"):
            PngFolder(folder)[1]


def test_random_bytes_in_an_image_are_a_format_error(folder):
    content = (folder / "0.png").read_bytes()
    junk = np.random.default_rng(2).bytes(len(content) - 45)
    (folder / "0.png").write_bytes(content[:33] + junk + content[-12:])
    with pytest.raises(DamagedMessageError, match=r"0.png"):
        PngFolder(folder)[0]


def test_a_folder_without_images_is_an_error(folder):
    (folder / "0.png").unlink()
    with pytest.raises(SourceError, match=r"no \*.png"):
        PngFolder(folder)


def test_a_writer_refuses_a_folder_with_images(folder, tmp_path):
    with pytest.raises(SourceError, match="already holds"):
        PngFolderWriter(folder, CAMERA, *SHAPE)
    with (
        PngFolderWriter(tmp_path / "new", CAMERA, *SHAPE) as writer,
        pytest.raises(ValueError, match="wanted frames of one camera"),
    ):
        writer.write(DepthFrame(np.ones((4, 4), np.float32), CAMERA))
    with pytest.raises(ValueError, match="no frames"):
        write_png_folder(tmp_path / "none", [])


def test_a_writer_refuses_the_list_of_removed_images(folder, tmp_path):
    frames = list(PngFolder(folder))
    write_png_folder(tmp_path / "again", frames, fps=30.0)
    for image in (tmp_path / "again").glob("*.png"):
        image.unlink()
    with pytest.raises(SourceError, match=r"already holds PNGs, or a list of them \(depth\.txt\)"):
        write_png_folder(tmp_path / "again", frames, fps=30.0)


def test_a_folder_that_cannot_be_made_is_one_line(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(PosepipeError, match="file"):
        PngFolderWriter(tmp_path / "file" / "folder", CAMERA, *SHAPE)


@pytest.mark.parametrize(
    ("own", "unit_m", "fps"),
    [({"depth_unit_m": 0.0002, "fps": 15}, 0.0002, 15), ({"fx": 0.9, "fps": 15}, 0.001, 15), (None, 0.001, 30)],
)
def test_a_preset_replaces_the_lens_but_no_unit_or_rate(tmp_path, own, unit_m, fps):
    for number in range(2):
        cv2.imwrite(str(tmp_path / f"{number}.png"), np.full((240, 320), 5000, np.uint16))
    if own is not None:
        (tmp_path / "camera.json").write_text(json.dumps({"width": 320, "height": 240, **own}))
    preset = find_camera("kinect-v1-320")
    with PngFolder(tmp_path, preset) as source:
        got = list(source)
    assert got[1].intrinsics == preset.intrinsics
    assert got[1].depth_m[0, 0] == pytest.approx(5000 * unit_m)
    assert got[1].timestamp_s == pytest.approx(1 / fps)


def test_a_preset_beside_a_wrong_unit_names_the_file(folder):
    (folder / "camera.json").write_text(json.dumps({**SETTINGS, "depth_unit_m": 0}))
    with pytest.raises(FormatError, match=r"camera\.json: key 'depth_unit_m': wanted a positive number, got 0"):
        PngFolder(folder, find_camera("kinect-v1-320"))


def test_a_full_disk_leaves_no_part_of_an_image(tmp_path):
    resource = pytest.importorskip("resource", reason="limits of file sizes are POSIX")
    noise = np.random.default_rng(0).integers(500, 5000, (48, 64)).astype(np.float32) / 1000
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    with PngFolderWriter(tmp_path / "frames", CAMERA, 48, 64) as writer:
        writer.write(DepthFrame(np.ones((48, 64), np.float32), CAMERA, 0.0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, before[1]))  # a write beyond it fails as on a full disk
        try:
            with pytest.raises(PosepipeError, match=r"000001\.png: File too large"):
                writer.write(DepthFrame(noise, CAMERA, 0.1, 1))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert sorted(path.name for path in (tmp_path / "frames").glob("*.png*")) == ["000000.png"]
