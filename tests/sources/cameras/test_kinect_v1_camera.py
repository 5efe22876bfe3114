"""The Kinect driver on fakenect, libfreenect's simulated Kinect, which plays a folder of raw depth.

fakenect exits the process for an unsuitable folder, so it runs in processes of its own.
"""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from posepipe.errors import SourceError
from posepipe.recording import RecordingReader
from posepipe.sources import open_source

LIBRARIES = [Path(folder) / "fakenect" / "libfreenect.so.0.5" for folder in Path("/usr/lib").glob("*-linux-gnu")]
FAKENECT = next((path for path in [*LIBRARIES, Path("/usr/lib/fakenect/libfreenect.so.0.5")] if path.exists()), None)
needs_fakenect = pytest.mark.skipif(FAKENECT is None, reason="needs fakenect (apt install libfreenect-bin)")

#: factory calibration of a Kinect: centimetres
EMITTER_CM, REFERENCE_CM, PIXEL_CM, SHIFT = 7.5, 120.0, 0.1042, 200


def raw_of(number):
    raw = np.random.default_rng(number).integers(400, 1050, (480, 640), dtype=np.uint16)
    raw[:, :8] = 2047  # no reading
    return raw


def millimetres(raw):
    """The formula of libfreenect's registration.c, for the Kinect of its author."""
    metric = ((raw.astype(float) - 4 * SHIFT) / 4 - 0.375) * PIXEL_CM
    mm = 10 * (metric * REFERENCE_CM / (EMITTER_CM - metric) + REFERENCE_CM)
    return np.where(raw == 2047, 0, mm)


@pytest.fixture
def dump(tmp_path):
    """A folder in the format of fakenect-record: three frames, 0.1 s apart."""
    folder = tmp_path / "dump"
    folder.mkdir()
    names = []
    for i in range(3):
        names.append(f"d-{1285526387 + i / 10:.6f}-{i * 2_000_000}.pgm")
        (folder / names[-1]).write_bytes(b"P5 640 480 65535\n" + raw_of(i).astype("<u2").tobytes())
    (folder / "INDEX.txt").write_text("".join(f"{name}\n" for name in names))
    return folder


def run_on(dump, *command):
    environment = os.environ | {"FAKENECT_PATH": str(dump), "POSEPIPE_LIBFREENECT": str(FAKENECT)}
    return subprocess.run([sys.executable, *command], env=environment, capture_output=True, timeout=60, check=False)


@needs_fakenect
def test_the_depth_of_a_kinect_is_in_millimetres(dump, tmp_path):
    take = """
import sys
import numpy as np
from posepipe.errors import SourceError
from posepipe.sources.cameras.kinect_v1 import KinectV1Camera
from posepipe.sources.cameras.live import LiveSource
frames = []
with LiveSource(KinectV1Camera("camera:kinect-v1", ""), every_frame=True, pauses_s=()) as source:
    try:
        frames.extend(source)
    except SourceError as error:
        print(error)
np.savez(sys.argv[1], depth_m=[f.depth_m for f in frames], t=[f.timestamp_s for f in frames],
         index=[f.index for f in frames], camera=[source.intrinsics.fx, source.intrinsics.cx])
"""
    done = run_on(dump, "-c", take, tmp_path / "frames.npz")
    assert done.returncode == 0, done.stderr
    assert b"camera:kinect-v1: was unplugged" in done.stdout  # so fakenect ends
    got = np.load(tmp_path / "frames.npz")
    assert len(got["depth_m"]) == 3
    for i in range(3):
        wanted = millimetres(raw_of(i))
        np.testing.assert_allclose(
            got["depth_m"][i] * 1000, wanted, atol=1.001
        )  # libfreenect cuts to whole millimetres
        assert (got["depth_m"][i][:, :8] == 0).all()
        assert wanted.max() > 3000
    assert got["index"].tolist() == [0, 1, 2]
    assert got["t"][0] == 0
    assert (np.diff(got["t"]) > 0.05).all()
    assert got["camera"].tolist() == [585.0, 319.5]


@needs_fakenect
def test_a_kinect_is_recorded(dump, tmp_path):
    file = tmp_path / "kinect.mcap"
    done = run_on(dump, "-m", "apps.cli", "record", "camera:kinect-v1:0", str(file), "--frames", "3")
    assert done.returncode == 0, done.stderr
    assert b"3 frames" in done.stdout
    with RecordingReader(file) as reader:
        depths = [frame.depth_m for frame in reader]
    assert len(depths) == 3
    np.testing.assert_allclose(depths[2] * 1000, millimetres(raw_of(2)), atol=1.001)


@needs_fakenect
def test_a_missing_kinect_is_one_line(dump):
    done = run_on(dump, "-m", "apps.cli", "record", "camera:kinect-v1:1", str(dump / "k.mcap"))
    assert done.returncode == 1
    assert (
        done.stderr.decode()
        .splitlines()[-1]
        .startswith("posepipe: error: camera:kinect-v1:1: none of 1 Kinects is 1, or this user may not open it")
    )


def test_no_connected_kinect_is_one_line(monkeypatch):
    monkeypatch.delenv("POSEPIPE_LIBFREENECT", raising=False)
    try:
        ctypes.CDLL("libfreenect.so.0.5")
    except OSError:
        pytest.skip("needs libfreenect (apt install libfreenect0.5)")
    with pytest.raises(SourceError, match=r"^camera:kinect-v1: (no Kinect is connected|libfreenect does not start)"):
        open_source("camera:kinect-v1")


@pytest.mark.parametrize("library", ["/nothing/libfreenect.so", ctypes.util.find_library("c") or "libc.so.6"])
def test_an_invalid_libfreenect_is_one_line(library, monkeypatch):
    monkeypatch.setenv("POSEPIPE_LIBFREENECT", library)
    with pytest.raises(SourceError, match=rf"^camera:kinect-v1: POSEPIPE_LIBFREENECT={library} is no libfreenect"):
        open_source("camera:kinect-v1")


@pytest.mark.parametrize(
    ("platform", "library"),
    [("linux", "libfreenect.so"), ("darwin", "libfreenect.dylib"), ("win32", "freenect.dll")],
)
def test_a_missing_libfreenect_is_named_as_on_this_platform(platform, library, monkeypatch):
    def load(path):
        raise OSError(f"{path}: cannot open shared object file")

    monkeypatch.delenv("POSEPIPE_LIBFREENECT", raising=False)
    monkeypatch.setattr("posepipe.sources.cameras.kinect_v1.sys.platform", platform)
    monkeypatch.setattr("posepipe.sources.cameras.kinect_v1.ctypes.CDLL", load)
    with pytest.raises(SourceError, match=rf"needs libfreenect: apt install libfreenect0\.5, .* \({library}: cannot"):
        open_source("camera:kinect-v1")
