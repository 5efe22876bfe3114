"""Calibration of the depth camera of an Azure Kinect, from its factory's ``calibration.json``.

The calibration is for the whole sensor. A depth mode bins the pixels of the sensor, crops a window, or both.

References
----------
Azure-Kinect-Sensor-SDK: src/calibration/calibration.c (names), src/transformation/mode_specific_calibration.c
(windows; pixel coordinates start at the corner of a pixel), intrinsic_transformation.c (distortion).
"""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from pathlib import Path

from posepipe.camera import Intrinsics, check_lens
from posepipe.camera.lens_distortion import LensDistortion
from posepipe.errors import FormatError

CALIBRATION_NAME = "calibration.json"
_DEPTH_CAMERA = "CALIBRATION_CameraLocationD0"
_BROWN, _RATIONAL = "CALIBRATION_LensDistortionModelBrownConrady", "CALIBRATION_LensDistortionModelRational6KT"
_PARAMETERS = ("cx", "cy", "fx", "fy", "k1", "k2", "k3", "k4", "k5", "k6", "codx", "cody", "p2", "p1")
_SENSOR = (1024, 1024)  # columns and rows
_WINDOWS = {  # size of the image -> size of the binned sensor, first column and row of the window
    (320, 288): ((512, 512), (96, 90)),  # NFOV_2X2BINNED
    (640, 576): ((1024, 1024), (192, 180)),  # NFOV_UNBINNED
    (512, 512): ((512, 512), (0, 0)),  # WFOV_2X2BINNED
}


@dataclass(frozen=True, slots=True)
class AzureCalibration:
    """Intrinsics and distortion of one depth mode."""

    intrinsics: Intrinsics
    distortion: LensDistortion


def read_azure_calibration(path: str | Path, content: bytes, shape: tuple[int, int]) -> AzureCalibration:
    """Read the calibration of the depth camera. The image size determines the depth mode.

    Parameters
    ----------
    path : the recording, for messages
    content : content of ``calibration.json``
    shape : rows and columns of the images

    Raises
    ------
    FormatError
        When the calibration is damaged, for another image size, or has an unsupported distortion.
    """
    camera = _depth_camera(path, content)
    try:
        model = camera["Intrinsics"]["ModelType"]
        values = [float(value) for value in camera["Intrinsics"]["ModelParameters"]]
        sensor = (int(camera["SensorWidth"]), int(camera["SensorHeight"]))
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    if len(values) < len(_PARAMETERS) or not all(map(math.isfinite, values)):
        raise _damaged(path, f"wanted {len(_PARAMETERS)} finite numbers {' '.join(_PARAMETERS)}, got {values}")
    numbers = dict(zip(_PARAMETERS, values, strict=False))
    _check_model(path, model, numbers)
    (columns, rows), (left, top) = _window(path, sensor, (shape[1], shape[0]))
    try:
        intrinsics = Intrinsics(
            numbers["fx"] * columns,
            numbers["fy"] * rows,
            numbers["cx"] * columns - left - 0.5,
            numbers["cy"] * rows - top - 0.5,
        )
        check_lens(intrinsics, shape[1], shape[0])
    except ValueError as error:
        raise _damaged(path, str(error)) from error
    coefficients = tuple(numbers[name] for name in ("k1", "k2", "p1", "p2", "k3", "k4", "k5", "k6"))
    return AzureCalibration(intrinsics, LensDistortion("rational_polynomial", coefficients))


def _damaged(path: str | Path, problem: str) -> FormatError:
    return FormatError(path, f"{CALIBRATION_NAME} is damaged ({problem}); give --camera")


def _depth_camera(path: str | Path, content: bytes) -> dict:
    try:
        cameras = json.loads(content.rstrip(b"\0"))["CalibrationInformation"]["Cameras"]
        found = next((camera for camera in cameras if camera.get("Location") == _DEPTH_CAMERA), None)
    except (ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, f"{type(error).__name__}: {error}") from error
    if found is None:
        raise _damaged(path, f"no camera {_DEPTH_CAMERA}")
    return found


def _check_model(path: str | Path, model: object, numbers: dict[str, float]) -> None:
    """Refuse a distortion that OpenCV's rational model cannot express.

    Rational6KT, used before the retail cameras, has half of OpenCV's tangential terms in x y.
    """
    centred = numbers["codx"] == numbers["cody"] == 0
    tangential = numbers["p1"] != 0 or numbers["p2"] != 0
    if not centred or model not in (_BROWN, _RATIONAL) or (model == _RATIONAL and tangential):
        raise FormatError(
            path,
            f"{CALIBRATION_NAME}: wanted distortion {_BROWN} centred at codx = cody = 0, got {model!r} with"
            f" codx {numbers['codx']:g}, cody {numbers['cody']:g}; undistort the images and give --camera",
        )


def _window(
    path: str | Path, sensor: tuple[int, int], image: tuple[int, int]
) -> tuple[tuple[int, int], tuple[int, int]]:
    """Columns and rows of the binned sensor, and first column and row of the image in it."""
    if image == sensor:
        return sensor, (0, 0)
    if sensor != _SENSOR or image not in _WINDOWS:
        sizes = ", ".join(f"{columns}x{rows}" for columns, rows in (*_WINDOWS, _SENSOR))
        raise FormatError(
            path,
            f"images of {image[0]}x{image[1]} of a sensor of {sensor[0]}x{sensor[1]} pixels have no known"
            f" depth mode (known: {sizes} of {_SENSOR[0]}x{_SENSOR[1]}); give --camera",
        )
    return _WINDOWS[image]
