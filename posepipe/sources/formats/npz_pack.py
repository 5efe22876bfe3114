"""NPZ packs: depth in one compressed NumPy file, with optional ground truth.

``depth_mm`` uint16 (N, H, W), and ``K``, for all frames or each: fx, fy, cx, cy or a 3x3 matrix; optional
``timestamp_s`` (N,), ``start_time_ns``, ``fps``, ``parts`` and ``people`` uint8 (N, H, W), ``joints_m`` float
(N, ..., J, 3), ``joint_names`` (J,), and ``ok`` or ``visible`` bool (N, ..., J), which true joints to trust.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import astuple
from fractions import Fraction
from pathlib import Path

import numpy as np

from posepipe.camera import Intrinsics, check_lens
from posepipe.camera.camera_file import DEFAULT_FPS, FPS_RANGE, CameraFile
from posepipe.camera.distortion_names import distortion_key, names_distortion
from posepipe.errors import FormatError
from posepipe.frames import EARLIEST_DATE_NS, DepthFrame
from posepipe.io.files import disk_errors
from posepipe.io.growing_array import GrowingArray
from posepipe.io.limits import check_pixels
from posepipe.io.npz import npz_names, read_npz, write_npz
from posepipe.sources.base.depth_units import depth_to_levels
from posepipe.sources.base.indexed_source import IndexedSource

ZIP_MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""First bytes of a zip archive: one with files, or an empty one."""
_MAX_TIME_S = np.float64(9e9)  # nanoseconds of later times exceed an int64; also excludes NaN
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
_MATRIX_TOLERANCE = 1e-3  # of the numbers in K that are 0 or 1, for matrices that were computed

_log = logging.getLogger(__name__)


class NpzPack(IndexedSource):
    """Frames and ground truth of one NPZ pack.

    Parameters
    ----------
    path : the pack
    camera : replaces ``K``, which may then be missing

    Raises
    ------
    FormatError
        When the file is not an NPZ, an array is missing or has the wrong type or shape, K is implausible, or
        lens distortion lies beside it.
    """

    def __init__(self, path: str | Path, camera: CameraFile | None = None) -> None:
        self.path = Path(path)
        self.name = str(path)
        arrays = read_npz(self.path, "an NPZ pack", _KEYS)
        self.depth_mm = _depth_mm(self.path, arrays)  #: uint16 (N, H, W), millimetres, 0 = no reading
        self.shape = self.depth_mm.shape[1:]
        self.timestamps_s = _timestamps(self.path, arrays, len(self.depth_mm))
        self.start_time_ns = _start_time_ns(self.path, arrays)
        #: intrinsics of each frame; a single one where they are all the same
        self.cameras: tuple[Intrinsics, ...]
        distortion = _distortion(self.path)
        if camera is None:
            _refuse_distortion(self.path, distortion)
            self.cameras = _cameras(self.path, arrays, len(self.depth_mm))
            for each in self.cameras:
                _check_lens(self.path, each, self.shape)
        else:
            self.cameras = (camera.intrinsics_for(*self.depth_mm.shape[1:]),)
            if distortion is not None:
                _log.warning("%s: calibration from %s; images are not undistorted", self.name, camera.name)
        self.intrinsics = self.cameras[0]
        own = "K of the pack" if len(self.cameras) == 1 else "K of the pack for the first frame; others differ"
        self.intrinsics_from = own if camera is None else camera.name
        self.parts = _labels(self.path, arrays, "parts", self.depth_mm.shape)  #: uint8 (N, H, W) or None
        self.people = _labels(self.path, arrays, "people", self.depth_mm.shape)  #: uint8 (N, H, W) or None
        self.joints_m, self.joint_names = _joints(self.path, arrays, len(self.depth_mm))
        #: bool, shape of joints_m without its last axis, or None
        self.trusted = _trusted(self.path, arrays, self.joints_m)

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        return self.frame(index, self.depth_mm[index], self.cameras[index if len(self.cameras) > 1 else 0])


def write_npz_pack(path: str | Path, frames: Iterable[DepthFrame], start_time_ns: int = 0) -> int:
    """Write frames of one size as an NPZ pack; depth is rounded to millimetres.

    ``K`` is (4,), or (N, 4) where the intrinsics change.

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
        When there are no frames, or several sizes.
    """
    levels, times, cameras, shapes = GrowingArray(), [], [], set()
    for frame in frames:
        levels.append(depth_to_levels(frame, 0.001).view(np.int16).ravel())
        times.append(frame.timestamp_s)
        cameras.append(frame.intrinsics)
        shapes.add(frame.depth_m.shape)
    if len(shapes) != 1:
        raise ValueError(f"{path}: an NPZ pack holds frames of one size, at least one")
    own = np.array([astuple(camera) for camera in cameras])
    arrays = {
        "depth_mm": levels.finish().view(np.uint16).reshape(-1, *shapes.pop()),
        "K": own[0] if len(set(cameras)) == 1 else own,
        "timestamp_s": np.array(times),
        "start_time_ns": np.array(start_time_ns),
    }
    with disk_errors(path):
        Path(path).parent.mkdir(parents=True, exist_ok=True)
    write_npz(path, arrays)
    return len(times)


def _need(path: Path, arrays: dict[str, np.ndarray], key: str) -> np.ndarray:
    if key not in arrays:
        raise FormatError(
            path,
            f"array {key!r} is missing; an NPZ pack holds at least depth_mm and K; --camera PRESET|FILE replaces K",
        )
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


def _cameras(path: Path, arrays: dict[str, np.ndarray], frames: int) -> tuple[Intrinsics, ...]:
    """Intrinsics of each frame; a single one where they are all the same."""
    values = _need(path, arrays, "K")
    shapes = ((4,), (3, 3), (frames, 4), (frames, 3, 3))
    if values.dtype.kind not in "fiu" or values.shape not in shapes:
        raise FormatError(
            path,
            "K: wanted four numbers fx, fy, cx, cy or a 3x3 matrix, for all frames or each of the"
            f" {frames}, got {values.dtype} {values.shape}",
        )
    rows = values.reshape(-1, 4) if values.shape[-1] == 4 else _of_matrices(path, values.reshape(-1, 3, 3))
    try:
        cameras = tuple(Intrinsics(*map(float, row)) for row in rows)
    except ValueError as error:
        raise FormatError(path, f"K: {error}") from error
    return cameras[:1] if len(set(cameras)) == 1 else cameras


def _distortion(path: Path) -> str | None:
    """Name of an array of lens distortion; None where there is none, or it cannot be read, such as a stored None."""
    names = sorted(filter(names_distortion, npz_names(path)))
    try:
        return distortion_key(read_npz(path, "an NPZ pack", names)) if names else None
    except FormatError:
        return None


def _refuse_distortion(path: Path, key: str | None) -> None:
    """Raise FormatError for an array of lens distortion."""
    if key is not None:
        raise FormatError(
            path,
            f"array {key!r}: lens distortion of images is not removed; undistort them, with the nearest pixel, remove "
            "the array where they are, or give --camera to play them as they are",
        )


def _of_matrices(path: Path, matrices: np.ndarray) -> np.ndarray:
    """Numbers fx, fy, cx, cy, (N, 4), of matrices (N, 3, 3). Raises FormatError for skew, or another last row."""
    fixed = matrices[:, [0, 1, 2, 2, 2], [1, 0, 0, 1, 2]]
    odd = np.flatnonzero(~np.isclose(fixed, (0, 0, 0, 0, 1), rtol=0, atol=_MATRIX_TOLERANCE).all(axis=1))
    if len(odd):
        raise FormatError(path, f"K: wanted [[fx, 0, cx], [0, fy, cy], [0, 0, 1]], got {matrices[odd[0]].tolist()}")
    return matrices[:, [0, 1, 0, 1], [0, 1, 2, 2]]


def _check_lens(path: Path, intrinsics: Intrinsics, shape: tuple[int, int]) -> None:
    try:
        check_lens(intrinsics, shape[1], shape[0])
    except ValueError as error:
        raise FormatError(path, f"K: {error}; correct K, or give --camera PRESET|FILE") from error


def _timestamps(path: Path, arrays: dict[str, np.ndarray], frames: int) -> np.ndarray:
    if "timestamp_s" not in arrays:
        fps = _need(path, arrays, "fps") if "fps" in arrays else np.float64(DEFAULT_FPS)
        if fps.shape != () or fps.dtype.kind not in "fiu" or not FPS_RANGE[0] <= float(fps) <= FPS_RANGE[1]:
            raise FormatError(path, f"fps: wanted one rate from {FPS_RANGE[0]:g} to {FPS_RANGE[1]:g}, got {fps!r:.60}")
        return np.arange(frames) / float(fps)
    times = _need(path, arrays, "timestamp_s")
    if times.shape != (frames,) or times.dtype.kind not in "fiu":
        raise FormatError(path, f"timestamp_s: wanted {frames} finite seconds, got {times.dtype} {times.shape}")
    if not ((times > -_MAX_TIME_S) & (times < _MAX_TIME_S)).all():
        raise FormatError(path, f"timestamp_s: wanted {frames} finite seconds below {_MAX_TIME_S:g}, got others")
    return times.astype(np.float64) - float(times[0])


def _start_time_ns(path: Path, arrays: dict[str, np.ndarray]) -> int:
    start = arrays.get("start_time_ns", np.array(0))
    if start.shape != () or start.dtype.kind not in "iu" or not 0 <= int(start) < 1 << 63:
        raise FormatError(path, f"start_time_ns: wanted one whole number, not negative, got {start.dtype} {start}")
    first_s = float(arrays["timestamp_s"][0]) if "timestamp_s" in arrays else 0.0
    first_ns = round(Fraction(first_s) * 1_000_000_000)  # a float cannot hold nanoseconds since 1970
    if first_ns >= EARLIEST_DATE_NS:
        return first_ns  # seconds since 1970 are the date, as in TUM folders; a start counts no second time
    if start == 0:
        return 0  # unknown, whatever the first time is
    time_ns = int(start) + first_ns  # `timestamps_s` counts from the first frame
    if not -(1 << 63) <= time_ns < 1 << 63:
        raise FormatError(path, f"start_time_ns and timestamp_s: wanted a first frame before 2262, got {time_ns} ns")
    return time_ns


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
