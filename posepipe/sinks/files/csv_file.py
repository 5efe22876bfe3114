"""Results as a table with one row per person and frame, for spreadsheets, pandas and R.

Columns: docs/reference/results.md. The file follows RFC 4180: commas, a header, lines that end in CR LF. Missing values
are empty cells.
"""

from __future__ import annotations

import csv
import io
import math
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from posepipe.camera import CAMERA_UP, UpVector
from posepipe.kinematics.joint_angles import angle_names, joint_angles
from posepipe.results import BodyFit, FrameResult, Track
from posepipe.sinks.files.json_lines import ResultRow
from posepipe.sinks.files.lazy_file import LazyFile

WORLD_UP = (0.0, 0.0, 1.0)

_DECIMALS_DEG = 2
_DECIMALS = 4
_OF_FIT = ("pixels_explained", "outline_explained")
_OF_FITTED_JOINT = ("qx", "qy", "qz", "qw", "sigma_m")


class CsvSink:
    """Writes results to a CSV file; a `FrameSink`.

    Frames without people have no row. Every frame is flushed, so a killed run keeps what it found.

    Parameters
    ----------
    path : the file to write; an older one is replaced at the first frame
    joints : every joint that may appear, in the order of the columns
    fitted : whether bodies are fitted; the table then has columns for them at its end
    whole : replace an older file when the context ends without an error instead, and leave nothing after one

    Raises
    ------
    PosepipeError
        If the file cannot be written.
    """

    def __init__(self, path: str | Path, joints: tuple[str, ...], fitted: bool = False, whole: bool = False) -> None:
        self.path = Path(path)
        self._joints = joints
        self._fitted = fitted
        self._angles = angle_names(joints)
        self._file = LazyFile(path, _as_csv([column_names(joints, fitted)]), whole)

    def write(self, result: FrameResult) -> None:
        """Append the people of one frame and flush them."""
        self.write_row(ResultRow.of(result))

    def write_row(self, row: ResultRow) -> None:
        """Append a frame read from a file. Raises ValueError for a joint without a column."""
        lines = [[row.frame, row.timestamp_s, *self._cells(*each, row.up)] for each in row.with_world()]
        self._file.append(_as_csv(lines))

    def _cells(self, track: Track, world_m: dict[str, tuple[float, float, float]], up: UpVector | None) -> list[Any]:
        joints = track.pose.joints
        if unknown := joints.keys() - set(self._joints):
            raise ValueError(f"{self.path}: there is no column for joint {min(unknown)!r}")
        cells: list[Any] = [track.id]
        for name in self._joints:
            joint = joints.get(name)
            cells += ("",) * 4 if joint is None else (*joint.xyz_m, joint.confidence)
        if joints and joints.keys() <= world_m.keys():
            vertical, angles = "floor", joint_angles(world_m, WORLD_UP)
        else:
            vertical = "camera" if up is None else "gravity"
            angles = joint_angles({name: joint.xyz_m for name, joint in joints.items()}, up or CAMERA_UP)
        cells += [vertical, *(_degrees(angles.get(name)) for name in self._angles)]
        return [*cells, *self._fit_cells(track.fit)] if self._fitted else cells

    def _fit_cells(self, fit: BodyFit | None) -> list[Any]:
        """What the body explains, and rotation and uncertainty of every joint."""
        if fit is None:
            return [""] * (len(_OF_FIT) + len(_OF_FITTED_JOINT) * len(self._joints))
        cells: list[Any] = [round(share, _DECIMALS) for share in (fit.pixels_explained, fit.outline_explained)]
        rows = dict(zip(fit.names, np.column_stack([fit.rotations_xyzw, fit.sigma_m]).tolist(), strict=True))
        for name in self._joints:
            cells += [_number(value) for value in rows.get(name, [math.nan] * len(_OF_FITTED_JOINT))]
        return cells

    def close(self) -> None:
        """Close the file; without frames it holds the header."""
        self._file.close()

    def __enter__(self) -> CsvSink:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close_after(error)


def column_names(joints: tuple[str, ...], fitted: bool = False) -> list[str]:
    """Names of all columns, in order; ``fitted`` = with those of fitted bodies."""
    names = ["frame", "timestamp_s", "id"]
    for joint in joints:
        names += [f"{joint}_x_m", f"{joint}_y_m", f"{joint}_z_m", f"{joint}_confidence"]
    names += ["vertical", *(f"{angle}_deg" for angle in angle_names(joints))]
    if fitted:
        names += [*_OF_FIT, *(f"{joint}_{column}" for joint in joints for column in _OF_FITTED_JOINT)]
    return names


def _as_csv(lines: list[list[Any]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text).writerows(lines)
    return text.getvalue()


def _degrees(angle: Any) -> float | str:
    if angle is None or angle != angle:  # NaN: a joint is absent, or the angle is undefined
        return ""
    return round(float(angle), _DECIMALS_DEG) + 0.0


def _number(value: float) -> float | str:
    return "" if math.isnan(value) else round(value, _DECIMALS) + 0.0
