"""Clothes and hair: the rest mesh pushed out along its normals, region by region.

Real silhouettes are not naked: loose trousers join the legs into one surface, sleeves hide the
elbow, hair widens the head. Labels and joints stay where they were.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numba import njit

from synth.body_asset import BodyAsset

GARMENTS: dict[str, tuple[tuple[str, ...], float, float]] = {
    # garment: (bones it covers, chance to be worn, most centimetres it stands off)
    "trousers": (("thigh_", "calf_", "pelvis"), 0.8, 4.0),
    "top": (("spine_", "clavicle_", "pelvis"), 0.8, 3.0),
    "sleeves": (("upperarm_",), 0.7, 2.5),
    "long sleeves": (("lowerarm_",), 0.4, 2.0),
    "shoes": (("foot_", "ball_"), 0.8, 1.5),
    "hair": (("head",), 0.6, 3.0),
}
FOLDS = 6
"""Waves whose sum makes the folds."""


@dataclass(frozen=True, slots=True)
class Outfit:
    """How far each garment stands off the skin, metres; a garment that is not worn is absent."""

    stand_off_m: dict[str, float]


def sample_outfit(rng: np.random.Generator) -> Outfit:
    """Draw what a person wears: mostly close-fitting, sometimes loose."""
    return Outfit(
        {
            garment: float(rng.beta(1.2, 2.0) * most_cm / 100)
            for garment, (_, chance, most_cm) in GARMENTS.items()
            if rng.random() < chance
        }
    )


@njit(cache=True)
def vertex_normals(vertices, triangles):
    """Area-weighted unit normals: float32 (V, 3) of vertices (V, 3), triangles int32 (T, 3)."""
    normals = np.zeros_like(vertices)
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ex, ey, ez = vertices[b, 0] - vertices[a, 0], vertices[b, 1] - vertices[a, 1], vertices[b, 2] - vertices[a, 2]
        fx, fy, fz = vertices[c, 0] - vertices[a, 0], vertices[c, 1] - vertices[a, 1], vertices[c, 2] - vertices[a, 2]
        nx, ny, nz = ey * fz - ez * fy, ez * fx - ex * fz, ex * fy - ey * fx
        for v in (a, b, c):
            normals[v, 0] += nx
            normals[v, 1] += ny
            normals[v, 2] += nz
    for v in range(len(normals)):
        length = math.sqrt(normals[v, 0] ** 2 + normals[v, 1] ** 2 + normals[v, 2] ** 2)
        if length > 0:
            for k in range(3):
                normals[v, k] /= length
    return normals


def garment_weights(asset: BodyAsset) -> dict[str, np.ndarray]:
    """How far each vertex is covered: float32 (V,) in [0, 1] a garment, its skin weights on the covered bones."""
    weights = {}
    for garment, (prefixes, _, _) in GARMENTS.items():
        covered = np.array([name.startswith(prefixes) for name in asset.bone_names])
        weights[garment] = (covered[asset.weight_bones] * asset.weights).sum(axis=1).astype(np.float32)
    return weights


def dress(
    vertices_m: np.ndarray,
    normals: np.ndarray,
    weights: dict[str, np.ndarray],
    outfit: Outfit,
    rng: np.random.Generator,
) -> np.ndarray:
    """Push the rest mesh out under an outfit.

    Parameters
    ----------
    vertices_m : float32 (V, 3), rest mesh, metres
    normals : float32 (V, 3), unit, outward
    weights : from `garment_weights`
    outfit : Outfit
    rng : draws the folds

    Returns
    -------
    float32 (V, 3), metres
    """
    stand_off = np.zeros(len(vertices_m), np.float32)
    for garment, metres in outfit.stand_off_m.items():
        stand_off = np.maximum(stand_off, weights[garment] * np.float32(metres))
    waves = (rng.normal(0, 25, (3, FOLDS))).astype(np.float32)  # 25 rad/m: folds some 25 cm apart
    phases = rng.uniform(0, 2 * np.pi, FOLDS).astype(np.float32)
    folds = np.sin(vertices_m @ waves + phases).mean(axis=1)
    return vertices_m + normals * (stand_off * (1 + folds))[:, None]
