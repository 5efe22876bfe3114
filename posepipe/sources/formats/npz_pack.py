"""NPZ packs: depth of one camera in one compressed NumPy file, with optional ground truth.

``depth_mm`` uint16 (N, H, W) and ``K``, (4,) as fx, fy, cx, cy or (3, 3), or one of these a frame; optional
``timestamp_s`` (N,), ``start_time_ns``, ``fps``, ``parts`` and ``people`` uint8 (N, H, W), ``joints_m`` float
(N, ..., J, 3), ``joint_names`` (J,), and ``ok`` or ``visible`` bool (N, ..., J), which true joints to trust.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np

from posepipe.camera import Intrinsics, check_lens
from posepipe.camera.camera_file import CameraFile
from posepipe.errors import FormatError
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors
from posepipe.io.limits import check_pixels
from posepipe.io.npz import read_npz, write_npz
from posepipe.sources.base.depth_units import depth_to_levels
from posepipe.sources.base.indexed_source import IndexedSource

ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of a zip archive: one with files, or an empty one."""
DEFAULT_FPS = 30.0

_KEYS = (
    "depth_mm",
    "K",
    "timestamp_s",
    "start_time_ns",
    "fps",
    "parts",
    "people",
    "joints_m",
    "joint_names",
    "ok",
    "visible",
)


class NpzPack(IndexedSource):
    """Frames and ground truth of one NPZ pack.

    Parameters
    ----------
    path : the pack
    camera : replaces ``K``

    Raises
    ------
    FormatError
        When the file is not an NPZ, an array is missing or has the wrong type or shape, or K is implausible.
    """

    def __init__(self, path: str | Path, camera: CameraFile | None = None) -> None:
        self.path = Path(path)
        self.name = str(path)
        arrays = read_npz(self.path, "an NPZ pack", _KEYS)
        self.depth_mm = _depth_mm(self.path, arrays)  #: uint16 (N, H, W), millimetres, 0 = no reading
        self.shape = self.depth_mm.shape[1:]
        self.timestamps_s = _timestamps(self.path, arrays, len(self.depth_mm))
        self.start_time_ns = _start_time_ns(self.path, arrays)
        each = _intrinsics(self.path, arrays, len(self.depth_mm))
        if camera is None:
            for own in set(each):
                _check_lens(self.path, own, self.depth_mm.shape[2])
        else:
            each = [camera.intrinsics_for(*self.depth_mm.shape[1:])]
        self.intrinsics = each[0]
        self._each = each if len(set(each)) > 1 else []  # intrinsics of every frame, where they differ
        self.intrinsics_from = "K of the pack" if camera is None else camera.name
        self.parts = _labels(self.path, arrays, "parts", self.depth_mm.shape)  #: uint8 (N, H, W) or None
        self.people = _labels(self.path, arrays, "people", self.depth_mm.shape)  #: uint8 (N, H, W) or None
        self.joints_m, self.joint_names = _joints(self.path, arrays, len(self.depth_mm))
        #: bool, shape of joints_m without its last axis, or None
        self.trusted = _trusted(self.path, arrays, self.joints_m)

    def __getitem__(self, index: int) -> DepthFrame:
        frame = self.frame(index, self.depth_mm[index])
        return replace(frame, intrinsics=self._each[index]) if self._each else frame


def write_npz_pack(path: str | Path, frames: Iterable[DepthFrame], start_time_ns: int = 0) -> int:
    """Write frames of one camera as an NPZ pack; depth is rounded to millimetres.

    Parameters
    ----------
    path : the pack
    frames : at least one
    start_time_ns : time of ``timestamp_s`` 0, nanoseconds since the Unix epoch; 0 = unknown

    Returns
    -------
    number of frames

    Raises
    ------
    ValueError
        When there are no frames, or several cameras or sizes.
    """
    depth_mm, times, cameras = [], [], set()
    for frame in frames:
        depth_mm.append(depth_to_levels(frame, 0.001))
        times.append(frame.timestamp_s)
        cameras.add((frame.intrinsics, frame.depth_m.shape))
    if len(cameras) != 1:
        raise ValueError(f"{path}: an NPZ pack holds frames of one camera and one size, at least one")
    own, _ = cameras.pop()
    arrays = {
        "depth_mm": np.stack(depth_mm),
        "K": np.array([own.fx, own.fy, own.cx, own.cy]),
        "timestamp_s": np.array(times),
        "start_time_ns": np.array(start_time_ns),
    }
    with disk_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_npz(path, arrays)
    return len(times)


def _need(path: Path, arrays: dict[str, np.ndarray], key: str) -> np.ndarray:
    if key not in arrays:
        raise FormatError(path, f"array {key!r} is missing; an NPZ pack holds at least depth_mm and K")
    return arrays[key]


def _depth_mm(path: Path, arrays: dict[str, np.ndarray]) -> np.ndarray:
    depth_mm = _need(path, arrays, "depth_mm")
    if depth_mm.dtype.newbyteorder("=") != np.uint16:
        raise FormatError(path, f"depth_mm: wanted uint16 millimetres, got {depth_mm.dtype}; convert before saving")
    if depth_mm.ndim != 3 or depth_mm.size == 0:
        raise FormatError(path, f"depth_mm: wanted shape (N, H, W) with at least one frame, got {depth_mm.shape}")
    try:
        check_pixels(*depth_mm.shape[:0:-1])
    except ValueError as error:
        raise FormatError(path, f"depth_mm: {error}") from error
    return depth_mm.astype(np.uint16, copy=False)


def _intrinsics(path: Path, arrays: dict[str, np.ndarray], frames: int) -> list[Intrinsics]:
    """Intrinsics of all frames: one item, or one a frame."""
    values = _need(path, arrays, "K")
    if values.dtype.kind not in "fiu" or values.shape not in ((4,), (3, 3), (frames, 4), (frames, 3, 3)):
        raise FormatError(
            path,
            "K: wanted four numbers fx, fy, cx, cy, or a 3x3 matrix, for all frames or for each, "
            f"got {values.dtype} {values.shape}",
        )
    if values.shape[-2:] == (3, 3):
        values = values[..., (0, 1, 0, 1), (0, 1, 2, 2)]
    try:
        return [Intrinsics(*map(float, row)) for row in values.reshape(-1, 4)]
    except ValueError as error:
        raise FormatError(path, f"K: {error}") from error


def _check_lens(path: Path, intrinsics: Intrinsics, width: int) -> None:
    try:
        check_lens(intrinsics, width)
    except ValueError as error:
        raise FormatError(path, f"K: {error}; correct K, or give --camera PRESET|FILE") from error


def _timestamps(path: Path, arrays: dict[str, np.ndarray], frames: int) -> np.ndarray:
    if "timestamp_s" not in arrays:
        fps = _need(path, arrays, "fps") if "fps" in arrays else np.float64(DEFAULT_FPS)
        if fps.shape != () or fps.dtype.kind not in "fiu" or not 0 < float(fps) < np.inf:
            raise FormatError(path, f"fps: wanted one positive number, got {fps.dtype} {fps.shape}")
        return np.arange(frames) / float(fps)
    times = _need(path, arrays, "timestamp_s")
    if times.shape != (frames,) or times.dtype.kind not in "fiu" or not np.isfinite(times).all():
        raise FormatError(path, f"timestamp_s: wanted {frames} finite seconds, got {times.dtype} {times.shape}")
    return times.astype(np.float64) - float(times[0])


def _start_time_ns(path: Path, arrays: dict[str, np.ndarray]) -> int:
    if "start_time_ns" not in arrays:
        return 0
    start = _need(path, arrays, "start_time_ns")
    if start.shape != () or start.dtype.kind not in "iu" or not 0 <= int(start) < 1 << 63:
        raise FormatError(path, f"start_time_ns: wanted one whole number, not negative, got {start.dtype} {start}")
    first = arrays["timestamp_s"][0] if "timestamp_s" in arrays else 0  # `timestamps_s` counts from the first frame
    return int(start) + round(float(first) * 1e9)


def _labels(path: Path, arrays: dict[str, np.ndarray], key: str, shape: tuple[int, ...]) -> np.ndarray | None:
    if key not in arrays:
        return None
    labels = _need(path, arrays, key)
    if labels.dtype != np.uint8 or labels.shape != shape:
        raise FormatError(path, f"{key}: wanted uint8 {shape}, got {labels.dtype} {labels.shape}")
    return labels


def _joints(path: Path, arrays: dict[str, np.ndarray], frames: int) -> tuple[np.ndarray | None, tuple[str, ...]]:
    if "joints_m" not in arrays:
        return None, ()
    joints_m = _need(path, arrays, "joints_m")
    if joints_m.dtype.kind != "f" or joints_m.ndim < 3 or joints_m.shape[-1] != 3 or len(joints_m) != frames:
        raise FormatError(path, f"joints_m: wanted float ({frames}, ..., J, 3), got {joints_m.dtype} {joints_m.shape}")
    if "joint_names" not in arrays:
        return joints_m, ()
    names = _need(path, arrays, "joint_names")
    if names.shape != joints_m.shape[-2:-1] or names.dtype.kind != "U":
        raise FormatError(path, f"joint_names: wanted {joints_m.shape[-2]} names, got {names.dtype} {names.shape}")
    return joints_m, tuple(map(str, names))


def _trusted(path: Path, arrays: dict[str, np.ndarray], joints_m: np.ndarray | None) -> np.ndarray | None:
    key = "ok" if "ok" in arrays else "visible"
    if joints_m is None or key not in arrays:
        return None
    trusted = _need(path, arrays, key)
    if trusted.dtype != bool or trusted.shape != joints_m.shape[:-1]:
        raise FormatError(path, f"{key}: wanted bool {joints_m.shape[:-1]}, got {trusted.dtype} {trusted.shape}")
    return trusted
