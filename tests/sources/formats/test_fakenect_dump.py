"""Dumps of a Kinect v1: read, converted like libfreenect, and compared with its simulated Kinect, fakenect."""

from __future__ import annotations

import ctypes
import logging
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.camera.presets import CAMERA_PRESETS
from posepipe.errors import FormatError, PosepipeError, SourceError
from posepipe.sources import open_source
from posepipe.sources.formats.fakenect_dump import FakenectDump, ZeroPlane
from tests.support.recordings.kinect_dumps import START_NS, device_json, write_dump

SHAPE = (480, 640)
FAKENECT = sorted(Path("/usr/lib").glob("*/fakenect/libfreenect.so.0.5"))
LIBFREENECT = sorted(Path("/usr/lib").glob("*/libfreenect.so.0.5"))
OTHER_PLANE = {"dcmos_emitter_distance": 7.8, "reference_distance": 118.0, "reference_pixel_size": 0.1063}

#: plays a dump in fakenect and saves its callbacks' data; runs in its own process, because the library may exit
PLAYER = """
import ctypes, sys
import numpy as np
class Mode(ctypes.Structure):
    _fields_ = [("reserved", ctypes.c_uint32), ("resolution", ctypes.c_int), ("format", ctypes.c_int32),
                ("bytes", ctypes.c_int32), ("width", ctypes.c_int16), ("height", ctypes.c_int16),
                ("bits", ctypes.c_int8), ("padding", ctypes.c_int8), ("fps", ctypes.c_int8), ("valid", ctypes.c_int8)]
library = ctypes.CDLL(sys.argv[1])
library.freenect_find_depth_mode.restype = Mode
library.freenect_set_depth_mode.argtypes = [ctypes.c_void_p, Mode]
context, device, seen = ctypes.c_void_p(), ctypes.c_void_p(), []
library.freenect_init(ctypes.byref(context), None)
library.freenect_open_device(context, ctypes.byref(device), 0)
library.freenect_set_depth_mode(device, library.freenect_find_depth_mode(1, 0))
take = lambda device, depth, ticks: seen.append(np.frombuffer(ctypes.string_at(depth, 614400), "<u2"))
callback = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint32)(take)
library.freenect_set_depth_callback(device, callback)
library.freenect_start_depth(device)
while library.freenect_process_events(context) == 0:
    pass
np.save(sys.argv[2], np.stack(seen).reshape(-1, 480, 640))
"""


class Registration(ctypes.Structure):
    """``freenect_registration`` of libfreenect_registration.h."""

    _fields_ = (
        ("reg_info", ctypes.c_int32 * 29),
        ("reg_pad_info", ctypes.c_uint16 * 3),
        ("zero_plane_info", ctypes.c_float * 4),
        ("const_shift", ctypes.c_double),
        ("raw_to_mm_shift", ctypes.POINTER(ctypes.c_uint16)),
        ("depth_to_rgb_shift", ctypes.c_void_p),
        ("registration_table", ctypes.c_void_p),
    )


def disparity(count: int = 3) -> np.ndarray:
    """A slanted wall without readings in the last columns, typical of a Kinect: uint16 (N, 480, 640)."""
    wall = 600 + np.arange(SHAPE[1]) // 2 + np.arange(SHAPE[0])[:, None] // 4
    wall[:, -8:] = 2047
    return np.stack([wall + k * (wall < 2047) for k in range(count)]).astype(np.uint16)


def depth_mm(source: FakenectDump, index: int) -> np.ndarray:
    return np.rint(source[index].depth_m * 1000).astype(int)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "dump"


def test_disparity_becomes_depth_with_the_recorder_s_times(folder):
    write_dump(folder, disparity())
    with open_source(folder) as source:
        assert isinstance(source, FakenectDump)
        assert source.shape == SHAPE
        assert source.intrinsics == CAMERA_PRESETS["kinect-v1"].intrinsics
        assert source.start_time_ns == START_NS
        np.testing.assert_allclose(source.timestamps_s, np.arange(3) * 0.033333, atol=1e-9)
        frames = list(source)
        assert [frame.index for frame in frames] == [0, 1, 2]
        assert (frames[0].depth_m[:, -8:] == 0).all()
        assert (np.diff(frames[0].depth_m[0, :-8:2]) > 0).all()  # a larger raw value is farther away
        assert frames[0].depth_m[0, 0] == pytest.approx(0.705, abs=0.001)
        assert (frames[1].depth_m[:, :-8] >= frames[0].depth_m[:, :-8]).all()


def test_inverse_depth_is_linear_in_the_raw_value(folder):
    """1 / z = a - b raw for any constants, by the geometry of structured light."""
    millimetres = ZeroPlane().millimetres().astype(float)
    raw = np.arange(450, 1000)
    line = np.polyfit(raw, 1000 / millimetres[raw], 1)
    np.testing.assert_allclose(1000 / np.polyval(line, raw), millimetres[raw], rtol=2e-3)
    assert line == pytest.approx([-0.0029, 3.15], rel=0.01)


@pytest.mark.skipif(not LIBFREENECT, reason="needs Debian's libfreenect0.5")
@pytest.mark.parametrize(("plane", "shift"), [({}, 200.0), (OTHER_PLANE, 205.0)])
def test_millimetres_are_libfreenect_s_to_the_digit(folder, plane, shift):
    """libfreenect's own table for a device with a reference plane only."""
    library = ctypes.CDLL(str(LIBFREENECT[0]))
    library.freenect_copy_registration.restype = Registration
    device = np.arange(1 << 18, dtype=np.int32)
    place = library.freenect_copy_registration(device.ctypes.data_as(ctypes.c_void_p)).reg_info[0]
    own = Registration()
    names = ("dcmos_emitter_distance", "reference_distance", "reference_pixel_size")
    values = {name: plane.get(name, getattr(ZeroPlane(), name)) for name in names}
    own.zero_plane_info[:] = [values[names[0]], 2.3, values[names[1]], values[names[2]]]
    own.const_shift = shift
    ctypes.memmove(device[place:].ctypes.data, ctypes.byref(own), ctypes.sizeof(own))
    table = library.freenect_copy_registration(device.ctypes.data_as(ctypes.c_void_p)).raw_to_mm_shift
    theirs = np.ctypeslib.as_array(table, (2048,)).astype(int)
    write_dump(folder, np.arange(SHAPE[0] * SHAPE[1]).reshape(1, *SHAPE) % 2048)
    if plane:
        (folder / "device.json").write_text(device_json(values, shift))
    ours = depth_mm(FakenectDump(folder), 0).ravel()[:2048]
    far = int(np.argmax(theirs > 9500))  # beyond the plane of infinity their table wraps round
    assert far > 1000
    np.testing.assert_array_equal(ours[:far], theirs[:far])
    assert not ours[far:].any()


@pytest.mark.skipif(not FAKENECT, reason="needs Debian's libfreenect0.5 with fakenect")
def test_fakenect_plays_the_same_dump_with_the_same_numbers(folder, tmp_path):
    write_dump(folder, disparity(), step_ns=2_000_000)
    environment = {**os.environ, "FAKENECT_PATH": str(folder), "FAKENECT_LOOP": "0"}
    command = [sys.executable, "-c", PLAYER, str(FAKENECT[0]), str(tmp_path / "played.npy")]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr
    played = np.load(tmp_path / "played.npy")
    np.testing.assert_array_equal(played, disparity())
    table = ZeroPlane().millimetres()
    source = FakenectDump(folder)
    for index in range(3):
        np.testing.assert_array_equal(depth_mm(source, index), table[played[index]])


@pytest.mark.parametrize(("highest", "lowest"), [(4000, 0), (4000, 500), (1800, 0)])
def test_millimetres_are_recognised_by_their_values(folder, highest, lowest):
    images = np.full((2, *SHAPE), 1500)
    images[0, 0, :2] = lowest, highest
    write_dump(folder, images)
    frame = FakenectDump(folder)[0]
    assert frame.depth_m[1, 1] == pytest.approx(1.5)
    assert frame.depth_m[0, 1] == pytest.approx(highest / 1000)


def test_other_values_are_refused(folder):
    write_dump(folder, disparity().byteswap())
    with pytest.raises(FormatError, match="little-endian, as fakenect-record writes them; got values up to 6"):
        FakenectDump(folder)


def test_millimetres_among_disparity_are_refused(folder):
    images = disparity(10)
    images[9, 3, 3] = 2048
    write_dump(folder, images)
    source = FakenectDump(folder)
    assert source[8].depth_m.any()
    with pytest.raises(FormatError, match=r"d-.*wanted 11-bit disparity, as in the first images, got 2048"):
        source[9]


def test_the_calibration_is_the_folder_s_or_the_given_one(folder, caplog):
    write_dump(folder, disparity(1))
    with caplog.at_level(logging.INFO):
        FakenectDump(folder)
    assert [record.message for record in caplog.records] == [
        f"{folder}: the recording has no intrinsics; using --camera kinect-v1"
    ]
    own = CameraFile(640, 480, Intrinsics(590.0, 591.0, 320.0, 241.0), 0.001, 30.0)
    write_camera_file(folder / "camera.json", own)
    assert open_source(folder).intrinsics == own.intrinsics
    assert open_source(folder, camera="kinect-v1").intrinsics == CAMERA_PRESETS["kinect-v1"].intrinsics
    with pytest.raises(
        FormatError, match=r"is for 320x240 pixels, the frames have 640x480; give .* or kinect-v1 or d435$"
    ):
        open_source(folder, camera="kinect-v1-320")


def test_a_cut_dump_plays_what_it_has(folder, caplog):
    names = write_dump(folder, disparity(4))
    index = folder / "INDEX.txt"
    index.write_text(index.read_text()[: -len(f"a-{names[-1]}") + 8])  # the last line is cut
    os.truncate(folder / names[-1], 300_000)
    source = FakenectDump(folder)
    assert len(source) == 3
    assert len(list(source)) == 3
    warnings = [record.message for record in caplog.records if record.levelno == logging.WARNING]
    assert len(warnings) == 2
    assert "the last line is cut" in warnings[0]
    assert f"{names[-1]} is incomplete" in warnings[1]


def test_every_cut_of_the_list_plays_or_is_one_line(folder):
    write_dump(folder, disparity(3))
    content = (folder / "INDEX.txt").read_bytes()
    for length in range(len(content) * 7 // 10, len(content)):
        (folder / "INDEX.txt").write_bytes(content[:length])
        with open_source(folder) as source:
            assert sum(1 for _ in source) == source.frame_count
    for length in (0, 1, 20):
        (folder / "INDEX.txt").write_bytes(content[:length])
        with pytest.raises(PosepipeError):
            open_source(folder)


def test_a_missing_or_cut_image_is_named(folder):
    names = write_dump(folder, disparity(12))
    source = FakenectDump(folder)
    (folder / names[9]).unlink()
    os.truncate(folder / names[10], 300_000)
    assert source[8].depth_m.any()
    with pytest.raises(PosepipeError, match=rf"{names[9]}: missing, but INDEX.txt lists it"):
        source[9]
    with pytest.raises(FormatError, match=rf"{names[10]}, byte 300000: wanted 614400 bytes of depth, got 299983"):
        source[10]


@pytest.mark.parametrize("index", [1, 8])
@pytest.mark.parametrize("spoil", [os.remove, lambda path: os.truncate(path, 300_000)], ids=["missing", "cut"])
def test_a_spoilt_image_costs_its_own_frame_alone(folder, caplog, index, spoil):
    names = write_dump(folder, disparity(10))
    spoil(folder / names[index])
    assert [frame.index for frame in FakenectDump(folder)] == [i for i in range(10) if i != index]
    assert caplog.records[-1].getMessage().endswith(f"frame {index} is left out")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "lists no depth image"),
        (b"r-1.5-3.ppm\n", "lists no depth image"),
        (b"frame1.png\nframe2.png\n", "line 1: wanted a file d-TIME-TICKS.pgm"),
        (b"d-1.5-3.pgm\nd-../../1-3.pgm\nd-1.6-4.pgm\n", "line 2"),
        (b"d-999999999999999.5-3.pgm\n", "line 1"),
        (b"\x00\xff\xfe\n\x80", "line 1"),
    ],
)
def test_an_invalid_list_is_one_line(folder, content, message):
    write_dump(folder, disparity(1))
    (folder / "INDEX.txt").write_bytes(content)
    with pytest.raises(PosepipeError, match=message):
        open_source(folder)


@pytest.mark.parametrize("content", [b"", b"P5\n640 480\n65535\n", b"P2 640 480 65535\n1 2", b"P5 99999 99999 65535\n"])
def test_an_invalid_image_is_one_line(folder, content):
    names = write_dump(folder, disparity(2))
    (folder / names[0]).write_bytes(content)
    with pytest.raises(FormatError, match=r"wanted a PGM|99999x99999 pixels; readable are"):
        open_source(folder)


@pytest.mark.parametrize(
    "text",
    ["", "[]", "{}", device_json({}, 200), device_json({**OTHER_PLANE, "reference_distance": "far"}, 200),
     device_json(OTHER_PLANE, -1), device_json(OTHER_PLANE, 10**400),
     device_json({**OTHER_PLANE, "reference_pixel_size": 1e999}, 200)],
)  # fmt: skip
def test_a_damaged_device_file_is_one_line(folder, text):
    write_dump(folder, disparity(1))
    (folder / "device.json").write_text(text)
    with pytest.raises(FormatError, match=r"device\.json"):
        open_source(folder)


def test_a_list_without_depth_images_is_a_source_error(folder):
    folder.mkdir()
    (folder / "INDEX.txt").touch()
    with pytest.raises(SourceError, match=r"INDEX\.txt lists no depth image"):
        open_source(folder)
