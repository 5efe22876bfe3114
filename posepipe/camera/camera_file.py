"""``camera.json``: calibration of a folder of depth images, or a replacement for any source's own."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from posepipe.camera.distortion_names import distortion_key
from posepipe.camera.intrinsics import Intrinsics, check_lens
from posepipe.camera.presets import CAMERA_PRESETS
from posepipe.errors import FormatError
from posepipe.io.files import is_absent, read_json_object, replace_file

CAMERA_FILE_NAME = "camera.json"
DEFAULT_UNIT_M = 0.001
DEFAULT_FPS = 30.0
FPS_RANGE = (1e-6, 1e6)
"""Frame rates, from a picture in eleven days up: times of frames stay finite numbers that differ."""

_MAX_VALUE = 1e9  # of any number in the file; also excludes NaN, infinities and integers that no float holds
_KEYS = ("width", "height", "fx", "fy", "cx", "cy", "depth_unit_m", "fps")


@dataclass(frozen=True, slots=True)
class CameraFile:
    """Content of a ``camera.json``: image size, intrinsics, depth unit and frame rate."""

    width: int
    height: int
    intrinsics: Intrinsics
    depth_unit_m: float  #: metres per grey level
    fps: float  #: frames per second
    name: str = CAMERA_FILE_NAME  #: path or preset, for messages
    lens_only: bool = False  #: of a preset: unit and frame rate are defaults, which a folder's own replace

    def intrinsics_for(self, height: int, width: int) -> Intrinsics:
        """Return the intrinsics. Raises FormatError when the calibration is for another image size."""
        if (self.height, self.width) != (height, width):
            problem = f"is for {self.width}x{self.height} pixels, the frames have {width}x{height}"
            raise FormatError(self.name, f"{problem}; {what_fits(height, width, self)}")
        return self.intrinsics


def what_fits(height: int, width: int, camera: CameraFile) -> str:
    """Say which calibrations are for images of this size, for the message that ``camera`` is not.

    In place of a preset others are named where one is of the same camera.
    """
    of_size = [name for name, each in CAMERA_PRESETS.items() if (each.height, each.width) == (height, width)]
    own = f"a {CAMERA_FILE_NAME} of that size"
    if camera.lens_only and not any(name.startswith(camera.name) or camera.name.startswith(name) for name in of_size):
        return f"give {own}; of images that were scaled, with fx, fy, cx and cy of {camera.name} scaled as they were"
    return "give " + " or ".join([own, *(name for name in of_size if name != "ideal")])


def find_camera(camera: str | Path) -> CameraFile:
    """Load a calibration by the name of a preset or the path of a file.

    Raises
    ------
    FormatError
        When ``camera`` is neither, or the file is not a calibration.
    """
    preset = CAMERA_PRESETS.get(str(camera))
    if preset is not None:
        size = preset.width, preset.height
        return CameraFile(*size, preset.intrinsics, DEFAULT_UNIT_M, DEFAULT_FPS, str(camera), lens_only=True)
    if is_absent(camera):
        raise FormatError(camera, f"no such file; give a camera.json or one of {', '.join(CAMERA_PRESETS)}")
    return read_camera_file(camera)


def folder_camera(folder: Path, given: CameraFile | None, default: CameraFile | None = None) -> CameraFile:
    """Return the calibration of a folder of images.

    Parameters
    ----------
    folder : may contain a ``camera.json``
    given : replaces it; of a preset only image size and lens do
    default : where the folder has none; None = it must have one, unless another is given

    Raises
    ------
    FormatError
        When the ``camera.json`` is missing or wrong.
    """
    own = folder / CAMERA_FILE_NAME
    if given is None:
        return default if default is not None and not own.is_file() else read_camera_file(own)
    if not given.lens_only:
        return given
    base = default or given
    numbers = {"depth_unit_m": base.depth_unit_m, "fps": base.fps}
    if own.is_file():
        numbers |= {key: value for key, value in read_json_object(own).items() if key in numbers}
    for key in numbers:
        _check_number(own, key, numbers)
    return replace(given, depth_unit_m=float(numbers["depth_unit_m"]), fps=float(numbers["fps"]))


def takes_default_unit(folder: Path, given: CameraFile | None) -> bool:
    """Whether neither the folder of images, nor the calibration given for it as in `folder_camera`, names a unit."""
    own = folder / CAMERA_FILE_NAME
    named_there = own.is_file() and "depth_unit_m" in read_json_object(own)
    return (given is None or given.lens_only) and not named_there


def read_camera_file(path: str | Path) -> CameraFile:
    """Read a calibration.

    Raises FormatError, naming the key, when a value is missing or not a plausible number, or the lens is distorted.
    """
    path = Path(path)
    if is_absent(path):
        raise FormatError(path, f"missing; wanted a JSON object with {', '.join(_KEYS)}, or --camera PRESET|FILE")
    values = read_json_object(path)
    if "K" in values and not values.keys() >= {"fx", "fy", "cx", "cy"}:
        values |= _numbers_of_matrix(path, values["K"])
    for key in _KEYS:
        _check_number(path, key, values)
    _refuse_distortion(path, values)
    width, height = int(values["width"]), int(values["height"])
    try:
        intrinsics = Intrinsics(*(float(values[key]) for key in ("fx", "fy", "cx", "cy")))
        check_lens(intrinsics, width, height)
    except ValueError as error:
        raise FormatError(path, f"{error}; correct the file, or give --camera PRESET|FILE") from error
    return CameraFile(width, height, intrinsics, float(values["depth_unit_m"]), float(values["fps"]), str(path))


def _numbers_of_matrix(path: Path, matrix: object) -> dict:
    """Return fx, fy, cx and cy of a matrix ``K``, in three rows or as the nine numbers of ROS.

    Raises FormatError for another shape, skew, or another last row.
    """
    rows = matrix if isinstance(matrix, list) else []
    flat = [value for row in rows for value in (row if isinstance(row, list) else [row])]
    numbers = [0.0 if isinstance(value, bool) or not isinstance(value, int | float) else value for value in flat]
    if len(numbers) != 9 or [numbers[k] for k in (1, 3, 6, 7, 8)] != [0, 0, 0, 0, 1]:
        raise FormatError(path, f"key 'K': wanted [[fx, 0, cx], [0, fy, cy], [0, 0, 1]], got {matrix!r:.80}")
    return dict(zip(("fx", "cx", "fy", "cy"), (numbers[k] for k in (0, 2, 4, 5)), strict=True))


def _refuse_distortion(path: Path, values: dict) -> None:
    """Raise FormatError for lens distortion: images that come with this file are not undistorted."""
    if key := distortion_key(values):
        raise FormatError(
            path,
            f"key {key!r}: lens distortion of images is not removed, got {values[key]!r:.60}; undistort them, with the "
            "nearest pixel, or remove the key where they are",
        )


def _check_number(path: Path, key: str, values: dict) -> None:
    if key not in values:
        raise FormatError(path, f"key {key!r} is missing; wanted {', '.join(_KEYS)}")
    value = values[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < _MAX_VALUE:
        raise FormatError(path, f"key {key!r}: wanted a number below {_MAX_VALUE:g}, got {value!r}")
    if key not in ("cx", "cy") and value <= 0:
        raise FormatError(path, f"key {key!r}: wanted a positive number, got {value!r}")
    if key == "fps" and not FPS_RANGE[0] <= value <= FPS_RANGE[1]:
        raise FormatError(path, f"key 'fps': wanted a rate from {FPS_RANGE[0]:g} to {FPS_RANGE[1]:g}, got {value!r}")
    if key in ("width", "height") and value != int(value):
        raise FormatError(path, f"key {key!r}: wanted a whole number of pixels, got {value!r}")


def write_camera_file(path: str | Path, camera: CameraFile) -> None:
    """Write a calibration for `read_camera_file`."""
    values = asdict(camera)
    values.update(values.pop("intrinsics"))
    replace_file(path, json.dumps({key: values[key] for key in _KEYS}, indent=1).encode() + b"\n")
