"""Folders of .npy, .pgm and .tiff images: levels and metres, and what is said of others."""

from __future__ import annotations

import struct

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.errors import DamagedMessageError, FormatError
from posepipe.sources import open_source
from posepipe.sources.formats.image_folder import ImageFolder

SHAPE = (12, 16)
DEPTH_MM = np.random.default_rng(6).integers(500, 9000, (3, *SHAPE)).astype(np.uint16)


def pgm(levels, comment=b""):
    return b"P5 %s%d %d\n65535\n" % (comment, levels.shape[1], levels.shape[0]) + levels.astype(">u2").tobytes()


def tiff(pixels):
    ok, content = cv2.imencode(".tiff", pixels, [cv2.IMWRITE_TIFF_COMPRESSION, 1])
    assert ok
    return content.tobytes()


def npy(tmp_path, pixels):
    np.save(tmp_path / "one.npy", pixels)
    content = (tmp_path / "one.npy").read_bytes()
    (tmp_path / "one.npy").unlink()
    return content


def folder(tmp_path, suffix, contents, unit_m=0.001):
    place = tmp_path / "frames"
    place.mkdir()
    for k, content in enumerate(contents):
        (place / f"f{k + 8}{suffix}").write_bytes(content)  # f8, f9, f10: not the order of the letters
    camera = CameraFile(SHAPE[1], SHAPE[0], Intrinsics(15, 15, 7.5, 5.5), unit_m, 10.0)
    write_camera_file(place / "camera.json", camera)
    return place


def kinds(tmp_path):
    metres = DEPTH_MM * np.float32(0.001)
    return {
        "npy levels": (".npy", [npy(tmp_path, each) for each in DEPTH_MM]),
        "npy metres": (".npy", [npy(tmp_path, each.astype(float)) for each in metres]),
        "npy of int32": (".npy", [npy(tmp_path, each.astype(np.int32)) for each in DEPTH_MM]),
        "npy of >i8": (".npy", [npy(tmp_path, each.astype(">i8")) for each in DEPTH_MM]),
        "npy by columns": (".npy", [npy(tmp_path, np.asfortranarray(each)) for each in DEPTH_MM]),
        "pgm": (".pgm", [pgm(each, b"# a comment\n") for each in DEPTH_MM]),
        "tiff metres": (".tif", [tiff(each) for each in metres]),
        "tiff levels": (".tiff", [tiff(each) for each in DEPTH_MM]),
    }


@pytest.mark.parametrize(
    "kind",
    [
        *["npy levels", "npy metres", "npy of int32", "npy of >i8", "npy by columns"],
        *["pgm", "tiff metres", "tiff levels"],
    ],
)
def test_frames_are_those_written_in_the_order_of_numbers(tmp_path, kind):
    with open_source(folder(tmp_path, *kinds(tmp_path)[kind])) as source:
        assert isinstance(source, ImageFolder)
        read = np.stack([frame.depth_m for frame in source])
        np.testing.assert_allclose(source.timestamps_s, [0, 0.1, 0.2])
    np.testing.assert_allclose(read, DEPTH_MM * 0.001, atol=1e-6)


def test_the_unit_applies_to_levels_alone(tmp_path):
    with open_source(folder(tmp_path, ".pgm", [pgm(DEPTH_MM[0])], unit_m=0.0005)) as source:
        np.testing.assert_allclose(source[0].depth_m, DEPTH_MM[0] * 0.0005, atol=1e-6)


@pytest.mark.parametrize(
    ("suffix", "content", "said"),
    [
        (".pgm", pgm(DEPTH_MM[0])[:-5], "is the file cut"),
        (".pgm", b"P5 16 12 255\n" + bytes(192), "16 bits"),
        (".pgm", b"P2 16 12 65535\n", "P5"),
        (".pgm", pgm(DEPTH_MM[0, :6]), "camera.json"),
        (".tiff", b"II*\0" + struct.pack("<I", 4000), "unpack"),
        (".tiff", tiff(np.zeros((*SHAPE, 3), np.uint16)), "one channel"),
        (".tiff", tiff(np.zeros(SHAPE, np.uint8)), "got 8 bits"),
        (".tiff", cv2.imencode(".tiff", DEPTH_MM[0], [cv2.IMWRITE_TIFF_COMPRESSION, 5])[1].tobytes(), "compress"),
        (".tiff", cv2.imencodemulti(".tiff", [*DEPTH_MM], [cv2.IMWRITE_TIFF_COMPRESSION, 1])[1].tobytes(), "several"),
        (".npy", b"\x93NUMPY\x01\x00", "."),
        (".npy", b"not an array", "magic"),
    ],
)
def test_other_images_are_one_line(tmp_path, suffix, content, said):
    with open_source(folder(tmp_path, suffix, [content])) as source, pytest.raises(FormatError, match=said) as error:
        source[0]
    whole = ("16 bits", "camera.json", "one channel", "got 8 bits", "compress", "several")
    assert isinstance(error.value, DamagedMessageError) == (said not in whole)


def test_a_small_copy_beside_the_image_does_not_count(tmp_path):
    content = bytearray(tiff(DEPTH_MM[0]))
    (at,) = struct.unpack_from("<I", content, 4)
    (entries,) = struct.unpack_from("<H", content, at)
    struct.pack_into("<I", content, at + 2 + 12 * entries, len(content))
    content += struct.pack("<HHHIII", 1, 254, 4, 1, 1, 0)  # one entry: a reduced copy of another image
    with open_source(folder(tmp_path, ".tiff", [bytes(content)])) as source:
        np.testing.assert_allclose(source[0].depth_m, DEPTH_MM[0] * 0.001, atol=1e-6)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros(SHAPE, np.uint8), "got uint8"),
        (np.zeros(SHAPE, bool), "wanted uint16 levels or floating point metres, got bool"),
        (np.zeros(SHAPE, complex), "got complex128"),
        (np.zeros(SHAPE, "M8[s]"), "got datetime64"),
        (np.full(SHAPE, 65_536), "wanted levels from 0 to 65535, got int64 from 65536 to 65536"),
        (np.arange(-1, 191, dtype=np.int16).reshape(SHAPE), "got int16 from -1 to 190"),
        (np.zeros((2, *SHAPE), np.uint16), r"an array \(2, 12, 16\)"),
        (np.zeros(SHAPE[0], np.uint16), r"an array \(12,\)"),
    ],
)
def test_other_arrays_are_refused_and_not_called_damaged(tmp_path, array, said):
    with open_source(folder(tmp_path, ".npy", [npy(tmp_path, array)])) as source:
        with pytest.raises(FormatError, match=said) as error:
            source[0]
        assert not isinstance(error.value, DamagedMessageError)


def test_an_array_of_objects_is_one_line(tmp_path):
    with open_source(folder(tmp_path, ".npy", [npy(tmp_path, np.array([{}]))])) as source, pytest.raises(FormatError):
        source[0]


@pytest.mark.parametrize("content", [b"", bytes(200), b"half of one"])
def test_a_damaged_image_costs_its_own_frame_alone(tmp_path, caplog, content):
    place = folder(tmp_path, ".npy", [npy(tmp_path, each) for each in DEPTH_MM])
    (place / "f9.npy").write_bytes(content)
    with open_source(place) as source:
        assert [frame.index for frame in source] == [0, 2]
    (line,) = [record.getMessage() for record in caplog.records]
    assert line.endswith("frame 1 is left out")


def test_hidden_files_beside_images_do_not_count(tmp_path):
    place = folder(tmp_path, ".npy", [npy(tmp_path, each) for each in DEPTH_MM])
    for name in ("._f8.npy", "._f9.npy", "._f10.npy", "._f8.png", "._f8.pgm"):
        (place / name).write_bytes(b"\0\x05\x16\x07Mac OS X")
    with open_source(place) as source:
        assert len(list(source)) == len(DEPTH_MM)
