"""The ITOP dataset, side and top view: HDF5 files of depth, with label files beside them; extra ``itop``.

``ITOP_side_test_depth_map.h5`` holds ``data`` float (N, 240, 320), metres, 0 = no reading, and ``id`` (N,).
``ITOP_side_test_labels.h5`` holds ``is_valid`` (N,), ``visible_joints`` (N, 15), ``real_world_coordinates`` (N, 15, 3),
metres with y up, and ``segmentation`` int8 (N, 240, 320), -1 = background. The files contain neither times nor
intrinsics.

References
----------
Haque et al., "Towards Viewpoint Invariant 3D Human Pose Estimation", ECCV 2016, and its data page. Intrinsics and
order of the joints: code of the authors and of later work with published figures.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from posepipe.camera import Intrinsics
from posepipe.camera.camera_file import DEFAULT_FPS, CameraFile
from posepipe.errors import FormatError, SourceError
from posepipe.frames import DepthFrame
from posepipe.io.files import disk_errors, open_regular
from posepipe.sources.base.indexed_source import IndexedSource
from posepipe.sources.formats.itop.hdf5_rows import Hdf5Rows

HDF5_MAGIC = b"\x89HDF\r\n\x1a\n"
SHAPE = (240, 320)
METRES_PER_PIXEL = 3.50666662e-3
"""At one metre: x = (column - 160) z times this, and upwards (120 - row) z times this."""
INTRINSICS = Intrinsics(1 / METRES_PER_PIXEL, 1 / METRES_PER_PIXEL, 160.0, 120.0)
JOINTS = ("head", "neck", "right_shoulder", "left_shoulder", "right_elbow", "left_elbow", "right_hand", "left_hand",
          "torso", "right_hip", "left_hip", "right_knee", "left_knee", "right_foot", "left_foot")  # fmt: skip
"""Joints in the order of the files, by posepipe's names. Left is the person's left."""
_MAX_FRAMES = 200_000
_MAX_DISTANCE_M = 20.0
_MAX_ID_BYTES = 64
_DEPTH_NAME, _LABELS_NAME = "_depth_map.h5", "_labels.h5"


class ItopDepthMap(IndexedSource):
    """Depth frames of one ITOP file; times assume 30 frames per second.

    Parameters
    ----------
    path : the file of depth
    camera : replaces the intrinsics of ITOP

    Raises
    ------
    SourceError
        When the extra ``itop`` is not installed.
    FormatError
        When the file is damaged or has other content; while iterating, where it is damaged.
    """

    def __init__(self, path: str | Path, camera: CameraFile | None = None) -> None:
        self.path = Path(path)
        self.name = str(path)
        self._file = _open_hdf5(self.path)
        try:
            with _hdf5_errors(self.path):
                self._data = _dataset(self.path, self._file, "data", "f", SHAPE)
                self.ids = _ids(self._file, len(self._data))  #: person and frame of every row, (N,), or None
        except BaseException:
            self.close()
            raise
        self.shape = SHAPE
        self.intrinsics = INTRINSICS if camera is None else camera.intrinsics_for(*SHAPE)
        self.intrinsics_from = "what ITOP's authors used" if camera is None else camera.name
        self.timestamps_s = np.arange(len(self._data)) / DEFAULT_FPS

    def read_frame(self, index: int) -> DepthFrame:
        """Read a frame; see `IndexedSource.read_frame`."""
        self.refuse_closed(not self._file)  # h5py: a closed file is false
        with _hdf5_errors(self.path):
            depth_m = self._data[index]
        return self.frame(index, depth_m)

    def close(self) -> None:
        """Close the file."""
        self._file.close()


@dataclass(frozen=True, slots=True, eq=False)
class ItopLabels:
    """Labels of an ITOP file of depth."""

    path: Path
    valid: np.ndarray  #: bool (N,), frames that the benchmark scores
    visible: np.ndarray  #: bool (N, 15), joints
    joints_m: np.ndarray  #: float32 (N, 15, 3), metres, camera axes: x right, y down, z forward
    ids: np.ndarray | None  #: as in `ItopDepthMap`
    _segmentation: Hdf5Rows

    def person(self, index: int) -> np.ndarray:
        """Mask of the person in a frame, by the segmentation: bool (H, W)."""
        with _hdf5_errors(self.path):
            return self._segmentation[index] >= 0


def read_itop_labels(depth_path: str | Path) -> ItopLabels:
    """Read the labels of a file of depth, found beside it by name.

    Raises
    ------
    FormatError
        When the labels are missing, damaged or have other content.
    """
    depth_path = Path(depth_path)
    path = depth_path.with_name(depth_path.name.replace(_DEPTH_NAME, _LABELS_NAME))
    if path == depth_path or not path.is_file():
        raise FormatError(
            depth_path, f"no truth to compare with; wanted a name NAME{_DEPTH_NAME} and NAME{_LABELS_NAME} beside it"
        )
    file = _open_hdf5(path)
    with _hdf5_errors(path):
        valid = _dataset(path, file, "is_valid", "biu", ()).read() != 0
        rows = len(valid)
        visible = _dataset(path, file, "visible_joints", "biu", (len(JOINTS),), rows).read() != 0
        upwards = _dataset(path, file, "real_world_coordinates", "f", (len(JOINTS), 3), rows).read()
        segmentation = _dataset(path, file, "segmentation", "i", SHAPE, rows)
        ids = _ids(file, rows)
    joints_m = upwards.astype(np.float32) * np.array([1, -1, 1], np.float32)
    if not (np.abs(joints_m[valid]) < _MAX_DISTANCE_M).all():
        raise FormatError(
            path, f"real_world_coordinates: wanted metres, none beyond {_MAX_DISTANCE_M:g}, in every valid frame"
        )
    return ItopLabels(path, valid, visible, joints_m, ids, segmentation)


def is_itop(path: str | Path) -> bool:
    """Whether a file is HDF5, as those of ITOP are."""
    with disk_errors(path):
        if not Path(path).is_file():
            return False
        with open_regular(path) as stream:
            return stream.read(len(HDF5_MAGIC)) == HDF5_MAGIC


def _open_hdf5(path: Path) -> Any:
    try:
        import h5py
    except ImportError as error:
        reason = " ".join(str(error).split())
        raise SourceError(path, f"ITOP's HDF5 files need h5py; pip install 'posepipe[itop]' ({reason})") from error
    with open_regular(path):
        pass  # h5py's messages for a missing file or permission have several lines
    with _hdf5_errors(path):
        return h5py.File(path, "r")


@contextmanager
def _hdf5_errors(path: Path) -> Iterator[None]:
    """Convert errors of h5py for damaged files to one line that names the file."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, TypeError, KeyError) as error:
        reason = " ".join(str(error).split())
        raise FormatError(path, f"not HDF5, or cut or damaged ({reason}); fetch it again") from error


def _dataset(path: Path, file: Any, name: str, kinds: str, shape: tuple[int, ...], rows: int | None = None) -> Hdf5Rows:
    """Find one array of a file and check it, without reading it."""
    wanted = f"{name}: wanted ({'N' if rows is None else rows}{''.join(f', {size}' for size in shape)})"
    array = file.get(name)
    if not _is_stored(array, file):
        found = ", ".join(map(repr, list(file)[:10])) or "nothing"
        raise FormatError(
            path, f"{wanted}, the file holds {found}; wanted ITOP_..{_DEPTH_NAME}, {_LABELS_NAME} beside it"
        )
    fits = array.shape is not None and array.ndim and array.shape[1:] == shape and array.dtype.kind in kinds
    if not fits or not 0 < len(array) <= _MAX_FRAMES or len(array) != (rows or len(array)):
        raise FormatError(path, f"{wanted} of kind {kinds!r}, got {array.dtype} {array.shape}")
    with _hdf5_errors(path):
        return Hdf5Rows(array)


def _ids(file: Any, rows: int) -> np.ndarray | None:
    array = file.get("id")
    fits = _is_stored(array, file) and array.shape == (rows,) and array.dtype.itemsize <= _MAX_ID_BYTES
    return Hdf5Rows(array).read() if fits else None


def _is_stored(array: Any, file: Any) -> bool:
    """Whether an object of a file is an array with its values in this file."""
    import h5py

    return isinstance(array, h5py.Dataset) and array.file == file and not array.is_virtual and not array.external
