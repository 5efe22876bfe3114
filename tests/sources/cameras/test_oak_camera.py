"""The OAK driver on images that depthai creates and a simulated device, without a camera."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import timedelta
from threading import Event
from types import SimpleNamespace

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.errors import SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras import oak
from tests.support.paths import ROOT

try:
    dai = oak.import_depthai("test")
except SourceError:
    pytest.skip("needs depthai", allow_module_level=True)

K = [[20.0, 0.0, 7.5], [0.0, 21.0, 5.5], [0.0, 0.0, 1.0]]
GREY = np.random.default_rng(0).integers(300, 9000, (12, 16), dtype=np.uint16)


def image(number, grey=GREY, matrix=K, kind="RAW16"):
    """An image as the package makes it."""
    height, width = grey.shape
    frame = dai.ImgFrame().setType(getattr(dai.ImgFrame.Type, kind)).setSize(width, height)
    frame.setData(np.ascontiguousarray(grey).view(np.uint8).reshape(-1))
    frame.setSequenceNum(number)
    frame.setTimestamp(timedelta(seconds=3, microseconds=number))
    return frame.setTransformation(dai.ImgTransformation(width, height, matrix))


class Device:
    """Simulated device; its id is that of a real one."""

    def __init__(self, info):
        self.info, self.closed = info, False

    @staticmethod
    def getAllAvailableDevices():
        return [dai.DeviceInfo("14442C10D13EABCE00"), dai.DeviceInfo("14442C10D13EABCE01")]

    def close(self):
        self.closed = True


class Pipeline:
    """Simulated pipeline that delivers `images`, and then an error or nothing."""

    images: tuple = ()
    error: Exception | None = None
    last: Pipeline | None = None

    def __init__(self, device):
        self.device, self.running, self.asked = device, False, {}
        self._left = list(self.images)
        Pipeline.last = self

    def create(self, node):
        assert node is dai.node.StereoDepth
        output = SimpleNamespace(createOutputQueue=self._queue)
        return SimpleNamespace(build=lambda **asked: self.asked.update(asked) or SimpleNamespace(depth=output))

    def _queue(self, maxSize, blocking):
        assert not blocking
        return SimpleNamespace(get=self._get)

    def _get(self, timeout):
        assert isinstance(timeout, timedelta)
        if not self._left and self.error is not None:
            raise self.error
        return self._left.pop(0) if self._left else None

    def start(self):
        self.running = True

    def stop(self):
        self.running = False

    def isRunning(self):
        return self.running


@pytest.fixture
def camera(monkeypatch):
    monkeypatch.setattr(dai, "Device", Device)
    monkeypatch.setattr(dai, "Pipeline", Pipeline)
    monkeypatch.setattr(oak, "FIRST_FRAME_S", 0.2)

    def make(*images, error=None, argument=""):
        monkeypatch.setattr(Pipeline, "images", images)
        monkeypatch.setattr(Pipeline, "error", error)
        return oak.OakCamera("camera:oak", argument)

    return make


def opened(made):
    made.open(Event())
    return made


def test_the_calls_are_those_of_the_package():
    build = dai.node.StereoDepth.build.__doc__
    assert all(f"{name}: " in build for name in ("autoCreateCameras", "size", "fps"))
    assert "maxSize: int" in dai.Node.Output.createOutputQueue.__doc__
    assert "timeout: datetime.timedelta" in dai.MessageQueue.get.__doc__
    assert {"create", "start", "stop", "isRunning"} <= set(dir(dai.Pipeline))


def test_images_are_millimetres_with_their_time_and_number(camera):
    made = opened(camera(image(7), image(8)))
    assert (made.intrinsics, made.shape) == (Intrinsics(20.0, 21.0, 7.5, 5.5), (12, 16))
    frame = made.read(0.1)
    np.testing.assert_array_equal(frame.depth, GREY)
    assert (frame.time_ns, frame.since_epoch, frame.number) == (3_000_008_000, False, 8)
    assert made.read(0.1) is None
    assert Pipeline.last.asked == {"autoCreateCameras": True, "size": (640, 400), "fps": 30.0}


def test_a_camera_is_chosen_by_its_id_and_released(camera):
    made = opened(camera(image(0), argument="14442C10D13EABCE01"))
    device = Pipeline.last.device
    assert device.info.getDeviceId() == "14442C10D13EABCE01"
    made.close()
    assert (Pipeline.last.running, device.closed) == (False, True)
    made.close()


def test_an_unplugged_camera_may_come_back(camera):
    made = opened(camera(image(0)))
    Pipeline.last.stop()
    with pytest.raises(SourceError, match="camera:oak: was unplugged"):
        made.read(0.1)
    failing = opened(camera(image(0), error=RuntimeError("X_LINK_ERROR")))
    with pytest.raises(SourceError, match=r"camera:oak: has failed \(X_LINK_ERROR\)"):
        failing.read(0.1)


def test_a_camera_without_images_is_an_error(camera):
    with pytest.raises(SourceError, match=r"camera:oak: no depth within 0\.2 s"):
        opened(camera())


def test_other_images_than_16_bit_depth_are_refused(camera):
    made = opened(camera(image(0), image(1, np.zeros((12, 16), np.uint8), kind="RAW8")))
    with pytest.raises(SourceError, match=r"gave an image of uint8 \(12, 16\), wanted 16-bit depth \(12, 16\)"):
        made.read(0.1)


def test_an_implausible_lens_is_refused(camera):
    with pytest.raises(SourceError, match=r"camera:oak: its calibration: .*give --camera"):
        opened(camera(image(0, matrix=[[0.5, 0, 7.5], [0, 21.0, 5.5], [0, 0, 1]])))


def test_no_connected_camera_is_one_line_and_told_to_nobody():
    """The package reports its import over the network unless it is told not to."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        environment = {key: value for key, value in os.environ.items() if not key.startswith("DEPTHAI_")}
        environment |= {
            "DEPTHAI_TELEMETRY_URL": f"http://127.0.0.1:{server.getsockname()[1]}",
            "PYTHONPATH": str(ROOT),
        }
        code = "from posepipe.sources import open_source; open_source('camera:oak')"
        done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True)
        server.setblocking(False)
        with pytest.raises(BlockingIOError):
            server.accept()
    assert done.stdout == ""
    assert done.stderr.splitlines()[-1].endswith(
        "SourceError: camera:oak: no OAK camera is connected, or this user may not open it"
    )


def test_a_missing_package_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "depthai", None)
    with pytest.raises(SourceError, match=r"needs the Python package depthai: pip install 'posepipe\[oak\]'"):
        open_source("camera:oak")


GROWS_BEYOND_A_LIMIT = """
import resource
from posepipe.sources.cameras.oak import import_depthai
import_depthai("test")
resource.setrlimit(resource.RLIMIT_FSIZE, (10, 10))
with open("a", "wb", 0) as file:
    try:
        file.write(bytes(20)), file.write(bytes(20))
    except OSError as error:
        print(error.strerror)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="limits of file sizes are POSIX")
def test_depthai_leaves_the_signals_of_the_process_alone(tmp_path):
    """Its handlers would end a process whose file grows beyond a limit, which Python reports as an error."""
    command, environment = [sys.executable, "-c", GROWS_BEYOND_A_LIMIT], {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "File too large\n"
