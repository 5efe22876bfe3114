"""``--camera`` with cameras that know the distortion of their lens; no SDK is needed."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import CameraFile
from posepipe.sources.cameras.orbbec import OrbbecCamera
from posepipe.sources.cameras.realsense import RealSenseCamera

GIVEN = CameraFile(64, 48, Intrinsics(57.0, 58.0, 31.5, 23.5), 0.001, 30.0, name="own.json")
SIZE = {"width": 64, "height": 48}


def realsense(k1):
    camera = RealSenseCamera("camera:name", "", GIVEN)
    camera.read_intrinsics(SimpleNamespace(**SIZE, coeffs=[k1, 0, 0, 0, 0]))
    return camera


def orbbec(k1):
    distortion = dict.fromkeys(("k2", "k3", "k4", "k5", "k6", "p1", "p2"), 0.0)
    model = SimpleNamespace(model=SimpleNamespace(name="INVERSE_BROWN_CONRADY"), k1=k1, **distortion)
    camera = OrbbecCamera("camera:name", "", GIVEN)
    camera.read_intrinsics(
        SimpleNamespace(
            get_intrinsic=lambda: None, get_distortion=lambda: model, get_width=lambda: 64, get_height=lambda: 48
        )
    )
    return camera


@pytest.mark.parametrize("made", [realsense, orbbec])
@pytest.mark.parametrize(("k1", "told"), [(0.2, True), (0.0, False)])
def test_distortion_that_stays_is_told(caplog, made, k1, told):
    assert made(k1).intrinsics == GIVEN.intrinsics
    assert caplog.messages == ["camera:name: calibration from own.json; images are not undistorted"] * told
