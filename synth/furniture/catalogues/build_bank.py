"""Build a bank of furniture from catalogues: scaled, turned, decimated, and sorted into kinds."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError, PosepipeError
from synth.furniture.catalogues.catalogue import CC0, Catalogue, CatalogueEntry, open_catalogue
from synth.furniture.catalogues.decimation import decimate
from synth.furniture.kinds import kind_of, material_of
from synth.furniture.model_bank import FurnitureBank, FurnitureModel

MIN_TRIANGLES, MAX_TRIANGLES = 150, 900
"""Of a thing in a hand's size, and of one of 2 m and more."""

MIN_HUNG_M = 1.5
"""Elevation from which on a lamp hangs from the ceiling."""


def build_bank(
    paths: Sequence[str | Path],
    only_cc0: bool = False,
    triangles: tuple[int, int] = (MIN_TRIANGLES, MAX_TRIANGLES),
    on_model: Callable[[str], object] = lambda name: None,
) -> FurnitureBank:
    """Build a bank from catalogues.

    Parameters
    ----------
    paths : sequence of paths
        `.sh3f` files, or folders of them.
    only_cc0 : bool
        Whether to take only models that are dedicated to the public domain.
    triangles : (min, max)
        Number of triangles of the smallest and the largest models.
    on_model : callable
        Called with the name of each model that was read.

    Raises
    ------
    FormatError
        For a file that is no catalogue, or a model in it that cannot be read.
    PosepipeError
        When there is no catalogue, or no model remains.
    """
    models: list[FurnitureModel] = []
    for path in catalogue_files(paths):
        with open_catalogue(path) as catalogue:
            for entry, kind in _chosen(catalogue, only_cc0):
                models.append(_build(catalogue, entry, kind, triangles))
                on_model(entry.name)
    if not models:
        raise PosepipeError(f"no furniture for rooms in {', '.join(map(str, paths))}; give catalogues (.sh3f)")
    return FurnitureBank(tuple(models))


def count_models(paths: Sequence[str | Path]) -> int:
    """Return the number of models that `build_bank` will read, of any licence. Raises what it raises."""
    count = 0
    for path in catalogue_files(paths):
        with open_catalogue(path) as catalogue:
            count += len(_chosen(catalogue, only_cc0=False))
    return count


def _chosen(catalogue: Catalogue, only_cc0: bool) -> list[tuple[CatalogueEntry, str]]:
    """Models of a catalogue that stand in rooms, and their kinds."""
    kinds = [(each, kind_of(each.name, each.category, each.size_m)) for each in catalogue.entries]
    return [
        (each, "ceiling lamp" if kind == "lamp" and each.elevation_m > MIN_HUNG_M else kind)
        for each, kind in kinds
        if kind is not None and (each.licence == CC0 or not only_cc0)
    ]


def catalogue_files(paths: Sequence[str | Path]) -> list[Path]:
    """Return the catalogues among files and folders. Raises PosepipeError for a path without any."""
    found: list[Path] = []
    for path in map(Path, paths):
        inside = sorted(path.glob("*.sh3f")) if path.is_dir() else [path]
        if not inside:
            raise PosepipeError(f"{path}: wanted catalogues of Sweet Home 3D in the folder (*.sh3f), got none")
        found += inside
    return found


def _build(catalogue: Catalogue, entry: CatalogueEntry, kind: str, triangle_range: tuple[int, int]) -> FurnitureModel:
    source, opacities = catalogue.read_model(entry)
    classes = np.array([material_of(name, opacities.get(name, 1.0), kind) for name in source.materials], np.uint8)
    placed_m = upright(source.vertices, entry)
    share = np.clip((max(entry.size_m) - 0.2) / 1.8, 0, 1) ** 0.5
    target = int(np.interp(share, (0, 1), triangle_range))
    vertices_m, triangles, materials = decimate(placed_m, source.triangles, classes[source.triangle_materials], target)
    if len(triangles) == 0:
        raise FormatError(catalogue.path, f"{entry.path}: its faces have no area; leave the model out")
    size_m = np.array(entry.size_m)
    vertices_m = np.clip(vertices_m, size_m * [-0.5, 0, -0.5], size_m * [0.5, 1, 0.5])
    return FurnitureModel(
        name=entry.name,
        kind=kind,
        size_m=size_m,
        vertices_m=vertices_m,
        triangles=triangles,
        materials=materials.astype(np.uint8),
        elevation_m=entry.elevation_m,
        top_m=entry.top_m,
        creator=entry.creator,
        licence=entry.licence,
    )


def upright(vertices: np.ndarray, entry: CatalogueEntry) -> np.ndarray:
    """Turn a model upright, scale each axis to the stated size, and stand it on the origin: float64 (V, 3), metres."""
    turned = vertices @ entry.rotation.T
    low, high = turned.min(axis=0), turned.max(axis=0)
    extent = np.where(high - low > 1e-9 * max(float((high - low).max()), 1e-30), high - low, 1.0)
    return (turned - (low + high) / 2) / extent * entry.size_m + np.array([0, entry.size_m[1] / 2, 0])
