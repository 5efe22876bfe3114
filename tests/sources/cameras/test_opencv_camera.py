"""Video devices with 16-bit pixels, on a simulated OpenCV device."""

from __future__ import annotations

import threading

import cv2
import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras import LiveSource
from posepipe.sources.cameras.opencv_device import OpenCvCamera

INTRINSICS = Intrinsics(20.0, 20.0, 7.5, 5.5)
CALIBRATION = CameraFile(16, 12, INTRINSICS, 0.001, 30.0, "mine.json")
DEPTH = np.arange(12 * 16, dtype=np.uint16).reshape(12, 16) + 1000


class Device:
    """What ``cv2.VideoCapture`` answers."""

    def __init__(self, images, formats=("Z16 ",), there=True):
        self.images, self.formats, self.there = list(images), formats, there
        self.properties = {cv2.CAP_PROP_FOURCC: cv2.VideoWriter.fourcc(*"YUYV")}
        self.released = False

    def isOpened(self):
        return self.there

    def set(self, what, value):
        allowed = [cv2.VideoWriter.fourcc(*name) for name in self.formats]
        if what != cv2.CAP_PROP_FOURCC or value in allowed:
            self.properties[what] = value
        return True

    def get(self, what):
        return float(self.properties.get(what, 0))

    def read(self):
        image = self.images.pop(0) if self.images else None
        return image is not None, image

    def release(self):
        self.released = True


def opened(device, calibration=CALIBRATION):
    camera = OpenCvCamera("camera:opencv:2", "2", calibration, lambda index: device)
    camera.open(threading.Event())
    return camera


@pytest.mark.parametrize("four_letters", ["Z16 ", "Y16 "])
def test_16_bit_images_are_depth(four_letters):
    device = Device([DEPTH], [four_letters])
    camera = opened(device)
    np.testing.assert_array_equal(camera.read(0.1).depth, DEPTH)
    assert camera.read(0.1) is None
    assert (camera.shape, camera.intrinsics) == ((12, 16), INTRINSICS)
    assert device.get(cv2.CAP_PROP_CONVERT_RGB) == 0
    assert (device.get(cv2.CAP_PROP_FRAME_WIDTH), device.get(cv2.CAP_PROP_FRAME_HEIGHT)) == (16, 12)
    camera.close()
    assert device.released


@pytest.mark.parametrize("shape", [(1, 2 * 12 * 16), (12, 16, 2)])
def test_images_that_opencv_returns_as_bytes_are_read(shape):
    camera = opened(Device([DEPTH.view(np.uint8).reshape(shape)]))
    np.testing.assert_array_equal(camera.read(0.1).depth, DEPTH)


def test_the_unit_of_the_calibration_counts():
    camera = opened(Device([DEPTH]), CameraFile(16, 12, INTRINSICS, 0.0001, 30.0))
    np.testing.assert_allclose(camera.read(0.1).depth, DEPTH * 0.0001, rtol=1e-6)


def test_images_are_copies_of_opencvs_buffer():
    buffer = DEPTH.copy()
    camera = opened(Device([buffer]))
    depth = camera.read(0.1).depth
    buffer[:] = 0
    np.testing.assert_array_equal(depth, DEPTH)


def test_a_device_with_8_bits_is_refused_by_format_name():
    with pytest.raises(SourceError, match=r"camera:opencv:2: video device 2 gives 'YUYV', wanted 16-bit depth"):
        opened(Device([], formats=()))


@pytest.mark.parametrize(
    ("image", "got"),
    [
        (np.zeros((12, 16), np.uint8), r"8-bit images \(12, 16\)"),
        (np.zeros((12, 16, 3), np.uint8), r"8-bit images \(12, 16, 3\)"),
        (np.zeros((24, 32), np.uint16), r"16-bit images \(24, 32\)"),
    ],
)
def test_images_of_another_type_or_size_are_errors(image, got):
    with pytest.raises(SourceError, match=rf"gave {got}, wanted 16-bit depth of 16x12 pixels, as mine.json says"):
        opened(Device([image])).read(0.1)


def test_a_device_that_is_not_there_is_one_line():
    with pytest.raises(SourceError, match="video device 2 cannot be opened; is it there, and free"):
        opened(Device([], there=False))


def test_a_device_without_a_calibration_is_one_line():
    with pytest.raises(SourceError, match=r"does not report its intrinsics; give its camera.json as --camera"):
        open_source("camera:opencv:0")


@pytest.mark.parametrize("argument", ["front", "-1", "1.5", "99999"])
def test_an_invalid_device_number_is_an_error(argument):
    with pytest.raises(SourceError, match="wanted camera:opencv:INDEX"):
        open_source(f"camera:opencv:{argument}", camera="kinect-v1")


def test_a_whole_source_runs_until_the_device_goes_away():
    camera = OpenCvCamera("camera:opencv:2", "2", CALIBRATION, lambda index: Device([DEPTH, DEPTH]))
    with LiveSource(camera, every_frame=True, stall_s=0.01, pauses_s=()) as source:
        frames = iter(source)
        assert [next(frames).index, next(frames).index] == [0, 1]
        with pytest.raises(SourceError, match=r"no frame for 0.01 s"):
            next(frames)
