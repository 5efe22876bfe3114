"""Wavefront OBJ and MTL text: vertices, triangles, and the material of each."""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass

import numpy as np

MAX_COORDINATE = 1e6
"""Maximum coordinate of a vertex, in the unit of the file: a kilometre in millimetres."""
MAX_ELEMENTS = 1 << 20
"""Maximum number of vertices, and of triangles. The largest model of the common catalogues has 198,000."""

_CONTINUED = re.compile(r"\\\r?\n")
"""End of a line that goes on in the next."""
_NAMING = ("usemtl", "newmtl")
"""Their text is the name of a material, which may hold a #: 3ds Max writes Material#26."""


@dataclass(frozen=True, slots=True, eq=False)
class WavefrontMesh:
    """Triangles of an OBJ file, in the file's own axes and units."""

    vertices: np.ndarray  #: float64 (V, 3)
    triangles: np.ndarray  #: int32 (T, 3)
    materials: tuple[str, ...]  #: names of the materials used; "" before the first is named
    triangle_materials: np.ndarray  #: int32 (T,), rows of ``materials``


def parse_obj(text: str) -> WavefrontMesh:
    """Parse OBJ text: faces (polygons become fans of triangles), their vertices, and the material of each face.

    Vertices without a face are left out: they would spoil the extent of the mesh.

    Raises
    ------
    ValueError
        For text without faces, or with too many of them or of vertices; for numbers that are none, or a face that names
        a missing vertex.
    """
    vertices: list[list[float]] = []
    triangles: list[tuple[int, int, int]] = []
    owners: list[int] = []
    rows: dict[str, int] = {}
    current = ""
    for line in _CONTINUED.sub(" ", text).splitlines():
        keyword, rest = _keyword(line)
        if keyword == "v":
            vertices.append([float(x) for x in rest.split()[:3]])
        elif keyword == "usemtl":
            current = rest
        elif keyword == "f":
            corners = [_row(corner, len(vertices)) for corner in rest.split()]
            owner = rows.setdefault(current, len(rows))
            triangles += [(corners[0], b, c) for b, c in itertools.pairwise(corners[1:])]
            owners += [owner] * max(len(corners) - 2, 0)
        if len(vertices) > MAX_ELEMENTS or len(triangles) > MAX_ELEMENTS:
            raise ValueError(f"wanted a model of at most {MAX_ELEMENTS} vertices and triangles")
    if not triangles:
        raise ValueError("wanted an OBJ file with faces, got none")
    faces = np.array(triangles, np.int64)
    if faces.min() < 0 or faces.max() >= len(vertices):
        raise ValueError(f"a face names a vertex outside 1..{len(vertices)}")
    if any(len(vertex) != 3 for vertex in vertices):
        raise ValueError("wanted vertices of 3 coordinates")
    if not (np.abs(points := np.array(vertices)) <= MAX_COORDINATE).all():
        raise ValueError(f"wanted finite coordinates of at most {MAX_COORDINATE:g}")
    used, rows_used = np.unique(faces, return_inverse=True)
    triangles_used = rows_used.reshape(-1, 3).astype(np.int32)
    return WavefrontMesh(points[used], triangles_used, tuple(rows), np.array(owners, np.int32))


def _keyword(line: str) -> tuple[str, str]:
    """First word of a line, and the text after it up to a comment; spaces and tabs separate words."""
    words = [*line.split(maxsplit=1), "", ""]
    text = words[1] if words[0] in _NAMING else words[1].partition("#")[0]
    return words[0], text.rstrip()


def _row(corner: str, n_vertices: int) -> int:
    """Row of a face's corner such as 3, 3/1/2 or -1, which counts back from the last vertex."""
    number = int(corner.split("/", 1)[0])
    if abs(number) > n_vertices:
        raise ValueError(f"a face names a vertex outside 1..{n_vertices}")
    return number - 1 if number > 0 else n_vertices + number


def material_libraries(text: str) -> list[str]:
    """Names of the MTL files that OBJ text refers to, each once."""
    lines = (line.split(maxsplit=1) for line in text.splitlines() if "mtllib" in line)
    return list(dict.fromkeys(words[1].strip() for words in lines if words[0] == "mtllib" and len(words) > 1))


def parse_opacities(text: str) -> dict[str, float]:
    """Parse MTL text: name of each material -> opacity, 0 to 1. Lines that cannot be read are passed over.

    `d` is the opacity, and `Tr` is 1 - d. Some writers state the opacity under both names, so `d` outweighs `Tr`.
    """
    opacities: dict[str, float] = {}
    dissolves: dict[str, float] = {}
    current = ""
    for line in text.splitlines():
        keyword, rest = _keyword(line)
        if keyword == "newmtl":
            current = rest
            opacities[current] = 1.0
            dissolves.pop(current, None)
        elif keyword in ("d", "Tr") and current:
            try:
                value = float(rest.split()[-1])
            except (ValueError, IndexError):
                continue
            if keyword == "d":
                dissolves[current] = value
            else:
                opacities[current] = 1.0 - value
    return opacities | dissolves
