"""Catalogues of Sweet Home 3D: `.sh3f` files, zips of OBJ models and a table of their names, sizes and makers."""

from __future__ import annotations

import re
import zipfile
import zlib
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.files import open_regular
from posepipe.io.limits import FREE_TEXT_BYTES, max_text_bytes, max_unpacked_bytes
from synth.furniture.catalogues.wavefront import WavefrontMesh, material_libraries, parse_obj, parse_opacities

TABLE = "PluginFurnitureCatalog.properties"
CC0 = "CC0-1.0"
_CM = 0.01
_MAX_M = 1e4
"""Maximum size of a model, and height at which it hangs or bears things: a town."""
_MAX_TABLE_BYTES = 4 << 20  # thousands of models, with texts about each
_MIN_TEXT_BYTES = 1 << 10  # of a text that is read, however short, against the limit
_LINE = re.compile(r"^\s*(\w+)(?:#(\d{1,9}))?\s*=(.*)$")
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_ATTRIBUTION = re.compile(r"cc-by|creative commons attribution|\battribution\b", re.IGNORECASE)
_DEDICATED = re.compile(r"public domain|cc-?0|creative commons zero|no rights reserved", re.IGNORECASE)


@dataclass(frozen=True, slots=True, eq=False)
class CatalogueEntry:
    """One line of a catalogue."""

    name: str
    category: str
    path: str  #: of the OBJ file in the archive
    size_m: tuple[float, float, float]  #: width, height, depth
    rotation: np.ndarray  #: float64 (3, 3), from the file's axes to x right, y up, z to the front
    elevation_m: float
    top_m: float | None  #: height at which things stand on it
    creator: str
    licence: str  #: CC0, or as the catalogue states it


class Catalogue:
    """An open catalogue. Use `open_catalogue`."""

    def __init__(self, path: Path, archive: zipfile.ZipFile) -> None:
        self.path = path
        self._archive = archive
        self._names = set(archive.namelist())
        self._text_bytes, self._max_text_bytes = 0, max_text_bytes(path.stat().st_size)
        self._licences = sorted(name for name in self._names if "licen" in name.lower())
        self._attributions: dict[str, str] = {}  # folder -> licence that asks for attribution, "" for none
        self.entries = tuple(self._entries())

    def read_model(self, entry: CatalogueEntry) -> tuple[WavefrontMesh, dict[str, float]]:
        """Read a model in its file's axes, and the opacity of its materials.

        Raises
        ------
        FormatError
            When its file is missing, damaged or no OBJ.
        """
        text = self._text(entry.path)
        try:
            mesh = parse_obj(text)
        except ValueError as error:
            raise FormatError(self.path, f"{entry.path}: {error}") from None
        folder = entry.path.rpartition("/")[0]
        opacities: dict[str, float] = {}
        for library in material_libraries(text):
            if (name := f"{folder}/{library}") in self._names:
                opacities |= parse_opacities(self._text(name))
        return mesh, opacities

    def _text(self, name: str) -> str:
        if name not in self._names:
            raise FormatError(self.path, f"lacks {name}; wanted a catalogue of Sweet Home 3D (.sh3f)")
        size, limit = self._archive.getinfo(name).file_size, _MAX_TABLE_BYTES if name == TABLE else FREE_TEXT_BYTES
        if size > limit:
            raise FormatError(self.path, f"{name} unpacks to {size} bytes, allowed are {limit}; leave the model out")
        self._text_bytes += max(size, _MIN_TEXT_BYTES)  # a model that is read twice counts twice
        if self._text_bytes > self._max_text_bytes:
            problem = f"its models unpack to more than {self._max_text_bytes >> 20} MB"
            raise FormatError(self.path, f"{problem}; the catalogue is damaged")
        try:
            return self._archive.read(name).decode("latin-1")
        except (zipfile.BadZipFile, zlib.error, NotImplementedError, RuntimeError, EOFError) as error:
            raise FormatError(self.path, f"{name} is damaged ({error})") from None

    def _entries(self) -> Iterator[CatalogueEntry]:
        general, rows = _table(self._text(TABLE))
        for number, row in sorted(rows.items()):
            if not row.get("model", "").endswith(".obj"):
                continue  # other formats, and models outside the archive
            try:
                yield self._entry(row, general)
            except (KeyError, ValueError) as error:
                raise FormatError(self.path, f"model {number} of {TABLE}: wrong or missing {error}") from None

    def _entry(self, row: dict[str, str], general: dict[str, str]) -> CatalogueEntry:
        path = row["model"].lstrip("/")
        size_m = float(row["width"]) * _CM, float(row["height"]) * _CM, float(row["depth"]) * _CM
        if not (np.array(size_m) > 0).all() or not (np.array(size_m) < _MAX_M).all():
            raise ValueError(f"size {size_m}")
        rotation = np.array(row.get("modelRotation", "1 0 0 0 1 0 0 0 1").split(), float).reshape(3, 3)
        if not (np.abs(rotation) <= 1 + 1e-3).all():
            raise ValueError("modelRotation, 9 numbers of -1 to 1")
        top_m = float(row.get("dropOnTopElevation", -1)) * _CM
        elevation_m = float(row.get("elevation", 0)) * _CM
        if not (abs(top_m) < _MAX_M and abs(elevation_m) < _MAX_M):
            raise ValueError(f"elevation {elevation_m} or dropOnTopElevation {top_m}")
        return CatalogueEntry(
            row["name"],
            row.get("category", ""),
            path,
            size_m,
            rotation,
            elevation_m,
            top_m if top_m > 0 else None,
            row.get("creator", ""),
            self._licence(path, general.get("license", "")),
        )

    def _licence(self, path: str, stated: str) -> str:
        """Licence of a model: CC0 where the catalogue says so and no licence file beside the model asks for more."""
        folder = path.rpartition("/")[0]
        if folder not in self._attributions:
            self._attributions[folder] = self._attribution(folder)
        return self._attributions[folder] or (CC0 if _DEDICATED.search(stated) else stated)

    def _attribution(self, folder: str) -> str:
        """Licence of a folder that asks for attribution; "" for none."""
        for k in range(bisect_left(self._licences, f"{folder}/"), len(self._licences)):
            if not (name := self._licences[k]).startswith(f"{folder}/"):
                break
            text = self._text(name)
            if _ATTRIBUTION.search(text) and not _DEDICATED.search(text):
                version = re.search(r"(?:CC-BY|Attribution)[ -]?([34]\.0)", text, re.IGNORECASE)
                return f"CC-BY-{version[1]}" if version else "CC-BY"
        return ""


def _table(text: str) -> tuple[dict[str, str], dict[int, dict[str, str]]]:
    """Properties of a catalogue, and those of each model by its number."""
    general: dict[str, str] = {}
    rows: dict[int, dict[str, str]] = defaultdict(dict)
    for line in text.splitlines():
        if (found := _LINE.match(line)) and not line.lstrip().startswith(("#", "!")):
            key, number, value = found.groups()
            plain = _ESCAPE.sub(lambda code: chr(int(code[1], 16)), value.strip())
            (general if number is None else rows[int(number)])[key] = plain
    return general, dict(rows)


@contextmanager
def open_catalogue(path: str | Path) -> Iterator[Catalogue]:
    """Open a catalogue for reading.

    Raises
    ------
    FormatError
        When the file is missing, no zip, unpacks to too much, or has no table of furniture.
    """
    path = Path(path)
    with open_regular(path) as stream:
        limit = max_unpacked_bytes(path.stat().st_size)
        try:
            archive = zipfile.ZipFile(stream)
        except (zipfile.BadZipFile, NotImplementedError, ValueError, OverflowError):
            raise FormatError(path, "wanted a catalogue of Sweet Home 3D (.sh3f), which is a zip archive") from None
        with archive:
            if (unpacked := sum(each.file_size for each in archive.infolist())) > limit:
                raise FormatError(path, f"unpacks to {unpacked >> 20} MB, allowed are {limit >> 20} MB")
            yield Catalogue(path, archive)
