"""Banks of furniture: small meshes of real things, with their kind, size, surface materials, creator and licence.

Model axes: x right, y up, z towards the front. The origin lies on the floor, below the middle of the thing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.npz import array_hash, read_npz, write_npz
from synth.furniture.kinds import KINDS, MATERIALS
from synth.geometry.mesh import BACKGROUND, Mesh

BANK_FILE = Path(__file__).parents[1] / "data" / "furniture.npz"
VERSION = 1
STEPS = 32767
"""Vertices are stored in whole steps of this fraction of the model's size along each axis."""
MAX_SIZE_M = 10.0
_WANTED = "a bank of furniture, made by `python -m synth.tools.build_furniture SH3F --out FILE`"


@dataclass(frozen=True, slots=True, eq=False)
class FurnitureModel:
    """One thing, upright on the floor, its front towards +z."""

    name: str
    kind: str  #: one of KINDS
    size_m: np.ndarray  #: float64 (3,), width, height and depth
    vertices_m: np.ndarray  #: float64 (V, 3)
    triangles: np.ndarray  #: int32 (T, 3); either winding
    materials: np.ndarray  #: uint8 (T,), rows of MATERIALS
    elevation_m: float = 0.0  #: height above the floor at which it is mounted
    top_m: float | None = None  #: height of its seat, mattress or table top; None = unknown
    creator: str = ""
    licence: str = ""

    def mesh(self) -> Mesh:
        """Return the triangles, labelled BACKGROUND, in the model's axes."""
        labels = np.full(len(self.triangles), BACKGROUND, np.uint8)
        return Mesh(self.vertices_m, self.triangles, labels, materials=self.materials, two_sided=True)


@dataclass(frozen=True, eq=False)
class FurnitureBank:
    """Some models."""

    models: tuple[FurnitureModel, ...]

    @cached_property
    def by_kind(self) -> dict[str, tuple[FurnitureModel, ...]]:
        """Models of each kind, in their order; kinds without a model are left out."""
        found = {kind: tuple(each for each in self.models if each.kind == kind) for kind in KINDS}
        return {kind: models for kind, models in found.items() if models}

    def digest(self) -> str:
        """Return the hash of the models, for a dataset's manifest."""
        return array_hash(bank_arrays(self))


def bank_arrays(bank: FurnitureBank) -> dict[str, np.ndarray]:
    """Return a bank as the arrays of its file."""
    models = bank.models
    tops_m = [np.nan if each.top_m is None else each.top_m for each in models]
    steps = [np.round(each.vertices_m / each.size_m * STEPS) for each in models]
    return {
        "version": np.array(VERSION, np.int32),
        "names": np.array([each.name for each in models], np.str_),
        "kinds": np.array([each.kind for each in models], np.str_),
        "creators": np.array([each.creator for each in models], np.str_),
        "licences": np.array([each.licence for each in models], np.str_),
        "material_names": np.array(MATERIALS),
        "size_m": np.array([each.size_m for each in models], np.float32).reshape(-1, 3),
        "elevation_m": np.array([each.elevation_m for each in models], np.float32),
        "top_m": np.array(tops_m, np.float32),
        "n_vertices": np.array([len(each.vertices_m) for each in models], np.int32),
        "n_triangles": np.array([len(each.triangles) for each in models], np.int32),
        "vertices": _joined(steps, np.int16),
        "triangles": _joined([each.triangles for each in models], np.uint16),
        "materials": np.concatenate([np.empty(0, np.uint8), *(each.materials for each in models)]),
    }


def _joined(rows: Sequence[np.ndarray], dtype: type) -> np.ndarray:
    return np.concatenate([np.empty((0, 3)), *rows]).astype(dtype)


def write_bank(bank: FurnitureBank, path: str | Path) -> None:
    """Write a bank to a file.

    Raises
    ------
    ValueError
        For a model with more vertices than 16 bits can number.
    """
    for each in bank.models:
        if len(each.vertices_m) > np.iinfo(np.uint16).max:
            raise ValueError(f"{each.name}: a model may have 65535 vertices, got {len(each.vertices_m)}; decimate it")
    write_npz(path, bank_arrays(bank))


def read_bank(path: str | Path) -> FurnitureBank:
    """Read and check a bank.

    Raises
    ------
    FormatError
        When the file is missing, damaged, or no bank of this version.
    """
    arrays = read_npz(path, _WANTED)
    problem = _problem(arrays)
    if problem:
        raise FormatError(path, f"{problem}; wanted {_WANTED}")
    vertices = np.split(arrays["vertices"], np.cumsum(arrays["n_vertices"])[:-1])
    triangles = np.split(arrays["triangles"], np.cumsum(arrays["n_triangles"])[:-1])
    materials = np.split(arrays["materials"], np.cumsum(arrays["n_triangles"])[:-1])
    models = []
    for k, name in enumerate(arrays["names"]):
        size_m, top_m = arrays["size_m"][k].astype(np.float64), float(arrays["top_m"][k])
        if len(triangles[k]) and triangles[k].max() >= len(vertices[k]):
            raise FormatError(path, f"model {name} has a triangle outside its vertices; wanted {_WANTED}")
        models.append(
            FurnitureModel(
                name=str(name),
                kind=str(arrays["kinds"][k]),
                size_m=size_m,
                vertices_m=vertices[k] / STEPS * size_m,
                triangles=triangles[k].astype(np.int32),
                materials=materials[k],
                elevation_m=float(arrays["elevation_m"][k]),
                top_m=None if np.isnan(top_m) else top_m,
                creator=str(arrays["creators"][k]),
                licence=str(arrays["licences"][k]),
            )
        )
    return FurnitureBank(tuple(models))


@lru_cache(maxsize=1)
def embedded_bank() -> FurnitureBank:
    """Return the models that come with the project, all CC0."""
    return read_bank(BANK_FILE)


_LAYOUT = {
    "version": "i",
    "names": "U",
    "kinds": "U",
    "creators": "U",
    "licences": "U",
    "material_names": "U",
    "size_m": "f",
    "elevation_m": "f",
    "top_m": "f",
    "n_vertices": "i",
    "n_triangles": "i",
    "vertices": "i",
    "triangles": "u",
    "materials": "u",
}
"""Array of a bank's file -> kind of its type."""


def _problem(arrays: dict[str, np.ndarray]) -> str | None:
    """The first problem of a bank's arrays, or None."""
    if missing := sorted(_LAYOUT.keys() - arrays.keys()):
        return f"lacks the arrays {', '.join(missing)}"
    if wrong := [name for name, kind in _LAYOUT.items() if arrays[name].dtype.kind != kind]:
        return f"array {wrong[0]} has type {arrays[wrong[0]].dtype}"
    if arrays["version"].shape != () or arrays["version"] != VERSION:
        return f"has version {arrays['version']}, readable is {VERSION}"
    if tuple(map(str, arrays["material_names"].ravel())) != MATERIALS:
        return "names other materials"
    count, total = arrays["names"].size, (int(arrays["n_vertices"].sum()), int(arrays["n_triangles"].sum()))
    per_model = ("names", "kinds", "creators", "licences", "elevation_m", "top_m", "n_vertices", "n_triangles")
    shapes: dict[str, tuple[int, ...]] = dict.fromkeys(per_model, (count,))
    shapes |= {"size_m": (count, 3), "vertices": (total[0], 3), "triangles": (total[1], 3), "materials": (total[1],)}
    if wrong := [name for name, shape in shapes.items() if arrays[name].shape != shape]:
        return f"array {wrong[0]} has shape {arrays[wrong[0]].shape}, wanted {shapes[wrong[0]]}"
    if not count or min(arrays["n_vertices"].min(), arrays["n_triangles"].min()) < 1:
        return "has no models, or an empty one"
    if unknown := sorted({str(kind) for kind in arrays["kinds"]} - set(KINDS)):
        return f"has the unknown kind {unknown[0]}"
    if arrays["materials"].max() >= len(MATERIALS):
        return "has an unknown material"
    if not ((arrays["size_m"] > 0) & (arrays["size_m"] <= MAX_SIZE_M)).all():
        return f"has a size outside 0 to {MAX_SIZE_M:g} m"
    if not np.isfinite(arrays["elevation_m"]).all():
        return "has an elevation that is not finite"
    return None
