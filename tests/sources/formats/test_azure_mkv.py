"""Recordings of the Azure Kinect: exact depth, the SDK's calibration, random access, cut and damaged files."""

from __future__ import annotations

import json
import logging
import os
import shutil
import struct
import subprocess
import sys

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile, write_camera_file
from posepipe.errors import FormatError, PosepipeError, SourceError
from posepipe.sources import open_source
from posepipe.sources.formats.azure.azure_calibration import read_azure_calibration
from posepipe.sources.formats.azure.azure_mkv import AzureMkv
from tests.support.recordings.azure_recordings import (
    NFOV_PARAMETERS,
    NO_DISTORTION,
    azure_recording,
    calibration_json,
    write_azure_recording,
)

av = pytest.importorskip("av", reason="needs the extra azure", exc_type=ImportError)

SHAPE = (12, 16)
CAMERA = Intrinsics(20.0, 21.0, 7.5, 5.5)
STRAIGHT = calibration_json(NO_DISTORTION, sensor=(16, 12))
START_NS = (978_307_200 + 700_000_000) * 10**9  # Matroska counts from 2001


def noise(count: int = 6, shape=SHAPE) -> np.ndarray:
    """uint16 (N, H, W), every value that a frame can hold."""
    return np.random.default_rng(1).integers(100, 9500, (count, *shape), dtype=np.uint16)


def depth_mm(frame) -> np.ndarray:
    return np.rint(frame.depth_m * 1000).astype(np.uint16)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "recording.mkv"


def test_frames_are_exact_with_their_times(path):
    depth = noise()
    with open_source(write_azure_recording(path, depth, STRAIGHT)) as source:
        assert isinstance(source, AzureMkv)
        assert (source.intrinsics, source.shape, source.frame_count) == (CAMERA, SHAPE, 6)
        assert source.start_time_ns == START_NS + 5_000_000  # of the first depth frame
        np.testing.assert_allclose(source.timestamps_s, np.arange(6) / 30, atol=1e-6)
        for _ in range(2):
            frames = list(source)
            np.testing.assert_array_equal([depth_mm(frame) for frame in frames], depth)
            assert [frame.index for frame in frames] == list(range(6))
            np.testing.assert_array_equal([frame.timestamp_s for frame in frames], source.timestamps_s)


def test_frames_have_random_access(path):
    depth = noise()
    source = AzureMkv(write_azure_recording(path, depth, STRAIGHT))
    iterator = iter(source)
    next(iterator)
    for index in (5, 0, 3, 4, 3, 1):
        np.testing.assert_array_equal(depth_mm(source[index]), depth[index])
    np.testing.assert_array_equal([depth_mm(frame) for frame in iterator], depth[1:])


def test_random_access_works_without_seek_targets(path):
    depth = noise()
    content = azure_recording(depth, np.arange(6) * 33_333, STRAIGHT).replace(b"\0\0\x80", b"\0\0\0")
    path.write_bytes(content)
    source = AzureMkv(path)
    for index in (0, 1, 5, 2):
        np.testing.assert_array_equal(depth_mm(source[index]), depth[index])


def test_an_independent_decoder_gives_the_same_image(path):
    depth = noise(shape=(288, 320))
    write_azure_recording(path, depth, calibration_json())
    with av.open(str(path)) as container:
        stream = next(each for each in container.streams.video if each.metadata["title"] == "DEPTH")
        assert stream.codec_context.codec_tag == "b16g"
        np.testing.assert_array_equal([frame.to_ndarray() for frame in container.decode(stream)], depth)


@pytest.mark.skipif(shutil.which("mkvmerge") is None, reason="needs mkvmerge")
def test_a_remuxed_recording_plays_the_same(path, tmp_path):
    depth = noise()
    write_azure_recording(path, depth, STRAIGHT)
    subprocess.run(["mkvmerge", "-q", "-o", tmp_path / "anew.mkv", path], check=True, capture_output=True)
    with open_source(tmp_path / "anew.mkv") as source:
        assert source.intrinsics == CAMERA
        np.testing.assert_array_equal([depth_mm(frame) for frame in source], depth)
        np.testing.assert_allclose(source.timestamps_s, np.arange(6) / 30, atol=1e-3)


@pytest.mark.parametrize(
    ("shape", "pixels", "corner"),
    [
        ((576, 640), 1024, (192, 180)),
        ((288, 320), 512, (96, 90)),
        ((512, 512), 512, (0, 0)),
        ((1024, 1024), 1024, (0, 0)),
    ],
)
def test_the_intrinsics_of_every_depth_mode_are_the_sdk_s(shape, pixels, corner):
    """Position of a ray on the whole sensor, minus the corner of the window, minus half a pixel."""
    own = read_azure_calibration("x.mkv", calibration_json(), shape)
    ray = np.array([0.1, -0.2, 1.0])
    on_sensor = (
        np.array([NFOV_PARAMETERS[1] + NFOV_PARAMETERS[3] * ray[1], NFOV_PARAMETERS[0] + NFOV_PARAMETERS[2] * ray[0]])
        * pixels
    )
    np.testing.assert_allclose(own.intrinsics.project(ray), on_sensor - corner[::-1] - 0.5, atol=1e-9)
    k1, k2, k3, k4, k5, k6 = NFOV_PARAMETERS[4:10]
    assert own.distortion.coefficients == (k1, k2, NFOV_PARAMETERS[13], NFOV_PARAMETERS[12], k3, k4, k5, k6)


def k4a_pixel(ray: np.ndarray, camera: Intrinsics) -> np.ndarray:
    """Project rays (N, 2), x / z and y / z, to (N, 2), row and column, by the SDK's Brown-Conrady model."""
    k1, k2, k3, k4, k5, k6, _, _, p2, p1 = NFOV_PARAMETERS[4:]
    x, y = ray.T
    r2 = x * x + y * y
    factor = (1 + k1 * r2 + k2 * r2**2 + k3 * r2**3) / (1 + k4 * r2 + k5 * r2**2 + k6 * r2**3)
    across = x * factor + (r2 + 2 * x * x) * p2 + 2 * x * y * p1
    down = y * factor + (r2 + 2 * y * y) * p1 + 2 * x * y * p2
    return np.column_stack([down * camera.fy + camera.cy, across * camera.fx + camera.cx])


@pytest.mark.parametrize("shape", [(576, 640), (512, 512)])
def test_images_are_undistorted(path, shape):
    """Discs drawn at the SDK's projection of points are found at their pinhole projection."""
    camera = read_azure_calibration(path, calibration_json(), shape).intrinsics
    rows, cols = np.meshgrid(np.linspace(40, shape[0] - 40, 5), np.linspace(40, shape[1] - 40, 6), indexing="ij")
    rays = np.column_stack([(cols.ravel() - camera.cx) / camera.fx, (rows.ravel() - camera.cy) / camera.fy])
    distorted = np.full((1, *shape), 9000, np.uint16)
    places = np.rint(k4a_pixel(rays, camera)).astype(int)
    for number, (row, col) in enumerate(places.tolist()):
        cv2.circle(distorted[0], (col, row), 2, 2000 + number, cv2.FILLED)
    write_azure_recording(path, distorted, calibration_json())
    undistorted = depth_mm(AzureMkv(path)[0])
    moved = np.abs(places - np.column_stack([rows.ravel(), cols.ravel()])).max()
    assert moved > 5  # the distortion is noticeable
    for number, (row, col) in enumerate(zip(rows.ravel(), cols.ravel(), strict=True)):
        found = np.argwhere(undistorted == 2000 + number)
        np.testing.assert_allclose(found.mean(axis=0), (row, col), atol=1.5)  # half a pixel, up to 2.5 times as large


def test_a_given_calibration_replaces_the_file_s_with_a_warning(path, tmp_path, caplog):
    depth = noise()
    write_azure_recording(path, depth, None)
    with pytest.raises(
        FormatError, match=r"no calibration\.json is attached, so the intrinsics are not known; give --camera"
    ):
        open_source(path)
    write_camera_file(tmp_path / "own.json", CameraFile(16, 12, CAMERA, 0.001, 30.0))
    with open_source(path, camera=tmp_path / "own.json") as source:
        np.testing.assert_array_equal([depth_mm(frame) for frame in source], depth)
    assert [record.message for record in caplog.records] == [
        f"{path}: calibration from {tmp_path / 'own.json'}; images are not undistorted"
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parameters": NFOV_PARAMETERS[:6]}, "wanted 14 finite numbers"),
        ({"parameters": (*NFOV_PARAMETERS[:4], float("nan"), *NFOV_PARAMETERS[5:])}, "wanted 14 finite numbers"),
        ({"parameters": (*NFOV_PARAMETERS[:2], -1.0, *NFOV_PARAMETERS[3:])}, "focal lengths must be positive"),
        (
            {"parameters": (*NFOV_PARAMETERS[:2], 0.0009, *NFOV_PARAMETERS[3:])},
            r"x\.mkv: calibration.json is damaged \(wanted .* 64 to 12800 pixels .* got fx 0\.92.*give --camera",
        ),
        (
            {"parameters": (*NFOV_PARAMETERS[:10], 0.01, *NFOV_PARAMETERS[11:])},
            "codx 0.01, cody 0; undistort the images",
        ),
        ({"model": "Theta"}, "LensDistortionModelTheta"),
        ({"model": "Rational6KT"}, "LensDistortionModelRational6KT"),
        ({"sensor": (2048, 2048)}, "no known depth mode"),
        ({"sensor": (None, 1024)}, "is damaged"),
    ],
)
def test_an_unusable_calibration_is_refused_with_the_reason(changes, message):
    with pytest.raises(FormatError, match=message):
        read_azure_calibration("x.mkv", calibration_json(**changes), (576, 640))


def test_the_older_model_is_read_where_both_agree():
    radial = (*NFOV_PARAMETERS[:12], 0.0, 0.0)
    old = read_azure_calibration("x.mkv", calibration_json(radial, model="Rational6KT"), (576, 640))
    assert old == read_azure_calibration("x.mkv", calibration_json(radial), (576, 640))


@pytest.mark.parametrize(
    "content",
    [b"{", b"\xff\xfe", b"[]", b"{}", b'{"CalibrationInformation": {"Cameras": 3}}', b"[" * 100_000,
     b'{"CalibrationInformation": {"Cameras": [1, 2]}}', b'{"CalibrationInformation": {"Cameras": []}}',
     json.dumps({"CalibrationInformation": {"Cameras": [{"Location": "CALIBRATION_CameraLocationD0"}]}}).encode()],
)  # fmt: skip
def test_a_damaged_calibration_is_one_line(path, content):
    write_azure_recording(path, noise(1), content)
    with pytest.raises(FormatError, match=r"calibration\.json is damaged .*; give --camera"):
        open_source(path)


def test_other_videos_are_refused_with_their_tracks(path):
    write_azure_recording(path, noise(1), STRAIGHT, depth_name="TDEPTH")
    with pytest.raises(FormatError, match="with a track DEPTH, got tracks: 'COLOR', 'TDEPTH', 'IR', 'IMU'"):
        open_source(path)
    write_azure_recording(path, noise(1), STRAIGHT, fourcc=b"Y800")
    with pytest.raises(FormatError, match="wanted raw 16-bit grey, b16g, got rawvideo gray"):
        open_source(path)


def test_a_video_of_pyav_is_refused_by_codec(path):
    with av.open(str(path), "w", format="matroska") as container:
        stream = container.add_stream("ffv1", rate=30)
        stream.width, stream.height, stream.pix_fmt = 64, 48, "gray16le"
        stream.metadata["title"] = "DEPTH"
        container.mux(stream.encode(av.VideoFrame.from_ndarray(noise(1, (48, 64))[0], format="gray16le")))
        container.mux(stream.encode())
    with pytest.raises(FormatError, match="got ffv1 gray16le; take the file that the recorder wrote"):
        open_source(path)


def test_a_cut_recording_plays_what_it_has_and_warns_once(path, caplog):
    depth = noise()
    content = write_azure_recording(path, depth, STRAIGHT).read_bytes()
    path.write_bytes(content[: len(content) * 7 // 10])
    source = AzureMkv(path)
    assert 1 <= len(source) < 6
    for _ in range(2):
        np.testing.assert_array_equal([depth_mm(frame) for frame in source], depth[: len(source)])
    lacking = len(content) - len(content) * 7 // 10
    assert [record.message for record in caplog.records] == [
        f"{path}: is cut, {lacking} bytes are missing; the {len(source)} frames that are whole are played"
    ]


def test_a_recording_of_a_killed_recorder_plays_what_it_has(path, caplog):
    depth = noise()
    write_azure_recording(path, depth, STRAIGHT, closed=False)
    with path.open("r+b") as stream:
        stream.truncate(path.stat().st_size - 100)  # in the middle of the last cluster
    np.testing.assert_array_equal([depth_mm(frame) for frame in AzureMkv(path)], depth[: len(AzureMkv(path))])
    assert "was not closed by its recorder; the" in caplog.text


def test_a_complete_recording_logs_no_warning(path, caplog):
    list(AzureMkv(write_azure_recording(path, noise(), STRAIGHT)))
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]


def test_every_cut_plays_or_is_one_line(path):
    content = write_azure_recording(path, noise(3), STRAIGHT).read_bytes()
    played, problems = set(), set()
    for length in range(0, len(content), 61):
        path.write_bytes(content[:length])
        try:
            with open_source(path) as source:
                played.add(sum(1 for _ in source))
                assert source.frame_count in played
        except PosepipeError as error:
            problems.add(str(error))
    assert played == {1, 2, 3}
    assert not any("\n" in problem for problem in problems)


def test_damaged_bytes_play_or_are_one_line(path):
    content = write_azure_recording(path, noise(3), STRAIGHT).read_bytes()
    rng = np.random.default_rng(2)
    problems = set()
    for _ in range(300):
        damaged = bytearray(content)
        for place in rng.integers(4, len(content), 8):
            damaged[place] = rng.integers(256)
        path.write_bytes(damaged)
        try:
            with open_source(path) as source:
                list(source)
        except PosepipeError as error:
            problems.add(str(error))
    assert len(problems) > 10
    assert not any("\n" in problem for problem in problems)


@pytest.mark.parametrize("size", [0, 8, 60, 5000])
def test_random_bytes_after_the_magic_are_one_line(path, size):
    path.write_bytes(b"\x1a\x45\xdf\xa3" + np.random.default_rng(size).bytes(size))
    with pytest.raises(FormatError, match=r"recording\.mkv: "):
        open_source(path)


def test_a_frame_of_another_size_is_named(path):
    content = azure_recording(noise(3), np.arange(3) * 33_333, STRAIGHT)
    wide = struct.pack(">Q", 16), struct.pack(">Q", 17)
    path.write_bytes(content.replace(b"\xb0\x01\0\0\0\0\0\0\x08" + wide[0], b"\xb0\x01\0\0\0\0\0\0\x08" + wide[1]))
    with pytest.raises(FormatError, match="track DEPTH: wanted frames of 408 bytes, got one of 384"):
        open_source(path)


def test_a_recording_without_a_frame_is_one_line(path):
    write_azure_recording(path, noise(1)[:0], STRAIGHT)
    with pytest.raises(FormatError, match=r"damaged one|no whole frame"):
        open_source(path)


def test_a_file_truncated_during_playback_is_one_line(path):
    source = AzureMkv(write_azure_recording(path, noise(200, (48, 64)), calibration_json(NO_DISTORTION, (64, 48))))
    assert source[0].depth_m.any()
    os.truncate(path, 20_000)
    with pytest.raises(FormatError, match="frame 199"):
        source[199]


def test_a_missing_pyav_names_its_install_command(path, monkeypatch):
    write_azure_recording(path, noise(1), STRAIGHT)
    monkeypatch.setitem(sys.modules, "av", None)
    with pytest.raises(SourceError, match=r"need PyAV; pip install 'posepipe\[azure\]'"):
        open_source(path)
