"""The Orbbec driver on frames and calibrations that the SDK creates, without a camera."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.lens_distortion import LensDistortion, Undistortion
from posepipe.errors import SourceError
from posepipe.sources import open_source
from posepipe.sources.cameras.orbbec import OrbbecCamera

sdk = pytest.importorskip("pyorbbecsdk", reason="needs pyorbbecsdk2", exc_type=ImportError)

INTRINSICS = Intrinsics(20.0, 21.0, 7.5, 5.5)
GREY = np.random.default_rng(0).integers(300, 9000, (12, 16), dtype=np.uint16)


@dataclass
class Profile:
    """Stand-in for a stream profile, which the SDK cannot create; intrinsics and distortion are the SDK's."""

    intrinsics: Any
    distortion: Any

    def get_intrinsic(self):
        return self.intrinsics

    def get_distortion(self):
        return self.distortion

    def get_width(self):
        return 16

    def get_height(self):
        return 12


def profile(model="NONE", **coefficients):
    own = sdk.OBCameraIntrinsic()
    own.fx, own.fy, own.cx, own.cy, own.width, own.height = (
        INTRINSICS.fx,
        INTRINSICS.fy,
        INTRINSICS.cx,
        INTRINSICS.cy,
        16,
        12,
    )
    distortion = sdk.OBCameraDistortion()
    distortion.model = getattr(sdk.OBCameraDistortionModel, model)
    for name, value in coefficients.items():
        setattr(distortion, name, value)
    return Profile(own, distortion)


def sdk_frame(grey, scale=1.0, device_us=0):
    height, width = grey.shape
    frame = sdk.Frame.create_video_frame(sdk.OBFrameType.DEPTH_FRAME, sdk.OBFormat.Y16, width, height, 0)
    depth = frame.as_depth_frame()
    depth.update_data(np.ascontiguousarray(grey).view(np.uint8).reshape(-1))
    depth.set_value_scale(scale)
    sdk.Frame.set_frame_device_timestamp_us(depth, device_us)
    return depth


def camera(*model, **coefficients):
    made = OrbbecCamera("camera:orbbec", "")
    made.read_intrinsics(profile(*model, **coefficients))
    return made


def test_a_frame_of_the_sdk_is_depth_in_millimetres():
    frame = camera().convert_frame(sdk_frame(GREY, device_us=1_500_000))
    np.testing.assert_array_equal(frame.depth, GREY)
    assert frame.depth.dtype == np.uint16
    assert (frame.time_ns, frame.since_epoch) == (1_500_000_000, False)


def test_a_finer_scale_gives_metres():
    frame = camera().convert_frame(sdk_frame(GREY, scale=0.25))
    np.testing.assert_allclose(frame.depth, GREY * 0.00025, rtol=1e-6)


def test_the_intrinsics_are_the_cameras_own():
    assert (camera().intrinsics, camera().shape) == (INTRINSICS, (12, 16))


@pytest.mark.parametrize(
    ("model", "ours", "names"),
    [
        ("BROWN_CONRADY", "plumb_bob", ("k1", "k2", "p1", "p2", "k3")),
        ("BROWN_CONRADY_K6", "rational_polynomial", ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6")),
    ],
)
def test_lens_distortion_is_removed(model, ours, names):
    coefficients = {name: 0.125 / (i + 1) for i, name in enumerate(names)}
    got = camera(model, **coefficients).convert_frame(sdk_frame(GREY)).depth
    stored = tuple(float(np.float32(coefficients[name])) for name in names)
    np.testing.assert_array_equal(got, Undistortion(INTRINSICS, LensDistortion(ours, stored), (12, 16)).undistort(GREY))


def test_an_implausible_lens_is_refused():
    wrong = profile()
    wrong.intrinsics.fx = 0.5
    with pytest.raises(SourceError, match=r"^camera:orbbec: its calibration: .* got fx 0\.5, .*give --camera"):
        OrbbecCamera("camera:orbbec", "").read_intrinsics(wrong)


def test_an_unsupported_distortion_is_refused():
    with pytest.raises(SourceError, match=r"unsupported lens distortion \(INVERSE_BROWN_CONRADY"):
        camera("INVERSE_BROWN_CONRADY", k1=0.5)


def test_a_frame_without_16_bit_depth_is_an_error():
    frame = sdk.Frame.create_video_frame(sdk.OBFrameType.DEPTH_FRAME, sdk.OBFormat.Y8, 16, 12, 0).as_depth_frame()
    with pytest.raises(SourceError, match="wanted 16-bit depth of 16x12 pixels"):
        camera().convert_frame(frame)


def test_no_connected_camera_is_one_line_and_leaves_no_log(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SourceError, match=r"^camera:orbbec: no Orbbec camera is connected"):
        open_source("camera:orbbec")
    assert list(tmp_path.iterdir()) == []
