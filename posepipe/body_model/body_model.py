"""An articulated body of tapered capsules: segments, joints, girths, how people are built, and what joints allow.

A body is a tree of rigid segments. Every length and girth is linear in a few shape coefficients of unit variance.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from posepipe.body import BodyDefinition
from posepipe.errors import FormatError
from posepipe.io.npz import read_npz, write_npz

HUMAN_FILE = Path(__file__).parent / "human.npz"
WANTED = "a body model, made by `python -m synth.tools.build_body_model`"
MAX_SEGMENTS = 64
"""Upper bound on the segments of a body: the fit solves for three angles of each."""
MAX_COEFFICIENTS = 16
MAX_CAPSULES = 250


class BuiltBody(NamedTuple):
    """A body of certain shape coefficients, in the rest pose."""

    origins_m: np.ndarray  #: float64 (S, 3), start of each segment, from the start of its parent
    joints_m: np.ndarray  #: float64 (J, 3), each joint from the start of its segment
    capsule_ends_m: np.ndarray  #: float64 (C, 2, 3), from the start of its segment
    radii_m: np.ndarray  #: float64 (C, 2)


@dataclass(frozen=True, slots=True, eq=False)
class BodyModel:
    """Arrays of one kind of body: S segments, J joints, C capsules, P parts, K shape coefficients.

    Axes of the rest pose: y up, the body faces +z, its left is +x. The first row of arrays (1 + K, ...) is the mean;
    the others are what one unit of each coefficient adds. The segments of sided bodies bear mirrored names.
    """

    joint_names: tuple[str, ...]
    part_names: tuple[str, ...]
    segment_names: tuple[str, ...]
    parents: np.ndarray  #: int64 (S,), -1 for the first; a parent is before its children
    origins_m: np.ndarray  #: float64 (1 + K, S, 3)
    joint_segments: np.ndarray  #: int64 (J,)
    joints_m: np.ndarray  #: float64 (1 + K, J, 3)
    capsule_segments: np.ndarray  #: int64 (C,)
    capsule_ends_m: np.ndarray  #: float64 (1 + K, C, 2, 3)
    radii_m: np.ndarray  #: float64 (1 + K, C, 2)
    part_capsules: np.ndarray  #: float64 (1 + P, C), likelihood of each class on each capsule, at most 1; row 0 is 0
    turn_mean_rad: np.ndarray  #: float64 (S, 3), mean rotation vector from the parent; row 0 is not used
    turn_axes: np.ndarray  #: float64 (S, 3, 3), rows are the axes along which turns from the mean are measured
    turn_sigma_rad: np.ndarray  #: float64 (S, 3), standard deviation along each axis
    turn_low_rad: np.ndarray  #: float64 (S, 3), joint limits along each axis, from the mean
    turn_high_rad: np.ndarray  #: float64 (S, 3)

    @property
    def n_coefficients(self) -> int:
        """Number K of shape coefficients."""
        return len(self.origins_m) - 1

    def build(self, coefficients: np.ndarray) -> BuiltBody:
        """Lengths and girths of the body of shape coefficients, float (K,); 0 is the mean body."""
        shape = np.concatenate([[1.0], coefficients])
        arrays = self.origins_m, self.joints_m, self.capsule_ends_m, self.radii_m
        return BuiltBody(*(np.tensordot(shape, array, axes=1) for array in arrays))


_SHAPES: dict[str, tuple[str | int, ...]] = {
    "parents": ("S",),
    "origins_m": ("1+K", "S", 3),
    "joint_segments": ("J",),
    "joints_m": ("1+K", "J", 3),
    "capsule_segments": ("C",),
    "capsule_ends_m": ("1+K", "C", 2, 3),
    "radii_m": ("1+K", "C", 2),
    "part_capsules": ("1+P", "C"),
    "turn_mean_rad": ("S", 3),
    "turn_axes": ("S", 3, 3),
    "turn_sigma_rad": ("S", 3),
    "turn_low_rad": ("S", 3),
    "turn_high_rad": ("S", 3),
}
_NAMES = "joint_names", "part_names", "segment_names"
_INDICES = "parents", "joint_segments", "capsule_segments"


def read_body_model(path: str | Path = HUMAN_FILE) -> BodyModel:
    """Read and check a body model. Raises FormatError when the file is missing, damaged or no body model."""
    fields = read_npz(path, WANTED)
    if fields.keys() != {*_NAMES, *_SHAPES}:
        raise FormatError(path, f"wanted {WANTED}, got the arrays {', '.join(sorted(fields)) or 'none'}")
    if problem := _problem(fields):
        raise FormatError(path, f"{problem}; build it with `python -m synth.tools.build_body_model`")
    values: dict[str, Any] = {name: tuple(str(each) for each in fields[name]) for name in _NAMES}
    values |= {name: fields[name].astype(np.int64 if name in _INDICES else np.float64) for name in _SHAPES}
    return BodyModel(**values)


def body_to_fit(fit: bool | BodyModel, body: BodyDefinition) -> BodyModel | None:
    """Choose the body that is fitted to people or creatures of a definition; None = none is.

    Parameters
    ----------
    fit : the body; True = the shipped one, of people, where the definition has its joints and parts; False = none
    body : BodyDefinition

    Raises
    ------
    TypeError
        When ``fit`` is anything else: "off" would be true.
    """
    if isinstance(fit, BodyModel):
        return fit
    if not isinstance(fit, bool):
        raise TypeError(f"fit is True, False or a BodyModel, got {fit!r:.60}")
    human = _human() if fit else None
    same = human is not None and (human.joint_names, human.part_names) == (body.joints, body.parts)
    return human if same else None


@cache
def _human() -> BodyModel:
    return read_body_model()


def write_body_model(path: str | Path, model: BodyModel) -> None:
    """Write a body model, in float32 and small integers."""
    fields = {name: np.asarray(getattr(model, name)) for name in (*_NAMES, *_SHAPES)}
    narrow = {"f": np.float32, "i": np.int16}
    write_npz(path, {n: each.astype(narrow.get(each.dtype.kind, each.dtype)) for n, each in fields.items()})


def _problem(fields: dict[str, np.ndarray]) -> str | None:
    """The first problem of the arrays of a file, or None."""
    for name in _NAMES:
        if (
            fields[name].dtype.kind != "U"
            or fields[name].ndim != 1
            or len(set(fields[name].tolist())) < len(fields[name])
        ):
            return f"{name}: wanted one unique name each, got {fields[name].dtype} of shape {fields[name].shape}"
    sizes = {
        "S": len(fields["segment_names"]),
        "J": len(fields["joint_names"]),
        "1+P": len(fields["part_names"]) + 1,
        "C": len(fields["capsule_segments"]) if fields["capsule_segments"].ndim else 0,
        "1+K": len(fields["origins_m"]) if fields["origins_m"].ndim else 0,
    }
    if not (1 <= sizes["S"] <= MAX_SEGMENTS and 1 <= sizes["C"] <= MAX_CAPSULES and sizes["J"]):
        return f"wanted 1 to {MAX_SEGMENTS} segments, 1 to {MAX_CAPSULES} capsules and a joint, got {sizes}"
    if not 1 <= sizes["1+K"] <= MAX_COEFFICIENTS + 1:
        return f"wanted at most {MAX_COEFFICIENTS} shape coefficients, got {sizes['1+K'] - 1}"
    for name, axes in _SHAPES.items():
        shape = tuple(axis if isinstance(axis, int) else sizes[axis] for axis in axes)
        if fields[name].shape != shape:
            return f"{name}: wanted shape {shape}, got {fields[name].shape}"
        kind = "iu" if name in _INDICES else "f"
        if fields[name].dtype.kind not in kind or not np.isfinite(fields[name]).all():
            return f"{name}: wanted finite {'integers' if kind == 'iu' else 'numbers'}, got {fields[name].dtype}"
    return _problem_of_values(fields, sizes["S"])


def _problem_of_values(fields: dict[str, np.ndarray], segments: int) -> str | None:
    parents = fields["parents"]
    if parents[0] != -1 or (parents[1:] < 0).any() or (parents >= np.arange(segments)).any():
        return "parents: wanted -1 for the first segment, and an earlier segment for every other"
    for name in ("joint_segments", "capsule_segments"):
        if fields[name].min() < 0 or fields[name].max() >= segments:
            return f"{name}: wanted segments from 0 to {segments - 1}, got {fields[name].min()} to {fields[name].max()}"
    if fields["radii_m"][0].min() <= 0 or fields["turn_sigma_rad"].min() <= 0:
        return "wanted mean radii and standard deviations above 0"
    if (fields["turn_low_rad"] > fields["turn_high_rad"]).any():
        return "turn_low_rad: wanted limits that are not above turn_high_rad"
    return None
