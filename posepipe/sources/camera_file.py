"""``camera.json``: the calibration beside a folder of depth images."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass
from pathlib import Path

from posepipe.camera import Intrinsics
from posepipe.disk import read_json_object, replace_file
from posepipe.errors import FormatError

CAMERA_FILE_NAME = "camera.json"

_WANTED = ("width", "height", "fx", "fy", "cx", "cy", "depth_unit_m", "fps")


@dataclass(frozen=True, slots=True)
class CameraFile:
    """What ``camera.json`` says."""

    width: int
    height: int
    intrinsics: Intrinsics
    depth_unit_m: float  #: metres per grey level
    fps: float


def intrinsics_for(path: str | Path, height: int, width: int) -> Intrinsics:
    """The calibration of a file, for images of one size. Raises FormatError when it is that of another."""
    camera = read_camera_file(path)
    if (camera.height, camera.width) != (height, width):
        raise FormatError(path, f"is for {camera.width}x{camera.height} pixels, the frames have {width}x{height}")
    return camera.intrinsics


def read_camera_file(path: str | Path) -> CameraFile:
    """Read a calibration. Raises FormatError, naming the key, for one that is missing or no usable number."""
    path = Path(path)
    if not path.is_file():
        raise FormatError(path, f"missing; wanted a JSON object with {', '.join(_WANTED)}")
    values = read_json_object(path)
    for key in _WANTED:
        _check_number(path, key, values)
    try:
        intrinsics = Intrinsics(*(float(values[key]) for key in ("fx", "fy", "cx", "cy")))
    except ValueError as error:
        raise FormatError(path, str(error)) from error
    return CameraFile(
        int(values["width"]), int(values["height"]), intrinsics, float(values["depth_unit_m"]), float(values["fps"])
    )


def _check_number(path: Path, key: str, values: dict) -> None:
    if key not in values:
        raise FormatError(path, f"key {key!r} is missing; wanted {', '.join(_WANTED)}")
    value = values[key]
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        raise FormatError(path, f"key {key!r}: wanted a number, got {value!r}")
    if key not in ("cx", "cy") and value <= 0:
        raise FormatError(path, f"key {key!r}: wanted a positive number, got {value!r}")
    if key in ("width", "height") and value != int(value):
        raise FormatError(path, f"key {key!r}: wanted a whole number of pixels, got {value!r}")


def write_camera_file(path: str | Path, camera: CameraFile) -> None:
    """Write a calibration that `read_camera_file` reads back."""
    values = asdict(camera)
    values.update(values.pop("intrinsics"))
    replace_file(path, json.dumps({key: values[key] for key in _WANTED}, indent=1).encode() + b"\n")
